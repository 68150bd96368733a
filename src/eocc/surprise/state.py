"""The surprise model <-> plain arrays by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.calibration.threshold import Threshold
from eocc.foundation.array_checks import Layout, check_keys, check_values, demand, indices, length_of, number, numbers
from eocc.measures.protocol import ComparesRows, FittedMeasure, HasCells
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.cell import cells_of
from eocc.surprise.comparison import Reference
from eocc.surprise.correction import Correction
from eocc.surprise.covariance import CovarianceView
from eocc.surprise.far import N_LANDMARKS, FarView, sizes_among
from eocc.surprise.gaussians import Gaussians, columns_of
from eocc.surprise.likelihood_ratio import N_NEAR, LikelihoodRatio
from eocc.surprise.model import SurpriseModel
from eocc.surprise.neighbours import NeighboursView, Standardisation, Weighting, neighbourhood_sizes
from eocc.surprise.views import HELPERS, Helper, Surprise

# The weights as given, and variance-equalised.
MOST_WEIGHTINGS = 2
# No mean over the training rows is nearly as small; a smaller one would overflow the largest ratio.
LEAST_MEAN_RATIO = 1e-60
# No coefficient and no correction is nearly as large; with larger ones the sum of the terms could overflow.
LARGEST_COEFFICIENT, LARGEST_CORRECTION = 1e40, 1e290
LARGEST_NUMBER = 1e280
KEYS = ("weightings", "left_out", "standardisation", "helpers", "training", "centres", "units", "threshold",
        "likelihood_ratio", "correction")  # fmt: skip
RATIO_KEYS = ("gaussians", "standardisation", "coefficients", "least")
# Sizes: h prototypes with weights of their own, r prototypes, u weights, v weightings, s neighbourhood sizes,
# t helpers, w views, m landmarks, f their distances, d active columns, b columns of a basis, l single columns,
# c columns of labels, a answers.
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
VIEWS: Layout = {
    "training": numbers("r t", -LARGEST_NUMBER, LARGEST_NUMBER),
    "centres": numbers("w", -LARGEST_NUMBER, LARGEST_NUMBER),
    "units": numbers("w", 1 / LARGEST_NUMBER),
}
FAR: Layout = {
    "landmarks": indices("m", "r", rising=True),
    "least": numbers("v", positive=True),
    "mean": numbers("f"),
    "scale": numbers("f", positive=True),
}
COVARIANCE: Layout = {
    "mean": numbers("d"),
    "basis": numbers("d b"),
    "whole": number(-1.0),
    "inside": number(),
}
# A cell view is computed from the prototypes, which gives the same numbers.
HELPER_LAYOUTS: dict[str, Layout] = {"far": FAR, "covariance": COVARIANCE, "cell": {}}
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
    surprise, ratio, correction = model.surprise, model.likelihood_ratio, model.correction
    view = surprise.neighbours
    return {
        "weightings": {key: np.array([getattr(one, key) for one in view.weightings]) for key in WEIGHTINGS},
        "left_out": view.left_out._asdict(),
        "standardisation": {key: getattr(view.standardisation, key) for key in STANDARDISATION},
        "helpers": {
            name: {key: getattr(helper, key) for key in HELPER_LAYOUTS[name]}
            for name, helper in surprise.helpers.items()
        },
        **{key: getattr(surprise, key) for key in VIEWS},
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
    is_old = type(state) is dict and "helpers" not in state
    demand(not is_old, "its score is that of eocc 0.2, which this version does not have; fit the model again")
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
    neighbours = NeighboursView(
        tuple(Weighting(*fields) for fields in zip(*columns, strict=True)),
        Standardisation(**state["standardisation"]),
        LeftOutWeights(**state["left_out"]),
    )
    helpers = _helpers(state["helpers"], normal, sizes)
    sizes["t"], sizes["w"] = len(helpers), 1 + len(helpers)
    for name, check in VIEWS.items():
        check(name, state[name], sizes)
    return SurpriseModel(
        normal,
        Surprise(neighbours, helpers, *(state[name] for name in VIEWS)),
        Threshold(**state["threshold"]),
        None if ratio is None else _likelihood_ratio(ratio, sizes, normal),
        None if outliers is None else normal.of_outliers(outliers, N_NEAR),
        _correction(state["correction"], normal, answered),
    )


def _helpers(state: Any, normal: Reference, sizes: dict[str, int]) -> dict[str, Helper]:
    """Return the stored helpers, and the cells of a table."""
    known = [name for name in HELPERS if type(state) is dict and name in state]
    demand(type(state) is dict and len(known) == len(state), f"helpers must be some of {', '.join(HELPERS)}")
    found: dict[str, Helper] = {}
    for name in known:
        if name == "cell":
            check_keys("helpers.cell", state[name], ())
            demand(isinstance(normal.measure, HasCells), "only tables have a cell view")
            found[name] = cells_of(normal)[0]
        elif name == "far":
            m = length_of("helpers.far.landmarks", state[name], "landmarks")
            demand(2 < m <= N_LANDMARKS, f"there must be 3 to {N_LANDMARKS} landmarks, not {m}")
            own = {**sizes, "m": m, "f": sizes["v"] * len(sizes_among(m))}
            check_values(state[name], FAR, own, "helpers.far")
            found[name] = FarView(**state[name])
        else:
            demand(isinstance(normal.measure, ComparesRows), "only rows of numbers have a covariance view")
            basis = state[name].get("basis") if type(state[name]) is dict else None
            width = basis.shape[1] if type(basis) is np.ndarray and basis.ndim == 2 else 0
            d = int((normal.weightings[-1] > 0).sum())
            demand(0 < width <= max(d, sizes["r"]), "helpers.covariance.basis must be a matrix")
            check_values(state[name], COVARIANCE, {**sizes, "d": d, "b": width}, "helpers.covariance")
            found[name] = CovarianceView(**state[name])
    return found


def _correction(state: Any, normal: Reference, answered: Any) -> Correction | None:
    demand((state is None) == (answered is None), "answers and a correction come together or not at all")
    if state is None:
        return None
    check_values(state, CORRECTION, {"a": len(answered)}, "correction")
    return Correction(Reference(normal.measure, answered, normal.weightings), **state)


def _likelihood_ratio(state: Any, sizes: dict[str, int], normal: Reference) -> LikelihoodRatio:
    """Return the likelihood ratio: of the surprise, v ratios of distances and, with Gaussians, 3 + 2 l columns."""
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
