"""Collections of labelled graphs in files: GXL with CXL indices, and the TUDataset format."""

from eocc.io.graphs.graph_set import GraphSet
from eocc.io.graphs.gxl import read_cxl, read_graph_set, read_gxl
from eocc.io.graphs.tudataset import read_tudataset

__all__ = ["GraphSet", "read_cxl", "read_graph_set", "read_gxl", "read_tudataset"]
