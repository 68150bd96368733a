"""Data sets: readers of graph collections, and the paper's synthetic problems."""

from eocc.datasets.archive import Limits
from eocc.datasets.graph_set import GraphSet
from eocc.datasets.gxl import read_cxl, read_graph_set, read_gxl
from eocc.datasets.synthetic import (
    OneClassProblem,
    make_isolated_pattern,
    make_narrow_band,
    make_three_clusters,
    make_two_clusters,
)
from eocc.datasets.tudataset import read_tudataset

__all__ = [
    "GraphSet",
    "Limits",
    "OneClassProblem",
    "make_isolated_pattern",
    "make_narrow_band",
    "make_three_clusters",
    "make_two_clusters",
    "read_cxl",
    "read_graph_set",
    "read_gxl",
    "read_tudataset",
]
