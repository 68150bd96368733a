"""A fitted classifier <-> the manifest and the arrays of its file."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.array_checks import demand
from eocc.foundation.parameters import Parameter
from eocc.io.model_file.codec import Decoder, Encoder
from eocc.io.model_file.container import FORMAT
from eocc.io.model_file.plain import UnwritableError
from eocc.io.model_file.users_own import encode_measure, refitted_measure
from eocc.measures.auto import resolve_measure
from eocc.measures.objects import Objects

Arrays = dict[str, NDArray[Any]]
# The fitted values that scoring calls, each with the argument of `load` that replaces one of the user's own.
CALLED = {
    "resolved_measure": "measure",
    "measure": "measure",
    "membership_function": "membership_function",
    "tconorm": "tconorm",
}
# The cells of alignment tables that may be computed to score the first training row: about a second of work.
MOST_WORK = 2**28
# Scores are the same bit for bit on one machine. Another mathematical library may round differently.
SAME_SCORE = 1e-6
LONGEST_NAME = 200


class Storable(Protocol):
    """What a classifier must offer to be saved and loaded; eocc.classifiers.base implements it."""

    parameters: Any

    def set_params(self, **parameters: Any) -> Any:
        """Set constructor arguments."""

    def fitted_state(self) -> dict[str, Any]:
        """Return what the fit found, by name."""
        ...

    def restore_state(self, state: dict[str, Any]) -> None:
        """Take the fitted state, or raise a ValueError."""

    def score_patterns(self, patterns: Any) -> Any:
        """Return the scores of patterns."""


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
        return (
            f"<{self.parameter} was of type {self.kind}, which a model file cannot hold: "
            f"set_params({self.parameter}=...) before fit>"
        )


def describe(classifier: Storable) -> tuple[dict[str, Any], Arrays]:
    """Return the manifest, without its list of members, and the arrays it names."""
    state, encoder = classifier.fitted_state(), Encoder()
    parameters = {one.name: _parameter(encoder, one, getattr(classifier, one.name)) for one in classifier.parameters}
    fitted = {name: _fitted(encoder, name, value) for name, value in state.items()}
    own = {CALLED[name] for name, part in fitted.items() if name in CALLED and _is_passed(part)}
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
    return str(getattr(value, "__name__", type(value).__name__))[:LONGEST_NAME]


def _parameter(encoder: Encoder, parameter: Parameter, value: Any) -> Any:
    """Return an argument as JSON, or a note where the file cannot hold it or a fit would refuse it."""
    try:
        parameter.check(value)
        return encoder.encode(value, f"parameters.{parameter.name}")
    except ValueError:
        return {"not_saved": value.kind if type(value) is NotSaved else _kind_of(value)}


def _fitted(encoder: Encoder, name: str, value: Any) -> Any:
    """Return a fitted value as JSON, or `{"passed": ...}` for one that the user must pass again."""
    try:
        return encoder.encode(value, name)
    except UnwritableError as error:
        if name in CALLED:
            return {"passed": encode_measure(encoder, value, name) if name == "measure" else None}
        wanted = "fit on numbers, strings, arrays or LabelledGraph"
        raise UnwritableError(f"the training rows cannot be saved: {error}; {wanted}") from None


def _is_passed(document: Any) -> bool:
    return isinstance(document, dict) and set(document) == {"passed"}


def restore(
    manifest: Mapping[str, Any], arrays: Arrays, passed: Mapping[str, Any], classes: Mapping[str, Any]
) -> Storable:
    """Return the classifier that the manifest and the arrays describe; a ValueError says what is wrong with them."""
    name = manifest["estimator"]
    demand(isinstance(name, str) and name in classes, "it holds no classifier of this version")
    decoder = Decoder(arrays)
    classifier: Storable = classes[name]()
    classifier.set_params(**_parameters(decoder, classifier, manifest["parameters"], passed))
    state = _state(decoder, manifest["fitted"], passed)
    classifier.restore_state(state)
    demand(decoder.used == set(arrays), "it holds an array that nothing refers to")
    _check_first_score(first_score(classifier, state), manifest["first_score"])
    return classifier


def _parameters(decoder: Decoder, classifier: Storable, documents: Any, passed: Mapping[str, Any]) -> dict[str, Any]:
    names = [parameter.name for parameter in classifier.parameters]
    is_right = isinstance(documents, dict) and set(documents) == set(names)
    demand(is_right, f"the parameters must be {', '.join(names)}")
    values = {}
    for parameter in classifier.parameters:
        document = documents[parameter.name]
        if isinstance(document, dict) and set(document) == {"not_saved"}:
            kind = document["not_saved"]
            demand(type(kind) is str and len(kind) <= LONGEST_NAME, f"{parameter.name} has no type")
            values[parameter.name] = NotSaved(parameter.name, kind)
        else:
            values[parameter.name] = decoder.decode(document)
            parameter.check(values[parameter.name])
    return {**values, **{name: value for name, value in passed.items() if name in names}}


def _state(decoder: Decoder, documents: Any, passed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fitted values, with what was passed in place of the user's own."""
    demand(isinstance(documents, dict), "it holds no fitted values")
    is_own = {name: name in CALLED and _is_passed(part) for name, part in documents.items()}
    own = {CALLED[name] for name, is_passed in is_own.items() if is_passed}
    demand(own == set(passed), "what must be passed is not what its fitted values lack")
    state = {name: decoder.decode(part) for name, part in documents.items() if not is_own[name]}
    if is_own.get("resolved_measure"):
        state["resolved_measure"] = resolve_measure(passed["measure"])
    if is_own.get("measure"):
        measure, known = resolve_measure(passed["measure"]), documents["measure"]["passed"]
        state["measure"] = refitted_measure(decoder, measure, known, state["prototypes"])
    return state | {name: passed[name] for name in ("membership_function", "tconorm") if is_own.get(name)}


