"""Dynamic time warping of series: one or several channels, unequal lengths, one weight per channel."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np

from eocc.base.checks import is_array, number, optional, real
from eocc.base.stored import Checked, Unstored
from eocc.base.threads import for_each_block
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted, format_data_number, format_number, span
from eocc.kernels.dtw import LANES, Groups, bound_groups, nearest_in_groups, warp_groups
from eocc.measures.base import LinearPrepared, by_block
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.objects import Objects, derived, read_objects
from eocc.measures.unit import FittedInUnit, MeasureInUnit, Unit

# A bound is computed in another order than the dissimilarity, and lowered by this factor, against rounding.
SAFE_SHARE = 1 - 1e-9
SHAPES = "pass an array of shape (length,) or (length, channels)"


@dataclass(frozen=True, eq=False)
class FittedDTW(FittedInUnit):
    """DTW with its unit, divisor and band, and the training pairs of one channel until they are used."""

    band: Annotated[float, real("[0, 1]")]
    computed: Unstored[list[tuple[Objects, Matrix]]] = field(default_factory=list)
    kind: ClassVar = "series"
    weighs: ClassVar = "channel"
    pattern_classes: ClassVar = (np.ndarray,)

    def prepare(self, patterns: Objects, prototypes: Objects | None = None) -> "_Rows | LinearPrepared":
        """Lay out the series. With one channel the cheapest path does not depend on p, and is found here."""
        if prototypes is None and any(known is patterns for known, _ in self.computed):
            table = self.computed.pop()[1]
            return LinearPrepared(np.divide(table, self.largest, out=table)[None], np.sqrt)
        rows = self.in_units(patterns)
        groups = _groups(rows) if prototypes is None else self._groups_of(prototypes)
        pairs = (_Square if prototypes is None else _Rows)(rows, groups, self.band, self.largest)
        # A single weight multiplies the cost of every path: d(x, y; p) = sqrt(p) d(x, y; 1).
        return LinearPrepared(pairs.evaluate(np.ones(1))[None], np.sqrt) if self.n_parameters == 1 else pairs

    def largest_of(self, training: Objects, prototypes: Objects | None) -> float:
        """Return the largest d(x, y; 1); with one channel, the training pairs are kept for `prepare`."""
        table = self.prepare(training, prototypes).evaluate(np.ones(self.n_parameters))
        if prototypes is None and self.n_parameters == 1:
            self.computed.append((training, table))
        return float(table.max())

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "computed": []}  # a copy of the patterns would not find the pairs

    def nearest(
        self, patterns: Objects, prototypes: Objects, weightings: Matrix, k: int
    ) -> list[tuple[Matrix, Indices]]:
        """Return the distances to the k nearest prototypes and their indices; envelopes rule out others."""
        pairs = _Rows(self.in_units(patterns), self._groups_of(prototypes), self.band, self.largest)
        compared, factors = weightings, np.ones(len(weightings))
        if self.n_parameters == 1:  # a path is found once for all weightings
            compared, factors = np.ones((1, 1)), np.sqrt(weightings[:, 0])

        def work(start: int, stop: int, near: Matrix, indices: Indices) -> None:
            for i in range(start, stop):
                bounds = pairs.bounds(i, weightings)
                lowest, found = (bounds, np.argsort(bounds[0])), (near[:, i - start], indices[:, i - start])
                scales = self.band, self.largest
                nearest_in_groups(pairs.rows[i], compared, factors, scales, pairs.groups, lowest, pairs.room(), found)

        return by_block((len(weightings), len(patterns), k), len(pairs.groups.members), work)

    def _groups_of(self, prototypes: Objects) -> "Groups":
        return derived(prototypes, self, lambda: _groups(self.in_units(prototypes)))

    def in_units(self, series: Objects) -> list[Matrix]:
        """Return the series in the unit."""
        _check_channels("a new series", series[0].shape[1], "the training series", self.n_parameters)
        ends = np.cumsum([len(one) for one in series])
        return np.split(self.unit.measure(np.concatenate(list(series))), ends[:-1])

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per stretch of the path: d times the stretch's share of the path's cost.

        d is a root of the cost, so a stretch has no term of its own in d: its share of the cost is its share of d.
        """
        (series,), (other,) = self.in_units(pair.pattern), self.in_units(pair.prototype)
        cells = warping_path(series, other, pair.weights, self.band)
        costs = pair.weights * (series[cells[:, 0]] - other[cells[:, 1]]) ** 2
        amounts = shared_out(pair.dissimilarity, costs.ravel()).reshape(costs.shape)
        contributions = tuple(
            _contribution(cells[start:stop], amounts[start:stop], pair)
            for start, stop in stretches_of(np.sqrt(costs.sum(axis=1)))  # roots: squares would single out the peaks
        )
        meaning = "by stretches of the alignment"
        return Difference(pair.dissimilarity, contributions, meaning, {"alignment": cells.tolist()})

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the length and the range of a series, for example "3 steps between 0 and 2.5"."""
        series = pattern[0]
        channels = f" in {counted(series.shape[1], 'channel')}" if series.shape[1] > 1 else ""
        ends = " and ".join(format_data_number(float(end)) for end in (series.min(), series.max()))
        return f"{counted(len(series), 'step')}{channels} between {ends}"

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are series of finite numbers with that many channels."""
        return all(
            is_array(one, np.float64, 2) and one.size > 0 and one.shape[1] == self.n_parameters for one in patterns
        )

    def comparison_work(self, patterns: Any) -> int:
        """Return the cells of the bands of all alignments."""
        lengths = np.array([len(one) for one in patterns], np.float64)
        band = 2 * self.band * np.maximum(lengths, lengths[0]) + 1 + np.abs(lengths - lengths[0])
        return int((lengths[0] * np.minimum(lengths, band) + lengths).sum()) * self.n_parameters


