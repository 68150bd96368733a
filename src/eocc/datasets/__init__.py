"""Data sets: the published ones by name, readers of graph collections, and the paper's synthetic problems."""

from eocc.datasets.catalogue import DatasetRow, ListedDataset, list_datasets
from eocc.datasets.data_folder import data_folder
from eocc.datasets.iam import IamSet, load_iam
from eocc.datasets.synthetic import (
    OneClassProblem,
    make_isolated_pattern,
    make_narrow_band,
    make_three_clusters,
    make_two_clusters,
)
from eocc.datasets.uci import UciSet, load_uci
from eocc.io.archive import Limits
from eocc.io.graphs import GraphSet
from eocc.io.graphs.gxl import read_cxl, read_graph_set, read_gxl
from eocc.io.graphs.tudataset import read_tudataset

__all__ = [
    "DatasetRow",
    "GraphSet",
    "IamSet",
    "Limits",
    "ListedDataset",
    "OneClassProblem",
    "UciSet",
    "data_folder",
    "list_datasets",
    "load_iam",
    "load_uci",
    "make_isolated_pattern",
    "make_narrow_band",
    "make_three_clusters",
    "make_two_clusters",
    "read_cxl",
    "read_graph_set",
    "read_gxl",
    "read_tudataset",
]
