"""Graph of nearest neighbours -> clusters and their modularity, without a matrix of all pairs."""

import numpy as np
from numpy.typing import ArrayLike

from eocc.foundation.types import Matrix
from eocc.graph.neighbour_graph import SparseGraph
from eocc.kernels.modularity import NO_SIMILARITY
from eocc.kernels.sparse import join_times, separated_similarity, sparse_split_curve
from eocc.partition.dense import ROUNDING, leaf_order


def sparse_modularity(graph: SparseGraph, labels: ArrayLike) -> float:
    """Return Q = sum_l [E_l / E - (deg_l / 2E)^2] of a partition, with similarities s_ij = 1 - w_ij on the edges alone.

    E_l sums s over the edges inside cluster l, E over all of them; deg_l sums the degrees of its vertices.
    Q = 0 where E = 0.

    >>> from eocc.graph.neighbour_graph import sparse_graph
    >>> sparse_modularity(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1), [0, 0, 1, 1])
    0.5
    """
    _, index = np.unique(np.asarray(labels), return_inverse=True)
    if index.shape != (graph.tree.n_vertices,):
        raise ValueError(f"labels must be one per pattern, shape ({graph.tree.n_vertices},), not {index.shape}")
    similarity = 1.0 - graph.distances
    total = float(similarity.sum())
    if total <= NO_SIMILARITY * len(similarity):
        return 0.0
    ends = index[graph.edges]
    inside = float(similarity[ends[:, 0] == ends[:, 1]].sum())
    degrees = np.bincount(ends.ravel(), weights=np.repeat(similarity, 2))
    return inside / total - float(np.sum((degrees / (2 * total)) ** 2))


def sparse_curve(graph: SparseGraph) -> Matrix:
    """Return Q of the partitions into k = 1, ..., n clusters that cutting the tree gives: O(e log n) in all.

    >>> from eocc.graph.neighbour_graph import sparse_graph
    >>> sparse_curve(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1)).tolist()
    [0.0, 0.5, 0.125, -0.25]
    """
    return _split(graph, np.inf)[1]


def sparse_prune(graph: SparseGraph) -> tuple[int, float]:
    """Return (k, Q) of Algorithm 1: cut the heaviest edges while Q does not fall; the first one always.

    As `greedy_prune`, but Q falls when it does so by more than 1e-12 of the two terms of its change, not
    of 1: cutting off one pattern of a million changes Q by less than that.

    >>> from eocc.graph.neighbour_graph import sparse_graph
    >>> sparse_prune(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1))
    (2, 0.5)
    """
    k, curve = _split(graph, ROUNDING)
    return k, float(curve[k - 1])


def _split(graph: SparseGraph, slack: float) -> tuple[int, Matrix]:
    """Split from the top until Q falls by the share `slack` of its terms: return the k kept, and Q for 1..n so far."""
    tree, n = graph.tree, graph.tree.n_vertices
    if float(np.sum(1.0 - graph.distances)) <= NO_SIMILARITY * len(graph.distances):
        return n, np.zeros(n)
    parent, since, size = np.empty((3, n), np.int64)
    join_times(tree.edges, parent, since, size)
    across, degree, curve = np.zeros(n - 1), np.zeros(n), np.zeros(n)
    separated_similarity(graph.edges, graph.distances, parent, since, across, degree)
    k = sparse_split_curve(across, degree, *leaf_order(tree).arrays, slack, curve, np.empty(n + 1))
    return int(k), curve