@dataclass(frozen=True)
class DTW(Checked, MeasureInUnit):
    """d(x, y; p) = sqrt(cost of the cheapest path) / delta; delta is the largest training value at p = 1, or 1 if 0.

    A path leads from the first steps of both series to the last, one step forward in either or in both. Each cell
    (i, j) on it costs sum_k p_k (x_ik - y_jk)^2. Lower weights never raise the cost of a path, so d <= 1 on the
    training set for every p.

    `band` limits how far a path may leave the diagonal (Sakoe-Chiba): w = band * the longer length, rounded, counted
    from the diagonals through the first and the last cell of series of lengths n and m:
    -w - max(0, m - n) <= i - j <= w + max(0, n - m). None means no limit; 0 compares equal lengths step by step.

    Patterns are a (n, length) or (n, length, channels) array, or a sequence of series of any lengths, each of shape
    (length,) or (length, channels).

    >>> measure = DTW(band=None)
    >>> series = measure.read([[0.0, 0.0, 3.0], [0.0, 3.0], [0.0, 1.0]])
    >>> measure.fit(series).prepare(series).evaluate(np.ones(1))
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 1., 0.]])
    """

    band: Annotated[float | None, optional(number("[0, 1]", ", a share of the longer series, or None"))] = 0.1
    fitted_class: ClassVar = FittedDTW
    stored_classes: ClassVar = (Unit,)

    def read(self, X: Any) -> Objects:
        """Return X as (length, channels) arrays."""
        table = np.asarray(X) if hasattr(X, "__array__") else None
        if table is not None and table.dtype != object and table.ndim not in (2, 3):
            wanted = "(n, length) or (n, length, channels)"
            raise ValueError(f"X must be of shape {wanted}, not {table.shape}; write [x] for one series")
        series = read_objects(X if table is None else table, "series", _series)
        for index, one in enumerate(series):
            _check_channels(f"X[{index}]", one.shape[1], "X[0]", series[0].shape[1])
        return series

    def unscaled(self, training: Objects) -> FittedDTW:
        """Return the measure with its unit, and the divisor 1."""
        band = 1.0 if self.band is None else float(self.band)  # a band as wide as the longer series is no limit
        return FittedDTW(Unit.of(np.concatenate(list(training))), 1.0, band)


def warping_path(series: Matrix, other: Matrix, weights: Matrix, band: float) -> Indices:
    """Return the cells (i, j) of a cheapest path, (length, 2); among several, the most diagonal one from its end."""
    totals = _path_totals(series, other, weights, band)
    i, j = len(series), len(other)
    cells = []
    while i > 0 and j > 0:
        cells.append((i - 1, j - 1))
        i, j = min([(i - 1, j - 1), (i - 1, j), (i, j - 1)], key=lambda cell: totals[cell])
    return np.array(cells[::-1], np.int64)


def stretches_of(costs: Matrix, most: int = 5) -> list[tuple[int, int]]:
    """Return at most `most` consecutive ranges [start, stop) that cover all costs, each of similar costs.

    Starting from single costs, it merges the two neighbours whose merger raises the sum of squared deviations least.
    """
    bounds = np.arange(len(costs) + 1)
    sums = np.concatenate([[0.0], np.cumsum(costs)])
    while len(bounds) > most + 1:
        sizes = np.diff(bounds).astype(np.float64)
        means = np.diff(sums[bounds]) / sizes
        rises = sizes[:-1] * sizes[1:] / (sizes[:-1] + sizes[1:]) * np.diff(means) ** 2
        bounds = np.delete(bounds, int(np.argmin(rises)) + 1)
    return list(pairwise(bounds.tolist()))


def _path_totals(series: Matrix, other: Matrix, weights: Matrix, band: float) -> Matrix:
    """Return the cost of the cheapest path to each cell, with a border of infinities before the first."""
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


