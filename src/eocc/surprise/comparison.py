"""Patterns -> their nearest prototypes, each left out of its own neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eocc.base.threads import BLOCK_SIZE, for_each_block, in_blocks
from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.smallest import TIED, Lists, LocalScales, Remaining, mean_scales, smallest_entries, summarise_lists
from eocc.measures.base import MixedRows, nearest_prototypes
from eocc.measures.protocol import FittedMeasure, Prepared, prepare
from eocc.neighbours.exact import RowIndex, Scan, Searched

# Lists hold the row itself, its 8 nearest, and show whether more are as near as the last one needed.
# Rows whose list ends in a tie get the longer list, and only if that ends in a tie too, all prototypes.
# Strings, which tie more often than numbers, get the longer list at once.
LIST, LONG_LIST = 10, 80


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few."""

    distances: Matrix
    scales: Matrix


def nearest_in(rows: Matrix, k: int, m: int, scales: LocalScales, is_left_out: Flags, above: float = -1.0) -> Nearest:
    """Return the k nearest prototypes in rows of dissimilarities, farther than `above`; on all threads allowed.

    The scales are the means over the prototypes that are as near as the m-th, without the row itself if it is one.
    """
    found = Nearest(np.empty((len(rows), k)), np.empty(len(rows)))

    def work(some: slice) -> None:
        smallest_entries(rows[some], above, found.distances[some])
        limits = found.distances[some, m - 1] * TIED
        mean_scales(rows[some], limits, scales, m, is_left_out[some], found.scales[some])

    in_blocks(rows, work)
    return found


@dataclass(eq=False)
class Reference:
    """The `prototypes` that rows are compared with, under each of `weightings` (v, u).

    Rows of numbers, or of numbers and codes, have an index of the nearest, in lists of `length`.
    """

    measure: FittedMeasure
    prototypes: Any
    weightings: Matrix
    prepared: Prepared | None = None  # the prototypes among themselves, until they are compared
    length: int = LIST
    searched: Searched | None = None  # an earlier search among most of the prototypes, then that among themselves

    def __post_init__(self) -> None:
        self.active: Flags = np.asarray(self.weightings.any(axis=0))  # which weights are not 0
        # What makes rows of numbers of patterns, in the unit of the dissimilarity, or of numbers and codes; or None.
        encoded, prototypes = self.measure.encoded, self.prototypes
        self.coordinates_of: Any = self.measure.coordinates or (encoded and (lambda rows: encoded(rows, prototypes)))
        self.length = self.length if self.coordinates_of else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Reference, (self.measure, self.prototypes, self.weightings, None, self.length)

    @cached_property
    def coordinates(self) -> Matrix:
        """Those of the prototypes."""
        return np.asarray(self.coordinates_of(self.prototypes))

    @cached_property
    def index(self) -> RowIndex:
        """The index that finds the nearest prototypes; of others than rows, it only says which point each one is."""
        if self.measure.encoded is not None:
            return RowIndex.of(self.coordinates, self.weightings, self.measure.is_code)
        if self.measure.coordinates is not None:
            weightings = np.ascontiguousarray(self.weightings[:, self.active])
            return RowIndex.of(self.coordinates[:, self.active], weightings, None, self.searched, self.prototypes)
        every = np.arange(len(self.prototypes))
        return RowIndex(np.empty((0, 0)), self.weightings, every, every, np.append(every, -1), np.ones_like(every))

    def among_itself(self) -> "Comparison":
        """Compare the prototypes with each other, each left out of its own neighbours."""
        own = np.arange(len(self.prototypes)) if len(self.prototypes) > 1 else None  # a single prototype always counts
        comparison = Comparison(self, self.prototypes, own, length=self.length)
        if self.prepared is not None:
            comparison.prepared, self.prepared = self.prepared, None
        return comparison


