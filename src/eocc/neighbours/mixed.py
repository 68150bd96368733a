"""Rows of numbers and codes -> the exact nearest of them, under several weightings of Gower's dissimilarity.

The points are cut into tiles of similar ones. A row is compared with the points of a tile only if the ranges and codes
of the tile allow a point that is as near as the nearest found so far.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.foundation.wording import counted
from eocc.kernels.gower import ALL_CODES, MixedTiles, nearest_in_tiles
from eocc.neighbours.exact import ROWS_PER_TASK, Lists, distinct_points

# Points in a tile: with 8,192 points of 5 columns, half or twice as many take up to a third longer.
TILE = 64


@dataclass(frozen=True, eq=False)
class MixedIndex:
    """Finds the nearest of `points` (n, u) under each of `weightings` (v, u): sum_k p_k c_k / u.

    c is the absolute difference, 0 or 1 for columns that are codes (`is_code`), and 0 for NaN. Copies count as one
    point, as in `eocc.neighbours.exact.RowIndex`.
    """

    points: Matrix
    is_code: Flags
    weightings: Matrix
    first: Indices
    point_of: Indices
    counts: Indices

    @classmethod
    def of(cls, rows: Matrix, is_code: Flags, weightings: Matrix) -> "MixedIndex":
        """Index the rows."""
        first, point_of, counts = distinct_points(rows)
        return cls(np.ascontiguousarray(rows[first]), is_code, weightings, first, point_of, counts)

    def nearest(self, rows: Matrix, k: int) -> list[Lists]:
        """Return the k nearest points of each row, under each weighting; on all threads allowed."""
        shape = len(self.weightings), len(rows), k
        near, numbers = np.full(shape, np.inf), np.full(shape, -1)
        searches = list(zip(self._tiles, self.weightings, near, numbers, strict=True))

        def work(start: int, stop: int) -> None:
            for tiles, weights, own_near, own_numbers in searches:
                own = own_near[start:stop], own_numbers[start:stop]
                nearest_in_tiles(rows[start:stop], tiles, self.is_code, weights, *own)

        if len(rows) <= ROWS_PER_TASK:
            work(0, len(rows))
        else:
            for_each_block(len(rows), ROWS_PER_TASK, work, name=f"comparing {counted(len(rows), 'row')}")
        return [Lists(*one) for one in zip(near, numbers, strict=True)]

    @cached_property
    def _tiles(self) -> list[MixedTiles]:
        return [self._tiles_under(weights) for weights in self.weightings]

    def _tiles_under(self, weights: Matrix) -> MixedTiles:
        parts = self._cut(np.arange(len(self.points)), weights)
        shape = len(parts), self.points.shape[1]
        tiles, numbers = np.zeros((*shape, TILE)), np.full((len(parts), TILE), -1)
        low, high, codes = np.empty(shape), np.empty(shape), np.zeros(shape, np.uint64)
        for t, part in enumerate(parts):
            rows = self.points[part]
            tiles[t, :, : len(part)], numbers[t, : len(part)] = rows.T, part
            low[t], high[t] = rows.min(axis=0), rows.max(axis=0)
            codes[t] = np.bitwise_or.reduce(_bits(rows), axis=0)
        is_open = np.isnan(low)  # a gap is as near as can be
        low[is_open], high[is_open], codes[is_open] = -np.inf, np.inf, ALL_CODES
        return MixedTiles(tiles, numbers, *(np.ascontiguousarray(one.T) for one in (low, high, codes)))

    def _cut(self, places: Indices, weights: Matrix) -> list[Indices]:
        """Return the points in parts of TILE, cut where they differ most; the last part may be smaller."""
        if len(places) <= TILE:
            return [places]
        rows = np.nan_to_num(self.points[places])
        # The mean difference of two values; that of numbers up to their distribution.
        apart = weights * 1.13 * rows.std(axis=0)
        for k in np.flatnonzero(self.is_code & (weights > 0)):
            _, counts = np.unique(rows[:, k], return_counts=True)
            apart[k] = weights[k] * (1 - ((counts / len(rows)) ** 2).sum())
        order = places[np.argsort(rows[:, apart.argmax()], kind="stable")]
        middle = -(-len(places) // TILE) // 2 * TILE
        return [*self._cut(order[:middle], weights), *self._cut(order[middle:], weights)]


def _bits(rows: Matrix) -> Indices:
    codes = np.nan_to_num(rows).astype(np.int64) & 63
    return np.asarray(np.uint64(1) << codes.astype(np.uint64))
