"""Dynamic time warping of series: uni- and multivariate, of unequal lengths, a weight per channel."""

import numbers
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.kernels.dtw import LANES, warp_row
from eocc.measures.largest import largest_against
from eocc.measures.linear import LinearPrepared
from eocc.measures.objects import Objects, read_objects
from eocc.measures.unit import Unit

SHAPES = "pass an array of shape (length,) or (length, channels)"


@dataclass(frozen=True)
class DTW:
    """d(x, y; p) = sqrt(least path cost) / delta, delta the largest training value at p = 1 (1 if that is 0).

    A path leads from the first steps of both series to the last, forward by one step in either or in both; every cell
    (i, j) on it costs sum_k p_k (x_ik - y_jk)^2. Lowering a weight lowers the cost of every path or leaves it, and so
    of the cheapest: no p gives more than p = 1, and d <= 1 on the training set.

    `band` limits how far a path may stray (Sakoe-Chiba): w = band * the longer length, rounded, from the diagonals
    through the first and through the last cell, so that series of any two lengths can be compared,
    -w - max(0, m - n) <= i - j <= w + max(0, n - m). None is no limit; 0 compares series of equal length step by step.

    Patterns are a (n, length) or (n, length, channels) array, or a sequence of series of any lengths, each of shape
    (length,) or (length, channels).

    >>> measure = DTW(band=None)
    >>> series = measure.read([[0.0, 0.0, 3.0], [0.0, 3.0], [0.0, 1.0]])
    >>> frozen = measure.fit(series)
    >>> frozen.prepare(series).evaluate(np.ones(1))
    array([[0., 0., 1.],
           [0., 0., 1.],
           [1., 1., 0.]])
    """

    band: float | None = 0.1

    def __post_init__(self) -> None:
        band = self.band
        if band is None:
            return
        if isinstance(band, bool) or not isinstance(band, numbers.Real) or not 0 <= band <= 1:
            raise ValueError(f"band must be None or a number in [0, 1], a share of the longer series, not {band!r}")

    def read(self, X: Any) -> Objects:
        """Return X as (length, channels) arrays of its own, or say which pattern is not a series, and what to do."""
        table = np.asarray(X) if hasattr(X, "__array__") else None
        if table is not None and table.dtype != object and table.ndim not in (2, 3):
            raise ValueError(
                f"X must be of shape (n, length) or (n, length, channels), not {table.shape}; write [x] for one series"
            )
        patterns = read_objects(X if table is None else table, "series")
        series = Objects(_series(index, pattern) for index, pattern in enumerate(patterns))
        for index, one in enumerate(series):
            _check_channels(f"pattern {index}", one.shape[1], "pattern 0", series[0].shape[1])
        return series

    def fit(self, training: Objects) -> "FittedDTW":
        """Fix the unit and delta."""
        unscaled = self._unscaled(training)
        largest = float(unscaled.prepare(training).evaluate(np.ones(unscaled.n_parameters)).max())
        return unscaled.scaled(largest)

    def fit_against(self, training: Objects, prototypes: Objects) -> "FittedDTW":
        """Fix the unit, and as delta the largest value against a prototype."""
        unscaled = self._unscaled(training)
        return unscaled.scaled(largest_against(unscaled, training, prototypes))

    def _unscaled(self, training: Objects) -> "FittedDTW":
        band = 1.0 if self.band is None else float(self.band)  # a band as wide as the longer series is none
        return FittedDTW(Unit.of(np.concatenate(list(training))), 1.0, band)


@dataclass(frozen=True, eq=False)
class FittedDTW:
    """DTW with its delta fixed: `largest` in `unit`."""

    unit: Unit
    largest: float
    band: float

    @property
    def n_parameters(self) -> int:
        """One weight per channel."""
        return len(self.unit.centre)

    @property
    def delta(self) -> float:
        """The divisor in the series' own units; 1 when no two training series differ."""
        return self.unit.length(self.largest)

    def prepare(self, patterns: Objects, prototypes: Objects | None = None) -> "_Rows | _Square | _OneChannel":
        """Lay out the series. With one channel the cheapest path is the same for every p, and is found here."""
        rows = self.in_units(patterns)
        groups = _groups(rows if prototypes is None else self.in_units(prototypes))
        warper = _Warper(rows, groups, self.band, self.largest)
        pairs = _Square(warper) if prototypes is None else _Rows(warper)
        return _OneChannel(LinearPrepared(pairs.evaluate(np.ones(1))[None])) if self.n_parameters == 1 else pairs

    def scaled(self, largest: float) -> "FittedDTW":
        """Return the measure with its divisor; where no two series differ it is 1."""
        return FittedDTW(self.unit, largest, self.band) if largest > 0 else FittedDTW(self.unit.plain(), 1.0, self.band)

    def in_units(self, series: Objects) -> list[Matrix]:
        """Return the series in the unit."""
        _check_channels("a new series", series[0].shape[1], "the training series", self.n_parameters)
        ends = np.cumsum([len(one) for one in series])
        return np.split(self.unit.measure(np.concatenate(list(series))), ends[:-1])