def first_score(classifier: Storable, state: Mapping[str, Any]) -> float | None:
    """Return the score of the first training row, None if it would take too long.

    A small file can hold two patterns whose comparison takes minutes, so the work is estimated from their sizes first.
    """
    if work_of(state["measure"], state["prototypes"], state.get("outliers")) > MOST_WORK:
        return None
    with np.errstate(all="ignore"):
        score = float(classifier.score_patterns(state["prototypes"][[0]]).log_memberships[0])
    demand(math.isfinite(score), "the first training row has no finite score")
    return score


def work_of(measure: Any, prototypes: Any, outliers: Any) -> int:
    """Return about how many cells it takes to compare the first prototype with all others and with the outliers."""
    if not hasattr(measure, "comparison_work"):
        return 0
    with_outliers = 0 if outliers is None else measure.comparison_work(_after_first(prototypes, outliers))
    return int(measure.comparison_work(prototypes) + with_outliers)


def _after_first(prototypes: Any, outliers: Any) -> Any:
    """Return the first prototype followed by the outliers; vectors of numbers, which need no work, stay as they are."""
    if isinstance(prototypes, Objects):
        return Objects([prototypes[0], *outliers])
    if hasattr(prototypes, "parts"):
        pairs = {name: _after_first(part, outliers.parts[name]) for name, part in prototypes.parts.items()}
        return type(prototypes)(pairs)
    return prototypes


def _check_first_score(score: float | None, known: Any) -> None:
    """Demand the score that the first training row had when the model was saved.

    This finds damage that the other checks miss, and an object passed that is not the one of the fit.
    """
    demand(type(known) is float or known is None, "first_score must be a number or null")
    demand((score is None) == (known is None), "first_score must be null if and only if the rows are too large to try")
    if score is not None:
        is_same = math.isclose(score, known, rel_tol=SAME_SCORE, abs_tol=SAME_SCORE)
        demand(is_same, f"the first training row scores {score:.6g}, not {known:.6g} as before")
