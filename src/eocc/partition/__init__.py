"""Spanning tree + distances -> clusters and their modularity."""

from eocc.partition.dense import cut, modularity, modularity_curve, normalized_modularity, prune

__all__ = ["cut", "modularity", "modularity_curve", "normalized_modularity", "prune"]
