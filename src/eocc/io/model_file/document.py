"""A fitted classifier <-> the manifest and the arrays of its file."""

import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.calibration.conformal import Calibration
from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import MULTI, SINGLE
from eocc.foundation.checks import positive
from eocc.graph.complete import SpanningTree
from eocc.io.model_file.archive import FORMAT
from eocc.io.model_file.catalogue import NotSaved
from eocc.io.model_file.checks import (
    NUMBERS,
    check_calibration,
    check_fitted,
    check_measure_pair,
    check_prototypes,
    demand,
)
from eocc.io.model_file.codec import Decoder, Encoder
from eocc.io.model_file.parameters import LONGEST_NAME, NEEDED, is_accepted
from eocc.io.model_file.plain import UnwritableError
from eocc.io.model_file.surprise import describe_surprise, restore_surprise
from eocc.io.model_file.trial import SAME_SCORE, check_trial, trial_score
from eocc.measures.composite import Composite, FittedComposite
from eocc.measures.function import FittedFunction, FunctionMeasure
from eocc.measures.resolve import resolve_measure
from eocc.regions.fuzzy import FuzzyModel, Region
from eocc.regions.memberships import MEMBERSHIP_FUNCTIONS, resolve_membership_function
from eocc.regions.tconorms import TCONORMS, resolve_tconorm
from eocc.surprise.model import SurpriseModel, usual_rate

Arrays = dict[str, NDArray[Any]]
# What scoring calls: where it is the user's own, it must be passed again.
CALLED = ("measure", "membership_function", "tconorm")


def describe(classifier: EntropicOneClassClassifier) -> tuple[dict[str, Any], Arrays]:
    """Return the manifest, without its list of members, and the arrays it names."""
    _check_rate(classifier)
    encoder = Encoder()
    parameters = {name: _parameter(encoder, name, value) for name, value in classifier.get_params(deep=False).items()}
    fitted = {name: encoder.encode(value, name) for name, value in _plain_results(classifier).items()}
    fitted["prototypes"] = _patterns(encoder, classifier.prototypes_, "prototypes")
    fitted["others"] = _patterns(encoder, _others_of(classifier), "others")
    fitted["measure"] = _fitted(encoder, classifier.measure_, "measure")
    fitted["membership_function"] = _called(encoder, classifier.fuzzy_model_.membership_function)
    fitted["tconorm"] = _called(encoder, classifier.fuzzy_model_.tconorm)
    own = {name for name in CALLED if _holds(fitted[name], "passed")}
    if _is_not_saved(parameters["measure"]):  # new patterns are read by the measure itself
        own.add("measure")
    names = getattr(classifier, "feature_names_in_", None)
    manifest = {
        "format": FORMAT,
        "library": "eocc",
        "library_version": version("eocc"),
        "estimator": type(classifier).__name__,
        "parameters": parameters,
        "passed_at_load": {name: _kind_of(classifier, name) for name in CALLED if name in own},
        "schema": {
            "n_patterns": len(classifier.labels_),
            "n_parameters": len(classifier.weights_),
            "n_regions": len(classifier.regions_),
            "n_features_in": getattr(classifier, "n_features_in_", None),
            "feature_names_in": None if names is None else [str(name) for name in names],
        },
        "fitted": fitted,
    }
    return manifest, encoder.arrays


def _check_rate(classifier: EntropicOneClassClassifier) -> None:
    """Demand the resolution and the false_alarm_rate of the fit: the file holds one, for parameter and calibration."""
    resolution = MULTI if hasattr(classifier, "surprise_model_") else SINGLE
    fitted = classifier.calibration_.rate if hasattr(classifier, "calibration_") else None
    if resolution == MULTI and fitted == usual_rate(len(classifier.labels_)):
        fitted = None if classifier.false_alarm_rate is None else fitted
    for name, known in (("resolution", resolution), ("false_alarm_rate", fitted)):
        if getattr(classifier, name) != known:
            raise ValueError(
                f"{name} is {getattr(classifier, name)!r}, the model was fitted with {known!r}; "
                "fit it again before it is saved, or set that back"
            )


def _others_of(classifier: EntropicOneClassClassifier) -> Any:
    """Return the known non-targets that scoring needs, if any."""
    return classifier.surprise_model_.others if hasattr(classifier, "surprise_model_") else None


