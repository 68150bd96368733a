"""Series: the warping path, and the stretches of it that cost the most."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, format_data_number, format_number, span
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.series import FittedDTW

Cells = NDArray[np.int64]

# A path is told in so many stretches: enough to point at a place, few enough to read.
MOST_STRETCHES = 5


@dataclass(frozen=True, eq=False)
class WarpingPath:
    """The cells (i, j) of a cheapest path, (length, 2), and what each channel costs in each, (length, channels)."""

    cells: Cells
    costs: Matrix


def warping_path(series: Matrix, other: Matrix, weights: Matrix, band: float) -> WarpingPath:
    """Return a cheapest path within the band of `DTW`; of several, the one most diagonal from its end backwards.

    Cell (i, j) costs sum_k p_k (x_ik - y_jk)^2.

    >>> path = warping_path(np.array([[0.0], [0.0], [3.0]]), np.array([[0.0], [2.0]]), np.ones(1), band=1.0)
    >>> path.cells.tolist(), path.costs.ravel().tolist()
    ([[0, 0], [1, 0], [2, 1]], [0.0, 0.0, 1.0])
    """
    totals = _path_totals(series, other, weights, band)
    i, j = len(series), len(other)
    cells = []
    while i > 0 and j > 0:
        cells.append((i - 1, j - 1))
        i, j = min([(i - 1, j - 1), (i - 1, j), (i, j - 1)], key=lambda cell: totals[cell])
    path = np.array(cells[::-1], np.int64)
    return WarpingPath(path, weights * (series[path[:, 0]] - other[path[:, 1]]) ** 2)


def stretches_of(costs: Matrix, most: int = MOST_STRETCHES) -> list[tuple[int, int]]:
    """Return consecutive ranges [start, stop) over all costs, at most `most`, each of costs as even as can be.

    Neighbouring ranges are joined, those first whose joining raises the sum of squared deviations least: from every
    cost by itself down to `most` ranges.

    >>> stretches_of(np.array([0.0, 0.1, 5.0, 5.1, 0.0]), most=3)
    [(0, 2), (2, 4), (4, 5)]
    """
    bounds = np.arange(len(costs) + 1)
    sums = np.concatenate([[0.0], np.cumsum(costs)])
    while len(bounds) > most + 1:
        sizes = np.diff(bounds).astype(np.float64)
        means = np.diff(sums[bounds]) / sizes
        rises = sizes[:-1] * sizes[1:] / (sizes[:-1] + sizes[1:]) * np.diff(means) ** 2
        bounds = np.delete(bounds, int(np.argmin(rises)) + 1)
    return list(pairwise(bounds.tolist()))


def series_difference(measure: FittedDTW, pair: Pair) -> Difference:
    """Return a contribution per stretch of the path: d times the stretch's share of the path's cost.

    d is a root of the cost, so a stretch has no term of its own in it: its share of the cost is its share of d.
    """
    series, other = (measure.in_units(one)[0] for one in (pair.pattern, pair.prototype))
    path = warping_path(series, other, pair.weights, measure.band)
    amounts = shared_out(pair.dissimilarity, path.costs.ravel()).reshape(path.costs.shape)
    values = pair.pattern[0], pair.prototype[0]
    contributions = tuple(
        _contribution(path.cells[start:stop], amounts[start:stop], *values, pair.called)
        for start, stop in stretches_of(np.sqrt(path.costs.sum(axis=1)))  # gaps, not squares: peaks would part
    )
    details = {"alignment": path.cells.tolist()}
    return Difference(pair.dissimilarity, contributions, "by stretches of the alignment", details)


def series_description(measure: FittedDTW, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the length and the range of a series.

    >>> from eocc.measures import DTW
    >>> series = DTW().read([[0.0, 2.5, 1.0]])
    >>> series_description(DTW().fit(series), series, None)
    '3 steps between 0 and 2.5'
    """
    series = pattern[0]
    channels = f" in {counted(series.shape[1], 'channel')}" if series.shape[1] > 1 else ""
    size = counted(len(series), "step")
    low, high = (format_data_number(float(end)) for end in (series.min(), series.max()))
    return f"{size}{channels} between {low} and {high}"


def _path_totals(series: Matrix, other: Matrix, weights: Matrix, band: float) -> Matrix:
    """Return the cost of the cheapest way to each cell, with a border of infinities before the first."""
    n, m = len(series), len(other)
    half = int(np.rint(band * max(n, m)))
    below, beyond = half + max(0, n - m), half + max(0, m - n)
    totals = np.full((n + 1, m + 1), np.inf)
    totals[0, 0] = 0.0
    for i in range(n):
        low, high = max(0, i - below), min(m, i + beyond + 1)
        costs = (weights * (series[i] - other[low:high]) ** 2).sum(axis=1)
        entered = np.minimum(totals[i, low:high], totals[i, low + 1 : high + 1])
        before = float(totals[i + 1, low])
        for j, cost, best in zip(range(low, high), costs.tolist(), entered.tolist(), strict=True):
            before = min(before, best) + cost
            totals[i + 1, j + 1] = before
    return totals


def _contribution(cells: Cells, amounts: Matrix, pattern: Matrix, prototype: Matrix, called: str) -> Contribution:
    (first, other_first), (last, other_last) = cells[0].tolist(), cells[-1].tolist()
    by_channel = amounts.sum(axis=0)
    channel = int(np.argmax(by_channel))
    here, there = pattern[cells[:, 0], channel], prototype[cells[:, 1], channel]
    details = {
        "steps": [first, last],
        "prototype_steps": [other_first, other_last],
        "by_channel": by_channel.tolist(),
        "channel": channel,
        "mean": float(here.mean()),
        "prototype_mean": float(there.mean()),
        "mean_gap": float(np.abs(here - there).mean()),
    }
    where = f"{span(first, last, 'step')} (mean {format_number(details['mean'])})"
    against = f"{called} {span(other_first, other_last, 'step')} (mean {format_number(details['prototype_mean'])})"
    led = f", mostly in channel {channel}" if amounts.shape[1] > 1 else ""
    text = f"{where}, {against}: {format_number(details['mean_gap'])} apart{led}"
    return Contribution(float(amounts.sum()), text, details)
