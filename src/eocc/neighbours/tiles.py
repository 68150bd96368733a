"""Points -> tiles of equally many near points, each in a box; rows -> which tiles may hold near points.

A `MixedSearch` of rows of numbers and codes, under Gower's dissimilarity, compares a row with the points of a tile only
if the ranges and codes of the tile allow a point that is as near as the nearest found so far.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eocc.base.types import ROUNDING, Flags, Indices, Matrix
from eocc.kernels.gower import ALL_CODES, MixedTiles, nearest_in_tiles
from eocc.kernels.products import LONGEST_ROW, box_bounds


@dataclass(frozen=True, eq=False)
class Tiles:
    """The `order` of the points, in tiles of `size`, and the boxes (d, tiles) from `lows` to `highs` that hold these.

    A tree of cuts leads to the tiles: a row whose column `columns[q]` is above `cuts[q]` goes from node q to node
    children[q, 1], else to children[q, 0]; a node -1 - t is tile t. New points are in the tiles from `first_new` on.
    """

    order: Indices
    lows: Matrix
    highs: Matrix
    columns: Indices
    cuts: Matrix
    children: Indices
    first_new: int

    @classmethod
    def of(
        cls, points: Matrix, size: int, spreads: Callable[[Matrix], Matrix] | None = None, is_new: Flags | None = None
    ) -> "Tiles":
        """Cut the points in half along the column that spreads most, again and again, into tiles of `size`.

        Those that are `is_new` are in tiles of their own, with a few others.
        """
        n = len(points)
        order = np.arange(n) if is_new is None else np.argsort(is_new, kind="stable")
        first_new = -(-n // size) if is_new is None else int((~is_new).sum()) // size
        nodes: list[tuple[int, float]] = [(0, np.inf)]  # every row goes to the first child
        children: list[list[int]] = [[]]

        def cut(start: int, stop: int) -> int:
            """Order the points of a node, and return its number."""
            n_tiles = -(-(stop - start) // size)
            if n_tiles == 1:
                return -1 - start // size
            some = points[order[start:stop]]
            column = int((some.var(0) if spreads is None else spreads(some)).argmax())
            middle = n_tiles // 2 * size
            values = some[:, column]
            places = np.argpartition(values, middle)
            order[start:stop] = order[start:stop][places]
            number = len(nodes)
            nodes.append((column, float(values[places[middle]])))
            children.append([])
            children[number] = [cut(start, start + middle), cut(start + middle, stop)]
            return number

        middle = min(first_new * size, n)
        parts = [cut(start, stop) for start, stop in ((0, middle), (middle, n)) if start < stop]
        children[0] = [parts[0], parts[-1]]
        sorted_points, starts = points[order], np.arange(0, n, size)
        lows, highs = (np.ascontiguousarray(f.reduceat(sorted_points, starts).T) for f in (np.minimum, np.maximum))
        columns, cuts = np.array(nodes).T
        return cls(order, lows, highs, columns.astype(np.int64), cuts, np.array(children), first_new)

    def sorted(self, rows: Matrix) -> Indices:
        """Return the rows in the order of their tiles."""
        nodes = np.zeros(len(rows), np.int64)
        while (inner := np.flatnonzero(nodes >= 0)).size:
            here = nodes[inner]
            is_above = rows[inner, self.columns[here]] > self.cuts[here]
            nodes[inner] = self.children[here, is_above.astype(np.int64)]
        return np.argsort(-nodes, kind="stable")

    def bound(self, rows: Matrix, lengths: Matrix, step: int) -> tuple[Matrix, Indices]:
        """Return a lower bound (m, tiles) of the squared distance to a tile, and the tiles by it for `step` rows each.

        No point is longer than 1. `lengths` are those of the rows. Against rounding, boxes grow, and bounds are lower.
        """
        bounds = np.empty((len(rows), self.lows.shape[1]))
        box_bounds(rows, 8 * np.finfo(float).eps * (lengths + 1), self.lows, self.highs, bounds)
        bounds *= 1 - ROUNDING
        bounds[~(lengths <= LONGEST_ROW)] = 0.0
        least = np.minimum.reduceat(bounds, np.arange(0, len(rows), step))
        return bounds, np.argsort(least, axis=1, kind="stable")


# Points in a tile: with 8,192 points of 5 columns, half or twice as many take up to a third longer.
TILE = 64


class MixedSearch:
    """Finds the nearest of points (n, u): sum_k p_k c_k / u, p the `weights`.

    c is the absolute difference, 0 or 1 for columns that are codes (`is_code`), and 0 for NaN.
    """

    def __init__(self, points: Matrix, weights: Matrix, is_code: Flags) -> None:
        self.weights, self.is_code = weights, is_code
        order = Tiles.of(np.nan_to_num(points), TILE, self._spreads).order
        rows, starts = points[order], np.arange(0, len(points), TILE)
        tiles, numbers = np.zeros((len(starts) * TILE, rows.shape[1])), np.full(len(starts) * TILE, -1)
        tiles[: len(rows)], numbers[: len(rows)] = rows, order
        low, high = (f.reduceat(rows, starts) for f in (np.minimum, np.maximum))
        bits = np.uint64(1) << (np.nan_to_num(rows).astype(np.int64) & 63).astype(np.uint64)
        codes = np.bitwise_or.reduceat(bits, starts)
        is_open = np.isnan(low)  # a gap is as near as can be
        low[is_open], high[is_open], codes[is_open] = -np.inf, np.inf, ALL_CODES
        columns = np.ascontiguousarray(tiles.reshape(len(starts), TILE, -1).transpose(0, 2, 1))
        bounds = (np.ascontiguousarray(one.T) for one in (low, high, codes))
        self.tiles = MixedTiles(columns, numbers.reshape(-1, TILE), *bounds)

    def _spreads(self, rows: Matrix) -> Matrix:
        """Return the mean difference of two values of each column; that of numbers up to their distribution."""
        apart = self.weights * 1.13 * rows.std(axis=0)
        for k in np.flatnonzero(self.is_code & (self.weights > 0)):
            counts = np.unique(rows[:, k], return_counts=True)[1]
            apart[k] = self.weights[k] * (1 - ((counts / len(rows)) ** 2).sum())
        return np.asarray(apart)

    def nearest(self, rows: Matrix, k: int) -> tuple[Matrix, Indices]:
        """Return the dissimilarities to the k nearest points and their numbers, (1, m, k) each."""
        near, numbers = np.full((len(rows), k), np.inf), np.full((len(rows), k), -1)
        nearest_in_tiles(rows, self.tiles, self.is_code, self.weights, near, numbers)
        return near[None], numbers[None]
