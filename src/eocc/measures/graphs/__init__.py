"""Labelled graphs: two edit schemes."""

from eocc.measures.graphs.flat import Schema
from eocc.measures.graphs.schemes import FittedGraphEdit, FittedTwec, GraphEdit, Twec

__all__ = ["FittedGraphEdit", "FittedTwec", "GraphEdit", "Schema", "Twec"]
