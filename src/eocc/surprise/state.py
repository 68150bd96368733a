"""The surprise model <-> plain arrays by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.foundation.array_checks import (
    check_indices,
    check_keys,
    check_number,
    check_numbers,
    check_positive,
    demand,
    length_of,
)
from eocc.surprise.likelihood_ratio import Densities, LikelihoodRatio
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Standardisation, Surprise, Threshold, Weighting, neighbourhood_sizes

# The weights as given, and variance-equalised.
MOST_WEIGHTINGS = 2
# No mean over the training rows is nearly as small; a smaller one would overflow the largest ratio.
LEAST_MEAN_RATIO = 1e-60
# A field of `Weighting` for each array; the first axis counts the weightings.
WEIGHTING_KEYS = ("weights", "local_scales", "mean_distance", "median_profile", "mean_ratio")
KEYS = ("weightings", "standardisation", "threshold", "left_out", "likelihood_ratio")
RATIO_KEYS = ("densities", "standardisation", "coefficients")


def surprise_state(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known outliers, as numbers, arrays and dictionaries of these."""
    weightings, ratio = model.surprise.weightings, model.likelihood_ratio
    return {
        "weightings": {key: np.array([getattr(one, key) for one in weightings]) for key in WEIGHTING_KEYS},
        "standardisation": _standardisation_state(model.surprise.standardisation),
        "threshold": {"value": float(model.threshold.value), "scale": float(model.threshold.scale)},
        "left_out": model.left_out,
        "likelihood_ratio": None if ratio is None else {
            "densities": {"weights": np.asarray(ratio.densities.weights, np.int64), "widths": ratio.densities.widths},
            "standardisation": _standardisation_state(ratio.standardisation),
            "coefficients": ratio.coefficients,
        },
    }  # fmt: skip


def _standardisation_state(standardisation: Standardisation) -> dict[str, Any]:
    return {"mean": standardisation.mean, "scale": standardisation.scale}


def surprise_from_state(
    state: Any, n_training: int, n_prototypes: int, n_parameters: int, outliers: Any
) -> SurpriseModel:
    """Return the model that the arrays describe; a ValueError says which of them is wrong."""
    check_keys("surprise", state, KEYS)
    weightings = _weightings(state["weightings"], n_prototypes, n_parameters)
    v = len(weightings)
    surprise = Surprise(weightings, _standardisation("standardisation", state["standardisation"], 2 * v))
    check_keys("threshold", state["threshold"], ("value", "scale"))
    check_number("threshold.value", state["threshold"]["value"])
    check_number("threshold.scale", state["threshold"]["scale"], 0)
    check_numbers("left_out", state["left_out"], (n_training,))
    ratio = state["likelihood_ratio"]
    demand((ratio is None) == (outliers is None), "known outliers and a likelihood ratio come together or not at all")
    return SurpriseModel(
        surprise,
        Threshold(**state["threshold"]),
        state["left_out"],
        None if ratio is None else _likelihood_ratio(ratio, v, n_parameters),
        outliers,
    )


def _weightings(state: Any, n_prototypes: int, n_parameters: int) -> tuple[Weighting, ...]:
    check_keys("weightings", state, WEIGHTING_KEYS)
    v = length_of("weightings.mean_distance", state["mean_distance"])
    demand(0 < v <= MOST_WEIGHTINGS, f"there must be 1 to {MOST_WEIGHTINGS} weightings, not {v}")
    check_numbers("weightings.weights", state["weights"], (v, n_parameters), 0, 1)
    check_positive("weightings.local_scales", state["local_scales"], (v, n_prototypes))
    check_positive("weightings.mean_distance", state["mean_distance"], (v,))
    n_sizes = len(neighbourhood_sizes(n_prototypes - 1))
    check_numbers("weightings.median_profile", state["median_profile"], (v, n_sizes), 0)
    check_numbers("weightings.mean_ratio", state["mean_ratio"], (v,), LEAST_MEAN_RATIO)
    columns = (state[key].tolist() if state[key].ndim == 1 else state[key] for key in WEIGHTING_KEYS)
    return tuple(Weighting(*fields) for fields in zip(*columns, strict=True))


def _standardisation(name: str, state: Any, n_columns: int) -> Standardisation:
    check_keys(name, state, ("mean", "scale"))
    check_numbers(f"{name}.mean", state["mean"], (n_columns,))
    check_positive(f"{name}.scale", state["scale"], (n_columns,))
    return Standardisation(**state)


def _likelihood_ratio(state: Any, v: int, n_parameters: int) -> LikelihoodRatio:
    """Return the likelihood ratio: 2 v terms, v ratios of distances, and one column more than densities, if any."""
    check_keys("likelihood_ratio", state, RATIO_KEYS)
    check_keys("densities", state["densities"], ("weights", "widths"))
    n_single = length_of("densities.weights", state["densities"]["weights"])
    check_indices("densities.weights", state["densities"]["weights"], (n_single,), n_parameters, rising=True)
    check_positive("densities.widths", state["densities"]["widths"], (2, n_single))
    n_columns = 3 * v + (n_single + 1 if n_single else 0)
    check_numbers("coefficients", state["coefficients"], (n_columns,), 0)
    standardisation = _standardisation("likelihood_ratio.standardisation", state["standardisation"], n_columns)
    return LikelihoodRatio(Densities(**state["densities"]), standardisation, state["coefficients"])