def _kind_of(classifier: EntropicOneClassClassifier, name: str) -> str:
    value = getattr(classifier, name)
    return str(getattr(value, "__name__", type(value).__name__))


def _plain_results(classifier: EntropicOneClassClassifier) -> dict[str, Any]:
    """Return what a fit found, as numbers and arrays; the members of a region follow from the labels."""
    regions, history = classifier.regions_, classifier.history_
    numbers = {name: float(getattr(classifier, f"{name}_")) for name in NUMBERS}
    return {
        "weights": classifier.weights_,
        "labels": np.asarray(classifier.labels_, np.int64),
        "training_indices": np.asarray(classifier.training_indices_, np.int64),
        "prototype_indices": np.asarray(classifier.prototype_indices_, np.int64),
        "representatives": np.array([region.representative for region in regions], np.int64),
        "extents": np.array([region.extent for region in regions], np.float64),
        "centres": classifier.fuzzy_model_.centres,
        "widths": classifier.fuzzy_model_.widths,
        "tree_edges": classifier.spanning_tree_.edges,
        "tree_lengths": classifier.spanning_tree_.lengths,
        "modularity_curve": classifier.modularity_curve_,
        **numbers,
        "performance": float(classifier.performance_) if hasattr(classifier, "performance_") else None,
        "neighbour_entropy": getattr(classifier, "neighbour_entropy_", None),
        "calibration": classifier.calibration_.margins if hasattr(classifier, "calibration_") else None,
        "surprise": describe_surprise(classifier.surprise_model_) if hasattr(classifier, "surprise_model_") else None,
        "first_score": trial_score(
            classifier.measure_, classifier.prototypes_, classifier.weights_, classifier.fuzzy_model_
        ),
        "history": {name: np.ascontiguousarray(history[name]) for name in history.dtype.names or ()},
    }


def _parameter(encoder: Encoder, name: str, value: Any) -> Any:
    """Return an argument as JSON, or what says that it was the user's own."""
    try:
        is_rate = name == "false_alarm_rate" and value is not None  # a fraction will do in a fit
        document = encoder.encode(float(value) if is_rate else value, f"parameters.{name}")
        demand(is_accepted(name, Decoder(encoder.arrays).decode(document)), f"{name} cannot be written")
    except ValueError:
        if name in NEEDED and name != "measure":
            raise UnwritableError(f"a model with {name}={value!r:.40} cannot be saved; set another first") from None
        for place in [place for place in encoder.arrays if place.startswith(f"parameters.{name}")]:
            del encoder.arrays[place]
        return encoder.encode(NotSaved(name, type(value).__name__[:LONGEST_NAME]), f"parameters.{name}")
    return document


def _patterns(encoder: Encoder, patterns: Any, place: str) -> Any:
    try:
        return encoder.encode(patterns, place)
    except UnwritableError as error:
        raise UnwritableError(
            f"the training patterns cannot be saved: {error}; fit on numbers, strings, arrays or LabelledGraph"
        ) from None


def _called(encoder: Encoder, value: Any) -> Any:
    try:
        return encoder.encode(value, "unused")
    except UnwritableError:
        return {"passed": None}


def _fitted(encoder: Encoder, fitted_measure: Any, place: str) -> Any:
    """Return a frozen measure as JSON; of the user's own only what can be written, by part where it has parts."""
    try:
        return encoder.encode(fitted_measure, place)
    except UnwritableError:
        if type(fitted_measure) is FittedFunction:
            return {"passed": {"largest": float(fitted_measure.largest)}}
        if type(fitted_measure) is FittedComposite:
            parts = enumerate(fitted_measure.measures.values())
            return {"passed": {"parts": [_fitted(encoder, part, f"{place}.{k}") for k, part in parts]}}
        return {"passed": None}


def _holds(document: Any, tag: str) -> bool:
    return isinstance(document, dict) and set(document) == {tag}


def _is_not_saved(document: Any) -> bool:
    return _holds(document, "object") and document["object"][0] == NotSaved.__name__


