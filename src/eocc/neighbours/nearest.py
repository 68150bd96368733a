"""Dissimilarity space -> the nearest neighbours of its rows, and a projection that tells which rows can be near.

The rows are an image of patterns under a smooth map, so that a few principal components hold nearly all of a short
distance. Neighbours are sought there and ranked by true distances. An orthonormal projection never lengthens a
distance: what is far apart in it is far apart.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Matrix
from eocc.kernels.distances import cross_distances, drop_spare_bits
from eocc.kernels.nearest import (
    gather_reverse_neighbours,
    leaf_bounds,
    meet_in_leaves,
    nn_descent_update,
    rank_candidates,
    sort_by_tree,
)
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.space.dissimilarity_space import distance_scale

Rows = NDArray[np.floating[Any]]
Points = NDArray[np.float32]
Indices = NDArray[np.int32]

EXACT_ROWS = 2048  # up to here all pairs are compared: 32 MiB of distances
EXACT_COLUMNS = 8  # up to here a k-d tree is faster than any approximation
BLOCK = 4096  # rows a thread works on at a time, so large that starting it costs nothing
WIDTH = 8  # columns come in whole vectors of single precision
SAMPLE = 8192  # rows that tell the principal components
QUERIES = 64  # of them, those whose neighbours tell how many components it takes
RECALL = 0.99  # the share of true neighbours that the projection must keep among its candidates
TREES = 4  # each cuts in other directions: points parted by one tree meet in another
LEAF = 128
SWEEPS = 10
SETTLED = 0.001  # the share of list entries that a last sweep may change
SEED = 0  # of the directions: the same rows have the same neighbours
LARGEST = 1e17  # coordinates stop here: their squares stay finite, and distances become no longer


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest rows of every row, nearest first, itself left out: `indices` and `distances`, both (n, k)."""

    indices: Indices
    distances: Matrix

    @property
    def k(self) -> int:
        """The number of neighbours of a row."""
        return int(self.indices.shape[1])


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows less `means`, on the orthonormal columns of `basis` (r, c); no distance between them becomes longer.

    >>> onto_first = Projection(np.zeros(2), np.array([[1.0], [0.0]]))
    >>> onto_first.points(np.array([[3.0, 4.0]])).tolist()
    [[3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]
    """

    means: Matrix
    basis: Matrix

    def points(self, rows: Rows) -> Points:
        """Return the projected rows in single precision, padded with zero columns to a multiple of 8."""
        n_columns = self.basis.shape[1]
        points = np.zeros((len(rows), -(-n_columns // WIDTH) * WIDTH), np.float32)
        with one_blas_thread():
            for start in range(0, len(rows), BLOCK):
                block = slice(start, start + BLOCK)
                projected = (rows[block] - self.means) @ self.basis
                points[block, :n_columns] = np.clip(projected, -LARGEST, LARGEST)
        return points


def projection_error(points: Points) -> float:
    """Return how much a distance between points may exceed the true one by rounding.

    Each point moved by at most u |x|, u = 2^-24, when it was rounded; the sum of c squares of differences, all
    of length at most 2 |x|, errs by a share of (c + 2) u at most, which the root halves.
    """
    longest = float(np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64).max(initial=0.0)))
    return float((points.shape[1] + 6) * 2.0**-24 * longest)


def fit_projection(rows: Rows, k: int) -> Projection:
    """Return the projection on the fewest principal components that keep the neighbours.

    They keep them when, for rows of a sample, 99 % of the k nearest are among the candidates in the projection. Share
    of variance would not do: a few far clusters hold all of it, and say nothing of neighbours.

    >>> line = np.outer(np.arange(40.0), np.ones(16))
    >>> fit_projection(line, k=2).basis.shape
    (16, 8)
    """
    sample = np.asarray(rows[_evenly(len(rows), SAMPLE)], dtype=np.float64)
    means = sample.mean(axis=0)
    sample -= means
    with one_blas_thread():
        basis = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
        n_components = _components_needed(sample, sample @ basis, k)
    return Projection(means, np.ascontiguousarray(basis[:, :n_components]))


def _components_needed(sample: Matrix, projected: Matrix, k: int) -> int:
    queries = _evenly(len(sample), QUERIES)
    k = min(k, len(sample) - 1)
    wide = min(n_candidates(k), len(sample) - 1)
    if k == 0:
        return min(WIDTH, int(sample.shape[1]))
    gaps = np.zeros((len(queries), len(sample)))
    true_gaps = np.array([np.square(sample - sample[query]).sum(axis=1) for query in queries])
    # A row is its own nearest neighbour: k + 1 of the one against wide + 1 of the other.
    is_near = true_gaps <= np.partition(true_gaps, k, axis=1)[:, k, None]
    for start in range(0, sample.shape[1], WIDTH):
        for column in projected[:, start : start + WIDTH].T:
            gaps += np.square(column - column[queries, None])
        is_candidate = gaps <= np.partition(gaps, wide, axis=1)[:, wide, None]
        if np.count_nonzero(is_near & is_candidate) >= RECALL * np.count_nonzero(is_near):
            break
    return min(start + WIDTH, int(sample.shape[1]))


def _evenly(n: int, count: int) -> NDArray[np.int64]:
    """Return at most `count` of 0..n-1, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def n_candidates(k: int) -> int:
    """Return how many neighbours in the projection are ranked by true distances."""
    return k + max(10, k // 2)


def nearest_neighbours(rows: Rows, k: int) -> Neighbours:
    """Return the k nearest neighbours of every row, by ||a - b||_2 / sqrt(r); ties to the lower row.

    Exact for up to 2048 rows (or k above an eighth of n) and for up to 8 columns, where of neighbours tied in
    the last place any may be kept. Else approximate, with the exact distances: usually 99 % of the neighbours are
    the true ones, see `sampled_recall`. The number of threads changes nothing.

    >>> nearest_neighbours(np.array([[0.0], [1.0], [3.0]]), k=1).indices.tolist()
    [[1], [0], [1]]
    """
    rows = _checked_rows(rows)
    if not isinstance(k, int | np.integer) or not 1 <= k < len(rows):
        raise ValueError(f"k must be an integer in 1..{len(rows) - 1}, one less than the rows; got {k}")
    if len(rows) <= EXACT_ROWS or 8 * n_candidates(k) > len(rows):
        return _by_all_pairs(rows, k)
    return _by_tree(rows, k) if rows.shape[1] <= EXACT_COLUMNS else _by_descent(rows, k)


def _checked_rows(rows: Rows) -> Rows:
    rows = np.ascontiguousarray(rows)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"rows must be a matrix of patterns by prototypes, not of shape {rows.shape}")
    if rows.dtype not in (np.float32, np.float64):
        raise ValueError(f"rows must be float32 or float64, not {rows.dtype}; convert them first")
    return rows


def _by_all_pairs(rows: Rows, k: int) -> Neighbours:
    distances = euclidean_pairwise_distance(rows.astype(np.float64), distance_scale(rows.shape[1]))
    drop_spare_bits(distances.reshape(-1).view(np.int64))
    np.fill_diagonal(distances, -1.0)  # so that a row comes before its copies, to be left out
    indices = np.argsort(distances, axis=1, kind="stable")[:, 1 : k + 1]
    return Neighbours(indices.astype(np.int32), np.take_along_axis(distances, indices, axis=1))


def _by_tree(rows: Rows, k: int) -> Neighbours:
    # Cells halved in the middle, not at the median: many copies of one row cannot be parted at a median.
    tree = cKDTree(rows, balanced_tree=False, compact_nodes=False)
    indices, distances = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))

    def work(start: int, stop: int) -> None:
        gaps, near = tree.query(rows[start:stop], k + 1)
        is_own = near == np.arange(start, stop)[:, None]
        is_own[~is_own.any(axis=1), -1] = True  # more than k copies of a row: it may be absent itself
        gaps = gaps[~is_own].reshape(-1, k) * distance_scale(rows.shape[1])
        near = near[~is_own].reshape(-1, k)
        drop_spare_bits(gaps.reshape(-1).view(np.int64))
        order = np.lexsort((near, gaps), axis=1)
        indices[start:stop] = np.take_along_axis(near, order, axis=1)
        distances[start:stop] = np.take_along_axis(gaps, order, axis=1)

    for_each_block(len(rows), BLOCK, work)
    return Neighbours(indices, distances)


