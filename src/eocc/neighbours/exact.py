"""Rows of numbers -> the exact nearest of them, under several weightings of the Euclidean distance.

With few rows, all distances. With few columns, a k-d tree. With more of both, a matrix product in single precision
gives all distances up to a known rounding error, and only the few points that may be among the nearest are compared
exactly.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted
from eocc.kernels.products import LANE, Points, Queries, Scratch, nearest_by_products
from eocc.kernels.scan import nearest_by_scan
from eocc.neighbours.tiles import Tiles

TREE_COLUMNS = 5  # up to this many columns a k-d tree is faster than products
# Up to so many rows, or values, all distances are computed: that compiles in a fraction of the time of products, and
# needs no k-d tree, which takes longer to import than a command may take.
SCAN_ROWS, SCAN_VALUES = 512, 10_240
ROWS_PER_TASK = 1024
# Rows, and points of a tile, that are multiplied at a time; with many columns, long sums.
BLOCK, LONG_BLOCK, LONG = (32, 2048), (128, 512), 32
# More points than MANY are in tiles of SMALL_TILE near ones, compared so many at a time.
MANY, SMALL_TILE, TILES_AT_A_TIME = 2**15, 512, 8
# Two weightings share a filter if it surely passes less than this many times as many points as are near, or if it
# saves time: a point that passes costs as much as PER_PASS terms of products, of which a row has n (d + PER_POINT).
FEW_MORE, PER_PASS, PER_POINT = 2.0, 2000, 10
# Rounding errors above this share of the squared distance to the nearest few let too many points pass.
TOO_COARSE = 0.125
N_TRIED, N_FEW = 16, 8  # points that are tried to find these out, and what `few` means

# Keeps a division finite.
LEAST = 1e-300


class Lists(NamedTuple):
    """The nearest points of each row, ascending: `distances` and `numbers` (m, k); infinity and -1 if there are fewer.

    Of listed points at the same distance, the one with the lower number comes first. Which of several points as far as
    the last one are listed is not specified.
    """

    distances: Matrix
    numbers: Indices


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Finds the nearest of `rows` (n, d) under each of `weightings` (v, d): sqrt(sum_k p_k (x_k - y_k)^2).

    Copies count as one point. Point j is row first[j] and occurs counts[j] times; row i is point point_of[i].

    >>> index = RowIndex.of(np.array([[0.0], [1.0], [1.0], [4.0]]), np.ones((1, 1)))
    >>> index.nearest(np.array([[1.5]]), 2)[0].numbers, index.counts
    (array([[1, 0]]), array([1, 2, 1]))
    """

    points: Matrix
    weightings: Matrix
    first: Indices
    point_of: Indices
    counts: Indices

    @classmethod
    def of(cls, rows: Matrix, weightings: Matrix) -> "RowIndex":
        """Index the rows."""
        first, point_of, counts = distinct_points(rows)
        return cls(np.ascontiguousarray(rows[first]), weightings, first, point_of, counts)

    def nearest(self, rows: Matrix, k: int) -> list[Lists]:
        """Return the k nearest points of each row, under each weighting; on all threads allowed."""
        size = len(self.weightings), len(rows), k
        distances, numbers = np.empty(size), np.empty(size, np.int64)
        searches = self._searches
        order = searches[0][0].sorted(rows)

        def work(start: int, stop: int) -> None:
            some = order[start:stop]
            for search, own in searches:
                distances[own, some], numbers[own, some] = search.nearest(rows[some], k)

        with one_blas_thread() if isinstance(searches[0][0], _Products) else nullcontext():
            if len(rows) <= ROWS_PER_TASK:
                work(0, len(rows))
            else:
                for_each_block(len(rows), ROWS_PER_TASK, work, name=f"comparing {counted(len(rows), 'row')}")
        return [Lists(*one) for one in zip(distances, numbers, strict=True)]

    @cached_property
    def _searches(self) -> "list[tuple[_Tree | _Scan | _Products, slice]]":
        """The searches, each with the weightings that it serves."""
        v, d = self.weightings.shape
        is_small = len(self.points) <= SCAN_ROWS or self.points.size <= SCAN_VALUES
        if is_small or d <= TREE_COLUMNS:
            search = _Scan if is_small else _Tree
            return [(search(self.points, p), slice(t, t + 1)) for t, p in enumerate(self.weightings)]
        centre = np.median(self.points, axis=0)
        if v == 2 and _can_share(self.points - centre, self.weightings):
            return [(_Products(self.points, self.weightings, centre), slice(0, 2))]
        return [(_Products(self.points, p[None], centre), slice(t, t + 1)) for t, p in enumerate(self.weightings)]


