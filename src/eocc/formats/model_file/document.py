"""A fitted classifier <-> the manifest and the arrays of its file."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from eocc.base.checks import MOST_SHOWN, Parameter, agrees, demand, real
from eocc.formats.model_file.codec import Decoder, Encoder, TooLargeError
from eocc.formats.model_file.container import (
    AGAIN,
    FORMAT,
    TRUSTED,
    Arrays,
    array_bytes,
    fault,
    read_container,
    write_container,
)
from eocc.formats.model_file.plain import UnwritableError
from eocc.measures.auto import resolve_measure
from eocc.measures.composite import Composite, FittedComposite
from eocc.measures.function import FittedFunction, FunctionMeasure
from eocc.measures.precomputed import joined

# Larger files are read only on request, so that a file from elsewhere cannot fill the memory.
MAX_BYTES = 2**30
FAILURES = (ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError)
# The fitted values that scoring calls, each with the argument of `load` that replaces one of the user's own.
CALLED = {"resolved_measure": "measure"} | {name: name for name in ("measure", "membership_function", "tconorm")}
# The cells of alignment tables that may be computed to score the first training row: about a second of work.
MOST_WORK = 2**28
# Parameters of earlier versions, which are ignored.
FORMER = ("graph", "precision", "representative")
# Values of earlier versions, which only `fit` needs: the model scores as before.
FORMER_VALUES = {"search": "random", "performance": "auc"}


@dataclass(frozen=True)
class NotSaved:
    """Replaces an argument of the constructor that a model file cannot hold, such as a function of your own.

    The model scores as before. To fit it again, set the parameter first: until then `fit` fails and shows this.

    >>> NotSaved("search", "OneBatch")
    <search was of type OneBatch, which a model file cannot hold: set_params(search=...) before fit>
    """

    parameter: str
    kind: str

    def __repr__(self) -> str:
        what = f"{self.parameter} was of type {self.kind}, which a model file cannot hold"
        return f"<{what}: set_params({self.parameter}=...) before fit>"


def save(classifier: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted classifier to `path`, whole or not at all; the same model gives the same bytes."""
    write_container(path, *describe(classifier))


def identity(classifier: Any) -> str | None:
    """Return 16 hexadecimal digits that only models with the same fitted values share; None if it cannot be saved."""
    try:
        manifest, arrays = describe(classifier)
    except UnwritableError:
        return None
    fitted = json.dumps([manifest["estimator"], manifest["fitted"]], allow_nan=False)
    digest = hashlib.sha256(fitted.encode())
    for name in sorted(arrays):
        digest.update(name.encode() + array_bytes(arrays[name]))
    return digest.hexdigest()[:16]


def version_of(path: str | os.PathLike[str]) -> str:
    """Return the version of eocc that wrote a model file."""
    return str(read_container(Path(path), MAX_BYTES)[0]["library_version"])


def assemble(path: Path, manifest: Any, arrays: Any, classes: Any, given: Mapping[str, Any], max_bytes: int) -> Any:
    """Return the classifier, one of the `classes`, that the content of a file describes, or raise a ModelFileError.

    `given` holds the measure, membership function and t-conorm of the user's own, None where the file holds it.
    """
    passed, wanted = {name: value for name, value in given.items() if value is not None}, manifest["passed_at_load"]
    if not isinstance(wanted, dict) or not set(wanted) <= set(given):
        raise fault(path, "does not say which objects must be passed")
    for name in wanted.keys() ^ passed.keys():  # exactly those objects are passed that the file does not hold
        if name in passed:
            raise fault(path, f"holds its own {name}", f"load it without {name}=")
        what = f"was fitted with a {name} of your own ({str(wanted[name])[:40]}), which a file cannot hold"
        raise fault(path, what, f"pass it again: load(path, {name}=...)")
    decoder = Decoder(arrays, max_bytes)
    try:
        name = manifest["estimator"]
        demand(isinstance(name, str) and name in classes, "it holds no classifier of this version")
        classifier = classes[name]()
        classifier.set_params(**_parameters(decoder, classifier, manifest["parameters"], passed))
        state = _state(decoder, manifest["fitted"], passed)
        classifier._restore_state(state, manifest["format"])
        demand(decoder.used == set(arrays), "it holds an array that nothing refers to")
        # The same score as before: this finds other damage, and an object passed that is not that of the fit.
        score, known = first_score(classifier, state), manifest["first_score"]
        demand(type(known) is float or known is None, "first_score must be a number or null")
        is_right = (score is None) == (known is None)
        demand(is_right, "first_score must be null if and only if the rows are too large to try")
        if score is not None:
            demand(agrees(score, known), f"the first training row scores {score:.6g}, not {known:.6g} as before")
    except TooLargeError as error:
        raise fault(path, str(error), TRUSTED) from None
    except FAILURES as error:
        remedy = f"pass the {' and '.join(passed)} of the fit, or save the model again" if passed else AGAIN
        raise fault(path, f"is no model: {str(error) or type(error).__name__}", remedy) from error
    return classifier


def describe(classifier: Any) -> tuple[dict[str, Any], Arrays]:
    """Return the manifest, without its list of members, and the arrays it names."""
    state, encoder = classifier._fitted_state(), Encoder()
    parameters = {one.name: _parameter(encoder, one, getattr(classifier, one.name)) for one in classifier._parameters}
    fitted = {name: _fitted(encoder, name, value) for name, value in state.items()}
    own = {CALLED[name] for name, part in fitted.items() if name in CALLED and _is_passed(part)}
    answered = (state.get("answers") or {}).get("rows")
    for patterns in (state["prototypes"], state.get("outliers"), answered):
        if patterns is not None:
            state["measure"].check_patterns(patterns)  # what is saved can be loaded
    manifest = {
        "format": FORMAT,
        "library": "eocc",
        "library_version": version("eocc"),
        "estimator": type(classifier).__name__,
        "parameters": parameters,
        "passed_at_load": {name: _kind_of(getattr(classifier, name)) for name in sorted(own)},
        "fitted": fitted,
        "first_score": first_score(classifier, state),
    }
    return manifest, encoder.arrays