@dataclass(frozen=True, eq=False)
class PointTree:
    """Points in the order of a balanced k-d tree: leaf l is points[bounds[l]:bounds[l + 1]]; ids are their rows."""

    points: Points
    ids: Indices
    bounds: NDArray[np.int64]

    @classmethod
    def of(cls, points: Points, leaf: int) -> "PointTree":
        """Sort a copy of the points into leaves of at most that many."""
        points, n = points.copy(), len(points)
        n_leaves = 1 << max(0, int(np.ceil(np.log2(n / leaf))))
        bounds, ids = np.empty(n_leaves + 1, np.int64), np.arange(n, dtype=np.int32)
        leaf_bounds(n, n_leaves, bounds)
        sort_by_tree(points, ids, bounds, np.empty_like(points), np.empty_like(ids), np.empty(n, np.float32))
        return cls(points, ids, bounds)


def _by_descent(rows: Rows, k: int) -> Neighbours:
    """Start from neighbours that share a leaf of one of several trees, then ask neighbours for theirs."""
    points = fit_projection(rows, k).points(rows)
    slack = projection_error(points)
    leaf = max(LEAF, 4 * n_candidates(k))
    tree = PointTree.of(points, leaf)
    del points
    lists = _Lists.of_size(len(rows), n_candidates(k))
    lists.meet_in_leaves(PointTree(tree.points, np.arange(len(rows), dtype=np.int32), tree.bounds))
    for turn in _turns(tree.points.shape[1]):
        lists.meet_in_leaves(_turned(tree.points, turn, leaf))
    lists.settle(tree.points)
    indices, distances = np.empty((len(rows), k), np.int32), np.empty((len(rows), k))
    scale = distance_scale(rows.shape[1])

    def work(start: int, stop: int) -> None:
        rank_candidates(rows, tree.ids, lists.near, lists.gaps, scale, slack, start, stop, indices, distances)

    for_each_block(len(rows), BLOCK, work)
    return Neighbours(indices, distances)


