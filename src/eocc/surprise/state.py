"""The surprise model <-> plain arrays by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.calibration.threshold import Threshold
from eocc.foundation.array_checks import Layout, check_keys, check_values, demand, indices, length_of, number, numbers
from eocc.measures.protocol import FittedMeasure
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.comparison import Reference
from eocc.surprise.correction import Correction
from eocc.surprise.gaussians import Gaussians, columns_of
from eocc.surprise.likelihood_ratio import N_NEAR, LikelihoodRatio
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Standardisation, Surprise, Weighting, neighbourhood_sizes

# The weights as given, and variance-equalised.
MOST_WEIGHTINGS = 2
# No mean over the training rows is nearly as small; a smaller one would overflow the largest ratio.
LEAST_MEAN_RATIO = 1e-60
# No coefficient and no correction is nearly as large; with larger ones the sum of the terms could overflow.
LARGEST_COEFFICIENT, LARGEST_CORRECTION = 1e40, 1e290
KEYS = ("weightings", "left_out", "standardisation", "threshold", "likelihood_ratio", "correction")
RATIO_KEYS = ("gaussians", "standardisation", "coefficients", "least")
# Sizes: h prototypes with weights of their own,
# r prototypes, u weights, v weightings, s neighbourhood sizes, l single columns, c columns of labels, a answers.
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
GAUSSIANS: Layout = {
    "centre": numbers("l"),
    "scale": numbers("l", positive=True),
    "precision": numbers("p p"),
    "mean": numbers("l"),
    "variance": numbers("l", positive=True),
    "direction": numbers("l"),
}
CORRECTION: Layout = {
    "amounts": numbers("a", -LARGEST_CORRECTION, LARGEST_CORRECTION),
    "reaches": numbers("a", positive=True),
}


def surprise_state(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known outliers, as numbers, arrays and dictionaries of these."""
    weightings, ratio, correction = model.surprise.weightings, model.likelihood_ratio, model.correction
    return {
        "weightings": {key: np.array([getattr(one, key) for one in weightings]) for key in WEIGHTINGS},
        "left_out": model.surprise.left_out._asdict(),
        "standardisation": {key: getattr(model.surprise.standardisation, key) for key in STANDARDISATION},
        "threshold": {key: float(getattr(model.threshold, key)) for key in THRESHOLD},
        "likelihood_ratio": None if ratio is None else {
            "gaussians": ratio.gaussians and {key: getattr(ratio.gaussians, key) for key in GAUSSIANS},
            "standardisation": {key: getattr(ratio.standardisation, key) for key in STANDARDISATION},
            "coefficients": ratio.coefficients,
            "least": float(ratio.least),
        },
        "correction": None if correction is None else {key: getattr(correction, key) for key in CORRECTION},
    }  # fmt: skip


def surprise_from_state(
    state: Any, measure: FittedMeasure, prototypes: Any, outliers: Any, answered: Any
) -> SurpriseModel:
    """Return the model of these prototypes, outliers and answered rows; a ValueError says which array is wrong."""
    state = {"correction": None, **state} if type(state) is dict else state  # files without answers
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
        None if ratio is None else _likelihood_ratio(ratio, sizes, normal),
        None if outliers is None else normal.of_outliers(outliers, N_NEAR),
        _correction(state["correction"], normal, answered),
    )


def _correction(state: Any, normal: Reference, answered: Any) -> Correction | None:
    demand((state is None) == (answered is None), "answers and a correction come together or not at all")
    if state is None:
        return None
    check_values(state, CORRECTION, {"a": len(answered)}, "correction")
    return Correction(Reference(normal.measure, answered, normal.weightings), **state)


def _likelihood_ratio(state: Any, sizes: dict[str, int], normal: Reference) -> LikelihoodRatio:
    """Return the likelihood ratio: of the surprise, v ratios of distances and, with Gaussians, 3 + 2 l columns."""
    is_old = type(state) is dict and "densities" in state
    demand(not is_old, "its known outliers were learned by an earlier version of eocc; fit it again")
    check_keys("likelihood_ratio", state, RATIO_KEYS)
    n_single = columns_of(normal.measure, normal.prototypes[[0]], normal.active)[0].shape[1]
    demand((state["gaussians"] is None) == (n_single == 0), "there must be gaussians if and only if there are columns")
    sizes = {**sizes, "c": 1 + sizes["v"] + (3 + 2 * n_single if n_single else 0)}
    check_values(state["standardisation"], STANDARDISATION, sizes, "likelihood_ratio.standardisation")
    numbers("c", -LARGEST_COEFFICIENT, LARGEST_COEFFICIENT)("coefficients", state["coefficients"], sizes)
    number()("least", state["least"], sizes)
    demand(state["least"] <= 0, "least must not be positive")
    standardisation, gaussians = Standardisation(**state["standardisation"]), None
    if n_single:
        n_correlated = n_single if len(state["gaussians"].get("precision", ())) else 0
        check_values(state["gaussians"], GAUSSIANS, {"l": n_single, "p": n_correlated}, "gaussians")
        gaussians = Gaussians(**state["gaussians"], n_normal=len(normal))
    return LikelihoodRatio(gaussians, standardisation, state["coefficients"], state["least"])