def _kind_of(value: Any) -> str:
    return str(getattr(value, "__name__", type(value).__name__))[:MOST_SHOWN]


def _parameter(encoder: Encoder, parameter: Parameter, value: Any) -> Any:
    """Return an argument as JSON, or a note where the file cannot hold it or a fit would refuse it."""
    try:
        parameter.kind(parameter.name, value)
        return encoder.encode(value, f"parameters.{parameter.name}")
    except ValueError:
        return {"not_saved": value.kind if type(value) is NotSaved else _kind_of(value)}


def _fitted(encoder: Encoder, name: str, value: Any, place: str = "") -> Any:
    """Return a fitted value as JSON; of one of the user's own only a function's divisor or a composite's parts."""
    try:
        return encoder.encode(value, place or name)
    except UnwritableError as error:
        if name not in CALLED:
            wanted = "fit on numbers, strings, arrays or LabelledGraph"
            raise UnwritableError(f"the training rows cannot be saved: {error}; {wanted}") from None
    if type(value) is FittedFunction:
        return {"passed": {"largest": float(value.largest)}}
    if type(value) is FittedComposite:
        parts = enumerate(value.measures.values())
        return {"passed": {"parts": [_fitted(encoder, name, part, f"{place or name}.{k}") for k, part in parts]}}
    return {"passed": None}


def _is_passed(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {"passed"}


def _parameters(decoder: Decoder, classifier: Any, documents: Any, passed: Mapping[str, Any]) -> dict[str, Any]:
    names = [parameter.name for parameter in classifier._parameters]
    is_right = isinstance(documents, dict) and set(documents) <= {*names, *FORMER}
    demand(is_right, f"the parameters must be {', '.join(names)}")
    values = {}
    # Parameters that the version of the file did not have keep their defaults.
    for parameter in (one for one in classifier._parameters if one.name in documents):
        name, document = parameter.name, documents[parameter.name]
        if isinstance(document, dict) and set(document) == {"not_saved"}:
            kind = document["not_saved"]
            demand(type(kind) is str and len(kind) <= MOST_SHOWN, f"{name} has no type")
            values[name] = NotSaved(name, kind)
        elif name in FORMER_VALUES and document == FORMER_VALUES[name]:
            values[name] = NotSaved(name, document)
        else:
            values[name] = decoder.decode(document)
            parameter.kind(name, values[name])
    return {**values, **{name: value for name, value in passed.items() if name in names}}


def _state(decoder: Decoder, documents: Any, passed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted values, with what was passed in place of the user's own."""
    demand(isinstance(documents, dict), "it holds no fitted values")
    own = {name for name in CALLED if _is_passed(documents.get(name))}
    demand({CALLED[name] for name in own} == set(passed), "what must be passed is not what its fitted values lack")
    state = {name: decoder.decode(part) for name, part in documents.items() if name not in own}
    state |= {name: passed[CALLED[name]] for name in own}
    if "resolved_measure" in own:
        state["resolved_measure"] = resolve_measure(passed["measure"])
    if "measure" in own:
        known = documents["measure"]["passed"]
        state["measure"] = _refitted(decoder, resolve_measure(passed["measure"]), known, state["prototypes"])
    return state


def _refitted(decoder: Decoder, measure: Any, known: Any, prototypes: Any) -> Any:
    """Return the fitted form of a measure passed again: with its stored parts, if any, else fitted to prototypes."""
    if known is None:
        return measure.fit(prototypes)
    demand(isinstance(known, dict) and len(known) == 1, "the file does not describe the measure")
    if "largest" in known:
        demand(type(measure) is FunctionMeasure, "pass the function of two objects that it was fitted with")
        real("(0, inf)")("the largest dissimilarity", known["largest"])
        return FittedFunction(measure.function, known["largest"], [])
    parts, rows = known.get("parts"), prototypes.parts
    demand(isinstance(measure, Composite) and isinstance(parts, list), "pass the Composite that it was fitted with")
    is_same = list(measure.measures) == list(rows) and len(rows) == len(parts)
    demand(is_same, "pass the Composite that it was fitted with: this one has other parts")
    pairs = zip(measure.measures.items(), parts, strict=True)
    return FittedComposite({
        name: _refitted(decoder, one, part["passed"], rows[name]) if _is_passed(part) else decoder.decode(part)
        for (name, one), part in pairs
    })  # fmt: skip


def first_score(classifier: Any, state: Mapping[str, Any]) -> float | None:
    """Return the score of the first training row, None if the sizes of the rows say that it would take minutes."""
    prototypes, others = state["prototypes"], [state.get("outliers"), (state.get("answers") or {}).get("rows")]
    compared = [prototypes, *(joined(prototypes[[0]], rows) for rows in others if rows is not None)]
    if sum(map(state["measure"].comparison_work, compared)) > MOST_WORK:
        return None
    with np.errstate(all="ignore"):
        score = float(classifier._score_patterns(prototypes[[0]]).log_memberships[0])
    demand(math.isfinite(score), "the first training row has no finite score")
    return score
