"""Stored values -> a fitted SurpriseClassifier. Its regions are not stored: it computes them when asked."""

from typing import Any

import numpy as np

from eocc.classifiers.state import ROUNDING, check_offset, check_patterns
from eocc.foundation.array_checks import demand
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.scores import BOUNDARY, Scores
from eocc.surprise.state import surprise_from_state

KEYS = ("surprise", "outliers", "membership_function")


def restore_surprise(classifier: Any, state: dict[str, Any]) -> None:
    """Set the remaining fitted attributes; a ValueError says which do not fit together."""
    n, r, u = (len(part) for part in (classifier.training_indices_, classifier.prototypes_, classifier.weights_))
    if state["outliers"] is not None:
        check_patterns(classifier.measure_, state["outliers"])
    model = surprise_from_state(state["surprise"], n, r, u, state["outliers"])
    demand((model.surprise.weightings[0].weights == classifier.weights_).all(), "weightings must start with weights")
    demand(not isinstance(state["membership_function"], str), "membership_function must be an object")
    function = resolve_membership_function(state["membership_function"])
    calibration = classifier.calibration_
    demand(calibration is not None, "there must be a calibration")
    # The margins are those of the left-out training rows, or of all rows of a stream.
    is_at_threshold = state["threshold"] == 0 and abs(calibration.threshold) < ROUNDING
    demand(is_at_threshold, "threshold is not that of the calibration")
    check_offset(state, float(Scores.of_ratios(np.array([BOUNDARY]), function).log_memberships[0]))
    classifier.surprise_model_, classifier.membership_function_ = model, function
