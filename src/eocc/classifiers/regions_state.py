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
from eocc.entropic.rules import BOUNDARY

# Sizes: d features, r axes, q = r + 1 coordinates, k regions, t edges between them, n training rows in the model. No
# number of a fit is nearly as large as 1e40; with larger ones a score could overflow.
LAYOUT: dict[str, Check] = {
    "unit": optional(real("(0, 1e300]")),
    "origin": numbers("d"),
    "scales": numbers("r", "[0, 1e40]"),
    "axes": numbers("d r", "[-1e40, 1e40]"),
    "counts": indices("k", least=1),
    "labels": indices("n", "k"),
    "region_tree": indices("t 2", "k"),
    "height": real("[-1e-300, 1e40]"),
    "constant": optional(real(FITTED)),
    "deviations": optional(numbers("k d", "[0, 1e40]")),
    "ends": optional(numbers("2 d")),
}
# Not of rows of numbers, whose prototypes are the centres, and each represents its region.
CENTRES: dict[str, Check] = {"centres": numbers("k q", "[-1e40, 1e40]"), "representatives": indices("k", "n")}
OUTLIERS: dict[str, Check] = {"centres": numbers("o q"), "counts": indices("o", least=1), "background": real(FITTED)}
KEYS = (*LAYOUT, *CENTRES, "known_outliers", "n_rows", "keeps_training_rows")


def region_state(classifier: Any) -> dict[str, Any]:
    """Return the regions and their shape as numbers and arrays."""
    model, has_centres = classifier.ellipsoids_, has_rows(classifier.measure_)
    placement, regions, outliers = model.placement, model.regions, model.outliers
    return {
        **{name: getattr(placement, name) for name in ("origin", "axes", "scales")},
        "height": float(placement.height),
        "constant": placement.constant,
        "unit": getattr(classifier.features_, "unit", None),
        "centres": None if has_centres else regions.centres,
        "counts": regions.counts,
        "deviations": model.own_deviations,
        "ends": model.ends,
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
    measure, prototypes, n = classifier.measure_, classifier.prototypes_, len(classifier.prototypes_)
    calibration, constant, unit = classifier.calibration_, state["constant"], state["unit"]
    demand(calibration is not None, "there must be a calibration")
    demand(state["keeps_training_rows"] is not has_rows(measure), "keeps_training_rows is not that of the measure")
    integer(len(calibration.margins), LARGEST_INTEGER)("n_rows", state["n_rows"])
    demand(len(state["training_indices"]) == n, "training_indices must be those of prototypes")
    features: Any = ColumnFeatures(measure, classifier.weights_) if has_columns(measure) else None
    sizes = {"n": n, "d": n if features is None else features.of(prototypes[[0]]).shape[1]}
    check_values(state, LAYOUT, sizes)
    is_right = 0 < sizes["k"] <= n and sizes["r"] <= sizes["d"] and sizes["t"] == sizes["k"] - 1
    demand(is_right, f"there must be 1 to {n} regions, an edge less, and at most {sizes['d']} axes")
    for name, value in (("constant", constant), ("unit", unit)):
        demand((value is None) == (features is not None), f"there must be a {name} if and only if there are no columns")
    features = PairFeatures(measure, classifier.weights_, prototypes, unit) if features is None else features
    sizes["q"] = sizes["r"] + 1
    placement = Placement(state["origin"], state["axes"], state["scales"], state["height"], constant)
    regions = Ellipsoids(np.zeros((sizes["k"], sizes["q"])), state["counts"])
    outliers = _known_outliers(state["known_outliers"], sizes)
    model = EllipsoidModel(placement, regions, outliers, state["deviations"], state["ends"])
    model, representatives = _centres(classifier, state, model, features, sizes)
    demand(abs(state["threshold"] - calibration.threshold) < AGREEMENT, "threshold is not that of the rate")
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


def _known_outliers(state: Any, sizes: Sizes) -> KnownOutliers | None:
    if state is None:
        return None
    check_keys("known_outliers", state, OUTLIERS)
    check_values(state, OUTLIERS, dict(sizes), "known_outliers")
    return KnownOutliers(Ellipsoids(state["centres"], state["counts"]), state["background"])
