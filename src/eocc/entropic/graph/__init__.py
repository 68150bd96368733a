"""Dissimilarity space -> Euclidean graph, minimum spanning tree, Rényi entropy."""

from eocc.base.registry import Registry

__getattr__, __all__ = Registry("eocc.entropic.graph", {}).exports(
    "complete.SpanningTree",
    "complete.spanning_tree",
    "entropy.normalized_entropy",
    "entropy.renyi_entropy",
    "point_tree.point_spanning_tree",
)
