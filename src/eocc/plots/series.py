"""The picture of one long series."""

from typing import Any

import numpy as np

from eocc.base.wording import counted
from eocc.plots.drawing import OTHER, _axes, _colour, _finish


def plot_series(windows: Any, decisions: Any, group: Any = None, axes: Any = None) -> Any:
    """Draw a series, in the order of time, with the rows marked that no accepted window holds.

    >>> from eocc import windows
    >>> plot_series(windows([0.0, 1.0, 0.0, 9.0, 0.0, 1.0], 2), [1, 1, -1, -1, 1]).get_title()
    '2 of 5 windows rejected'
    """
    chosen = np.array([one == group for one in windows.groups]) if group is not None else np.ones(len(windows), bool)
    places = windows.positions[:, None] + np.arange(windows.places.shape[1])
    first, last = places[chosen].min(), places[chosen].max()
    # A row is marked if no accepted window holds it. Where no window is, the line is broken.
    given = np.where(np.asarray(decisions) < 0, -1.0, 1.0)
    series, is_marked = np.full((last - first + 1, windows.series.shape[1]), np.nan), np.zeros(last - first + 1, bool)
    series[places[chosen] - first] = windows.series[windows.places[chosen]]
    is_marked[places[chosen] - first] = True
    is_marked[places[chosen & (given > 0)] - first] = False
    axes = _axes(axes, 8.4, 3.0)
    for k, column in enumerate(series.T):
        axes.plot(np.arange(first, last + 1), column, color=_colour(k), linewidth=0.9)
    starts = np.flatnonzero(np.diff(np.concatenate([[False], is_marked, [False]]).astype(int)))
    for k, (start, stop) in enumerate((first + starts).reshape(-1, 2).tolist()):
        label = "rejected" if k == 0 else None
        axes.axvspan(start - 0.5, stop - 0.5, color=OTHER, alpha=0.25, linewidth=0, label=label)
    n_rejected = int((given[chosen] < 0).sum())
    title = f"{n_rejected:,} of {counted(int(chosen.sum()), 'window')} rejected"
    return _finish(axes, title=title, xlabel="rows in the order of time")
