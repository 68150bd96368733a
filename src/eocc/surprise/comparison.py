"""Patterns -> their nearest prototypes, each left out of its own neighbours."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.threads import BLOCK_SIZE, for_each_block
from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.smallest import Lists, LocalScales, Remaining, nearest_of_few, summarise_lists
from eocc.measures.base import MixedRows, nearest_prototypes
from eocc.measures.protocol import (
    FittedMeasure,
    Prepared,
    compares_rows,
    prepare,
)
from eocc.neighbours.exact import RowIndex, Searched
from eocc.neighbours.in_rows import Nearest, nearest_in, sorting_steps

# Lists hold the row itself, its 8 nearest, and show whether more are as near as the last one needed.
# Rows whose list ends in a tie get the longer list, and only if that ends in a tie too, all prototypes.
# Strings, which tie more often than numbers, get the longer list at once.
LIST, LONG_LIST = 10, 80


class Reference:
    """The `prototypes` that rows are compared with, under each of `weightings` (v, u).

    Rows of numbers have an index of the nearest, in lists of `length`.
    """

    def __init__(
        self, measure: FittedMeasure, prototypes: Any, weightings: Matrix, prepared: Any = None, length: int = LIST
    ) -> None:
        self.measure, self.prototypes, self.weightings, self.length = measure, prototypes, weightings, length
        self._prepared = prepared  # the prototypes among themselves, until they are compared
        self.searched: Searched | None = None  # an earlier search among most of them, then theirs

    def __len__(self) -> int:
        return len(self.prototypes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Reference, (self.measure, self.prototypes, self.weightings, None, self.length)

    def of_outliers(self, outliers: Any, k: int) -> "Reference":
        """Return known outliers as a reference, of which the nearest k are needed."""
        return Reference(self.measure, outliers, self.weightings, length=k + 1)  # and the outlier itself

    @cached_property
    def coordinates(self) -> Matrix:
        """Rows of numbers in the unit of the dissimilarity, or of numbers and codes."""
        return self.coordinates_of(self.prototypes)

    def coordinates_of(self, patterns: Any) -> Matrix:
        """Return the same of patterns."""
        if self.measure.encoded is not None:
            return np.asarray(self.measure.encoded(patterns, self.prototypes))
        return np.asarray(self.measure.coordinates(patterns))

    @cached_property
    def active(self) -> Flags:
        """Which weights are not 0."""
        return np.asarray(self.weightings.any(axis=0))

    @cached_property
    def index(self) -> "RowIndex | _ObjectIndex":
        """The index that finds the nearest prototypes."""
        if self.measure.encoded is not None:
            return RowIndex.of(self.coordinates, self.weightings, self.measure.is_code)
        if self.measure.coordinates is not None:
            weightings = np.ascontiguousarray(self.weightings[:, self.active])
            return RowIndex.of(self.coordinates[:, self.active], weightings, None, self.searched, self.prototypes)
        return _ObjectIndex(self)

    def among_itself(self) -> "Comparison":
        """Compare the prototypes with each other, each left out of its own neighbours."""
        comparison = self.compare_fully(self.prototypes, np.arange(len(self)))
        if self._prepared is not None and not isinstance(comparison, _Listed):
            comparison.prepared, self._prepared = self._prepared, None
        return comparison

    def compare(self, patterns: Any) -> "Comparison":
        """Compare new patterns, with as few prototypes as will do."""
        if self.measure.nearest is not None and not compares_rows(self.measure):
            return _Listed(self, patterns, np.full(len(patterns), -1), length=min(LONG_LIST, len(self)))
        return self.compare_fully(patterns)

    def compare_fully(self, patterns: Any, own: Indices | None = None) -> "Comparison":
        """Compare patterns, pattern i without prototype own[i], which is itself; None means that they are new."""
        own = np.full(len(patterns), -1) if own is None or len(self) == 1 else own  # a single prototype always counts
        return _Listed(self, patterns, own) if compares_rows(self.measure) else Comparison(self, patterns, own)


class _ObjectIndex:
    """Finds the nearest prototypes by the measure itself; like a `RowIndex` in which every prototype is a point."""

    def __init__(self, reference: Reference) -> None:
        self.reference, n = reference, len(reference)
        self.first = self.point_of = self.second = np.arange(n)
        self.counts = np.ones(n, np.int64)

    def nearest(self, patterns: Any, k: int) -> list[Lists]:
        """Return the k nearest prototypes of each pattern, under each weighting."""
        measure, prototypes, weightings = self.reference.measure, self.reference.prototypes, self.reference.weightings
        return [Lists(*one) for one in nearest_prototypes(measure, patterns, prototypes, weightings, k)]


class Comparison:
    """Patterns against a reference, through all pairs: computing them takes nearly all of the time, and is done once.

    Pattern i is left out as prototype own[i], and as prototype twins[i]; -1 means that it is new.
    """

    coordinates: Matrix  # of rows of numbers, in the unit of the dissimilarity
    # The rows asked for last, which are often asked for again.
    _last: tuple[bytes, Matrix] = (b"", np.empty(0))

    def __init__(self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None) -> None:
        self.reference, self.patterns, self.own = reference, patterns, own
        self.twins = np.full(len(own), -1) if twins is None else twins

    def copies(self, tolerances: Sequence[float]) -> Indices:
        """Return the nearest prototype of those that each pattern, left out, is a copy of; -1 if there is none.

        A copy is within the tolerance under every weighting.
        """
        near = [self._nearest_one(number) for number in range(len(tolerances))]
        is_copy = np.all([one <= most for (one, _), most in zip(near, tolerances, strict=True)], axis=0)
        return np.where(is_copy, near[0][1], -1)

    def _nearest_one(self, weighting: int) -> tuple[Matrix, Indices]:
        """Return the distance of each pattern to its nearest prototype, and this prototype."""
        rows = self.rows(self.reference.weightings[weighting])
        found = rows.argmin(axis=1)
        return rows[np.arange(len(rows)), found], found

    def nearest(self, weighting: int, k: int, m: int, scales: LocalScales, above: float = -1.0) -> Nearest:
        """Return the k nearest prototypes farther than `above`, and the mean local scale of the m nearest.

        Prototypes as near as the m-th count too. A row that is left out is left out of their scales.
        """
        return nearest_in(self.rows(self.reference.weightings[weighting]), k, m, scales, self.own >= 0, above)

    def distances(self, weighting: int, k: int, above: float = -1.0) -> Matrix:
        """Return the distances to the k nearest prototypes farther than `above`."""
        zeros = np.zeros(len(self.reference))
        return self.nearest(weighting, k, 1, LocalScales(zeros, zeros, zeros, 0.0), above).distances

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        """Return the distances (m, s) to the nearest of a few prototypes, of these ranks from 0, ascending.

        Pattern i skips the prototype places[skipped[i]]; -1 means that it skips none.
        """
        distances = self._to_prototypes(weighting, places)
        rows = np.flatnonzero(skipped >= 0)
        distances[rows, skipped[rows]] = np.inf
        return np.asarray(np.partition(distances, ranks, axis=1)[:, ranks])

    def _to_prototypes(self, weighting: int, places: Indices) -> Matrix:
        return self.rows(self.reference.weightings[weighting])[:, places]

    @cached_property
    def prepared(self) -> Prepared:
        """All pairs."""
        is_whole = self.patterns is self.reference.prototypes
        return prepare(self.reference.measure, self.patterns, None if is_whole else self.reference.prototypes)

    def rows(self, p: Matrix) -> Matrix:
        """Return the dissimilarities to all prototypes at weights p, infinite where one is left out."""
        key = p.tobytes() + self.own.tobytes() + self.twins.tobytes()
        if self._last[0] != key:
            room = np.empty((len(self.patterns), len(self.reference)))
            rows = self.prepared.evaluate(p, room)
            if rows is not room:  # the measure keeps them for other calls
                rows = np.array(rows)
            self._last = key, self._leave_out(rows, slice(None))
        return self._last[1]

    def _leave_out(self, rows: Matrix, places: Indices | slice) -> Matrix:
        """Set the dissimilarities of some patterns to what is left out to infinity, in place."""
        for left in (self.own[places], self.twins[places]):
            known = np.flatnonzero(left >= 0)
            rows[known, left[known]] = np.inf
        return rows

    def rows_by(self, places: Indices, weights: Matrix, power: float) -> Matrix:
        """Return the dissimilarities of some patterns, each under its own `weights`; d^power is linear in these."""
        rows = np.zeros((len(places), len(self.reference)))
        for k in np.flatnonzero(weights.any(axis=0)).tolist():
            rows += weights[:, k, None] * self._along(places, k, power)
        rows **= 1 / power
        return self._leave_out(rows, places)

    def _along(self, places: Indices | slice, weight: int, power: float) -> Matrix:
        """Return a power of the dissimilarities of some patterns along a single weight."""
        single = np.eye(self.reference.weightings.shape[1])[weight]
        return np.asarray(self.prepared.evaluate(single)[places] ** power)


class _Listed(Comparison):
    """Through lists of the nearest few, found by the index of the reference; those of all pairs where they are short.

    Rows of numbers and codes also have `coordinates`.
    """

    def __init__(
        self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None, length: int | None = None
    ) -> None:
        super().__init__(reference, patterns, own, twins)
        self.length = reference.length if length is None else length
        index, searched, is_whole = reference.index, patterns, patterns is reference.prototypes
        if compares_rows(reference.measure):
            self.coordinates = searched = reference.coordinates if is_whole else reference.coordinates_of(patterns)
            if reference.measure.coordinates is not None:
                searched = np.ascontiguousarray(searched[:, reference.active])
        # No cached property: before Python 3.12 its lock would let one thread at a time search.
        if is_whole and isinstance(index, RowIndex) and index.is_code is None:
            found = index.among_itself(self.length)
            reference.searched = index.searched(found, reference.prototypes)
            self.lists = [Lists(*(part[index.point_of] for part in one)) for one in found]
        else:
            self.lists = index.nearest(searched, self.length)

    def _points_of(self, prototypes: Indices) -> Indices:
        return np.where(prototypes >= 0, self.reference.index.point_of[prototypes], -1)

    def _nearest_one(self, weighting: int) -> tuple[Matrix, Indices]:
        index, (distances, numbers) = self.reference.index, (one[:, :2] for one in self.lists[weighting])
        # The nearest point may be the pattern itself, and no other.
        is_left = index.counts[numbers] > (numbers == self._points_of(self.own)[:, None])
        nearest = np.arange(len(numbers)), is_left.argmax(axis=1)
        found = index.first[numbers[nearest]]
        if (self.own >= 0).any():
            found = np.where(found == self.own, index.second[numbers[nearest]], found)
        return np.where(is_left[nearest], distances[nearest], np.inf), found

    def nearest(self, weighting: int, k: int, m: int, scales: LocalScales, above: float = -1.0) -> Nearest:
        index, distances = self.reference.index, self.lists[weighting].distances
        n = len(distances)
        found, is_short = Nearest(np.empty((n, k)), np.empty(n)), np.empty(n, np.bool_)
        left = Remaining(self._points_of(self.own), self._points_of(self.twins), index.counts, index.first, scales)
        is_whole = distances.shape[1] >= len(index.counts)
        summarise_lists(self.lists[weighting], left, above, m, is_whole, *found, is_short)
        places = np.flatnonzero(is_short)  # many copies or ties

        def look_further(start: int, stop: int, length: int | None = None) -> None:
            some = places[start:stop]
            further = self._some(some, length).nearest(weighting, k, m, scales, above)
            for whole, part in zip(found, further, strict=True):
                whole[some] = part

        if len(places) and self.length < LONG_LIST <= len(index.counts):
            look_further(0, len(places), LONG_LIST)
        elif len(places):
            for_each_block(len(places), max(1, BLOCK_SIZE // len(self.reference)), look_further)
        return found

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        if self.reference.measure.coordinates is None:
            return super().nearest_among(weighting, places, ranks, skipped)
        roots = np.sqrt(self.reference.weightings[weighting])
        columns = np.ascontiguousarray((self.reference.coordinates[places] * roots).T)
        squares = np.empty((len(self.coordinates), len(ranks)))
        steps = sorting_steps(len(places), tuple(ranks.tolist()))
        nearest_of_few(self.coordinates * roots, columns, steps, ranks, skipped, squares)
        return np.sqrt(squares, out=squares)

    def _to_prototypes(self, weighting: int, places: Indices) -> Matrix:
        measure, p = self.reference.measure, self.reference.weightings[weighting]
        if measure.encoded is None:
            return measure.prepare(self.patterns, self.reference.prototypes[places]).evaluate(p)
        columns = np.ascontiguousarray(self.reference.coordinates[places].T)
        return MixedRows(self.coordinates, columns, measure.is_code).evaluate(p)

    def _some(self, places: Indices | slice, length: int | None = None) -> Comparison:
        """Return some of the patterns, with longer lists or compared with all prototypes."""
        some = self.reference, self.patterns[places], self.own[places], self.twins[places]
        return Comparison(*some) if length is None else _Listed(*some, length)

    def rows(self, p: Matrix) -> Matrix:
        return self._some(slice(None)).rows(p)

    def _along(self, places: Indices | slice, weight: int, power: float) -> Matrix:
        if self.reference.measure.coordinates is None:
            return self._some(places)._along(slice(None), weight, power)
        apart = self.coordinates[places, weight, None] - self.reference.coordinates[:, weight]
        return np.asarray(apart**power)