def _turns(n_columns: int) -> list[Points]:
    """Return orthogonal matrices: a tree cuts along columns, and turned points have others."""
    rng = np.random.default_rng(SEED)
    with one_blas_thread():
        return [np.linalg.qr(rng.normal(size=(n_columns, n_columns)))[0].astype(np.float32) for _ in range(TREES - 1)]


def _turned(points: Points, turn: Points, leaf: int) -> PointTree:
    """Return the points, as they are, in the order of a tree over the turned ones."""
    turned = np.empty_like(points)
    with one_blas_thread():
        for start in range(0, len(points), BLOCK):
            turned[start : start + BLOCK] = points[start : start + BLOCK] @ turn
    tree = PointTree.of(turned, leaf)
    return PointTree(points[tree.ids], tree.ids, tree.bounds)


@dataclass(frozen=True, eq=False)
class _Lists:
    """For every point its nearest so far, (n, c): which, their squared distances, and whether they are fresh."""

    near: Indices
    gaps: Points
    fresh: NDArray[np.uint8]

    @classmethod
    def of_size(cls, n: int, c: int) -> "_Lists":
        return cls(np.full((n, c), -1, np.int32), np.full((n, c), np.inf, np.float32), np.zeros((n, c), np.uint8))

    def meet_in_leaves(self, tree: PointTree) -> None:
        def work(start: int, stop: int) -> None:
            meet_in_leaves(tree.points, tree.ids, tree.bounds, start, stop, self.near, self.gaps, self.fresh)

        for_each_block(len(tree.bounds) - 1, BLOCK // LEAF, work)

    def settle(self, points: Points) -> None:
        """Ask acquaintances for theirs until hardly anything changes."""
        n, c = self.near.shape
        known, new = np.empty((n, c + c // 2), np.int32), np.empty((n, c + c // 2), np.uint8)
        counts, changed = np.empty(n, np.int32), np.empty(n, np.int32)

        def work(start: int, stop: int) -> None:
            changed[start] = nn_descent_update(
                points, known, new, counts, start, stop, self.near, self.gaps, self.fresh
            )

        for _ in range(SWEEPS):
            gather_reverse_neighbours(self.near, self.fresh, known, new, counts)
            for_each_block(n, BLOCK, work)
            if changed[::BLOCK].sum() <= SETTLED * self.near.size:
                break


def sampled_recall(rows: Rows, neighbours: Neighbours, n_queries: int = 200) -> float:
    """Return the share of neighbours that are as near as the true ones, over rows spread evenly.

    >>> rows = np.array([[0.0], [1.0], [3.0]])
    >>> sampled_recall(rows, nearest_neighbours(rows, k=1))
    1.0
    """
    queries = _evenly(len(rows), n_queries)
    scale = distance_scale(rows.shape[1])
    # Distances keep 36 bits, and differences in single precision 24.
    as_near = 1 + (1e-10 if rows.dtype == np.float64 else 1e-6)
    hits, gaps = 0, np.empty(len(rows))
    for query in queries:
        cross_distances(rows, rows[query : query + 1], scale, gaps[:, None])
        gaps[query] = np.inf
        farthest = np.partition(gaps, neighbours.k - 1)[neighbours.k - 1]
        hits += int(np.count_nonzero(neighbours.distances[query] <= farthest * as_near))
    return hits / (len(queries) * neighbours.k)
