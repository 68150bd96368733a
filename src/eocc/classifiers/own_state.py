"""What a fit of one class found <-> values by name, as the model file stores them; `state` has what all share."""

from typing import Any

import numpy as np

from eocc.base.checks import FITTED, Check, demand, indices, numbers, optional, real
from eocc.base.stored import check_keys, check_values, declared, restored, written
from eocc.base.types import ROUNDING
from eocc.ellipsoids.features import ColumnFeatures, PairFeatures, Placement, has_columns, has_rows
from eocc.ellipsoids.model import EllipsoidModel, Ellipsoids, KnownOutliers
from eocc.entropic.graph import SpanningTree
from eocc.entropic.partition import checked_tree, members_of
from eocc.entropic.regions import FuzzyModel, Region
from eocc.entropic.rules import BOUNDARY, limit_grade, resolve_membership_function

# The entropy of copies, whose tree has length 0, is -inf; what was not measured is None.
ENTROPIC_NUMBERS: dict[str, Check] = {
    **dict.fromkeys(("entropy", "alpha", "modularity", "objective"), real(FITTED)),
    "raw_entropy": real("[-inf, 1e300]"),
    "performance": optional(real(FITTED)),
}
HISTORY = ("best", "mean", "entropy", "modularity", "performance")
# Of the entropic classifier. Sizes: n training rows, r prototypes, k regions, e edges of the tree.
ENTROPIC_ARRAYS: dict[str, Check] = {
    "extents": numbers("k", "(0, inf)"),
    "centres": numbers("k r"),
    "labels": indices("n", "k"),
    "representatives": indices("k", "n"),
    "tree_edges": indices("e 2", "n"),
    "tree_lengths": numbers("e", "[0, inf)"),
    "modularity_curve": numbers("n"),
}
ENTROPIC_KEYS = (*ENTROPIC_ARRAYS, "membership_function", "tconorm", "history", *ENTROPIC_NUMBERS)
# Of regions. Sizes: d features, r axes, q = r + 1 coordinates, k regions, t edges between them, n training rows in the
# model.
REGION_LAYOUT: dict[str, Check] = {
    "unit": optional(real("(0, 1e300]")),
    **declared(Placement),
    "counts": indices("k", least=1),
    "labels": indices("n", "k"),
    "region_tree": indices("t 2", "k"),
    "deviations": optional(numbers("k d", "[0, 1e40]")),
    "ends": optional(numbers("2 d")),
}
# Not of rows of numbers, whose prototypes are the centres, and each represents its region.
REGION_CENTRES: dict[str, Check] = {"centres": numbers("k q", "[-1e40, 1e40]"), "representatives": indices("k", "n")}
REGION_KEYS = (*REGION_LAYOUT, *REGION_CENTRES, "known_outliers", "n_rows", "keeps_training_rows")


def entropic_state(classifier: Any) -> dict[str, Any]:
    """Return the regions, the tree and the search as numbers and arrays; a region's members follow from the labels."""
    regions, fuzzy, history = classifier.regions_, classifier.fuzzy_model_, classifier.history_
    numbers = {name: getattr(classifier, f"{name}_") for name in ENTROPIC_NUMBERS}
    return {
        "labels": np.asarray(classifier.labels_, np.int64),
        "representatives": np.array([region.representative for region in regions], np.int64),
        "extents": np.array([region.extent for region in regions], np.float64),
        "centres": fuzzy.centres,
        "membership_function": fuzzy.membership_function,
        "tconorm": fuzzy.tconorm,
        "tree_edges": np.asarray(classifier.spanning_tree_.edges, np.int64),
        "tree_lengths": classifier.spanning_tree_.lengths,
        "modularity_curve": classifier.modularity_curve_,
        "history": {name: np.ascontiguousarray(history[name]) for name in history.dtype.names or ()},
        **{name: None if value is None else float(value) for name, value in numbers.items()},
    }


