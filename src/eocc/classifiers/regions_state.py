"""A fitted RegionClassifier <-> values by name, as the model file stores them."""

from dataclasses import replace
from typing import Any

import numpy as np

from eocc.classifiers.state import ROUNDING, check_offset
from eocc.ellipsoids.coordinates import Placement
from eocc.ellipsoids.features import ColumnFeatures, PairFeatures, has_columns, has_rows
from eocc.ellipsoids.memberships import Ellipsoids, KnownOutliers
from eocc.ellipsoids.model import EllipsoidModel
from eocc.foundation.array_checks import Layout, check_values, demand, indices, length_of, number, numbers
from eocc.regions.scores import BOUNDARY

# No number of a fit is nearly as large; with larger ones a score could overflow.
LARGEST = 1e40
# Sizes: d features, r axes, q = r + 1 coordinates, k regions, t edges between them, n training rows in the model, c
# counts below any number of rows.
ARRAYS: Layout = {
    "origin": numbers("d"),
    "axes": numbers("d r", -LARGEST, LARGEST),
    "scales": numbers("r", 0, LARGEST),
    "counts": indices("k", "c"),
    "labels": indices("n", "k"),
    "region_tree": indices("t 2", "k"),
}
OUTLIERS: Layout = {"centres": numbers("o q"), "counts": indices("o", "c"), "background": number()}
CENTRES: Layout = {"centres": numbers("k q", -LARGEST, LARGEST), "representatives": indices("k", "n")}
KEYS = (*ARRAYS, *CENTRES, "height", "constant", "unit", "known_outliers", "n_rows", "keeps_training_rows")


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
    demand(type(n_rows) is int and n_rows > 0, "n_rows must be a positive integer")
    demand(len(state["training_indices"]) == len(prototypes), "training_indices must be those of prototypes")
    n, k = len(prototypes), length_of("counts", state, "counts")
    features = _features(classifier, state["unit"])
    width = features.of(prototypes[[0]]).shape[1] if has_columns(measure) else n
    r = length_of("scales", state, "scales")
    demand(0 < k <= n and r <= width, f"there must be 1 to {n} regions, and at most {width} axes")
    sizes = {"d": width, "r": r, "q": r + 1, "k": k, "n": n, "t": k - 1, "c": 2**62}
    check_values(state, ARRAYS, sizes)
    demand((state["counts"] > 0).all(), "counts must be positive")
    number(-1e-300)("height", state["height"], sizes)
    demand(state["height"] <= LARGEST, "height is too large")
    constant = state["constant"]
    demand((constant is None) == has_columns(measure), "there must be a constant if and only if there are no columns")
    if constant is not None:
        number()("constant", constant, sizes)
    placement = Placement(state["origin"], state["axes"], state["scales"], state["height"], constant)
    outliers = _known_outliers(state["known_outliers"], sizes)
    model = EllipsoidModel(placement, Ellipsoids(np.zeros((k, r + 1)), state["counts"]), outliers)
    model, representatives = _centres(classifier, state, model, features, sizes)
    demand(classifier.calibration_ is not None, "there must be a calibration")
    demand(abs(state["threshold"] - classifier.calibration_.threshold) < ROUNDING, "threshold is not that of the rate")
    check_offset(state, state["threshold"] - BOUNDARY**2 / 2)
    classifier.ellipsoids_, classifier.features_, classifier.representatives_ = model, features, representatives
    for name in ("labels", "region_tree", "n_rows"):
        setattr(classifier, f"{name}_", state[name])


def _centres(
    classifier: Any, state: dict[str, Any], model: EllipsoidModel, features: Any, sizes: dict[str, int]
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
    number(0)("unit", unit, {})
    return PairFeatures(measure, weights, classifier.prototypes_, unit)


def _known_outliers(state: Any, sizes: dict[str, int]) -> KnownOutliers | None:
    if state is None:
        return None
    sizes = {**sizes, "o": length_of("known_outliers.counts", state, "counts")}
    check_values(state, OUTLIERS, sizes, "known_outliers")
    demand((state["counts"] > 0).all(), "known_outliers.counts must be positive")
    return KnownOutliers(Ellipsoids(state["centres"], state["counts"]), state["background"])
