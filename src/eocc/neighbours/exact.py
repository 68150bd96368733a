"""Rows of numbers -> the exact nearest of them, under several weightings of the Euclidean distance.

With few rows, all distances. With more, points are in tiles of near ones. For the tiles that may hold near points, a
matrix product in single precision gives all distances up to a known rounding error, and only the few points that may be
among the nearest are compared exactly. An earlier search among mostly the same points leaves even fewer.
"""

from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eocc.base.threads import for_each_block, one_blas_thread
from eocc.base.types import ROUNDING, TINY, Flags, Indices, Matrix
from eocc.base.wording import counted
from eocc.kernels.products import LANE, Points, Queries, Scratch, nearest_by_products
from eocc.kernels.smallest import Lists, nearest_by_scan
from eocc.neighbours.tiles import MixedSearch, Tiles

# Below this share of known points all are searched anew. It changes times, not results; the value was not tuned.
MOSTLY_KNOWN = 0.75
# Points in another unit are off by this share of the largest: the rounding of a few operations.
UNIT_ERROR = 1e-14
# The square of a smaller floor loses digits.
LEAST_FLOOR = 1e-140


class Known(NamedTuple):
    """What is known of the nearest points of each of n points, so that few others need to be compared with it.

    Points other than those listed in `near` (n, l), -1 for none, and those that are `is_new` (n,), are at least floors
    (v, n) away under each weighting.
    """

    near: Indices
    floors: Matrix
    is_new: Flags


class Searched(NamedTuple):
    """A search of points (n, d) among themselves, under weightings (v, d); `rows` are the points before any scaling.

    It listed the points `near` (n, v k); under each weighting the others are at least floors (v, n) away.
    """

    rows: Matrix
    points: Matrix
    weightings: Matrix
    near: NDArray[np.int32]
    floors: Matrix

    def known(self, rows: Matrix, points: Matrix, weightings: Matrix) -> Known | None:
        """Return what this search knows of the nearest of other points under other weightings; None if too little."""
        n = len(self.points)
        if weightings.shape != self.weightings.shape:
            return None
        places = distinct_points(np.vstack([self.rows, rows]))[1][n:]
        old, kept = places[places < n], np.flatnonzero(places < n)
        if len(kept) < MOSTLY_KNOWN * len(points):
            return None
        # The unit of the points may have changed: a linear map of every column leads from the old points to the new,
        # up to rounding. It changes a squared distance by the least ratio of the weights, or more.
        before, now, columns = self.points[old], points[kept], np.arange(points.shape[1])
        low, high = before.argmin(axis=0), before.argmax(axis=0)
        spans = before[high, columns] - before[low, columns]
        slopes = np.where(spans > 0, (now[high, columns] - now[low, columns]) / np.where(spans > 0, spans, 1.0), 1.0)
        error = UNIT_ERROR * np.abs(now).max(axis=0)
        expected = (before - before[low, columns]) * slopes + now[low, columns]
        is_same = (np.abs(now - expected) <= error).all(axis=1)
        old, kept = old[is_same], kept[is_same]
        if len(kept) < MOSTLY_KNOWN * len(points):
            return None
        is_new = np.ones(len(points), bool)
        is_new[kept] = False
        numbers, near = np.full(n, -1), np.full((len(points), self.near.shape[1]), -1)
        numbers[old] = kept
        near[kept] = np.where(self.near[old] >= 0, numbers[self.near[old]], -1)
        near.sort(axis=1)
        near[:, 1:][near[:, 1:] == near[:, :-1]] = -1
        floors = np.zeros((len(weightings), len(points)))
        for floor, own, p, q in zip(floors, self.floors, self.weightings, weightings, strict=True):
            shrinks, rounding = np.sqrt(ratios(p, q * slopes**2)[0]), 4 * np.sqrt((q * error**2).sum())
            floor[kept] = (1 - ROUNDING) * shrinks * own[old] - rounding
        floors[floors < LEAST_FLOOR] = 0.0
        return Known(near, floors, is_new)


