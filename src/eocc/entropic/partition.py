"""Spanning tree + distances -> clusters and their modularity (Algorithm 1)."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from eocc.base.checks import demand
from eocc.base.registry import choose
from eocc.base.types import Indices, Matrix
from eocc.base.vocabulary import completed
from eocc.entropic import LEAST_CLUSTERS
from eocc.entropic.graph import SpanningTree
from eocc.kernels.trees import leaf_order, split_curve

# A smaller decrease of Q is a rounding error of the sum over the pairs. departure: falls
ROUNDING = 1e-12


def normalized_modularity(q: Any) -> Any:
    """Return M = log(3/2 + Q) / log(5/2), in [0, 1] for Q in [-1/2, 1], of a number or of an array.

    >>> normalized_modularity(1.0), normalized_modularity(-0.5)
    (1.0, 0.0)
    """
    m = np.log(1.5 + np.asarray(q)) / np.log(2.5)
    return float(m) if np.ndim(m) == 0 else m


def modularity_curve(distances: ArrayLike, tree: SpanningTree) -> Matrix:
    """Return Q = sum_l [E_l / E - (deg_l / 2E)^2] of the partitions into k = 1, ..., n clusters, cut from the tree.

    Similarities are s_ij = 1 - w_ij, for distances w in [0, 1]. E_l sums s over the unordered pairs inside cluster l, E
    over all of them; deg_l sums the degrees of its vertices; no self-loops. Q = 0 if E = 0.

    >>> from eocc.entropic.graph import spanning_tree
    >>> w = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> modularity_curve(w, spanning_tree(w)).tolist()
    [0.0, 0.5, 0.125, -0.25]
    """
    return _split(distances, checked_tree(tree), 1, np.inf)[1]


def cut(tree: SpanningTree, k: int) -> Indices:
    """Return the labels of the k clusters that remain after the k - 1 heaviest edges are removed.

    Clusters are numbered by their first pattern.

    >>> from eocc.entropic.graph import spanning_tree
    >>> cut(spanning_tree([[0, 1, 4], [1, 0, 2], [4, 2, 0]]), 2).tolist()
    [0, 0, 1]
    """
    if not isinstance(k, int | np.integer) or not 1 <= k <= tree.n_vertices:
        raise ValueError(f"k must be an integer in 1..{tree.n_vertices}, the number of patterns; got {k}")
    cuts = leaf_order(checked_tree(tree).edges)
    begins = np.zeros(tree.n_vertices, np.int64)  # where a cluster begins in leaf order
    begins[cuts.middle[: k - 1]] = 1
    clusters = np.empty_like(begins)
    clusters[cuts.order] = np.cumsum(begins)
    _, first, labels = np.unique(clusters, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[labels]


def members_of(labels: Indices) -> list[Indices]:
    """Return the members of each cluster, ascending, in the order of the labels."""
    return np.split(np.argsort(labels, kind="stable"), np.cumsum(np.bincount(labels))[:-1])


def prune(distances: ArrayLike, tree: SpanningTree, first_cut: str = "always") -> Indices:
    """Return the labels of Algorithm 1: cut the heaviest edges while Q does not fall.

    With first_cut="always" the heaviest edge is cut in any case, with "if-better" only if Q does not fall.

    >>> from eocc.entropic.graph import spanning_tree
    >>> w = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    >>> prune(w, spanning_tree(w)).tolist()
    [0, 0, 1, 1]
    """
    return cut(tree, greedy_prune(distances, checked_tree(tree), first_cut)[0])


def greedy_prune(distances: ArrayLike, tree: SpanningTree, first_cut: str) -> tuple[int, float]:
    """Return (k, Q) of Algorithm 1, for a tree that `spanning_tree` made."""
    k, curve = _split(distances, tree, choose("first_cut", LEAST_CLUSTERS, first_cut), ROUNDING)
    return k, float(curve[k - 1])


def _split(distances: ArrayLike, tree: SpanningTree, least: int, tolerance: float) -> tuple[int, Matrix]:
    """Remove edges until Q falls by more than `tolerance`; return the k before that, and Q for 1, ..., n so far."""
    n, matrix = tree.n_vertices, np.ascontiguousarray(distances, dtype=np.float64)
    if matrix.shape != (n, n):
        raise ValueError(f"the tree spans {n} patterns, the distances {len(matrix)}")
    k, curve = split_curve(matrix, leaf_order(tree.edges), least, tolerance)
    return int(k), curve


def checked_tree(tree: SpanningTree) -> SpanningTree:
    """Return the tree; raise a ValueError unless it spans its patterns, heaviest edge first."""
    edges, lengths, found = np.asarray(tree.edges), np.asarray(tree.lengths), tree.n_vertices
    are_pairs = edges.shape == (found - 1, 2) and np.issubdtype(edges.dtype, np.integer)
    demand(are_pairs, f"a tree of {found - 1} lengths needs as many pairs of integers as edges, not {edges.shape}")
    low, high = edges.min(initial=0), edges.max(initial=0)
    demand(low >= 0 and high < found, f"edges must join patterns 0..{found - 1}; found {low} and {high}")
    ends = edges.T.astype(np.int32)  # older scipy takes no others
    joined = scipy.sparse.coo_array((np.ones(len(edges)), ends), shape=(found, found))
    n_parts = scipy.sparse.csgraph.connected_components(joined, directed=False, return_labels=False)
    demand(n_parts == 1, "edges must join all patterns without a circle")
    demand((np.diff(lengths) <= 0).all(), "edges must come heaviest first; spanning_tree orders them so")
    return SpanningTree(np.ascontiguousarray(edges, dtype=np.int64), np.asarray(lengths, dtype=np.float64))


__all__ = ["cut", "modularity_curve", "normalized_modularity", "prune"]
for _name in __all__:
    completed(globals()[_name])