@dataclass(frozen=True, eq=False)
class _Groups:
    """Series in groups of up to LANES of equal length, shortest first, as the kernel takes them."""

    columns: Matrix
    starts: Indices
    members: Indices

    def __iter__(self) -> Iterator[tuple[int, Indices, Indices]]:
        """Yield each group's number, its members, and all members from it on."""
        for group, members in enumerate(self.members):
            rest = self.members[group:]
            yield group, members[members >= 0], rest[rest >= 0]


def _groups(series: list[Matrix]) -> _Groups:
    lengths = np.array([len(one) for one in series])
    order = np.argsort(lengths, kind="stable")
    _, first, kind = np.unique(lengths[order], return_index=True, return_inverse=True)
    lanes = (np.arange(len(order)) - first[kind]) % LANES
    numbers = np.cumsum(lanes == 0) - 1
    members = np.full((numbers[-1] + 1, LANES), -1)
    members[numbers, lanes] = order
    steps = lengths[members[:, 0]]
    starts = np.concatenate([[0], np.cumsum(steps)])
    present = np.where(members < 0, members[:, :1], members)  # an idle lane repeats the first
    origins = (np.cumsum(lengths) - lengths)[present]
    index = np.repeat(origins, steps, axis=0) + (np.arange(starts[-1]) - np.repeat(starts[:-1], steps))[:, None]
    return _Groups(np.ascontiguousarray(np.concatenate(series).T[:, index.ravel()]), starts * LANES, members)


@dataclass(frozen=True, eq=False)
class _Warper:
    """Series against series in groups: a row at a time, so that Ctrl-C is heeded between two."""

    rows: list[Matrix]
    groups: _Groups
    band: float
    largest: float

    def room(self) -> Matrix:
        """Return room for one thread to work in: three rows of the longest group, with their borders."""
        return np.empty((3, int(np.diff(self.groups.starts).max()) + 2 * LANES))

    def fill(self, i: int, first: int, p: Matrix, room: Matrix, row: Matrix) -> None:
        """Fill row[j] with d(pattern i, prototype j; p) for the prototypes of the groups from `first` on."""
        columns, starts, members = self.groups.columns, self.groups.starts, self.groups.members
        warp_row(self.rows[i], p, self.band, columns, starts, members, first, self.largest, room, row)


@dataclass(frozen=True, eq=False)
class _Rows:
    """New patterns against prototypes."""

    warper: _Warper

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        n_rows, members = len(self.warper.rows), self.warper.groups.members
        out = np.empty((n_rows, int(members.max()) + 1)) if out is None else out
        room = self.warper.room()
        for i in range(n_rows):
            self.warper.fill(i, 0, p, room, out[i])
        return out


@dataclass(frozen=True, eq=False)
class _Square:
    """All pairs of one set, each group with itself and those after it: cost and rounding are the same both ways."""

    warper: _Warper

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        n = len(self.warper.rows)
        out = np.empty((n, n)) if out is None else out
        room = self.warper.room()
        for group, members, rest in self.warper.groups:
            for i in members:
                self.warper.fill(i, group, p, room, out[i])
                out[rest, i] = out[i, rest]
        return out


@dataclass(frozen=True, eq=False)
class _OneChannel:
    """One weight only multiplies the cost of every path: d(x, y; p) = sqrt(p) d(x, y; 1)."""

    unweighted: LinearPrepared

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        return self.unweighted.evaluate(np.sqrt(p), out)


def _series(index: int, pattern: Any) -> Matrix:
    """Return a pattern as a (length, channels) array of its own, or say what is wrong with it."""
    try:
        values = np.asarray(pattern)
        if values.dtype.kind not in "biufO":
            raise TypeError
        series = np.array(values, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"pattern {index} is not a series of numbers; {SHAPES}") from None
    if series.ndim not in (1, 2):
        raise ValueError(f"pattern {index} has shape {series.shape}; {SHAPES}")
    if series.size == 0:
        raise ValueError(f"pattern {index} is an empty series; leave it out")
    series = series.reshape(len(series), -1)
    odd = np.flatnonzero(~np.isfinite(series).all(axis=1))
    if len(odd):
        raise ValueError(
            f"pattern {index} holds NaN or infinity at step {odd[0]}; leave such steps out, or fill them in "
            "(numpy.interp)"
        )
    return series


def _check_channels(name: str, n_channels: int, other_name: str, n_other: int) -> None:
    if n_channels != n_other:
        raise ValueError(
            f"{name} has {_channels(n_channels)}, {other_name} {n_other}; pass series with the same channels, "
            "each of shape (length, channels)"
        )


def _channels(count: int) -> str:
    return f"{count} channel" if count == 1 else f"{count} channels"
