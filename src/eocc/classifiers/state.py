"""What all fitted classifiers have in common <-> values by name, as the model file stores them."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.calibration.threshold import Threshold
from eocc.classifiers.answers import Answers, Removed, TrainingRows, n_removed
from eocc.classifiers.updating import history_state, restored_history
from eocc.foundation.array_checks import Layout, check_keys, check_values, demand, indices, length_of, number, numbers
from eocc.graph.entropy import renyi_order
from eocc.measures.own import OwnFitted
from eocc.measures.protocol import FittedMeasure
from eocc.space.baseline import Baseline
from eocc.tables.reading import Reading
from eocc.tables.windows import Windowing

# Sizes: n training rows, r prototypes, u weights; a table may have any number of rows.
ARRAYS: Layout = {
    "training_indices": indices("n", "any", rising=True), "prototype_indices": indices("r", "n", rising=True),
    "weights": numbers("u", 0, 1), "threshold": number(), "offset": number(),
}  # fmt: skip
SHARED = (
    "resolved_measure", "measure", "prototypes", *ARRAYS, "row_names", "calibration", "n_features_in",
    "feature_names_in", "reading", "baseline", "answers", "batches", "windowing",
)  # fmt: skip
CALIBRATION: Layout = {"margins": numbers("m"), "rate": number(0), "foreign": number(-1e-9)}
# A stored number agrees with a computed one up to the rounding of another machine's mathematical library.
ROUNDING = 1e-6


def shared_state(classifier: Any) -> dict[str, Any]:
    """Return the values that every fitted classifier has."""
    names, calibration = classifier._feature_names, classifier.calibration_
    is_table = classifier.reading_ is not None and not classifier.reading_.is_numbers  # its reading names the columns
    return {
        "resolved_measure": classifier.resolved_measure_,
        "measure": classifier.measure_,
        "prototypes": classifier.prototypes_,
        "weights": classifier.weights_,
        "prototype_indices": np.asarray(classifier.prototype_indices_, np.int64),
        "training_indices": np.asarray(classifier.training_indices_, np.int64),
        "row_names": None if classifier._row_names_ is None else list(classifier._row_names_),
        "calibration": calibration
        and {"margins": calibration.margins, "rate": float(calibration.rate), "foreign": float(calibration.foreign)},
        "threshold": float(classifier.threshold_),
        "offset": float(classifier.offset_),
        "n_features_in": None if is_table else getattr(classifier, "n_features_in_", None),
        "feature_names_in": None if is_table or names is None else list(names),
        "reading": classifier.reading_ and replace(classifier.reading_, remarks=()),
        "baseline": classifier.baseline_,
        "answers": classifier.answers_ and _answers_state(classifier.answers_),
        "batches": history_state(classifier.batches_) if classifier.batches_ else None,
        "windowing": classifier._windowing_,
    }


def from_format_2(classifier: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a file of format 2 as format 3 has them.

    Some of these files lack answers or the order of the Rényi entropy, and have columns and spelling instead of a
    reading; none has a baseline, batches or a windowing.
    """
    known = {name: value for name, value in state.items() if name not in ("ignored_columns", "text_format")}
    if type(calibration := state.get("calibration")) is dict:
        known["calibration"] = {"foreign": 0.0, **calibration}
    if "alpha" in classifier._state_keys:
        known = {"alpha": renyi_order(len(state["prototypes"]), classifier.gamma), **known}
    return {**dict.fromkeys(("answers", "reading", "baseline", "batches", "windowing")), **known}


def restore_shared(classifier: Any, state: dict[str, Any]) -> None:
    """Give the classifier the values that every fitted one has; a ValueError says which do not fit together."""
    measure, prototypes = state["measure"], state["prototypes"]
    check_pair(state["resolved_measure"], measure)
    check_patterns(measure, prototypes)
    n = length_of("training_indices", state, "training_indices")
    check_values(state, ARRAYS, {"n": n, "r": len(prototypes), "u": measure.n_parameters, "any": 2**62})
    classifier.calibration_ = _calibration(state["calibration"])
    for name in ("resolved_measure", "measure", "prototypes", *ARRAYS):
        setattr(classifier, f"{name}_", state[name])
    names = state["row_names"]
    if names is not None:
        is_right = type(names) is list and len(names) == n and all(type(name) is str for name in names)
        demand(is_right, f"row_names must be {n} texts, one per training row")
        classifier._row_names_ = names
    _restore_features(classifier, state["n_features_in"], state["feature_names_in"])
    _restore_reading(classifier, state["reading"], state["baseline"])
    if state["answers"] is not None:
        classifier.answers_ = _answers(state["answers"], classifier)
    if state["batches"] is not None:
        classifier.batches_ = restored_history(state["batches"], n + n_removed(classifier.answers_))
    demand(type(state["windowing"]) in (Windowing, type(None)), "windowing must be a Windowing or null")
    if state["windowing"] is not None:
        classifier._windowing_ = state["windowing"]


