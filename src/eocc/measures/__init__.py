"""Measures: a pair of patterns -> a dissimilarity. One file each, one protocol."""

from collections.abc import Callable
from typing import Any

from eocc.measures.composite import Composite
from eocc.measures.euclidean import Euclidean
from eocc.measures.function import FunctionMeasure
from eocc.measures.graphs import GraphEdit
from eocc.measures.precomputed import Precomputed
from eocc.measures.protocol import FrozenMeasure, Measure, Prepared
from eocc.measures.series import DTW
from eocc.measures.tables import Gower
from eocc.registry import resolve

__all__ = [
    "DTW",
    "MEASURES",
    "Composite",
    "Euclidean",
    "FrozenMeasure",
    "FunctionMeasure",
    "Gower",
    "GraphEdit",
    "Measure",
    "Precomputed",
    "Prepared",
    "resolve_measure",
]

MEASURES: dict[str, Callable[[], Measure]] = {
    "dtw": DTW,
    "euclidean": Euclidean,
    "gower": Gower,
    "graph-edit": GraphEdit,
    "precomputed": Precomputed,
}


def resolve_measure(measure: Any) -> Measure:
    """Return the measure itself, the one registered under its name, or a function of two objects as one."""
    if callable(measure) and not isinstance(measure, type) and not hasattr(measure, "freeze"):
        return FunctionMeasure(measure)
    return resolve("measure", MEASURES, measure, method="freeze")
