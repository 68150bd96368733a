"""Spanning tree + distances -> clusters and their modularity."""

from eocc.base.registry import Registry

# The fewest clusters of Algorithm 1: two if it always cuts the heaviest edge, as its pseudo-code does; one if it begins
# with one cluster and cuts only while Q does not fall, as the text before it says. departure: first cut
LEAST_CLUSTERS = {"always": 2, "if-better": 1}

__getattr__, __all__ = Registry("eocc.entropic", {}).exports(
    "partition.cuts.cut",
    "partition.cuts.modularity_curve",
    "partition.cuts.normalized_modularity",
    "partition.cuts.prune",
)
