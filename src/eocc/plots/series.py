"""The picture of one long series."""

from typing import Any

import numpy as np

from eocc.base.wording import counted, format_value, shortened
from eocc.plots.drawing import INSIDE, LONGEST_NAME, OTHER, _axes, _colour, _finish


def plot_series(windows: Any, decisions: Any, group: Any = None, axes: Any = None) -> Any:
    """Draw a series, in the order of time, with the rows marked that no accepted window holds.

    Every column has an axis of its own, one below the other.

    >>> from eocc import windows
    >>> plot_series(windows([0.0, 1.0, 0.0, 9.0, 0.0, 1.0], 2), [1, 1, -1, -1, 1]).get_title()
    '2 of 5 windows rejected'
    """
    chosen = np.array([one == group for one in windows.groups]) if group is not None else np.ones(len(windows), bool)
    places = windows.positions[:, None] + np.arange(windows.places.shape[1])
    first, last = places[chosen].min(), places[chosen].max()
    # A row is marked if no accepted window holds it. Where no window is, the line is broken.
    given = np.where(np.asarray(decisions) < 0, -1.0, 1.0)
    rows, is_marked = np.full(last - first + 1, -1), np.zeros(last - first + 1, bool)
    rows[places[chosen] - first] = windows.places[chosen]
    is_marked[places[chosen] - first] = True
    is_marked[places[chosen & (given > 0)] - first] = False
    starts = np.flatnonzero(np.diff(np.concatenate([[False], is_marked, [False]]).astype(int)))
    series = np.where(rows[:, None] < 0, np.nan, windows.series[rows])
    axes = _axes(axes, 8.4, 2.0 + len(windows.columns))
    panels = _panels(axes, windows.columns)
    for k, panel in enumerate(panels):
        panel.plot(np.arange(first, last + 1), series[:, k], color=_colour(k), linewidth=0.9)
        for number, (start, stop) in enumerate((first + starts).reshape(-1, 2).tolist()):
            label = "rejected" if number == 0 else None
            panel.axvspan(start - 0.5, stop - 0.5, color=OTHER, alpha=0.25, linewidth=0, label=label)
        _finish(panel, INSIDE if k == 0 else {}, **({"xticks": []} if k < len(panels) - 1 else {}))
    panels[-1].set_xlabel("rows in the order of time")
    if windows.times != tuple(range(len(windows.times))):
        known = np.flatnonzero(rows >= 0)
        shown = known[np.linspace(0, len(known) - 1, 3).astype(int)]
        panels[-1].set_xticks(first + shown, [format_value(windows.times[rows[place]]) for place in shown])
        panels[-1].set_xlabel("time")
    axes.set_title(f"{int((given[chosen] < 0).sum()):,} of {counted(int(chosen.sum()), 'window')} rejected")
    return axes


def _panels(axes: Any, names: Any) -> list[Any]:
    """Return an axis per column inside the axis, the first one on top; a single column has the axis itself."""
    if len(names) == 1:
        return [axes]
    axes.set_axis_off()
    panels = [axes.inset_axes((0, 1 - (k + 0.9) / len(names), 1, 0.9 / len(names))) for k in range(len(names))]
    for panel, name in zip(panels, names, strict=True):
        panel.tick_params(labelsize=7)
        panel.ticklabel_format(axis="y", useOffset=False)
        panel.set_ylabel(shortened(name, LONGEST_NAME), rotation=0, ha="right", fontsize=8, parse_math=False)
    return panels
