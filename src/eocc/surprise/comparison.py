"""Patterns against prototypes, each left out of its own neighbours."""

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.smallest import TIED, mean_within, smallest_entries
from eocc.measures.protocol import ComparesRows, FittedMeasure, Prepared
from eocc.scale.cluster import prepare

# A block of patterns against all prototypes holds about this many dissimilarities, 4 MiB.
BLOCK_SIZE = 2**19


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few."""

    distances: Matrix
    scales: Matrix


class Comparison:
    """`patterns` against `prototypes`. Pattern i does not count prototype own[i], which is itself; -1 means none.

    With own=None, a pattern within the tolerance of a prototype is taken for that prototype. So a training row, or a
    new copy of it, scores as the row did when it was left out of the training set. Copies are found in the first call
    of `nearest`, which must be at the weights of the model.
    """

    def __init__(self, measure: FittedMeasure, patterns: Any, prototypes: Any, own: Indices | None = None) -> None:
        self.measure, self.patterns, self.prototypes = measure, patterns, prototypes
        # A single prototype always counts: there is nothing else to compare with.
        self._own = np.full(len(patterns), -1) if len(prototypes) == 1 else own

    @cached_property
    def prepared(self) -> Prepared:
        """All pairs. For expensive measures this takes nearly all of the time, and is done once."""
        is_whole = self.patterns is self.prototypes
        return prepare(self.measure, self.patterns, None if is_whole else self.prototypes)

    def nearest(self, p: Matrix, k: int, n_local: int, local_scales: Matrix, tolerance: float) -> Nearest:
        """Return the k nearest prototypes at weights p, and the mean local scale of the `n_local` nearest.

        Prototypes as near as the last of these count too. A pattern within `tolerance` of a prototype is its copy.
        """
        own = np.full(len(self.patterns), -1) if self._own is None else self._own

        def find(prepared: Any, p: Matrix, part: slice, room: Matrix) -> Matrix:
            if hasattr(prepared, "nearest_and_means"):
                return np.column_stack(prepared.nearest_and_means(p, k, n_local, local_scales, own[part]))
            return np.column_stack(nearest_in(_left_out(prepared, p, own[part], room), k, n_local, local_scales))

        found = self._by_block(p, find)
        if self._own is None:
            self._own = own
            if (found[:, 0] <= tolerance).any():
                self._own = self.map_rows(p, partial(_copies, tolerance=tolerance))
                return self.nearest(p, k, n_local, local_scales, tolerance)
        return Nearest(np.ascontiguousarray(found[:, :k]), found[:, k])

    def map_rows(self, p: Matrix, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Return `function` of the rows of dissimilarities at p, (m, prototypes), infinite where a row is left out."""
        assert self._own is not None, "nearest comes first: it finds the copies"
        own = self._own
        return self._by_block(p, lambda prepared, p, part, room: function(_left_out(prepared, p, own[part], room)))

    def _by_block(self, p: Matrix, work: Callable[[Prepared, Matrix, slice, Matrix], Matrix]) -> Matrix:
        """Return work(prepared, p, part of the patterns, room for rows) of all parts, one after another.

        Rows of numbers are cheap to prepare: they come in blocks, on the threads allowed. Others come all at once.
        """
        n, r = len(self.patterns), len(self.prototypes)
        if not isinstance(self.measure, ComparesRows):
            return work(self.prepared, p, slice(0, n), np.empty((n, r)))
        active = p > 0
        prepare, p = self.measure.along(active).against(self.prototypes[:, active]), p[active]
        step, rooms = max(1, BLOCK_SIZE // max(r, len(p))), list[Matrix]()
        found: list[Matrix] = [np.empty(0)] * -(-n // step)

        def one(start: int, stop: int) -> None:
            try:
                room = rooms.pop()  # a finished block's: allocating costs more than computing
            except IndexError:
                room = np.empty((min(step, n), r))
            prepared = prepare(self.patterns[start:stop, active])
            found[start // step] = work(prepared, p, slice(start, stop), room[: stop - start])
            rooms.append(room)

        if n <= step:
            one(0, n)
        else:
            for_each_block(n, step, one)
        return np.concatenate(found)


def nearest_in(rows: Matrix, k: int, n_local: int, local_scales: Matrix) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities."""
    distances, scales = smallest(rows, k), np.empty(len(rows))
    mean_within(rows, distances[:, n_local - 1] * TIED, local_scales, scales)
    return Nearest(distances, scales)


def _copies(rows: Matrix, tolerance: float) -> Any:
    """Return the prototype that each row is a copy of, -1 if there is none."""
    return np.where(rows.min(axis=1) <= tolerance, rows.argmin(axis=1), -1)


def smallest(rows: Matrix, k: int, above: float = -1.0) -> Matrix:
    """Return the k smallest entries of each row that exceed `above`, in order; infinity where there are fewer."""
    values = np.empty((len(rows), k))
    smallest_entries(rows, above, values)
    return values


def _left_out(prepared: Prepared, p: Matrix, own: Indices, room: Matrix) -> Matrix:
    """Return the rows of dissimilarities, infinite at the prototype that a pattern is."""
    rows = prepared.evaluate(p, room)
    if rows is not room:  # the measure keeps them for other calls
        room[...] = rows
        rows = room
    places = np.flatnonzero(own >= 0)
    rows[places, own[places]] = np.inf
    return rows
