"""Dissimilarities -> dissimilarity space -> Euclidean graph over its rows, minimum spanning tree, Rényi entropy.

The estimate of the entropy from the length of a graph is that of Hero and Michel (Asymptotic theory of greedy
approximations to minimal k-point random graphs, 1999), explained by Hero, Ma, Michel and Gorman (Applications of
entropic spanning graphs, 2002). Livi and Alippi (One-class classifiers based on entropic spanning graphs, 2017) build
another classifier.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eocc.base.checks import demand
from eocc.base.threads import interruptibly
from eocc.base.types import Indices, Matrix
from eocc.base.vocabulary import completed
from eocc.kernels.distances import cross_distances, drop_spare_bits, edge_lengths
from eocc.kernels.trees import prim_edges, prim_point_edges
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.measures.protocol import Prepared


@dataclass(frozen=True, eq=False)
class DissimilaritySpace:
    """Row i of `rows` holds the dissimilarities of pattern i to all prototypes, minus `means`, the column means.

    Centring does not change distances, and makes their computation from scalar products more accurate.
    """

    rows: Matrix
    means: Matrix

    @property
    def n_dims(self) -> int:
        """The number of prototypes."""
        return int(self.rows.shape[1])

    @property
    def scale(self) -> float:
        """1 / sqrt(|R|), so that distances between rows lie in [0, 1]."""
        return distance_scale(self.n_dims)


def distance_scale(n_prototypes: int) -> float:
    """Return 1 / sqrt(|R|), the factor of Euclidean distances in the space. departure: distances."""
    return float(1.0 / np.sqrt(n_prototypes))


def dissimilarity_space(prepared: Prepared, p: Matrix, out: Matrix) -> DissimilaritySpace:
    """Return the dissimilarity space of the training patterns, D_ij = d(x_i, r_j; p), stored in `out`."""
    rows = prepared.evaluate(p, out)
    means = rows.mean(axis=0)
    if not np.isfinite(means).all():  # one such entry makes its column mean NaN or infinite
        raise ValueError(f"the measure gave NaN or infinity at p = {np.array2string(p, threshold=6)}")
    return DissimilaritySpace(np.subtract(rows, means, out=out), means)


def distances_to(rows: Matrix, points: Matrix) -> Matrix:
    """Return the distances in the dissimilarity space of each row to each point: (m, k)."""
    distances = np.empty((len(rows), len(points)))
    cross_distances(rows, points, distance_scale(rows.shape[1]), distances)
    return distances


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """The n - 1 edges, longest first: `edges` (n-1, 2) with the lower vertex first, and their `lengths`."""

    edges: Indices
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


Workspace = tuple[Matrix, Matrix]  # memory for one candidate: its dissimilarities (n, r) and its distances (n, n)


def embed(prepared: Prepared, p: Matrix, workspace: Workspace) -> EuclideanGraph:
    """Return the graph G(p) over the dissimilarity space of p, with its spanning tree."""
    return euclidean_graph(dissimilarity_space(prepared, p, workspace[0]), workspace[1])


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
    is_square = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] > 0
    demand(is_square, f"distances must be a square matrix, not of shape {matrix.shape}")
    demand(np.isfinite(matrix).all(), "distances contain NaN or infinity; drop or impute those patterns first")
    least, own = matrix.min(), matrix.diagonal().max()
    demand(least >= 0, f"distances must not be negative; the least is {least:g}")
    demand(own == 0, f"distances must be 0 on the diagonal; found {own:g}")
    remedy = "use (d + d.T) / 2 if they differ by rounding only"
    demand(np.array_equal(matrix, matrix.T), f"distances must be symmetric; {remedy}")
    return matrix


def renyi_order(n_dims: int, gamma: float) -> float:
    """Return alpha = (d - gamma) / d, the order of the Rényi entropy, d = `n_dims`; gamma must lie in (0, d).

    >>> renyi_order(40, gamma=20)
    0.5
    """
    if not 0 < gamma < n_dims:
        raise ValueError(f"gamma must lie in (0, d), with d = {n_dims} the number of prototypes; not {gamma}")
    return (n_dims - gamma) / n_dims


def normalized_entropy(lengths: ArrayLike, gamma: float = 0.02) -> float:
    """Return L / (n - 1), L = sum |e|^gamma: in [0, 1] for lengths in [0, 1], increasing in the entropy.

    The entropy of a single pattern is 0. departure: entropy in the objective.

    >>> normalized_entropy([1.0, 0.0], gamma=0.5)
    0.5
    """
    lengths = np.asarray(lengths, dtype=np.float64)
    return float(np.sum(lengths**gamma) / len(lengths)) if len(lengths) else 0.0


def renyi_entropy(lengths: ArrayLike, n_dims: int, gamma: float = 0.02) -> float:
    """Return the Rényi entropy of order alpha = (d - gamma) / d, estimated from a spanning tree.

    H = (d / gamma) [ln(L / n^alpha) - (gamma / 2) ln(d / (2 pi e))], with n - 1 `lengths` and d = `n_dims`.
    If all patterns are equal, the entropy is -inf.

    >>> round(renyi_entropy([0.5, 0.5, 0.5], n_dims=2, gamma=1.0), 6)
    1.569366
    """
    lengths, alpha = np.asarray(lengths, dtype=np.float64), renyi_order(n_dims, gamma)
    n = len(lengths) + 1
    with np.errstate(divide="ignore"):  # powers may underflow where gamma is large, so their sum is taken in logs
        log_length = scipy.special.logsumexp(gamma * np.log(lengths)) if len(lengths) else -np.inf
    # The printed formula takes the logarithm of this term once more. departure: constant of the entropy
    log_beta = gamma / 2 * np.log(n_dims / (2 * np.pi * np.e))
    return float(n_dims / gamma * (log_length - alpha * np.log(n) - log_beta))


def point_spanning_tree(points: ArrayLike) -> SpanningTree:
    """Return the minimum spanning tree of points (n, d) under w_ij = ||x_i - x_j||_2, in memory of O(n d).

    Edges are ordered by (w_ij without its spare bits, i, j), i < j: lengths that differ by rounding only are ties, and
    copies of a point are connected to the first one by edges of length 0. `spanning_tree` and `euclidean_graph` use the
    same order, but may round w_ij differently.

    >>> tree = point_spanning_tree([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> tree.edges.tolist(), tree.lengths.round(3).tolist()
    ([[1, 2], [0, 2]], [4.243, 1.0])
    """
    rows = np.ascontiguousarray(points, dtype=np.float64)
    is_matrix = rows.ndim == 2 and rows.size > 0
    demand(is_matrix, f"points must be a matrix with rows and columns, not of shape {rows.shape}")
    demand(np.isfinite(rows).all(), "points contain NaN or infinity; drop or impute those patterns first")
    largest = np.abs(rows).max()
    demand(largest <= 1e150, f"points reach {largest:g}, whose square overflows; divide them first")
    edges, keys = np.empty((len(rows) - 1, 2), np.int64), np.empty(len(rows) - 1)
    columns = rows[1:].T.copy()
    interruptibly(lambda: prim_point_edges(rows, columns, edges, keys), len(rows) * rows.size)
    return measured_tree(rows, 1.0, edges, keys)


__all__ = ["SpanningTree", "normalized_entropy", "point_spanning_tree", "renyi_entropy", "spanning_tree"]
for _name in __all__:
    completed(globals()[_name])
