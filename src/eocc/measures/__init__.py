"""Measures: a pair of patterns -> a dissimilarity. One file each, one protocol."""

from collections.abc import Callable

from eocc.measures.euclidean import Euclidean
from eocc.measures.protocol import FrozenMeasure, Measure, Prepared
from eocc.registry import resolve

__all__ = ["MEASURES", "Euclidean", "FrozenMeasure", "Measure", "Prepared", "resolve_measure"]

MEASURES: dict[str, Callable[[], Measure]] = {"euclidean": Euclidean}


def resolve_measure(measure: str | Measure) -> Measure:
    """Return the measure itself, or the one registered under its name."""
    return resolve("measure", MEASURES, measure, method="freeze")