def _contribution(cells: Indices, amounts: Matrix, pair: Pair) -> Contribution:
    (first, other_first), (last, other_last) = cells[0].tolist(), cells[-1].tolist()
    by_channel = amounts.sum(axis=0)
    channel = int(np.argmax(by_channel))
    here, there = pair.pattern[0][cells[:, 0], channel], pair.prototype[0][cells[:, 1], channel]
    mean, other_mean, gap = float(here.mean()), float(there.mean()), float(np.abs(here - there).mean())
    where = f"{span(first, last, 'step')} average {format_number(mean)}"
    against = f"{span(other_first, other_last, 'step')} of the {pair.called} {format_number(other_mean)}"
    led = f", mostly in channel {channel}" if amounts.shape[1] > 1 else ""
    details = {
        "steps": [first, last], "prototype_steps": [other_first, other_last], "by_channel": by_channel.tolist(),
        "channel": channel, "mean": mean, "prototype_mean": other_mean, "mean_gap": gap,
    }  # fmt: skip
    return Contribution(float(amounts.sum()), f"{where}, {against}: {format_number(gap)} apart{led}", details)


def _groups(series: list[Matrix]) -> Groups:
    lengths = np.array([len(one) for one in series])
    # Similar ones share a group, which bounds them better.
    order = np.lexsort(([one[:, 0].mean() for one in series], lengths))
    _, first, kind = np.unique(lengths[order], return_index=True, return_inverse=True)
    lanes = (np.arange(len(order)) - first[kind]) % LANES
    numbers = np.cumsum(lanes == 0) - 1
    members = np.full((numbers[-1] + 1, LANES), -1)
    members[numbers, lanes] = order
    steps = lengths[members[:, 0]]
    starts = np.concatenate([[0], np.cumsum(steps)])
    present = np.where(members < 0, members[:, :1], members)  # an unused lane repeats the first series
    origins = (np.cumsum(lengths) - lengths)[present]
    index = np.repeat(origins, steps, axis=0) + (np.arange(starts[-1]) - np.repeat(starts[:-1], steps))[:, None]
    return Groups(np.ascontiguousarray(np.concatenate(series).T[:, index.ravel()]), starts * LANES, members)


@dataclass(frozen=True, eq=False)
class _Rows:
    """New patterns against prototypes, one row per call of the kernel, so that Ctrl-C works between rows."""

    rows: list[Matrix]
    groups: Groups
    band: float
    largest: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        result = np.empty((len(self.rows), int(self.groups.members.max()) + 1)) if out is None else out
        name = f"comparing {len(self.rows):,} series"
        for_each_block(len(self.rows), 8, lambda start, stop: self._fill(start, stop, p, result), name)
        return result

    def compare(self, i: int, chosen: Indices, p: Matrix) -> Matrix:
        """Return d(pattern i, prototype; p) of the prototypes of the chosen groups, (groups, LANES)."""
        found = np.empty((len(chosen), LANES))
        warp_groups(self.rows[i], p, self.band, self.groups[:2], chosen, self.largest, self.room(), found)
        return found

    def room(self) -> Matrix:
        """Return working memory: three rows of the longest group, with borders."""
        return np.empty((3, int(np.diff(self.groups.starts).max()) + 2 * LANES))

    def bounds(self, i: int, weightings: Matrix) -> Matrix:
        """Return lower bounds of d(pattern i, any prototype of a group), (weightings, groups)."""
        bounds = np.empty((len(weightings), len(self.groups.members)))
        room = np.empty((2, int(np.diff(self.groups.starts).max()) // LANES, len(weightings[0])))
        bound_groups(self.rows[i], weightings, self.band, self.groups[:2], *room, np.empty(LANES), bounds)
        return np.asarray(SAFE_SHARE * np.sqrt(bounds) / self.largest)

    def _fill(self, start: int, stop: int, p: Matrix, out: Matrix) -> None:
        """Fill the rows of patterns `start`, ..., `stop` - 1."""
        members = self.groups.members
        for i in range(start, stop):
            out[i, members[members >= 0]] = self.compare(i, np.arange(len(members)), p)[members >= 0]


class _Square(_Rows):
    """All pairs of one set. Each series is compared with itself and later ones; the rest follows by symmetry."""

    def _fill(self, start: int, stop: int, p: Matrix, out: Matrix) -> None:
        members = self.groups.members
        for group, lane in np.argwhere(members >= 0)[start:stop]:
            i, is_later = members[group, lane], members[group:] >= 0
            is_later[0, :lane] = False
            others = members[group:][is_later]
            out[i, others] = out[others, i] = self.compare(i, np.arange(group, len(members)), p)[is_later]


def _series(pattern: Any) -> Matrix:
    try:
        values = np.asarray(pattern)
        if values.dtype.kind not in "biufO":
            raise TypeError
        series = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"this is not a series of numbers; {SHAPES}") from None
    if series.ndim not in (1, 2):
        raise ValueError(f"this has shape {series.shape}; {SHAPES}")
    if series.size == 0:
        raise ValueError("this series is empty; leave it out")
    series = series.reshape(len(series), -1)
    bad = np.flatnonzero(~np.isfinite(series).all(axis=1))
    if len(bad):
        raise ValueError(f"NaN or infinity at step {bad[0]}; leave such steps out, or interpolate (numpy.interp)")
    return series


def _check_channels(name: str, n_channels: int, other_name: str, n_other: int) -> None:
    if n_channels != n_other:
        found = f"{name} has {counted(n_channels, 'channel')}, {other_name} {n_other}"
        raise ValueError(f"{found}; pass series with the same channels, each of shape (length, channels)")
