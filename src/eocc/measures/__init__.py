"""Measures: a pair of patterns -> a dissimilarity. One file each, one protocol."""

from collections.abc import Callable
from typing import Any

from eocc.foundation.registry import resolve
from eocc.measures.composite import Composite
from eocc.measures.euclidean import Euclidean
from eocc.measures.fingerprints import Tanimoto
from eocc.measures.function import FunctionMeasure
from eocc.measures.graphs import GraphEdit
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.precomputed import Precomputed
from eocc.measures.protocol import FindsNearest, FrozenMeasure, Measure, Prepared
from eocc.measures.series import DTW
from eocc.measures.sets import CosineBags, Jaccard
from eocc.measures.standardised import Standardised
from eocc.measures.strings import StringEdit
from eocc.measures.tables import Gower

__all__ = [
    "DTW",
    "MEASURES",
    "Composite",
    "CosineBags",
    "Euclidean",
    "FindsNearest",
    "FrozenMeasure",
    "FunctionMeasure",
    "Gower",
    "GraphEdit",
    "Jaccard",
    "LabelledGraph",
    "Measure",
    "Precomputed",
    "Prepared",
    "Standardised",
    "StringEdit",
    "Tanimoto",
    "resolve_measure",
]

MEASURES: dict[str, Callable[[], Measure]] = {
    "cosine-bags": CosineBags,
    "dtw": DTW,
    "euclidean": Euclidean,
    "gower": Gower,
    "graph-edit": GraphEdit,
    "jaccard": Jaccard,
    "precomputed": Precomputed,
    "standardised": Standardised,
    "string-edit": StringEdit,
    "tanimoto": Tanimoto,
}


def resolve_measure(measure: Any) -> Measure:
    """Return the measure itself, the one registered under its name, or a function of two objects as one."""
    if callable(measure) and not isinstance(measure, type) and not hasattr(measure, "freeze"):
        return FunctionMeasure(measure)
    if not isinstance(measure, str) and not hasattr(measure, "freeze"):
        raise ValueError(f"a measure is a name, a function of two patterns, or an object like Gower(), not {measure!r}")
    return resolve("measure", MEASURES, measure, method="freeze")