@dataclass(eq=False)
class Comparison:
    """Patterns against a reference, through lists of the nearest few, of a `length`, or through all pairs if it is 0.

    Lists are those of the index, or of the measure itself. All pairs are computed once, which takes nearly all of the
    time; they also serve the patterns whose lists are too short. Rows of numbers and codes have `coordinates`.

    Pattern i is left out as prototype own[i], and as prototype twins[i]; -1 means that it is new. With a length of -1,
    patterns are compared with as few prototypes as will do.
    """

    reference: Reference
    patterns: Any
    own: Any = None
    twins: Any = None
    length: int = -1
    # The rows asked for last, which are often asked for again.
    _last: tuple[bytes, Matrix] = field(default=(b"", np.empty(0)), init=False)

    def __post_init__(self) -> None:
        reference, patterns = self.reference, self.patterns
        if self.length < 0:
            of_objects = 0 if reference.measure.nearest is None else min(LONG_LIST, len(reference.prototypes))
            self.length = reference.length or of_objects
        length = self.length
        self.own, self.twins = (np.full(len(patterns), -1) if one is None else one for one in (self.own, self.twins))
        measure, is_whole = reference.measure, patterns is reference.prototypes
        # No cached properties: before Python 3.12 their lock would let one thread at a time search.
        if length and reference.coordinates_of is None:
            found = nearest_prototypes(measure, patterns, reference.prototypes, reference.weightings, length)
            self.lists = [Lists(*one) for one in found]
        elif length:
            self.coordinates = searched = reference.coordinates if is_whole else reference.coordinates_of(patterns)
            if measure.coordinates is not None:
                searched = np.ascontiguousarray(searched[:, reference.active])
            if is_whole and measure.coordinates is not None:
                among, reference.searched = reference.index.among_itself(length, reference.prototypes)
                self.lists = [Lists(*(part[reference.index.point_of[:-1]] for part in one)) for one in among]
            else:
                self.lists = reference.index.nearest(searched, length)

    def copies(self, tolerances: Sequence[float]) -> Indices:
        """Return the nearest prototype of those that each pattern, left out, is a copy of; -1 if there is none.

        A copy is within the tolerance under every weighting.
        """
        is_copy, every = np.ones(len(self.own), np.bool_), np.arange(len(self.own))
        for number in reversed(range(len(tolerances))):  # the nearest under the first weighting are found last
            if self.length:
                index, (near, points) = self.reference.index, (one[:, :2] for one in self.lists[number])
                # The nearest point may be the pattern itself, and no other.
                is_left = index.counts[points] > (points == index.point_of[self.own][:, None])
                place = every, is_left.argmax(axis=1)
                distances, found = np.where(is_left[place], near[place], np.inf), index.first[points[place]]
                if (self.own >= 0).any():
                    found = np.where(found == self.own, index.second[points[place]], found)
            else:
                rows = self.rows(self.reference.weightings[number])
                found = rows.argmin(axis=1)
                distances = rows[every, found]
            is_copy &= distances <= tolerances[number]
        return np.where(is_copy, found, -1)

    def nearest(
        self, weighting: int, k: int, m: int = 1, scales: LocalScales | None = None, above: float = -1.0
    ) -> Nearest:
        """Return the k nearest prototypes farther than `above`, and the mean local scale of the m nearest.

        Prototypes as near as the m-th count too. A row that is left out is left out of their scales.
        """
        zeros = np.zeros(len(self.reference.prototypes))
        scales = LocalScales(zeros, zeros, zeros, 0.0) if scales is None else scales
        if not self.length:
            return nearest_in(self.rows(self.reference.weightings[weighting]), k, m, scales, self.own >= 0, above)
        index, lists, n = self.reference.index, self.lists[weighting], len(self.own)
        found, is_short = Nearest(np.empty((n, k)), np.empty(n)), np.empty(n, np.bool_)
        left = Remaining(index.point_of[self.own], index.point_of[self.twins], index.counts, index.first, scales)
        is_whole = lists.distances.shape[1] >= len(index.counts)
        summarise_lists(lists, left, above, m, is_whole, *found, is_short)
        places = np.flatnonzero(is_short)  # many copies or ties
        has_longer = self.length < LONG_LIST <= len(index.counts)

        def look_further(start: int, stop: int) -> None:
            some = places[start:stop]
            rows = self.reference, self.patterns[some], self.own[some], self.twins[some]
            further = Comparison(*rows, LONG_LIST if has_longer else 0).nearest(weighting, k, m, scales, above)
            for whole, part in zip(found, further, strict=True):
                whole[some] = part

        if has_longer and len(places):
            look_further(0, len(places))
        elif len(places):
            for_each_block(len(places), max(1, BLOCK_SIZE // len(self.reference.prototypes)), look_further)
        return found

    def nearest_among(self, weighting: int, places: Indices, ranks: Indices, skipped: Indices) -> Matrix:
        """Return the distances (m, s) to the nearest of a few prototypes, of these ranks from 0, ascending.

        Pattern i skips the prototype places[skipped[i]]; -1 means that it skips none.
        """
        reference, measure, p = self.reference, self.reference.measure, self.reference.weightings[weighting]
        if measure.coordinates is not None:
            search = Scan(reference.coordinates[places], p)
            distances, numbers = (one[0] for one in search.nearest(self.coordinates, int(ranks[-1]) + 2))
            distances[numbers == skipped[:, None]] = np.inf
            return np.ascontiguousarray(np.sort(distances, axis=1)[:, ranks])
        if not self.length:
            distances = self.rows(p)[:, places]
        elif measure.encoded is None:
            distances = measure.prepare(self.patterns, reference.prototypes[places]).evaluate(p)
        else:
            columns = np.ascontiguousarray(reference.coordinates[places].T)
            distances = MixedRows(self.coordinates, columns, measure.is_code).evaluate(p)
        rows = np.flatnonzero(skipped >= 0)
        distances[rows, skipped[rows]] = np.inf
        return np.asarray(np.partition(distances, ranks, axis=1)[:, ranks])

    @cached_property
    def prepared(self) -> Prepared:
        """All pairs."""
        is_whole = self.patterns is self.reference.prototypes and not self.length
        return prepare(self.reference.measure, self.patterns, None if is_whole else self.reference.prototypes)

    def rows(self, p: Matrix) -> Matrix:
        """Return the dissimilarities to all prototypes at weights p, infinite where one is left out."""
        key = p.tobytes() + self.own.tobytes() + self.twins.tobytes()
        if self._last[0] != key:
            room = np.empty((len(self.patterns), len(self.reference.prototypes)))
            rows = self.prepared.evaluate(p, room)
            if rows is not room:  # the measure keeps them for other calls
                rows = np.array(rows)
            self._last = key, self._leave_out(rows, slice(None))
        return self._last[1]

    def rows_by(self, places: Indices, weights: Matrix, power: float) -> Matrix:
        """Return the dissimilarities of some patterns, each under its own `weights`; d^power is linear in these."""
        reference, rows, pairs = self.reference, np.zeros((len(places), len(self.reference.prototypes))), None
        if reference.measure.coordinates is None:
            pairs = Comparison(reference, self.patterns[places], length=0).prepared if self.length else self.prepared
        for k in np.flatnonzero(weights.any(axis=0)).tolist():
            if pairs is None:
                along = self.coordinates[places, k, None] - reference.coordinates[:, k]
            else:
                along = pairs.evaluate(np.eye(weights.shape[1])[k])[slice(None) if self.length else places]
            rows += weights[:, k, None] * along**power
        rows **= 1 / power
        return self._leave_out(rows, places)

    def _leave_out(self, rows: Matrix, places: Indices | slice) -> Matrix:
        """Set the dissimilarities of some patterns to what is left out to infinity, in place."""
        for left in (self.own[places], self.twins[places]):
            known = np.flatnonzero(left >= 0)
            rows[known, left[known]] = np.inf
        return rows
