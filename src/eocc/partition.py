"""Spanning tree + distances -> clusters, and how good they are."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.graph import EuclideanGraph, SpanningTree, checked_distances
from eocc.kernels.dendrogram import leaf_intervals
from eocc.kernels.modularity import NO_SIMILARITY, split_curve

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]

# Q "falls" only by more than the rounding error of a sum over the pairs.
ROUNDING = 1e-12


def modularity(distances: ArrayLike, labels: ArrayLike) -> float:
    """Return Q = sum_l [E_l / E - (deg_l / 2E)^2] of a partition, with similarities s_ij = 1 - w_ij.

    E_l sums s over the unordered pairs inside cluster l, E over all of them; deg_l sums the degrees
    of its vertices; no self-loops. Q = 0 where E = 0.

    >>> w = [[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]]
    >>> modularity(w, [0, 0, 1, 1])
    0.5
    """
    similarity = 1.0 - _unit_distances(distances)
    np.fill_diagonal(similarity, 0.0)
    index = _checked_labels(labels, len(similarity))
    n_pairs = len(similarity) * (len(similarity) - 1) / 2
    total = similarity.sum() / 2
    if total <= NO_SIMILARITY * n_pairs:
        return 0.0
    one_hot = (index[:, None] == np.unique(index)).astype(np.float64)
    inside = np.einsum("il,il->l", one_hot, similarity @ one_hot) / 2
    degrees = similarity.sum(axis=1) @ one_hot
    return float(np.sum(inside / total - (degrees / (2 * total)) ** 2))


def normalized_modularity(q: float) -> float:
    """Return M = log(3/2 + Q) / log(5/2), in [0, 1] for Q in [-1/2, 1].

    >>> normalized_modularity(1.0), normalized_modularity(-0.5)
    (1.0, 0.0)
    """
    return float(np.log(1.5 + q) / np.log(2.5))


def modularity_curve(distances: ArrayLike, tree: SpanningTree) -> Matrix:
    """Return Q of the partitions into k = 1, ..., n clusters that cutting the tree gives.

    >>> from eocc.graph import spanning_tree
    >>> w = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> modularity_curve(w, spanning_tree(w)).tolist()
    [0.0, 0.5, 0.125, -0.25]
    """
    return full_curve(EuclideanGraph(_unit_distances(distances), _checked_tree(tree, len(np.asarray(distances)))))


def full_curve(graph: EuclideanGraph) -> Matrix:
    """Return Q for k = 1, ..., n on a graph whose distances are known to be sound."""
    return _split(graph, np.inf)[1]


def cut(tree: SpanningTree, k: int) -> Labels:
    """Return the labels of the k clusters left when the k - 1 heaviest edges are removed.

    Clusters are numbered by their first pattern.

    >>> from eocc.graph import spanning_tree
    >>> cut(spanning_tree([[0, 1, 4], [1, 0, 2], [4, 2, 0]]), 2).tolist()
    [0, 0, 1]
    """
    if not 1 <= k <= tree.n_vertices:
        raise ValueError(f"k must lie in 1..{tree.n_vertices}, the number of patterns; got {k}")
    order, _, middle, _ = _leaf_intervals(tree)
    run = np.zeros(tree.n_vertices, np.int64)  # the cluster of each place in leaf order
    run[middle[: k - 1]] = 1
    clusters = np.empty_like(run)
    clusters[order] = np.cumsum(run)
    _, first, labels = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def prune(distances: ArrayLike, tree: SpanningTree) -> Labels:
    """Return the labels of Algorithm 1: cut the heaviest edges while Q does not fall.

    >>> from eocc.graph import spanning_tree
    >>> w = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> prune(w, spanning_tree(w)).tolist()
    [0, 0, 1, 1]
    """
    matrix = _unit_distances(distances)
    return cut(tree, greedy_prune(EuclideanGraph(matrix, _checked_tree(tree, len(matrix))))[0])


def greedy_prune(graph: EuclideanGraph) -> tuple[int, float]:
    """Return (k, Q) of Algorithm 1. The first edge is always cut; a lone pattern is one cluster."""
    k, curve = _split(graph, ROUNDING)
    return k, float(curve[k - 1])


def _split(graph: EuclideanGraph, slack: float) -> tuple[int, Matrix]:
    """Split from the top until Q falls by more than `slack`: return the k kept, and Q for 1..n up to there."""
    n = graph.tree.n_vertices
    curve = np.zeros(n)
    k = split_curve(graph.distances, *_leaf_intervals(graph.tree), slack, curve, np.empty(n + 1))
    return int(k), curve


def _leaf_intervals(tree: SpanningTree) -> tuple[Labels, Labels, Labels, Labels]:
    """Return (order, start, middle, stop): clusters as intervals of one order of the patterns."""
    n, m = tree.n_vertices, len(tree.edges)
    intervals = (np.empty(n, np.int64), np.empty(m, np.int64), np.empty(m, np.int64), np.empty(m, np.int64))
    leaf_intervals(tree.edges, *intervals, *np.empty((3, n), np.int64))
    return intervals


def _unit_distances(distances: ArrayLike) -> Matrix:
    matrix = checked_distances(distances)
    # Distances at most 1 by construction may exceed it by a rounding error.
    if matrix.max() > 1 + 1e-9:
        raise ValueError(f"distances must lie in [0, 1]; the largest is {matrix.max():g}: divide by it first")
    return matrix


def _checked_labels(labels: ArrayLike, n: int) -> NDArray[np.generic]:
    index = np.asarray(labels)
    if index.shape != (n,):
        raise ValueError(f"labels must be one per pattern, shape ({n},), not {index.shape}")
    return index


def _checked_tree(tree: SpanningTree, n: int) -> SpanningTree:
    if tree.n_vertices != n:
        raise ValueError(f"the tree spans {tree.n_vertices} patterns, the distances {n}")
    return tree
