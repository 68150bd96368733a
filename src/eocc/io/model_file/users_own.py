"""Fitted measures of the user's own: what a file can hold of them, and how they are fitted again."""

from typing import Any

from eocc.foundation.array_checks import demand
from eocc.foundation.checks import positive
from eocc.io.model_file.plain import UnwritableError
from eocc.measures.composite import Composite, FittedComposite
from eocc.measures.function import FittedFunction, FunctionMeasure


def encode_measure(encoder: Any, fitted: Any, place: str) -> Any:
    """Return what the file holds of a fitted measure: the divisor of a function, the parts of a composite, or None."""
    if type(fitted) is FittedFunction:
        return {"largest": float(fitted.largest)}
    if type(fitted) is FittedComposite:
        parts = enumerate(fitted.measures.values())
        return {"parts": [_encode_part(encoder, part, f"{place}.{k}") for k, part in parts]}
    return None


def _encode_part(encoder: Any, fitted: Any, place: str) -> Any:
    try:
        return encoder.encode(fitted, place)
    except UnwritableError:
        return {"passed": encode_measure(encoder, fitted, place)}


def refitted_measure(decoder: Any, measure: Any, known: Any, prototypes: Any) -> Any:
    """Return the fitted form of a measure passed again.

    A function gets its divisor from the file, a composite its parts, and any other measure is fitted to the prototypes.
    """
    if known is None:
        return measure.fit(prototypes)
    demand(isinstance(known, dict) and len(known) == 1, "the file does not describe the measure")
    if "largest" in known:
        demand(type(measure) is FunctionMeasure, "pass the function of two objects that it was fitted with")
        demand(positive(known["largest"]), "the largest dissimilarity must be positive")
        return FittedFunction(measure.function, known["largest"], [])
    parts, rows = known.get("parts"), prototypes.parts
    demand(isinstance(measure, Composite) and isinstance(parts, list), "pass the Composite that it was fitted with")
    is_same = list(measure.measures) == list(rows) and len(rows) == len(parts)
    demand(is_same, "pass the Composite that it was fitted with: this one has other parts")
    pairs = zip(measure.measures.items(), parts, strict=True)
    return FittedComposite({name: _part(decoder, one, part, rows[name]) for (name, one), part in pairs})


def _part(decoder: Any, measure: Any, document: Any, prototypes: Any) -> Any:
    if isinstance(document, dict) and set(document) == {"passed"}:
        return refitted_measure(decoder, measure, document["passed"], prototypes)
    return decoder.decode(document)
