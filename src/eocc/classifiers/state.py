"""What all fitted classifiers have in common <-> values by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.foundation.array_checks import check_indices, check_keys, check_number, check_numbers, demand, length_of

SHARED = (
    "resolved_measure", "measure", "prototypes", "weights", "prototype_indices", "training_indices", "calibration",
    "threshold", "offset", "n_features_in", "feature_names_in",
)  # fmt: skip


def shared_state(classifier: Any) -> dict[str, Any]:
    """Return the values that every fitted classifier has."""
    names, calibration = classifier.feature_names, classifier.calibration_
    return {
        "resolved_measure": classifier.resolved_measure_,
        "measure": classifier.measure_,
        "prototypes": classifier.prototypes_,
        "weights": classifier.weights_,
        "prototype_indices": np.asarray(classifier.prototype_indices_, np.int64),
        "training_indices": np.asarray(classifier.training_indices_, np.int64),
        "calibration": calibration and {"margins": calibration.margins, "rate": float(calibration.rate)},
        "threshold": float(classifier.threshold_),
        "offset": float(classifier.offset_),
        "n_features_in": getattr(classifier, "n_features_in_", None),
        "feature_names_in": None if names is None else list(names),
    }


def restore_shared(classifier: Any, state: dict[str, Any]) -> None:
    """Give the classifier the values that every fitted one has; a ValueError says which do not fit together."""
    measure, prototypes = state["measure"], state["prototypes"]
    check_pair(state["resolved_measure"], measure)
    check_patterns(measure, prototypes)
    n, r = length_of("training_indices", state["training_indices"]), len(prototypes)
    check_indices("training_indices", state["training_indices"], (n,), 2**62, rising=True)
    check_indices("prototype_indices", state["prototype_indices"], (r,), n, rising=True)
    check_numbers("weights", state["weights"], (measure.n_parameters,), 0, 1)
    for name in ("threshold", "offset"):
        check_number(name, state[name])
    classifier.calibration_ = _calibration(state["calibration"], n)
    classifier.resolved_measure_, classifier.measure_ = state["resolved_measure"], measure
    for name in ("prototypes", "weights", "prototype_indices", "training_indices", "threshold", "offset"):
        setattr(classifier, f"{name}_", state[name])
    _restore_features(classifier, state["n_features_in"], state["feature_names_in"])


def check_pair(measure: Any, fitted: Any) -> None:
    """Demand that the fitted measure is of the class that this measure gives, in all parts; a user's own may be any."""
    wanted = getattr(measure, "fitted_class", None)
    demand(
        wanted in (None, type(fitted)), f"the measure {type(measure).__name__} does not give {type(fitted).__name__}"
    )
    parts, fitted_parts = getattr(measure, "measures", None), getattr(fitted, "measures", None)
    if wanted is not None and isinstance(parts, dict) and isinstance(fitted_parts, dict):
        demand(list(parts) == list(fitted_parts), "the measure and the fitted measure have different parts")
        for name, part in parts.items():
            check_pair(part, fitted_parts[name])


def check_patterns(measure: Any, patterns: Any) -> None:
    """Demand patterns, at least one, that the fitted measure can compare; those of a user's own measure may be any."""
    if hasattr(measure, "check_patterns"):
        measure.check_patterns(patterns)
    demand(len(patterns) > 0, "there are no training rows to compare with")


def _calibration(state: Any, n: int) -> Calibration | None:
    if state is None:
        return None
    check_keys("calibration", state, ("margins", "rate"))
    check_numbers("calibration.margins", state["margins"], (n,))
    demand((np.diff(state["margins"]) >= 0).all(), "calibration.margins must not fall")
    check_number("calibration.rate", state["rate"], 0)
    demand(state["rate"] < 1, "calibration.rate must lie below 1")
    return Calibration(**state)


def _restore_features(classifier: Any, n_features: Any, names: Any) -> None:
    if n_features is None:
        has_own_reader = hasattr(classifier.resolved_measure_, "read")
        demand(has_own_reader and names is None, "n_features_in must be a number for a measure of rows of numbers")
        return
    rows = classifier.prototypes_
    demand(isinstance(rows, np.ndarray) and rows.shape[1:] == (n_features,), "n_features_in is not that of the rows")
    classifier.n_features_in_ = n_features
    if names is not None:
        is_right = type(names) is list and len(names) == n_features and all(type(name) is str for name in names)
        demand(is_right, f"feature_names_in must be {n_features} texts")
        demand(len(set(names)) == n_features, "feature_names_in must all be different")
        classifier.feature_names_in_ = np.array(names, dtype=object)