def distinct_points(rows: Matrix) -> tuple[Indices, Indices, Indices]:
    """Return the first row of each different one, in their order; which of these each row is; and how often each is."""
    # As bytes, in which 0.0 and -0.0 differ.
    bits = np.ascontiguousarray(rows + 0.0).view(f"V{8 * rows.shape[1]}").ravel()
    _, first, inverse, counts = np.unique(bits, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse], counts[order]


def _base(weightings: Matrix) -> Matrix:
    """Return the weights of the products: between the weightings, so that they bound the distances under each."""
    return np.asarray(np.sqrt(weightings[0] * weightings[-1]))


def _ratios(first: Matrix, second: Matrix) -> tuple[float, float]:
    """Return the least and the greatest ratio of a squared distance under `second` to that under `first`."""
    active = first > 0
    if (second[~active] > 0).any() or not active.any():
        return 0.0, np.inf
    ratios = second[active] / first[active]
    return float(ratios.min()), float(ratios.max())


def _can_share(centred: Matrix, weightings: Matrix) -> bool:
    """Return whether one filter for both weightings is cheaper than two: whether few points pass that are not near."""
    (n, d), base = centred.shape, _base(weightings)
    ratios = [_ratios(base, p) for p in weightings]
    if not all(least > 0 for least, _ in ratios):
        return False
    if d / 2 * np.log(max(most / least for least, most in ratios)) < np.log(FEW_MORE):
        return True
    limits = [_near(centred * np.sqrt(p))[2] / least for p, (least, _) in zip(weightings, ratios, strict=True)]
    passing = (_near(centred * np.sqrt(base))[1] <= np.max(limits, axis=0)[:, None]).sum(axis=1)
    return bool((np.median(passing) - N_FEW) * PER_PASS < n * (d + PER_POINT))


