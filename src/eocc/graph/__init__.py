"""Dissimilarity space -> Euclidean graph, minimum spanning tree, Rényi entropy."""

from eocc.foundation.registry import Registry

__getattr__, __all__ = Registry("eocc.graph", {}).exports(
    "complete.SpanningTree",
    "complete.spanning_tree",
    "entropy.normalized_entropy",
    "entropy.renyi_entropy",
    "point_tree.point_spanning_tree",
)
