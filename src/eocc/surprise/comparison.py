"""Patterns -> their nearest prototypes, each left out of its own neighbours."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from eocc.foundation.threads import BLOCK_SIZE, for_each_block
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.kernels.few import nearest_of_few
from eocc.kernels.smallest import Remaining, summarise_lists
from eocc.measures.protocol import (
    ComparesMixedRows,
    ComparesRows,
    FindsNearest,
    FittedMeasure,
    Prepared,
    compares_rows,
    prepare,
)
from eocc.measures.tables import MixedRows
from eocc.neighbours.exact import Lists, RowIndex
from eocc.neighbours.in_rows import Nearest, empty_nearest, nearest_in, smallest, sorting_steps, summarise
from eocc.neighbours.mixed import MixedIndex

# Lists hold the row itself, its 8 nearest, and show whether more are as near as the last one needed.
# Rows whose list ends in a tie get the longer list, and only if that ends in a tie too, all prototypes.
LIST, LONG_LIST = 10, 80
# Strings tie more often than numbers.
OBJECT_LIST = 32


class Reference:
    """The `prototypes` that rows are compared with, under each of `weightings` (v, u).

    Rows of numbers have an index of the nearest, in lists of `length`.
    """

    def __init__(
        self,
        measure: FittedMeasure,
        prototypes: Any,
        weightings: Matrix,
        prepared: Prepared | None = None,
        length: int = LIST,
    ) -> None:
        self.measure, self.prototypes, self.weightings, self.length = measure, prototypes, weightings, length
        self._prepared = prepared  # the prototypes among themselves, until they are compared
        self._columns: dict[tuple[int, bytes], tuple[Matrix, Matrix]] = {}

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
        if isinstance(self.measure, ComparesMixedRows):
            return np.asarray(self.measure.encoded(patterns, self.prototypes))
        return np.asarray(self.measure.coordinates(patterns))

    @cached_property
    def active(self) -> Flags:
        """Which weights are not 0."""
        return np.asarray(self.weightings.any(axis=0))

    @cached_property
    def index(self) -> RowIndex | MixedIndex:
        """The index of rows of numbers or codes."""
        if isinstance(self.measure, ComparesMixedRows):
            return MixedIndex.of(self.coordinates, self.measure.is_code, self.weightings)
        weightings = np.ascontiguousarray(self.weightings[:, self.active])
        return RowIndex.of(self.coordinates[:, self.active], weightings)

    def weighted_columns(self, weighting: int, places: Indices) -> tuple[Matrix, Matrix]:
        """Return some rows of numbers as columns (u, l), times the roots (u,) of the weights; and these roots."""
        key = weighting, places.tobytes()
        if key not in self._columns:
            roots = np.sqrt(self.weightings[weighting])
            self._columns[key] = np.ascontiguousarray((self.coordinates[places] * roots).T), roots
        return self._columns[key]

    def among_itself(self) -> "Comparison":
        """Compare the prototypes with each other, each left out of its own neighbours."""
        comparison = self.compare_fully(self.prototypes, np.arange(len(self)))
        if self._prepared is not None and isinstance(comparison, _Pairs):
            comparison.prepared, self._prepared = self._prepared, None
        return comparison

    def compare(self, patterns: Any) -> "Comparison":
        """Compare new patterns, with as few prototypes as will do."""
        if isinstance(self.measure, FindsNearest) and not compares_rows(self.measure):
            return _Found(self, patterns, np.full(len(patterns), -1))
        return self.compare_fully(patterns)

    def compare_fully(self, patterns: Any, own: Indices | None = None) -> "Comparison":
        """Compare patterns, pattern i without prototype own[i], which is itself; None means that they are new."""
        own = np.full(len(patterns), -1) if own is None or len(self) == 1 else own  # a single prototype always counts
        if isinstance(self.measure, ComparesMixedRows):
            return _MixedRows(self, patterns, own)
        return (_Rows if isinstance(self.measure, ComparesRows) else _Pairs)(self, patterns, own)


class Comparison(ABC):
    """Patterns against a reference."""

    coordinates: Matrix  # of rows of numbers, in the unit of the dissimilarity

    def __init__(self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None) -> None:
        self.reference, self.patterns, self.own = reference, patterns, own
        self.twins = np.full(len(own), -1) if twins is None else twins

    def take_copies(self, tolerances: Sequence[float]) -> None:
        """Take a pattern within the tolerance of a prototype, under every weighting, for that prototype itself."""
        if len(self.reference) > 1:
            self.own = self._copies(tolerances)

    def leave_twins_out(self, tolerances: Sequence[float]) -> bool:
        """Leave out another copy of each pattern, its twin, too; return whether there are any."""
        self.twins = self._copies(tolerances)
        return bool((self.twins >= 0).any())

    def _copies(self, tolerances: Sequence[float]) -> Indices:
        """Return the nearest prototype of those that each pattern, left out, is a copy of; -1 if there is none."""
        near = [self._nearest_distances(number) <= most for number, most in enumerate(tolerances)]
        found, is_copy = np.full(len(self.own), -1), np.all(near, axis=0)
        if is_copy.any():
            found[is_copy] = self._nearest_prototypes()[is_copy]
        return found

    @abstractmethod
    def _nearest_distances(self, weighting: int) -> Matrix:
        """Return the distance of each pattern to its nearest prototype."""

    @abstractmethod
    def _nearest_prototypes(self) -> Indices:
        """Return the nearest prototype of each pattern under the first weighting."""

    def _leave_out(self, rows: Matrix, places: Indices) -> Matrix:
        """Set the dissimilarities of some patterns to what is left out to infinity, in place."""
        for left in (self.own[places], self.twins[places]):
            known = np.flatnonzero(left >= 0)
            rows[known, left[known]] = np.inf
        return rows

    @abstractmethod
    def nearest(self, weighting: int, k: int, m: int, values: Matrix, above: float = -1.0) -> Nearest:
        """Return the k nearest prototypes farther than `above`, and the mean of `values` of the m nearest.

        `values` has a number for each prototype. Prototypes as near as the m-th count too.
        """

    def distances(self, weighting: int, k: int, above: float = -1.0) -> Matrix:
        """Return the distances to the k nearest prototypes farther than `above`."""
        return self.nearest(weighting, k, 1, np.zeros(len(self.reference)), above).distances

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        """Return the distances (m, s) to the nearest of a few prototypes, of these ranks from 0, ascending.

        Pattern i skips the prototype places[skipped[i]]; -1 means that it skips none.
        """
        distances = self._to_prototypes(weighting, places)
        rows = np.flatnonzero(skipped >= 0)
        distances[rows, skipped[rows]] = np.inf
        return np.asarray(np.partition(distances, ranks, axis=1)[:, ranks])

    def _to_prototypes(self, weighting: int, places: Indices) -> Matrix:
        prepared = self.reference.measure.prepare(self.patterns, self.reference.prototypes[places])
        return prepared.evaluate(self.reference.weightings[weighting])

    @abstractmethod
    def rows(self, p: Matrix) -> Matrix:
        """Return the dissimilarities to all prototypes at weights p, infinite where one is left out."""

    def rows_by(self, places: Indices, weights: Matrix, power: float) -> Matrix:
        """Return the dissimilarities of some patterns, each under its own `weights`; d^power is linear in these."""
        rows = np.zeros((len(places), len(self.reference)))
        for k in np.flatnonzero(weights.any(axis=0)).tolist():
            rows += weights[:, k, None] * self._along(places, k, power)
        rows **= 1 / power
        return self._leave_out(rows, places)

    @abstractmethod
    def _along(self, places: Indices, weight: int, power: float) -> Matrix:
        """Return a power of the dissimilarities of some patterns along a single weight."""


class _Pairs(Comparison):
    """Through all pairs. For expensive measures computing them takes nearly all of the time, and is done once."""

    # The rows asked for last, and distances in rows, which are often asked for again.
    _last: tuple[bytes, Matrix] = (b"", np.empty(0))

    def __init__(self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None) -> None:
        super().__init__(reference, patterns, own, twins)
        self._known: dict[tuple[bytes, float], Matrix] = {}

    @cached_property
    def prepared(self) -> Prepared:
        is_whole = self.patterns is self.reference.prototypes
        return prepare(self.reference.measure, self.patterns, None if is_whole else self.reference.prototypes)

    def _nearest_distances(self, weighting: int) -> Matrix:
        return self.distances(weighting, 1)[:, 0]

    def _nearest_prototypes(self) -> Indices:
        return np.asarray(self.rows(self.reference.weightings[0]).argmin(axis=1))

    def nearest(self, weighting: int, k: int, m: int, values: Matrix, above: float = -1.0) -> Nearest:
        distances = self.distances(weighting, k, above)
        return summarise(self.rows(self.reference.weightings[weighting]), distances, m, values)

    def distances(self, weighting: int, k: int, above: float = -1.0) -> Matrix:
        p = self.reference.weightings[weighting]
        key = self._key(p), above
        if key not in self._known or self._known[key].shape[1] < k:
            self._known[key] = smallest(self.rows(p), k, above)
        return self._known[key][:, :k]

    def _to_prototypes(self, weighting: int, places: Indices) -> Matrix:
        return self.rows(self.reference.weightings[weighting])[:, places]

    def _key(self, p: Matrix) -> bytes:
        return p.tobytes() + self.own.tobytes() + self.twins.tobytes()

    def rows(self, p: Matrix) -> Matrix:
        key = self._key(p)
        if self._last[0] != key:
            room = np.empty((len(self.patterns), len(self.reference)))
            rows = self.prepared.evaluate(p, room)
            if rows is not room:  # the measure keeps them for other calls
                rows = np.array(rows)
            self._last = key, self._leave_out(rows, np.arange(len(rows)))
        return self._last[1]

    def _along(self, places: Indices, weight: int, power: float) -> Matrix:
        single = np.eye(self.reference.weightings.shape[1])[weight]
        return np.asarray(self.prepared.evaluate(single)[places] ** power)


class _Found(Comparison):
    """Through lists of the nearest few, found without computing all pairs."""

    def __init__(self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None) -> None:
        super().__init__(reference, patterns, own, twins)
        # No cached property: before Python 3.12 its lock would let one thread at a time search.
        self.lists = self._find()

    def _find(self) -> list[Lists]:
        reference, k = self.reference, min(OBJECT_LIST, len(self.reference))
        assert isinstance(reference.measure, FindsNearest)
        found = reference.measure.nearest(self.patterns, reference.prototypes, reference.weightings, k)
        return [Lists(*one) for one in found]

    @property
    def counts(self) -> Indices:
        """How often each point of the lists occurs among the prototypes."""
        return np.ones(len(self.reference), np.int64)

    @property
    def first(self) -> Indices:
        """The first prototype that each point of the lists is."""
        return np.arange(len(self.reference))

    def points_of(self, prototypes: Indices) -> Indices:
        """Return the points that some prototypes are; -1 remains."""
        return prototypes

    def _nearest_points(self, weighting: int) -> tuple[Matrix, Indices]:
        """Return the distance and the number of the nearest point of each pattern; infinity if none is left."""
        distances, numbers = (one[:, :2] for one in self.lists[weighting])
        # The nearest point may be the pattern itself, and no other.
        is_left = self.counts[numbers] > (numbers == self.points_of(self.own)[:, None])
        nearest = np.arange(len(numbers)), is_left.argmax(axis=1)
        return np.where(is_left[nearest], distances[nearest], np.inf), numbers[nearest]

    def _nearest_distances(self, weighting: int) -> Matrix:
        return self._nearest_points(weighting)[0]

    def _nearest_prototypes(self) -> Indices:
        numbers = self._nearest_points(0)[1]
        return np.where(self.first[numbers] == self.own, self._second[numbers], self.first[numbers])

    @property
    def _second(self) -> Indices:
        """The second prototype that each point of the lists is, or another one."""
        order = np.argsort(self.points_of(np.arange(len(self.reference))), kind="stable")
        return np.asarray(order[np.cumsum(self.counts) - self.counts + np.minimum(self.counts, 2) - 1])

    def nearest(self, weighting: int, k: int, m: int, values: Matrix, above: float = -1.0) -> Nearest:
        distances, numbers = self.lists[weighting]
        found, is_short = empty_nearest(len(numbers), k), np.empty(len(numbers), np.bool_)
        is_whole = distances.shape[1] >= len(self.counts)
        left = Remaining(self.points_of(self.own), self.points_of(self.twins), self.counts, self.first, values)
        summarise_lists(self.lists[weighting], left, above, m, is_whole, *found, is_short)
        places = np.flatnonzero(is_short)  # many copies or ties
        if len(places):
            further = self._look_further(places, weighting, k, m, values, above)
            for whole, part in zip(found, further, strict=True):
                whole[places] = part
        return found

    def _look_further(self, places: Indices, weighting: int, k: int, m: int, values: Matrix, above: float) -> Nearest:
        """Return what `nearest` does of some of the patterns, from all prototypes."""
        found = empty_nearest(len(places), k)

        def look(start: int, stop: int) -> None:
            rows = self.some(places[start:stop]).rows(self.reference.weightings[weighting])
            for whole, part in zip(found, nearest_in(rows, k, m, values, above), strict=True):
                whole[start:stop] = part

        for_each_block(len(places), max(1, BLOCK_SIZE // len(self.reference)), look)
        return found

    def some(self, places: Indices) -> "_Pairs":
        """Return some of the patterns, compared with all prototypes."""
        return _Pairs(self.reference, self.patterns[places], self.own[places], self.twins[places])

    def rows(self, p: Matrix) -> Matrix:
        return self.some(np.arange(len(self.patterns))).rows(p)

    def _along(self, places: Indices, weight: int, power: float) -> Matrix:
        return self.some(places)._along(np.arange(len(places)), weight, power)


class _Rows(_Found):
    """Rows of numbers, through an index of the prototypes, in lists of `length`; None means that of the reference."""

    def __init__(
        self, reference: Reference, patterns: Any, own: Indices, twins: Indices | None = None, length: int | None = None
    ) -> None:
        self.length = reference.length if length is None else length
        super().__init__(reference, patterns, own, twins)

    def _find(self) -> list[Lists]:
        reference = self.reference
        is_whole = self.patterns is reference.prototypes
        self.coordinates = reference.coordinates if is_whole else reference.coordinates_of(self.patterns)
        return reference.index.nearest(self._searched(), self.length)

    def _searched(self) -> Matrix:
        return np.ascontiguousarray(self.coordinates[:, self.reference.active])

    def _look_further(self, places: Indices, weighting: int, k: int, m: int, values: Matrix, above: float) -> Nearest:
        if self.length == LONG_LIST or len(self.counts) < LONG_LIST:
            return super()._look_further(places, weighting, k, m, values, above)
        longer = type(self)(self.reference, self.patterns[places], self.own[places], self.twins[places], LONG_LIST)
        return longer.nearest(weighting, k, m, values, above)

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        columns, roots = self.reference.weighted_columns(weighting, places)
        squares = np.empty((len(self.coordinates), len(ranks)))
        steps = sorting_steps(len(places), tuple(ranks.tolist()))
        nearest_of_few(self.coordinates * roots, columns, steps, ranks, skipped, squares)
        return np.sqrt(squares, out=squares)

    @property
    def counts(self) -> Indices:
        return self.reference.index.counts

    @property
    def first(self) -> Indices:
        return self.reference.index.first

    def points_of(self, prototypes: Indices) -> Indices:
        return np.where(prototypes >= 0, self.reference.index.point_of[prototypes], -1)

    def _along(self, places: Indices, weight: int, power: float) -> Matrix:
        apart = self.coordinates[places, weight, None] - self.reference.coordinates[:, weight]
        return np.asarray(apart**power)


class _MixedRows(_Rows):
    """Rows of numbers and codes."""

    def _searched(self) -> Matrix:
        return self.coordinates

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        return Comparison.nearest_among(self, weighting, places, ranks, skipped)

    def _to_prototypes(self, weighting: int, places: Indices) -> Matrix:
        columns = np.ascontiguousarray(self.reference.coordinates[places].T)
        pairs = MixedRows(self.coordinates, columns, self.reference.index.is_code)  # type: ignore[union-attr]
        return pairs.evaluate(self.reference.weightings[weighting])

    def _along(self, places: Indices, weight: int, power: float) -> Matrix:
        return _Found._along(self, places, weight, power)
