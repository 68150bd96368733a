"""Dissimilarity space -> the nearest-neighbour graph of its rows, its spanning tree and entropy."""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from eocc.base.types import Matrix
from eocc.entropic.graph.complete import SpanningTree, measured_tree
from eocc.entropic.graph.entropy import renyi_order
from eocc.entropic.graph.nearest_rows import Neighbours, Rows, fit_projection, nearest_neighbours, projection_error
from eocc.entropic.graph.point_tree import boxes_of, joining_edges
from eocc.kernels import sparse as kernels
from eocc.space.dissimilarity_space import distance_scale

Pairs = NDArray[np.int32]

NO_PAIRS: tuple[Pairs, Matrix] = np.empty((0, 2), np.int32), np.empty(0)


@dataclass(frozen=True, eq=False)
class SparseGraph:
    """Neighbours, spanning tree, and the `edges` (e, 2) of both with `distances` (e,), each pair once, lower first.

    The last `n_links` edges connect components of the neighbour graph.
    """

    neighbours: Neighbours
    tree: SpanningTree
    edges: Pairs
    distances: Matrix
    n_links: int


def sparse_graph(rows: Rows, k: int) -> SparseGraph:
    """Return the connected graph of the k nearest neighbours of the rows, with its minimum spanning tree.

    w_ij = ||D_i - D_j||_2 / sqrt(|R|). The shortest links between components turn the spanning forest of the neighbours
    into a tree. Edges are ordered by (length, low, high), so the tree is unique; with k = n - 1 it is that of the
    complete graph. A single row has no edges.
    """
    rows = np.ascontiguousarray(rows)
    if len(rows) == 1:
        none = Neighbours(np.empty((1, 0), np.int32), np.empty((1, 0)))
        return SparseGraph(none, SpanningTree(np.empty((0, 2), np.int64), np.empty(0)), *NO_PAIRS, 0)
    neighbours = nearest_neighbours(rows, k)
    pairs, distances = _pairs(neighbours)
    chosen = np.empty(len(rows) - 1, np.int64)
    ascending = np.argsort(distances, kind="stable")  # pairs are ordered by endpoints, which breaks ties
    in_forest = chosen[: kernels.kruskal_forest(pairs, ascending, np.arange(len(rows)), chosen)]
    links, lengths = _links(rows, k, pairs[in_forest])
    edges, weights = np.concatenate([pairs, links]), np.concatenate([distances, lengths])
    in_tree = np.concatenate([in_forest, np.arange(len(pairs), len(edges))])
    tree = measured_tree(rows, distance_scale(rows.shape[1]), edges[in_tree], weights[in_tree])
    return SparseGraph(neighbours, tree, edges, weights, len(links))


def _pairs(neighbours: Neighbours) -> tuple[Pairs, Matrix]:
    """Return every pair of neighbours once, ordered by endpoints, and the distances."""
    low, high = np.empty((2, neighbours.indices.size), np.int32)
    lengths = np.empty(neighbours.indices.size)
    count = kernels.neighbour_pairs(neighbours.indices, neighbours.distances, low, high, lengths)
    return np.column_stack([low[:count], high[:count]]), lengths[:count].copy()


def _links(rows: Rows, k: int, forest: Pairs) -> tuple[Pairs, Matrix]:
    """Return the shortest edges that connect the trees of a forest, with their lengths."""
    joined = scipy.sparse.coo_array((np.ones(len(forest)), forest.T), shape=(len(rows), len(rows)))
    count, label = scipy.sparse.csgraph.connected_components(joined, directed=False)
    if count == 1:
        return NO_PAIRS
    points = fit_projection(rows, k).points(rows).astype(np.float64)
    scale, error = distance_scale(rows.shape[1]), projection_error(points)
    edges, lengths = joining_edges(boxes_of(rows, scale, points, np.arange(len(rows)), error), label.astype(np.int64))
    return edges.astype(np.int32), lengths


def renyi_neighbour_entropy(distances: ArrayLike, n_dims: int, gamma: float = 0.02) -> float:
    """Return the Rényi entropy of order alpha = (d - gamma) / d, estimated from nearest neighbours.

    H = (d / gamma) [ln(L_k / n^alpha) - ln beta], L_k = sum |e|^gamma over `distances` (n, k), d = `n_dims`.
    At density f, the distance R_j to the j-th neighbour has E[R_j^gamma] = Gamma(j + gamma/d) / Gamma(j)
    (n f V_d)^(-gamma/d), where V_d is the volume of the unit ball (Leonenko et al.). So, unlike for the spanning tree,
    beta has a closed form: V_d^(-gamma/d) sum_{j <= k} Gamma(j + gamma/d) / Gamma(j).
    If all patterns are equal, the entropy is -inf.
    """
    distances = np.asarray(distances, dtype=np.float64)
    if distances.ndim != 2 or distances.size == 0:
        raise ValueError(
            f"distances must have one row per pattern and one column per neighbour, not shape {distances.shape}"
        )
    (n, k), share = distances.shape, 1 - renyi_order(n_dims, gamma)
    ranks = np.arange(1, k + 1)
    log_ball = n_dims / 2 * np.log(np.pi) - scipy.special.gammaln(n_dims / 2 + 1)
    moments = scipy.special.gammaln(ranks + share) - scipy.special.gammaln(ranks)
    log_beta = scipy.special.logsumexp(moments) - share * log_ball
    with np.errstate(divide="ignore"):
        log_length = np.log(np.sum(distances**gamma))
    return float((log_length - (1 - share) * np.log(n) - log_beta) / share)
