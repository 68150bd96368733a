"""The surprise model <-> plain arrays by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.foundation.array_checks import Layout, check_keys, check_values, demand, indices, length_of, number, numbers
from eocc.measures.protocol import FittedMeasure
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.comparison import Reference
from eocc.surprise.likelihood_ratio import Densities, LikelihoodRatio
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Standardisation, Surprise, Threshold, Weighting, neighbourhood_sizes

# The weights as given, and variance-equalised.
MOST_WEIGHTINGS = 2
# No mean over the training rows is nearly as small; a smaller one would overflow the largest ratio.
LEAST_MEAN_RATIO = 1e-60
KEYS = ("weightings", "left_out", "standardisation", "threshold", "likelihood_ratio")
RATIO_KEYS = ("densities", "standardisation", "coefficients")
# Sizes: h prototypes with weights of their own,
# r prototypes, u weights, v weightings, s neighbourhood sizes, l single weights, c columns.
WEIGHTINGS: Layout = {
    "weights": numbers("v u", 0, 1),
    "local_scales": numbers("v r", positive=True),
    "mean_distance": numbers("v", positive=True),
    "tolerance": numbers("v", 0),
    "median_profile": numbers("v s", 0),
    "mean_ratio": numbers("v", LEAST_MEAN_RATIO),
}
LEFT_OUT: Layout = {"rows": indices("h", "r", rising=True), "weights": numbers("h u", 0), "power": number(0)}
STANDARDISATION: Layout = {"mean": numbers("c"), "scale": numbers("c", positive=True)}
THRESHOLD: Layout = {"value": number(), "scale": number(0)}
DENSITIES: Layout = {"weights": indices("l", "u", rising=True), "widths": numbers("2 l", positive=True)}


def surprise_state(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known outliers, as numbers, arrays and dictionaries of these."""
    weightings, ratio = model.surprise.weightings, model.likelihood_ratio
    return {
        "weightings": {key: np.array([getattr(one, key) for one in weightings]) for key in WEIGHTINGS},
        "left_out": model.surprise.left_out._asdict(),
        "standardisation": {key: getattr(model.surprise.standardisation, key) for key in STANDARDISATION},
        "threshold": {key: float(getattr(model.threshold, key)) for key in THRESHOLD},
        "likelihood_ratio": None if ratio is None else {
            "densities": {"weights": np.asarray(ratio.densities.weights, np.int64), "widths": ratio.densities.widths},
            "standardisation": {key: getattr(ratio.standardisation, key) for key in STANDARDISATION},
            "coefficients": ratio.coefficients,
        },
    }  # fmt: skip


def surprise_from_state(state: Any, measure: FittedMeasure, prototypes: Any, outliers: Any) -> SurpriseModel:
    """Return the model of these prototypes and outliers; a ValueError says which array is wrong."""
    check_keys("surprise", state, KEYS)
    v = length_of("weightings.mean_distance", state["weightings"], "mean_distance")
    demand(0 < v <= MOST_WEIGHTINGS, f"there must be 1 to {MOST_WEIGHTINGS} weightings, not {v}")
    r = len(prototypes)
    sizes = {"r": r, "u": measure.n_parameters, "v": v, "s": len(neighbourhood_sizes(r - 1)), "c": 2 * v}
    check_values(state["weightings"], WEIGHTINGS, sizes, "weightings")
    sizes["h"] = length_of("left_out.rows", state["left_out"], "rows")
    check_values(state["left_out"], LEFT_OUT, sizes, "left_out")
    check_values(state["standardisation"], STANDARDISATION, sizes, "standardisation")
    check_values(state["threshold"], THRESHOLD, sizes, "threshold")
    ratio = state["likelihood_ratio"]
    demand((ratio is None) == (outliers is None), "known outliers and a likelihood ratio come together or not at all")
    arrays = (state["weightings"][key] for key in WEIGHTINGS)
    columns = (array.tolist() if array.ndim == 1 else array for array in arrays)
    weightings = state["weightings"]["weights"]
    normal = Reference(measure, prototypes, weightings)
    return SurpriseModel(
        normal,
        Surprise(
            tuple(Weighting(*fields) for fields in zip(*columns, strict=True)),
            Standardisation(**state["standardisation"]),
            LeftOutWeights(**state["left_out"]),
        ),
        Threshold(**state["threshold"]),
        None if ratio is None else _likelihood_ratio(ratio, sizes),
        None if outliers is None else normal.of_outliers(outliers),
    )


def _likelihood_ratio(state: Any, sizes: dict[str, int]) -> LikelihoodRatio:
    """Return the likelihood ratio: 2 v terms, v ratios of distances, and one column more than densities, if any."""
    check_keys("likelihood_ratio", state, RATIO_KEYS)
    n_single = length_of("densities.weights", state["densities"], "weights")
    sizes = {**sizes, "l": n_single, "c": 3 * sizes["v"] + (n_single + 1 if n_single else 0)}
    check_values(state["densities"], DENSITIES, sizes, "densities")
    check_values(state["standardisation"], STANDARDISATION, sizes, "likelihood_ratio.standardisation")
    numbers("c", 0)("coefficients", state["coefficients"], sizes)
    standardisation = Standardisation(**state["standardisation"])
    return LikelihoodRatio(Densities(**state["densities"]), standardisation, state["coefficients"])