def restore(
    manifest: Mapping[str, Any], arrays: Arrays, passed: Mapping[str, Any], max_bytes: int
) -> EntropicOneClassClassifier:
    """Return the classifier that the manifest and the arrays describe, or say in a ValueError what is wrong."""
    demand(manifest.get("estimator") == EntropicOneClassClassifier.__name__, "it holds no classifier known here")
    decoder = Decoder(arrays)
    parameters = {name: decoder.decode(part) for name, part in _object(manifest, "parameters").items()}
    classifier = _estimator({**BEFORE, **parameters}, passed)
    documents = {**dict.fromkeys(ADDED), **_object(manifest, "fitted")}
    demand(set(documents) == set(_FITTED), f"the fitted values must be {', '.join(_FITTED)}")
    values = {name: decoder.decode(documents[name]) for name in _FITTED if name not in CALLED}
    fitted_measure = _thawed(decoder, documents["measure"], classifier.measure, values["prototypes"])
    called = {name: passed[name] if name in passed else decoder.decode(documents[name]) for name in CALLED[1:]}
    demand(decoder.used == set(arrays), "it holds an array that nothing refers to")
    n_prototypes = check_prototypes(fitted_measure, values["prototypes"], max_bytes)
    if values["prototype_indices"] is None:
        values["prototype_indices"] = np.arange(n_prototypes)
    check_measure_pair(classifier.measure, fitted_measure)
    n = check_fitted(values, n_prototypes, fitted_measure.n_parameters)
    surprise = _surprise(values, classifier, fitted_measure, max_bytes)
    check_calibration(values, _rate_of(classifier, n), n)
    fuzzy = _fuzzy(values, called)
    check_trial(trial_score(fitted_measure, values["prototypes"], values["weights"], fuzzy), values["first_score"])
    offset = fuzzy.threshold + values["threshold"]
    demand(
        math.isclose(values["offset"], offset, rel_tol=SAME_SCORE, abs_tol=SAME_SCORE), "offset is not its boundary's"
    )
    _take(classifier, values, fitted_measure, fuzzy)
    if surprise is not None:
        classifier.surprise_model_ = surprise
    _take_schema(classifier, _object(manifest, "schema"))
    return classifier


# What files of earlier versions lack, and what that means.
BEFORE = {
    "resolution": SINGLE, "prototypes": None, "selection": "random", "graph": "complete", "max_memory": None,
    "plan": "refuse", "precision": "double",
}  # fmt: skip
ADDED = ("prototype_indices", "neighbour_entropy", "surprise", "others")

_FITTED = (
    "weights", "labels", "training_indices", "prototype_indices", "representatives", "extents", "centres", "widths",
    "tree_edges", "tree_lengths", "modularity_curve", *NUMBERS, "performance", "neighbour_entropy", "calibration",
    "surprise", "first_score", "history", "prototypes", "others", *CALLED,
)  # fmt: skip


_SCHEMA = ("n_patterns", "n_parameters", "n_regions", "n_features_in", "feature_names_in")


def _rate_of(classifier: EntropicOneClassClassifier, n: int) -> float | None:
    """Return the rate that the model is calibrated to, if it is."""
    if classifier.false_alarm_rate is None and classifier.resolution == MULTI:
        return usual_rate(n)
    return None if classifier.false_alarm_rate is None else float(classifier.false_alarm_rate)


def _surprise(values: Mapping[str, Any], classifier: Any, fitted_measure: Any, max_bytes: int) -> SurpriseModel | None:
    """Return the model of surprise of a classifier that has one."""
    described, others = values["surprise"], values["others"]
    demand((described is not None) == (classifier.resolution == MULTI), "its resolution is not that of its decisions")
    if described is None:
        demand(others is None, "it has known non-targets that nothing uses")
        return None
    if others is not None:
        check_prototypes(fitted_measure, others, max_bytes)
    n_patterns, n_prototypes = len(values["labels"]), len(values["prototypes"])
    return restore_surprise(described, n_patterns, n_prototypes, fitted_measure.n_parameters, others)


def _object(manifest: Mapping[str, Any], key: str) -> dict[str, Any]:
    part = manifest.get(key)
    if not isinstance(part, dict):
        raise ValueError(f"the manifest has no {key}")
    return part


def _estimator(parameters: dict[str, Any], passed: Mapping[str, Any]) -> EntropicOneClassClassifier:
    known = EntropicOneClassClassifier().get_params(deep=False)
    for name in parameters:
        demand(name in known, f"it has the parameter {name[:40]!r}, which this version does not know")
    for name in known.keys() - passed.keys():
        demand(
            name in parameters and is_accepted(name, parameters[name]),
            f"its {name} is of the wrong kind or out of range",
        )
    return EntropicOneClassClassifier(**{**parameters, **passed})


