"""Labelled graphs: two edit schemes."""

from eocc.measures.graphs.attributes import Schema
from eocc.measures.graphs.graph_edit import FittedGraphEdit, GraphEdit
from eocc.measures.graphs.twec import FittedTwec, Twec

__all__ = ["FittedGraphEdit", "FittedTwec", "GraphEdit", "Schema", "Twec"]
