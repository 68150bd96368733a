"""The surprise model <-> plain arrays by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.base.checks import Sizes, demand
from eocc.base.stored import check_keys, declared, restored, stacked, unstacked, written
from eocc.calibration.conformal import Threshold
from eocc.measures.protocol import FittedMeasure
from eocc.space.weightings import LeftOutWeights
from eocc.surprise.cell import cells_of
from eocc.surprise.comparison import Reference
from eocc.surprise.covariance import CovarianceView
from eocc.surprise.far import FarView
from eocc.surprise.gaussians import Gaussians, numbers_of
from eocc.surprise.likelihood_ratio import N_NEAR, LikelihoodRatio
from eocc.surprise.model import HELPERS, Correction, Surprise, SurpriseModel
from eocc.surprise.neighbours import NeighboursView, Standardisation, Weighting, neighbourhood_sizes

# Sizes: h prototypes with weights of their own, r prototypes, u weights, v weightings, s neighbourhood sizes,
# t helpers, w views, m landmarks, f their distances, d active columns, b columns of a basis, l single columns,
# c columns of labels, a answers.


def surprise_state(model: SurpriseModel) -> dict[str, Any]:
    """Return all but the known outliers, as numbers, arrays and dictionaries of these."""
    surprise, view = model.surprise, model.surprise.neighbours
    # A cell view is computed from the prototypes, which gives the same numbers.
    helpers = {name: {} if name == "cell" else written(helper) for name, helper in surprise.helpers.items()}
    return {
        "weightings": stacked(view.weightings),
        "left_out": written(view.left_out),
        "standardisation": written(view.standardisation),
        "helpers": helpers,
        **written(surprise),
        **written(model),
    }


def surprise_from_state(
    state: Any, measure: FittedMeasure, prototypes: Any, outliers: Any, answered: Any
) -> SurpriseModel:
    """Return the model of these prototypes, outliers and answered rows; a ValueError says which array is wrong."""
    is_old = type(state) is dict and "helpers" not in state
    demand(not is_old, "its score is that of eocc 0.2, which this version does not have; fit the model again")
    own = ("weightings", "left_out", "standardisation", "helpers")
    check_keys("surprise", state, (*own, *declared(Surprise), *declared(SurpriseModel)))
    r = len(prototypes)
    sizes = {"r": r, "u": measure.n_parameters, "s": len(neighbourhood_sizes(r - 1))}
    stored = state["weightings"]
    if type(stored) is dict and isinstance(scales := stored.get("local_scales"), np.ndarray):
        # In files of format 3, training rows count in the local scales of others when they are left out.
        stored = {"local_radii": np.zeros_like(scales), "next_distances": np.zeros_like(scales), **stored}
    weightings = unstacked(Weighting, stored, "weightings", sizes)
    v = sizes["v"] = len(weightings)
    demand(0 < v <= 2, f"there must be 1 to 2 weightings, as given and variance-equalised, not {v}")
    standardisation = restored(Standardisation, state["standardisation"], "standardisation", {"c": 2 * v})
    left_out = restored(LeftOutWeights, state["left_out"], "left_out", sizes)
    normal = Reference(measure, prototypes, stored["weights"])
    helpers = _helpers(state["helpers"], normal, sizes)
    sizes |= {"t": len(helpers), "w": 1 + len(helpers)}
    ratio, correction = state["likelihood_ratio"], state["correction"]
    demand((ratio is None) == (outliers is None), "known outliers and a likelihood ratio come together or not at all")
    demand((correction is None) == (answered is None), "answers and a correction come together or not at all")
    if correction is not None:
        reference = Reference(measure, answered, normal.weightings)
        correction = restored(Correction, correction, "correction", {"a": len(answered)}, answered=reference)
    values = {name: state[name] for name in declared(Surprise)}
    view = NeighboursView(weightings, standardisation, left_out)
    return SurpriseModel(
        normal,
        restored(Surprise, values, "", sizes, neighbours=view, helpers=helpers),
        restored(Threshold, state["threshold"], "threshold"),
        None if ratio is None else _likelihood_ratio(ratio, v, normal),
        None if outliers is None else normal.of_outliers(outliers, N_NEAR),
        correction,
    )


def _helpers(state: Any, normal: Reference, sizes: Sizes) -> dict[str, Any]:
    """Return the stored helpers, and the cells of a table."""
    known = [name for name in HELPERS if type(state) is dict and name in state]
    demand(type(state) is dict and len(known) == len(state), f"helpers must be some of {', '.join(HELPERS)}")
    found: dict[str, Any] = {}
    for name in known:
        if name == "cell":
            check_keys("helpers.cell", state[name], ())
            demand(normal.measure.cell_values is not None, "only tables have a cell view")
            found[name] = cells_of(normal)[0]
        elif name == "far":
            found[name] = restored(FarView, state[name], "helpers.far", dict(sizes))
        else:
            demand(normal.measure.coordinates is not None, "only rows of numbers have a covariance view")
            d = int((normal.weightings[-1] > 0).sum())
            found[name] = restored(CovarianceView, state[name], "helpers.covariance", {**sizes, "d": d})
    return found


def _likelihood_ratio(state: Any, n_weightings: int, normal: Reference) -> LikelihoodRatio:
    """Return the likelihood ratio: of the surprise, v ratios of distances and, with Gaussians, 3 + 2 l columns."""
    check_keys("likelihood_ratio", state, declared(LikelihoodRatio))
    n_single = numbers_of(normal, normal.prototypes[[0]]).shape[1]
    gaussians, sizes = state["gaussians"], {"c": 1 + n_weightings + (3 + 2 * n_single if n_single else 0)}
    demand((gaussians is None) == (n_single == 0), "there must be gaussians if and only if there are columns")
    if gaussians is not None:
        gaussians = restored(Gaussians, gaussians, "gaussians", {"l": n_single}, n_normal=len(normal))
    return restored(LikelihoodRatio, {**state, "gaussians": gaussians}, "likelihood_ratio", sizes)
