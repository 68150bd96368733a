"""Dissimilarity space -> Euclidean graph, minimum spanning tree, Rényi entropy."""

from eocc.graph.complete import SpanningTree, spanning_tree
from eocc.graph.entropy import normalized_entropy, renyi_entropy
from eocc.graph.point_tree import point_spanning_tree

__all__ = ["SpanningTree", "normalized_entropy", "point_spanning_tree", "renyi_entropy", "spanning_tree"]
