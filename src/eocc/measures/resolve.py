"""A measure as the user gives it -> the measure."""

from typing import Any, cast

from eocc.foundation.registry import resolve
from eocc.measures import MEASURES
from eocc.measures.function import FunctionMeasure
from eocc.measures.protocol import Measure


def resolve_measure(measure: Any, X: Any = None) -> Measure:
    """Return the measure itself, the one of that name, a function of two objects as a measure, or "auto" for X."""
    if isinstance(measure, str) and measure == "auto":
        from eocc.measures.auto import auto_measure

        if X is None:
            raise ValueError(f"measure='auto' needs data to decide; name one of {', '.join(map(repr, MEASURES))}")
        return auto_measure(X)
    if callable(measure) and not isinstance(measure, type) and not hasattr(measure, "fit"):
        return FunctionMeasure(measure)
    if not isinstance(measure, str) and not hasattr(measure, "fit"):
        raise ValueError(f"a measure is a name, a function of two patterns, or an object like Gower(), not {measure!r}")
    return cast(Measure, resolve("measure", MEASURES, measure, method="fit"))


def is_pairwise(measure: Any) -> bool:
    """Return whether X holds dissimilarities instead of patterns.

    >>> is_pairwise("precomputed"), is_pairwise("auto")
    (True, False)
    """
    known = MEASURES[measure] if isinstance(measure, str) and measure in MEASURES else measure
    return bool(getattr(known, "is_pairwise", False))