def distinct_points(rows: Matrix) -> tuple[Indices, Indices, Indices]:
    """Return the first row of each different one, in their order; which of these each row is; and how often each is."""
    # As bytes, in which 0.0 and -0.0 differ.
    bits = np.ascontiguousarray(rows + 0.0).view(f"V{8 * rows.shape[1]}").ravel()
    _, first, inverse, counts = np.unique(bits, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse], counts[order]


def ratios(first: Matrix, second: Matrix) -> tuple[float, float]:
    """Return the least and the greatest ratio of a squared distance under `second` to that under `first`."""
    active = first > 0
    if (second[~active] > 0).any() or not active.any():
        return 0.0, np.inf
    found = second[active] / first[active]
    return float(found.min()), float(found.max())


# Up to this many values, of which a row counts at most 20, all distances are computed: that compiles in a fraction of
# the time of products.
SCAN_VALUES = 10_240
ROWS_PER_TASK = 1024
# Rows of a matrix product: with 32, scoring takes 1.2 times as long (10,000 x 10).
ROWS_AT_A_TIME = 96
# Points of a tile, and tiles that are compared at a time.
TILE, TILES_AT_A_TIME = 512, 8
# Two weightings share a filter if it saves time: a point that passes costs as much as this many terms of products, of
# which a row has n (d + 10).
PER_PASS = 2000
N_FEW = 8  # what `few` nearest points means where a few points are tried out


@dataclass(frozen=True, eq=False)
class RowIndex:
    """Finds the nearest of `rows` (n, d) under each of `weightings` (v, d): sqrt(sum_k p_k (x_k - y_k)^2).

    If some columns are codes (`is_code`), the distance is that of `eocc.neighbours.tiles`. Copies count as one point.
    Point j is row first[j] and occurs counts[j] times, again as row second[j]; row i is point point_of[i], and point_of
    ends with -1.

    >>> index = RowIndex.of(np.array([[0.0], [1.0], [1.0], [4.0]]), np.ones((1, 1)))
    >>> index.nearest(np.array([[1.5]]), 2)[0].numbers, index.counts
    (array([[1, 0]]), array([1, 2, 1]))
    """

    points: Matrix
    weightings: Matrix
    first: Indices
    second: Indices
    point_of: Indices
    counts: Indices
    is_code: Flags | None = None
    known: Known | None = None

    @classmethod
    def of(
        cls, rows: Matrix, weightings: Matrix, is_code: Flags | None = None, before: Any = None, raw: Any = None
    ) -> "RowIndex":
        """Index the rows; a search `before` among most of the `raw` rows saves time in `among_itself`."""
        first, point_of, counts = distinct_points(rows)
        second = np.argsort(point_of, kind="stable")[np.cumsum(counts) - counts + np.minimum(counts, 2) - 1]
        points = np.ascontiguousarray(rows[first])
        is_large = len(points) * min(rows.shape[1], 20) > SCAN_VALUES
        known = before.known(raw[first], points, weightings) if before is not None and is_large else None
        return cls(points, weightings, first, second, np.append(point_of, -1), counts, is_code, known)

    def among_itself(self, k: int, raw: Matrix) -> tuple[list[Lists], Searched]:
        """Return the k nearest points of each point, itself among them, and what a later search may use of them.

        Where some are known, at least k - 1 are listed. `raw` are all rows before any scaling.
        """
        lists = self.nearest(self.points, k, None if self.known is None else self.known.near)
        if self.known is not None:
            is_short = np.zeros(len(self.points), bool)
            for (distances, numbers), floors in zip(lists, self.known.floors[:, :, None], strict=True):
                numbers[distances >= floors] = -1
                np.minimum(distances, floors, out=distances)
                is_short |= numbers[:, -2] < 0
            places = np.flatnonzero(is_short)
            for whole, part in zip(lists, self.nearest(self.points[places], k), strict=True):
                whole.distances[places], whole.numbers[places] = part
        near = np.hstack([numbers for _, numbers in lists]).astype(np.int32)
        floors = np.array([distances[:, -1] for distances, _ in lists])
        return lists, Searched(raw[self.first], self.points, self.weightings, near, floors)

    def nearest(self, rows: Matrix, k: int, near: Indices | None = None) -> list[Lists]:
        """Return the k nearest points of each row, under each weighting; on all threads allowed.

        With `near` (m, l), only the points listed there for each row, new ones, and a few others are compared.
        """
        size = len(self.weightings), len(rows), k
        distances, numbers = np.empty(size), np.empty(size, np.int64)
        searches = self._searches
        has_products = isinstance(searches[0][0], _Products)
        order = searches[0][0].sorted(rows) if has_products else np.arange(len(rows))

        def work(start: int, stop: int) -> None:
            some = order[start:stop]
            for search, own in searches:
                known = () if near is None else (near[some],)
                distances[own, some], numbers[own, some] = search.nearest(rows[some], k, *known)

        with one_blas_thread() if has_products else nullcontext():
            if len(rows) <= ROWS_PER_TASK:
                work(0, len(rows))
            else:
                for_each_block(len(rows), ROWS_PER_TASK, work, name=f"comparing {counted(len(rows), 'row')}")
        return [Lists(*one) for one in zip(distances, numbers, strict=True)]

    @cached_property
    def _searches(self) -> list[tuple[Any, slice]]:
        """The searches, each with the weightings that it serves."""
        (n, d), points, single = self.points.shape, self.points, [slice(t, t + 1) for t in range(len(self.weightings))]
        if self.is_code is not None:
            return [(MixedSearch(points, self.weightings[t.start], self.is_code), t) for t in single]
        if n * min(d, 20) <= SCAN_VALUES:
            return [(Scan(points, self.weightings[t.start]), t) for t in single]
        centre, is_new = np.median(points, axis=0), self.known and self.known.is_new
        if len(single) == 2 and _can_share(points - centre, self.weightings):
            single = [slice(0, 2)]
        return [(_Products(points, self.weightings[t], centre, is_new), t) for t in single]


