"""A fitted RegionClassifier <-> values by name, as the model file stores them."""

from dataclasses import replace
from typing import Any

import numpy as np

from eocc.base.array_checks import indices, numbers
from eocc.base.checks import AGREEMENT, FITTED, LARGEST_INTEGER, Check, Sizes, demand, integer, optional, real
from eocc.base.stored import check_keys, check_values
from eocc.classifiers.state import check_offset
from eocc.ellipsoids.features import ColumnFeatures, PairFeatures, Placement, has_columns, has_rows
from eocc.ellipsoids.model import EllipsoidModel
from eocc.ellipsoids.shape import Ellipsoids, KnownOutliers
from eocc.entropic.regions.scores import BOUNDARY

# Sizes: d features, r axes, q = r + 1 coordinates, k regions, t edges between them, n training rows in the model. No
# number of a fit is nearly as large as 1e40; with larger ones a score could overflow.
ARRAYS: dict[str, Check] = {
    "origin": numbers("d"),
    "scales": numbers("r", "[0, 1e40]"),
    "axes": numbers("d r", "[-1e40, 1e40]"),
    "counts": indices("k", least=1),
    "labels": indices("n", "k"),
    "region_tree": indices("t 2", "k"),
    "height": real("[-1e-300, 1e40]"),
    "constant": optional(real(FITTED)),
}
UNIT = optional(real("(0, 1e300]"))
OUTLIERS: dict[str, Check] = {"centres": numbers("o q"), "counts": indices("o", least=1), "background": real(FITTED)}
CENTRES: dict[str, Check] = {"centres": numbers("k q", "[-1e40, 1e40]"), "representatives": indices("k", "n")}
DEVIATIONS = optional(numbers("k d", "[0, 1e40]"))
KEYS = (*ARRAYS, *CENTRES, "deviations", "unit", "known_outliers", "n_rows", "keeps_training_rows")


def region_state(classifier: Any) -> dict[str, Any]:
    """Return the regions and their shape as numbers and arrays.

    The centres of rows of numbers are the prototypes, and each represents its region.
    """
    model, features, has_centres = classifier.ellipsoids_, classifier.features_, has_rows(classifier.measure_)
    placement, regions, outliers = model.placement, model.regions, model.outliers
    return {
        "origin": placement.origin,
        "axes": placement.axes,
        "scales": placement.scales,
        "height": float(placement.height),
        "constant": placement.constant,
        "unit": getattr(features, "unit", None),
        "centres": None if has_centres else regions.centres,
        "counts": regions.counts,
        "deviations": model.own_deviations,
        "labels": classifier.labels_,
        "representatives": None if has_centres else classifier.representatives_,
        "region_tree": classifier.region_tree_,
        "known_outliers": outliers and {
            "centres": outliers.regions.centres, "counts": outliers.regions.counts,
            "background": float(outliers.background),
        },
        "n_rows": classifier.n_rows_,
        "keeps_training_rows": classifier._keeps_training_rows,
    }  # fmt: skip


def restore_regions(classifier: Any, state: dict[str, Any]) -> None:
    """Set the remaining fitted attributes; a ValueError says which do not fit together."""
    measure, prototypes, n_rows = classifier.measure_, classifier.prototypes_, state["n_rows"]
    demand(state["keeps_training_rows"] is not has_rows(measure), "keeps_training_rows is not that of the measure")
    least = len(classifier.calibration_.margins) if classifier.calibration_ else 1
    integer(least, LARGEST_INTEGER)("n_rows", n_rows)
    demand(len(state["training_indices"]) == len(prototypes), "training_indices must be those of prototypes")
    check_values(state, {"unit": UNIT}, {})
    n, constant, features = len(prototypes), state["constant"], _features(classifier, state["unit"])
    width = features.of(prototypes[[0]]).shape[1] if has_columns(measure) else n
    sizes = {"n": n, "d": width}
    check_values(state, {**ARRAYS, "deviations": DEVIATIONS}, sizes)
    k, r = sizes["k"], sizes["r"]
    is_right = 0 < k <= n and r <= width and sizes["t"] == k - 1
    demand(is_right, f"there must be 1 to {n} regions, an edge less, and at most {width} axes")
    demand((constant is None) == has_columns(measure), "there must be a constant if and only if there are no columns")
    sizes["q"] = r + 1
    placement = Placement(state["origin"], state["axes"], state["scales"], state["height"], constant)
    outliers = _known_outliers(state["known_outliers"], sizes)
    model = EllipsoidModel(placement, Ellipsoids(np.zeros((k, r + 1)), state["counts"]), outliers, state["deviations"])
    model, representatives = _centres(classifier, state, model, features, sizes)
    demand(classifier.calibration_ is not None, "there must be a calibration")
    demand(abs(state["threshold"] - classifier.calibration_.threshold) < AGREEMENT, "threshold is not that of the rate")
    check_offset(state, state["threshold"] - BOUNDARY**2 / 2)
    classifier.ellipsoids_, classifier.features_, classifier.representatives_ = model, features, representatives
    for name in ("labels", "region_tree", "n_rows"):
        setattr(classifier, f"{name}_", state[name])


def _centres(
    classifier: Any, state: dict[str, Any], model: EllipsoidModel, features: Any, sizes: Sizes
) -> tuple[EllipsoidModel, Any]:
    """Return the model with its centres, and the index of each region's representative."""
    labels, every = state["labels"], np.arange(sizes["k"])
    if has_rows(classifier.measure_):
        demand(np.array_equal(np.sort(labels), every), "labels must name every region once")
        own = np.argsort(labels)
        return model.with_centres(features.of(classifier.prototypes_)[own]), own
    check_values(state, CENTRES, sizes)
    own = state["representatives"]
    demand((labels[own] == every).all(), "a representative must be a member")
    return replace(model, regions=Ellipsoids(state["centres"], state["counts"])), own


def _features(classifier: Any, unit: Any) -> ColumnFeatures | PairFeatures:
    measure, weights = classifier.measure_, classifier.weights_
    demand((unit is None) == has_columns(measure), "there must be a unit if and only if there are no columns")
    if unit is None:
        return ColumnFeatures(measure, weights)
    return PairFeatures(measure, weights, classifier.prototypes_, unit)


def _known_outliers(state: Any, sizes: Sizes) -> KnownOutliers | None:
    if state is None:
        return None
    check_keys("known_outliers", state, OUTLIERS)
    check_values(state, OUTLIERS, dict(sizes), "known_outliers")
    return KnownOutliers(Ellipsoids(state["centres"], state["counts"]), state["background"])
