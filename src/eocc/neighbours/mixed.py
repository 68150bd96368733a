"""Rows of numbers and codes -> the exact nearest of them, under Gower's dissimilarity.

The points are in tiles of similar ones. A row is compared with the points of a tile only if the ranges and codes of the
tile allow a point that is as near as the nearest found so far.
"""

import numpy as np

from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.gower import ALL_CODES, MixedTiles, nearest_in_tiles
from eocc.neighbours.tiles import Tiles

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
