"""Dissimilarity space -> the nearest neighbours of its rows.

With many rows and columns, candidates come from a projection on a few principal components, which keep most of a short
distance, and are ranked by exact distances. An orthonormal projection never lengthens a distance, so rows that are far
apart in the projection are far apart.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.blas import one_blas_thread
from eocc.base.threads import for_each_block
from eocc.base.types import Matrix
from eocc.kernels.distances import drop_spare_bits
from eocc.kernels.nearest import rank_candidates
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.neighbours.exact import RowIndex
from eocc.space.dissimilarity_space import distance_scale

Rows = NDArray[np.floating[Any]]
Points = NDArray[np.float32]
Indices = NDArray[np.int32]

EXACT_ROWS = 2048  # up to this many rows, all pairs are compared: 32 MiB of distances
ROWS_PER_TASK = 4096  # large enough that starting a task costs nothing
WIDTH = 8  # single-precision numbers in a vector register; the number of columns is a multiple of it
SAMPLE = 8192  # rows that determine the principal components
LARGEST = 1e17  # coordinates are clipped to this, so that squares stay finite; clipping never lengthens a distance


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The k nearest other rows of every row, nearest first: `indices` and `distances`, both (n, k)."""

    indices: Indices
    distances: Matrix


@dataclass(frozen=True, eq=False)
class Projection:
    """Projects (row - `means`) on the orthonormal columns of `basis` (r, c)."""

    means: Matrix
    basis: Matrix

    def points(self, rows: Rows) -> Points:
        """Return the projected rows in single precision, padded with zero columns to a multiple of 8."""
        n_columns = self.basis.shape[1]
        points = np.zeros((len(rows), -(-n_columns // WIDTH) * WIDTH), np.float32)
        with one_blas_thread():
            for start in range(0, len(rows), ROWS_PER_TASK):
                block = slice(start, start + ROWS_PER_TASK)
                projected = (rows[block] - self.means) @ self.basis
                points[block, :n_columns] = np.clip(projected, -LARGEST, LARGEST)
        return points


def projection_error(points: Rows) -> float:
    """Return by how much a distance between points may exceed the exact one, because of rounding."""
    # Rounding moves a point by at most u |x|, u = 2^-24. The sum of c squared differences, of total length at most
    # 2 |x|, has a relative error of at most (c + 2) u, which the root halves.
    longest = float(np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64).max(initial=0.0)))
    return float((points.shape[1] + 6) * 2.0**-24 * longest)


def fit_projection(rows: Rows, k: int) -> Projection:
    """Return the projection on the fewest principal components that preserve the neighbours.

    On a sample, 99 % of the k nearest rows must be among the candidates in the projection. The share of variance would
    be a poor criterion: a few distant clusters account for most of it.
    """
    sample = np.asarray(rows[_evenly(len(rows), SAMPLE)], dtype=np.float64)
    means = sample.mean(axis=0)
    sample -= means
    with one_blas_thread():
        basis = np.linalg.eigh(sample.T @ sample)[1][:, ::-1]
        n_components = _components_needed(sample, sample @ basis, k)
    return Projection(means, np.ascontiguousarray(basis[:, :n_components]))


def _components_needed(sample: Matrix, projected: Matrix, k: int) -> int:
    queries = _evenly(len(sample), 64)  # their neighbours determine the number of components
    k = min(k, len(sample) - 1)
    wide = min(n_candidates(k), len(sample) - 1)
    if k == 0:
        return min(WIDTH, int(sample.shape[1]))
    squares = np.zeros((len(queries), len(sample)))
    exact_squares = np.array([np.square(sample - sample[query]).sum(axis=1) for query in queries])
    # Every row counts as its own nearest neighbour: k + 1 exact ones against wide + 1 candidates.
    is_near = exact_squares <= np.partition(exact_squares, k, axis=1)[:, k, None]
    for start in range(0, sample.shape[1], WIDTH):
        for column in projected[:, start : start + WIDTH].T:
            squares += np.square(column - column[queries, None])
        is_candidate = squares <= np.partition(squares, wide, axis=1)[:, wide, None]
        if np.count_nonzero(is_near & is_candidate) >= 0.99 * np.count_nonzero(is_near):
            break
    return min(start + WIDTH, int(sample.shape[1]))


def _evenly(n: int, count: int) -> NDArray[np.int64]:
    """Return at most `count` evenly spaced numbers of 0, ..., n - 1."""
    return np.unique(np.linspace(0, n - 1, min(n, count)).astype(np.int64))


def n_candidates(k: int) -> int:
    """Return how many neighbours in the projection are ranked by exact distances."""
    return k + max(10, k // 2)


def nearest_neighbours(rows: Rows, k: int) -> Neighbours:
    """Return the k nearest neighbours of every row, by ||a - b||_2 / sqrt(r); ties to the lower row.

    Exact for up to 2048 rows or 8 columns, or if k is large compared with n; above 2048 rows, ties in the last place
    are broken arbitrarily. Otherwise most neighbours are correct (96 to 99 % with 20,000 rows of 256 columns), and
    their distances are exact. The result does not depend on the number of threads.

    >>> nearest_neighbours(np.array([[0.0], [1.0], [3.0]]), k=1).indices.tolist()
    [[1], [0], [1]]
    """
    rows = np.ascontiguousarray(rows)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"rows must be a matrix with rows and columns, not of shape {rows.shape}")
    if rows.dtype not in (np.float32, np.float64):
        raise ValueError(f"rows must be float32 or float64, not {rows.dtype}; convert them first")
    if not isinstance(k, int | np.integer) or not 1 <= k < len(rows):
        raise ValueError(f"k must be an integer in 1..{len(rows) - 1}, one less than the rows; got {k}")
    if len(rows) <= EXACT_ROWS or 8 * n_candidates(k) > len(rows):
        return _by_all_pairs(rows, k)
    return _by_candidates(rows, k)


def _by_all_pairs(rows: Rows, k: int) -> Neighbours:
    distances = euclidean_pairwise_distance(rows.astype(np.float64), distance_scale(rows.shape[1]))
    drop_spare_bits(distances.reshape(-1).view(np.int64))
    np.fill_diagonal(distances, -1.0)  # so that a row comes before its copies, and is dropped
    indices = np.argsort(distances, axis=1, kind="stable")[:, 1 : k + 1]
    return Neighbours(indices.astype(np.int32), np.take_along_axis(distances, indices, axis=1))


def _by_candidates(rows: Rows, k: int) -> Neighbours:
    """Rank the rows that are nearest in the projection by exact distances."""
    # Up to 8 columns are not projected.
    points = np.asarray(fit_projection(rows, k).points(rows) if rows.shape[1] > 8 else rows, np.float64)
    n, error = len(rows), projection_error(points)
    each = np.arange(n)
    index = RowIndex(points, np.ones((1, points.shape[1])), each, each, np.ones(n, np.int64))  # copies are listed too
    far, near = index.nearest(points, n_candidates(k) + 1)[0]
    is_own = near == each[:, None]
    is_own[~is_own.any(axis=1), -1] = True  # with many copies, the row itself may be missing
    least, near = ((part[~is_own].reshape(n, -1)) for part in (far - error, near))
    indices, distances = np.empty((n, k), np.int32), np.empty((n, k))
    scale = distance_scale(rows.shape[1])

    def work(start: int, stop: int) -> None:
        some = slice(start, stop)
        rank_candidates(rows, start, near[some], least[some], scale, indices[some], distances[some])

    for_each_block(n, ROWS_PER_TASK, work)
    return Neighbours(indices, distances)