def _near(placed: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return, of some points, the squared lengths, squared distances to all points, and those to the few-th nearest."""
    some = placed[np.unique(np.linspace(0, len(placed) - 1, N_TRIED).astype(np.int64))]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.einsum("ij,ij->i", some, some)
        squares = lengths[:, None] + np.einsum("ij,ij->i", placed, placed) - 2 * (some @ placed.T)
    few = min(len(placed) - 1, N_FEW)
    return lengths, squares, np.partition(squares, few, axis=1)[:, few]


class _Tree:
    def __init__(self, points: Matrix, weights: Matrix) -> None:
        self.roots = np.sqrt(weights)
        # Split in the middle, not at the median, which cannot separate many equal values.
        self.tree = scipy.spatial.cKDTree(points * self.roots, balanced_tree=False, compact_nodes=False)

    def sorted(self, rows: Matrix) -> Indices:
        return np.arange(len(rows))

    def nearest(self, rows: Matrix, k: int) -> tuple[Matrix, Indices]:
        found, near = self.tree.query(rows * self.roots, np.arange(1, k + 1))
        near[near == self.tree.n] = -1
        order = np.lexsort((near, found), axis=1)
        return np.take_along_axis(found, order, 1)[None], np.take_along_axis(near, order, 1)[None]


class _Scan:
    def __init__(self, points: Matrix, weights: Matrix) -> None:
        self.roots = np.sqrt(weights)
        self.columns = np.ascontiguousarray((points * self.roots).T)

    def sorted(self, rows: Matrix) -> Indices:
        return np.arange(len(rows))

    def nearest(self, rows: Matrix, k: int) -> tuple[Matrix, Indices]:
        squares, found = np.full((len(rows), k), np.inf), np.full((len(rows), k), -1)
        nearest_by_scan(rows * self.roots, self.columns, np.empty(self.columns.shape[1]), squares, found)
        return np.sqrt(squares)[None], found[None]


class _Products:
    """Products with all points in single precision, in a unit in which the longest point has length 1.

    The weightings share products under weights between them. Many points are in tiles that are near each other, and
    rows are compared only with the tiles that may hold near points.
    """

    def __init__(self, points: Matrix, weightings: Matrix, centre: Matrix) -> None:
        (n, d), base = points.shape, _base(weightings)
        self.roots, self.centre = np.sqrt(base), centre
        placed = (points - self.centre) * self.roots
        lengths = np.sqrt(np.einsum("ij,ij->i", placed, placed))
        unit = 1.0 / (float(lengths.max()) or 1.0)
        placed, lengths = placed * unit, lengths * unit
        least, most = np.array([_ratios(base, p) for p in weightings]).T.copy()
        self.step, tile = BLOCK if d <= LONG else LONG_BLOCK
        self.tiles = None
        if n > MANY:
            tile = SMALL_TILE
            self.tiles = Tiles.of(placed, tile)
        # Otherwise lanes of about the same distance from the median. Padding is infinitely far away.
        order = np.argsort(lengths, kind="stable") if self.tiles is None else self.tiles.order
        n_tiles = -(-n // tile)
        n_places = n_tiles * tile if n_tiles > 1 else -(-n // LANE) * LANE
        ids, sorted_points = np.full(n_places, -1), np.zeros((n_places, d))
        ids[:n], sorted_points[:n] = order, points[order]
        lengths = np.append(lengths[order], np.full(n_places - n, np.inf))
        columns = np.zeros((n_places, d + 1))
        columns[:n, :d], columns[:, d] = -2 * placed[order], lengths**2
        dtype: Any = np.float32 if _error(placed, np.float32) < TOO_COARSE else np.float64
        # In a tile (d + 1, places), point s of lane l has place s w + l, for w lanes.
        tiles = columns.astype(dtype).reshape(n_tiles, -1, LANE, d + 1).transpose(0, 3, 2, 1)
        reach = np.where(np.isfinite(lengths), lengths, 0.0).reshape(n_tiles, -1, LANE).max(axis=2)
        self.points = Points(
            sorted_points.reshape(-1, LANE, d), ids.reshape(-1, LANE),
            weightings, least, most, np.ascontiguousarray(tiles).reshape(n_tiles, d + 1, -1),
            reach.astype(dtype), unit, dtype(_rounding(d, dtype)), np.finfo(dtype).tiny,
        )  # fmt: skip

    def sorted(self, rows: Matrix) -> Indices:
        """Return the rows in an order in which near ones are compared together."""
        return np.arange(len(rows)) if self.tiles is None else self.tiles.sorted(self._placed(rows))

    def _placed(self, rows: Matrix) -> Matrix:
        return np.asarray((rows - self.centre) * (self.roots * self.points.unit))

    def nearest(self, rows: Matrix, k: int) -> tuple[Matrix, Indices]:
        """Return the distances to the k nearest points and their numbers, (weightings, m, k) each."""
        points, placed, m, v = self.points, self._placed(rows), len(rows), len(self.points.weights)
        dtype, lengths = points.tiles.dtype, np.sqrt(np.einsum("ij,ij->i", placed, placed))
        left = np.ones((m, rows.shape[1] + 1), dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            left[:, :-1] = placed
        step, (n_tiles, n_columns, n_places) = max(1, min(self.step, m)), points.tiles.shape
        bounds, turns = np.zeros((m, n_tiles)), np.tile(np.arange(n_tiles), (-(-m // step), 1))
        if self.tiles is not None:
            with np.errstate(over="ignore"):
                self.tiles.bound(placed, lengths, step, bounds, turns)
        squares, found = np.full((m, v, k), np.inf), np.full((m, v, k), -1)
        w, at_a_time = n_places // LANE, n_tiles if self.tiles is None else min(n_tiles, TILES_AT_A_TIME)
        scratch = Scratch(
            np.empty((step, n_columns), dtype), np.empty((at_a_time, step, n_places), dtype),
            np.empty((step, at_a_time, w), dtype), np.empty((step, at_a_time), dtype), np.empty(step),
            np.empty(step, np.int64), np.empty((step, at_a_time), np.int64), np.full(m, np.inf), np.empty(k),
            np.empty(k, np.int64),
        )  # fmt: skip
        queries = Queries(left, np.ascontiguousarray(rows), lengths, bounds)
        nearest_by_products(queries, points, turns, scratch, squares, found)
        return np.sqrt(squares).transpose(1, 0, 2), found.transpose(1, 0, 2)


def _rounding(n_columns: int, dtype: Any) -> float:
    """Return a bound of the error of a product over (|x| + |y|)^2.

    The worst case is below 3 d + 12 units of rounding: in the sum of d + 1 terms, in their factors and in the lengths.
    """
    return float((4 * n_columns + 16) * np.finfo(dtype).eps / 2)


def _error(placed: Matrix, dtype: Any) -> float:
    """Return the rounding error of products over the squared distance to the nearest few points, in the median."""
    lengths, _, near = _near(placed)
    error = 4 * _rounding(placed.shape[1], dtype) * lengths + np.finfo(dtype).tiny
    with np.errstate(over="ignore"):
        return float(np.median(error / np.maximum(near, LEAST)))