def _can_share(centred: Matrix, weightings: Matrix) -> bool:
    """Return whether one filter for both weightings is cheaper than two: whether few points pass that are not near."""
    (n, d), base = centred.shape, np.sqrt(weightings[0] * weightings[-1])
    bounds = [ratios(base, p) for p in weightings]
    if not all(least > 0 for least, _ in bounds):
        return False
    limits = [_near(centred * np.sqrt(p))[2] / least for p, (least, _) in zip(weightings, bounds, strict=True)]
    passing = (_near(centred * np.sqrt(base))[1] <= np.max(limits, axis=0)[:, None]).sum(axis=1)
    return bool((np.median(passing) - N_FEW) * PER_PASS < n * (d + 10))


def _near(placed: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return, of some points, the squared lengths, squared distances to all points, and those to the few-th nearest."""
    some = placed[np.unique(np.linspace(0, len(placed) - 1, 16).astype(np.int64))]
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.einsum("ij,ij->i", some, some)
        squares = lengths[:, None] + np.einsum("ij,ij->i", placed, placed) - 2 * (some @ placed.T)
    few = min(len(placed) - 1, N_FEW)
    return lengths, squares, np.partition(squares, few, axis=1)[:, few]


class Scan(NamedTuple):
    """All distances from few points."""

    points: Matrix
    weights: Matrix

    def nearest(self, rows: Matrix, k: int) -> tuple[Matrix, Indices]:
        """Return the distances to the k nearest points and their numbers, (1, m, k) each."""
        squares, found, roots = np.full((len(rows), k), np.inf), np.full((len(rows), k), -1), np.sqrt(self.weights)
        columns = np.ascontiguousarray((self.points * roots).T)
        nearest_by_scan(rows * roots, columns, np.empty(len(self.points)), squares, found)
        return np.sqrt(squares)[None], found[None]


class _Products:
    """Products with all points in single precision, in a unit in which the longest point has length 1.

    The weightings share products under weights between them. Rows are compared only with the tiles that may hold near
    points.
    """

    def __init__(self, points: Matrix, weightings: Matrix, centre: Matrix, is_new: Flags | None = None) -> None:
        # Weights between the weightings bound the distances under each.
        (n, d), base = points.shape, np.sqrt(weightings[0] * weightings[-1])
        self.roots, self.centre = np.sqrt(base), centre
        placed = (points - self.centre) * self.roots
        lengths = np.sqrt(np.einsum("ij,ij->i", placed, placed))
        unit = 1.0 / (float(lengths.max()) or 1.0)
        placed, lengths = placed * unit, lengths * unit
        least, most = np.array([ratios(base, p) for p in weightings]).T.copy()
        self.tiles = Tiles.of(placed, TILE, is_new=is_new)
        order, n_tiles = self.tiles.order, -(-n // TILE)
        self.place_of = np.append(np.argsort(order), -1)
        self.place_of[self.place_of >= self.tiles.first_new * TILE] = -1  # compared in any case
        n_places = n_tiles * TILE if n_tiles > 1 else -(-n // LANE) * LANE  # padding is infinitely far away
        ids, sorted_points = np.full(n_places, -1), np.zeros((n_places, d))
        ids[:n], sorted_points[:n] = order, points[order]
        lengths = np.append(lengths[order], np.full(n_places - n, np.inf))
        columns = np.zeros((n_places, d + 1))
        columns[:n, :d], columns[:, d] = -2 * placed[order], lengths**2
        # Rounding errors that are larger than the squared distance to the near points would let too many points pass.
        lengths_of_some, _, near = _near(placed)
        errors = 4 * _rounding(d, np.float32) * lengths_of_some + np.finfo(np.float32).tiny
        with np.errstate(over="ignore"):
            dtype: Any = np.float32 if np.median(errors / np.maximum(near, TINY)) < 0.125 else np.float64
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
        return self.tiles.sorted(self._placed(rows))

    def _placed(self, rows: Matrix) -> Matrix:
        return np.asarray((rows - self.centre) * (self.roots * self.points.unit))

    def nearest(self, rows: Matrix, k: int, near: Indices | None = None) -> tuple[Matrix, Indices]:
        """Return the distances to the k nearest points and their numbers, (weightings, m, k) each.

        With `near` (m, l), only those points, and the tiles of new points, are compared.
        """
        points, placed, m, v = self.points, self._placed(rows), len(rows), len(self.points.weights)
        dtype, lengths = points.tiles.dtype, np.sqrt(np.einsum("ij,ij->i", placed, placed))
        left = np.ones((m, rows.shape[1] + 1), dtype)
        with np.errstate(over="ignore", invalid="ignore"):
            left[:, :-1] = placed
        n_tiles, n_columns, n_places = points.tiles.shape
        step, at_a_time = max(1, min(ROWS_AT_A_TIME, m)), min(n_tiles, TILES_AT_A_TIME)
        with np.errstate(over="ignore"):
            bounds, turns = self.tiles.bound(placed, lengths, step)
        known = np.empty((m, 0), np.int64)
        if near is not None:
            turns, known = turns[turns >= self.tiles.first_new].reshape(len(turns), -1), self.place_of[near]
        squares, found, w = np.full((m, v, k), np.inf), np.full((m, v, k), -1), n_places // LANE
        scratch = Scratch(
            np.empty((step, n_columns), dtype), np.empty((at_a_time, step, n_places), dtype),
            np.empty((step, at_a_time, w), dtype), np.empty((step, at_a_time), dtype), np.empty(step),
            np.empty(step, np.int64), np.empty((step, at_a_time), np.int64), np.full(m, np.inf), np.empty((1, k)),
            np.empty((1, k), np.int64),
        )  # fmt: skip
        queries = Queries(left, np.ascontiguousarray(rows), lengths, bounds, known)
        nearest_by_products(queries, points, turns, scratch, squares.reshape(m * v, k), found.reshape(m * v, k))
        return np.sqrt(squares).transpose(1, 0, 2), found.transpose(1, 0, 2)


def _rounding(n_columns: int, dtype: Any) -> float:
    """Return a bound of the error of a product over (|x| + |y|)^2.

    The worst case is below 3 d + 12 units of rounding: in the sum of d + 1 terms, in their factors and in the lengths.
    """
    return float((4 * n_columns + 16) * np.finfo(dtype).eps / 2)
