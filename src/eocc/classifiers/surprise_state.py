"""Stored values -> a fitted SurpriseClassifier. Its regions are not stored: it computes them when asked."""

from typing import Any

import numpy as np

from eocc.classifiers.answers import known_outliers
from eocc.classifiers.state import ROUNDING, check_offset, check_patterns
from eocc.foundation.array_checks import demand
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.scores import BOUNDARY, Scores
from eocc.surprise.state import surprise_from_state

KEYS = ("surprise", "outliers", "membership_function", "n_rows")


def restore_surprise(classifier: Any, state: dict[str, Any]) -> None:
    """Set the remaining fitted attributes; a ValueError says which do not fit together."""
    if state["outliers"] is not None:
        check_patterns(classifier.measure_, state["outliers"])
    outliers, answers = state["outliers"], classifier.answers_
    known, answered = known_outliers(outliers, answers), None if answers is None else answers.rows
    model = surprise_from_state(state["surprise"], classifier.measure_, classifier.prototypes_, known, answered)
    demand(
        (model.surprise.neighbours.weightings[0].weights == classifier.weights_).all(),
        "weightings must start with weights",
    )
    demand(not isinstance(state["membership_function"], str), "membership_function must be an object")
    function = resolve_membership_function(state["membership_function"])
    calibration, n_rows = classifier.calibration_, state["n_rows"]
    demand(calibration is not None, "there must be a calibration")
    demand(len(state["training_indices"]) == len(state["prototypes"]), "training_indices must be those of prototypes")
    least = max(len(calibration.margins), len(state["prototypes"]))
    demand(type(n_rows) is int and n_rows >= least, f"n_rows must be an integer of at least {least}")
    is_at_threshold = state["threshold"] == 0 and abs(calibration.threshold) < ROUNDING
    demand(is_at_threshold, "threshold is not that of the calibration")
    check_offset(state, float(Scores.of_ratios(np.array([BOUNDARY]), function).log_memberships[0]))
    classifier.surprise_model_, classifier.membership_function_, classifier.n_rows_ = model, function, n_rows
    classifier.outliers_ = outliers