def _restore_reading(classifier: Any, reading: Any, baseline: Any) -> None:
    demand(reading is None or type(reading) is Reading, "reading must be a Reading or null")
    if reading is not None:
        width = getattr(classifier, "n_features_in_", None)
        is_right = not reading.is_numbers or width == len(reading.columns)
        demand(is_right, "reading must have one column per feature")
        names = [one.part_name(part) for one in reading.columns for part in one.parts]
        names += _restore_baseline(classifier, baseline, names)
        is_right = reading.is_numbers or names == list(classifier.measure_.names)
        demand(is_right, "reading must have the columns of the measure")
        classifier.reading_ = reading
        classifier._name_features()


def _restore_baseline(classifier: Any, baseline: Any, names: list[Any]) -> list[Any]:
    """Take the baseline of the groups, if there is one, and return the names of the columns that it adds."""
    if baseline is None:
        return []
    is_right = type(baseline) is Baseline and {*baseline.by, *baseline.names} <= {*names}
    demand(is_right, "the baseline must be one of the columns of the reading")
    classifier.baseline_ = baseline
    return [baseline.relative_name(name) for name in baseline.names]


def _answers_state(answers: Answers) -> dict[str, Any]:
    calibration = answers.calibration
    limit = np.array([answers.threshold.value, answers.threshold.scale, calibration.rate, calibration.foreign])
    known = {"rows": answers.rows, "y": answers.y, "names": list(answers.names), "removed": None}
    if answers.removed is not None:
        known["removed"] = {**answers.removed.training._asdict(), "places": answers.removed.places}
    return {**known, "limit": limit, "margins": calibration.margins}


def _answers(state: Any, classifier: Any) -> Answers:
    check_keys("answers", state, ("rows", "y", "names", "limit", "margins", "removed"))
    check_patterns(classifier.measure_, state["rows"])
    y, names, n = state["y"], state["names"], len(state["rows"])
    is_right = type(y) is np.ndarray and y.dtype == np.int64 and y.shape == (n,) and bool((np.abs(y) == 1).all())
    demand(is_right, f"answers.y must be {n} integers, 1 or -1")
    is_right = type(names) is list and len(names) == n and all(type(name) is str for name in names)
    demand(is_right, f"answers.names must be {n} texts")
    numbers("4")("answers.limit", state["limit"], {})
    value, scale, rate, foreign = state["limit"].tolist()
    demand(scale > 0, "answers.limit must have a positive scale")
    demand(classifier.calibration_ is not None, "there must be a calibration")
    calibration = _calibration({"margins": state["margins"], "rate": rate, "foreign": foreign})
    assert calibration is not None
    removed = None if state["removed"] is None else _removed(state["removed"], classifier)
    return Answers(state["rows"], y, tuple(names), Threshold(value, scale), calibration, removed)


def _removed(state: Any, classifier: Any) -> Removed:
    check_keys("answers.removed", state, (*TrainingRows._fields, "places"))
    check_patterns(classifier.measure_, state["rows"])
    n, names = len(state["rows"]), state["names"]
    for name, stop in (("indices", 2**62), ("places", n + len(classifier.training_indices_))):
        indices("n", "stop", rising=True)(f"answers.removed.{name}", state[name], {"n": n, "stop": stop})
    is_right = (names is None) == (classifier._row_names_ is None)
    is_right &= names is None or (type(names) is list and len(names) == n and all(type(one) is str for one in names))
    demand(is_right, f"answers.removed.names must be {n} texts, if the training rows have names")
    return Removed(TrainingRows(state["rows"], state["indices"], names), state["places"])


def check_pair(measure: Any, fitted: Any) -> None:
    """Demand that the fitted measure is of the class that this measure gives, in all parts."""
    is_right = measure.fitted_class in (FittedMeasure, OwnFitted, type(fitted))  # those of the user's own may be any
    demand(is_right, f"the measure {measure.called} does not give {fitted.called}")
    parts, fitted_parts = measure.part_measures, fitted.part_measures
    demand(list(parts) == list(fitted_parts), "the measure and the fitted measure have different parts")
    for name, part in parts.items():
        check_pair(part, fitted_parts[name])


def check_patterns(measure: Any, patterns: Any) -> None:
    """Demand patterns, at least one, that the fitted measure can compare; those of a user's own measure may be any."""
    measure.check_patterns(patterns)
    demand(len(patterns) > 0, "there are no training rows to compare with")


def check_offset(state: dict[str, Any], offset: float) -> None:
    """Demand the offset that was computed again."""
    is_same = math.isclose(state["offset"], offset, rel_tol=ROUNDING, abs_tol=ROUNDING)
    demand(is_same, "offset is not the log-membership at the threshold")


def _calibration(state: Any) -> Calibration | None:
    if state is None:
        return None
    check_values(state, CALIBRATION, {"m": length_of("calibration.margins", state, "margins")}, "calibration")
    demand((np.diff(state["margins"]) >= 0).all(), "calibration.margins must not fall")
    demand(state["rate"] + state["foreign"] < 1, "calibration.rate must lie below 1")
    return Calibration(**state)


def _restore_features(classifier: Any, n_features: Any, names: Any) -> None:
    if n_features is None:
        has_own_reader = classifier.resolved_measure_.read is not None
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