def _thawed(decoder: Decoder, document: Any, measure: Any, prototypes: Any) -> Any:
    """Return the frozen measure; one of the user's own is frozen again, but for a function, whose divisor is known."""
    if not _holds(document, "passed"):
        return decoder.decode(document)
    own: Any = resolve_measure(measure)
    known = document["passed"]
    if known is None:
        return own.fit(prototypes)
    demand(isinstance(known, dict) and len(known) == 1, "the measure passed is not described")
    if "largest" in known:
        demand(type(own) is FunctionMeasure, "pass the function of two objects that it was fitted with")
        demand(positive(known["largest"]), "the largest dissimilarity must be positive")
        return FittedFunction(own.function, float(known["largest"]), [])
    parts, stored = known.get("parts"), prototypes.parts
    demand(isinstance(own, Composite) and isinstance(parts, list), "pass the Composite that it was fitted with")
    demand(list(own.measures) == list(stored) and len(stored) == len(parts), "the Composite passed has other parts")
    pairs = zip(own.measures.items(), parts, strict=True)
    return FittedComposite({name: _thawed(decoder, part, measure, stored[name]) for (name, measure), part in pairs})


def _fuzzy(values: Mapping[str, Any], called: Mapping[str, Any]) -> FuzzyModel:
    function, tconorm = called["membership_function"], called["tconorm"]
    demand(not isinstance(function, str) or function in MEMBERSHIP_FUNCTIONS, "its membership function is unknown")
    is_named = isinstance(tconorm, str) and tconorm in TCONORMS
    demand(is_named or callable(tconorm), "its t-conorm is unknown")
    resolved = resolve_membership_function(function)
    return FuzzyModel(values["centres"], values["widths"], resolved, resolve_tconorm(tconorm))


def _take(classifier: Any, values: Mapping[str, Any], fitted_measure: Any, fuzzy: FuzzyModel) -> None:
    """Give the classifier all that its fit found."""
    classifier.measure_, classifier.fuzzy_model_ = fitted_measure, fuzzy
    for name in (
        "weights",
        "labels",
        "training_indices",
        "prototype_indices",
        "modularity_curve",
        "prototypes",
        *NUMBERS,
    ):
        setattr(classifier, f"{name}_", values[name])
    for name in ("performance", "neighbour_entropy"):
        if values[name] is not None:
            setattr(classifier, f"{name}_", values[name])
    if values["calibration"] is not None:
        rate = _rate_of(classifier, len(values["labels"]))
        assert rate is not None  # as check_calibration demands
        classifier.calibration_ = Calibration(values["calibration"], rate)
    classifier.spanning_tree_ = SpanningTree(values["tree_edges"], values["tree_lengths"])
    order = np.argsort(values["labels"], kind="stable")
    members = np.split(order, np.cumsum(np.bincount(values["labels"]))[:-1])
    classifier.regions_ = [
        Region(own, int(representative), float(extent))
        for own, representative, extent in zip(members, values["representatives"], values["extents"], strict=True)
    ]
    columns = values["history"]
    classifier.history_ = np.empty(len(columns["best"]), [(name, np.float64) for name in columns])
    for name, column in columns.items():
        classifier.history_[name] = column


def _take_schema(classifier: Any, schema: Mapping[str, Any]) -> None:
    demand(set(schema) == set(_SCHEMA), f"the schema must be {', '.join(_SCHEMA)}")
    n, n_features, names = len(classifier.labels_), schema.get("n_features_in"), schema.get("feature_names_in")
    counts = {"n_patterns": n, "n_parameters": len(classifier.weights_), "n_regions": len(classifier.regions_)}
    demand(all(schema.get(key) == count for key, count in counts.items()), "its schema is not that of its arrays")
    if n_features is None:
        demand(hasattr(resolve_measure(classifier.measure), "read"), "it does not say how many features there are")
        return
    demand(type(n_features) is int and np.shape(classifier.prototypes_)[1:] == (n_features,), "n_features_in is wrong")
    classifier.n_features_in_ = n_features
    if names is not None:
        is_right = isinstance(names, list) and len(names) == n_features and all(isinstance(name, str) for name in names)
        demand(is_right, f"there must be {n_features} feature names")
        classifier.feature_names_in_ = np.array(names, dtype=object)