def restore_entropic(classifier: Any, state: dict[str, Any]) -> float:
    """Set the remaining fitted attributes; return the offset."""
    n = len(classifier.training_indices_)
    sizes = {"n": n, "r": len(classifier.prototypes_), "e": n - 1}
    check_values(state, {**ENTROPIC_NUMBERS, **ENTROPIC_ARRAYS}, sizes)
    k = sizes["k"]
    demand(0 < k <= n, f"there must be 1 to {n} regions, not {k}")
    for name in ENTROPIC_NUMBERS:
        setattr(classifier, f"{name}_", state[name])
    edges, labels, representatives = state["tree_edges"], state["labels"], state["representatives"]
    demand((edges[:, 0] < edges[:, 1]).all(), "tree_edges must have the lower end first")
    classifier.spanning_tree_ = checked_tree(SpanningTree(edges, state["tree_lengths"]))
    demand((np.bincount(labels, minlength=k) > 0).all(), "every region must have a member")
    demand((labels[representatives] == np.arange(k)).all(), "a region's representative must be its member")
    classifier.modularity_curve_, classifier.labels_ = state["modularity_curve"], labels
    shapes = zip(members_of(labels), representatives.tolist(), state["extents"].tolist(), strict=True)
    classifier.regions_ = [Region(*shape) for shape in shapes]
    classifier.history_ = _history(state["history"])
    function, tconorm = state["membership_function"], state["tconorm"]
    demand(not isinstance(function, str) and callable(tconorm), "membership_function and tconorm must be objects")
    fuzzy = FuzzyModel(state["centres"], state["extents"], resolve_membership_function(function), tconorm)
    fuzzy.log_membership(fuzzy.centres[:1])  # both give a score
    classifier.fuzzy_model_ = fuzzy
    return limit_grade(fuzzy.membership_function) + float(state["threshold"])


def _history(state: Any) -> Any:
    names = HISTORY if type(state) is dict and HISTORY[-1] in state else HISTORY[:-1]
    check_keys("history", state, names)
    sizes: dict[str, int] = {}
    check_values(state, dict.fromkeys(names, numbers("g")), sizes, "history")
    demand(sizes["g"] > 0, "history must hold a generation")
    return np.array(list(zip(*state.values(), strict=True)), [(name, np.float64) for name in state])


def region_state(classifier: Any) -> dict[str, Any]:
    """Return the regions and their shape as numbers and arrays."""
    model, has_centres = classifier.ellipsoids_, has_rows(classifier.measure_)
    return {
        **written(model.placement),
        "unit": getattr(classifier.features_, "unit", None),
        "centres": None if has_centres else model.regions.centres,
        "counts": model.regions.counts,
        "deviations": model.own_deviations,
        "ends": model.ends,
        "labels": classifier.labels_,
        "representatives": None if has_centres else classifier.representatives_,
        "region_tree": classifier.region_tree_,
        "known_outliers": written(model.outliers),
        "n_rows": classifier.n_rows_,
        "keeps_training_rows": classifier._keeps_training_rows,
    }


def restore_regions(classifier: Any, state: dict[str, Any]) -> float:
    """Set the remaining fitted attributes; return the offset."""
    measure, prototypes, n = classifier.measure_, classifier.prototypes_, len(classifier.prototypes_)
    constant, unit, labels, keeps_centres = state["constant"], state["unit"], state["labels"], has_rows(measure)
    demand(state["keeps_training_rows"] is not keeps_centres, "keeps_training_rows is not that of the measure")
    features: Any = ColumnFeatures(measure, classifier.weights_) if has_columns(measure) else None
    sizes = {"n": n, "d": n if features is None else features.of(prototypes[[0]]).shape[1]}
    check_values(state, REGION_LAYOUT, sizes)
    is_right = 0 < sizes["k"] <= n and sizes["r"] <= sizes["d"] and sizes["t"] == sizes["k"] - 1
    demand(is_right, f"there must be 1 to {n} regions, an edge less, and at most {sizes['d']} axes")
    for name, value in (("constant", constant), ("unit", unit)):
        demand((value is None) == (features is not None), f"there must be a {name} if and only if there are no columns")
    features = PairFeatures(measure, classifier.weights_, prototypes, unit) if features is None else features
    sizes["q"] = sizes["r"] + 1
    placement = Placement(**{name: state[name] for name in declared(Placement)})
    probe = np.random.default_rng().uniform(1, 2, sizes["r"])  # one sum of the axes shows their angles (Freivalds)
    gap = np.abs(placement.axes.T @ (placement.axes @ probe) - probe).max(initial=0.0)
    demand(constant is not None or gap <= ROUNDING, "axes must be of length 1 and at right angles")
    outliers, every = state["known_outliers"], np.arange(sizes["k"])
    if outliers is not None:
        outliers = restored(KnownOutliers, outliers, "known_outliers", {"q": sizes["q"]})
    if keeps_centres:
        demand(np.array_equal(np.sort(labels), every), "labels must name every region once")
        own, centres = np.argsort(labels), np.zeros((sizes["k"], sizes["q"]))
    else:
        check_values(state, REGION_CENTRES, sizes)
        own, centres = state["representatives"], state["centres"]
        demand((labels[own] == every).all(), "a representative must be a member")
    regions = Ellipsoids(centres, state["counts"])
    model = EllipsoidModel(placement, regions, outliers, state["deviations"], state["ends"])
    classifier.ellipsoids_ = model.with_centres(features.of(prototypes)[own]) if keeps_centres else model
    classifier.features_, classifier.representatives_ = features, own
    classifier.labels_, classifier.region_tree_ = labels, state["region_tree"]
    return float(state["threshold"]) - BOUNDARY**2 / 2
