"""Labelled graphs: the three-weight edit scheme."""

from eocc.measures.graphs.attributes import Schema
from eocc.measures.graphs.graph_edit import FittedGraphEdit, GraphEdit

__all__ = ["FittedGraphEdit", "GraphEdit", "Schema"]
