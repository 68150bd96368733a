"""Dissimilarity space -> the complete Euclidean graph over its rows, and its minimum spanning tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.types import Matrix
from eocc.kernels.distances import drop_spare_bits, edge_lengths
from eocc.kernels.trees import prim_edges
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.space.dissimilarity_space import DissimilaritySpace


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """The n - 1 edges, longest first: `edges` (n-1, 2) with the lower vertex first, and their `lengths`."""

    edges: NDArray[np.int64]
    lengths: Matrix

    @property
    def n_vertices(self) -> int:
        """The number of patterns."""
        return len(self.lengths) + 1


@dataclass(frozen=True, eq=False)
class EuclideanGraph:
    """G(p): the dissimilarity `space`, all `distances` w_ij of its rows, and the spanning `tree`."""

    space: DissimilaritySpace
    distances: Matrix
    tree: SpanningTree


def euclidean_graph(space: DissimilaritySpace, out: Matrix) -> EuclideanGraph:
    """Return the complete graph on the rows, w_ij = ||D_i - D_j||_2 / sqrt(|R|), stored in `out`, with its tree.

    Distances that differ by rounding only are made equal. The lengths of the tree are computed again from differences,
    because |e|^gamma with a small gamma amplifies rounding errors of short edges.
    """
    distances = euclidean_pairwise_distance(space.rows, space.scale, out)
    drop_spare_bits(distances.reshape(-1).view(np.int64))
    return EuclideanGraph(space, distances, measured_tree(space.rows, space.scale, *prim_edges(distances)))


def measured_tree(rows: NDArray[Any], scale: float, edges: NDArray[Any], keys: Matrix) -> SpanningTree:
    """Return the tree with its edges ordered by their keys, heaviest first, and lengths computed from differences."""
    ordered, lengths = heaviest_first(edges, keys)[0].astype(np.int64), np.empty(len(edges))
    edge_lengths(rows, ordered, scale, lengths)
    # The lengths of tied edges may differ by rounding; make them descend.
    return SpanningTree(ordered, np.minimum.accumulate(lengths))


def heaviest_first(edges: NDArray[Any], keys: Matrix) -> tuple[NDArray[Any], Matrix]:
    """Return the edges and their keys by key, largest first; ties by endpoints."""
    order = np.lexsort((edges[:, 1], edges[:, 0], -keys))
    return edges[order], keys[order]


def spanning_tree(distances: ArrayLike) -> SpanningTree:
    """Return the minimum spanning tree of a complete graph given by its distance matrix.

    Edges of length 0 count. Ties are broken by endpoints, so the tree is unique.

    >>> tree = spanning_tree([[0, 1, 4], [1, 0, 2], [4, 2, 0]])
    >>> tree.edges.tolist(), tree.lengths.tolist()
    ([[1, 2], [0, 1]], [2.0, 1.0])
    """
    return SpanningTree(*heaviest_first(*prim_edges(checked_distances(distances))))


def checked_distances(distances: ArrayLike) -> Matrix:
    """Return the matrix; raise a ValueError unless it is square, symmetric, finite, nonnegative, with diagonal 0."""
    matrix = np.ascontiguousarray(distances, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise ValueError(f"distances must be a square matrix, not of shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ValueError("distances contain NaN or infinity; drop or impute those patterns first")
    if matrix.min() < 0:
        raise ValueError(f"distances must not be negative; the least is {matrix.min():g}")
    if matrix.diagonal().any():
        raise ValueError(f"distances must be 0 on the diagonal; found {matrix.diagonal().max():g}")
    if not np.array_equal(matrix, matrix.T):
        raise ValueError("distances must be symmetric; use (d + d.T) / 2 if they differ by rounding only")
    return matrix
