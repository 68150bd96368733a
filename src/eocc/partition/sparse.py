"""Nearest-neighbour graph -> clusters and their modularity (Algorithm 1), without a matrix of all pairs."""

import numpy as np

from eocc.foundation.types import Matrix
from eocc.graph.neighbour_graph import SparseGraph
from eocc.kernels.modularity import NO_SIMILARITY
from eocc.kernels.sparse import join_times, separated_similarity, sparse_split_curve
from eocc.partition import LEAST_CLUSTERS
from eocc.partition.dense import ROUNDING, leaf_order


def sparse_curve(graph: SparseGraph) -> Matrix:
    """Return Q of the partitions into k = 1, ..., n clusters, cut from the tree, in O(e log n).

    Q = sum_l [E_l / E - (deg_l / 2E)^2] with similarities s_ij = 1 - w_ij on the edges alone; Q = 0 if E = 0.
    """
    return _split(graph, 1, np.inf)[1]


def sparse_prune(graph: SparseGraph, first_cut: str = "always") -> tuple[int, float]:
    """Return (k, Q) of Algorithm 1: cut the heaviest edges while Q does not fall, as `greedy_prune` does."""
    # Unlike in `greedy_prune`, the tolerance is relative to the two terms of the change of Q: cutting off one of a
    # million patterns changes Q by less than 1e-12.
    k, curve = _split(graph, LEAST_CLUSTERS[first_cut], ROUNDING)
    return k, float(curve[k - 1])


def _split(graph: SparseGraph, least: int, tolerance: float) -> tuple[int, Matrix]:
    """Remove edges until Q falls by the share `tolerance` of its terms; return the k before, and Q so far."""
    tree, n = graph.tree, graph.tree.n_vertices
    if float(np.sum(1.0 - graph.distances)) <= NO_SIMILARITY * len(graph.distances):
        return n, np.zeros(n)
    parent, since, size = np.empty((3, n), np.int64)
    join_times(tree.edges, parent, since, size)
    across, degree, curve = np.zeros(n - 1), np.zeros(n), np.zeros(n)
    separated_similarity(graph.edges, graph.distances, parent, since, across, degree)
    k = sparse_split_curve(across, degree, leaf_order(tree), least, tolerance, curve, np.empty(n + 1))
    return int(k), curve
