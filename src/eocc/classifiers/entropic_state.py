"""A fitted EntropicOneClassClassifier <-> values by name, as the model file stores them."""

from typing import Any

import numpy as np

from eocc.base.array_checks import indices, numbers
from eocc.base.checks import FITTED, Check, demand, optional, real
from eocc.base.stored import check_keys, check_values
from eocc.classifiers.state import check_offset
from eocc.entropic.graph import SpanningTree
from eocc.entropic.partition import checked_tree, members_of_clusters
from eocc.entropic.regions import FuzzyModel, Region
from eocc.entropic.rules import resolve_membership_function

# The entropy of copies, whose tree has length 0, is -inf; what was not measured is None.
NUMBERS: dict[str, Check] = {
    **dict.fromkeys(("entropy", "alpha", "modularity", "objective"), real(FITTED)),
    "raw_entropy": real("[-inf, 1e300]"),
    "performance": optional(real(FITTED)),
}
HISTORY = ("best", "mean", "entropy", "modularity", "performance")
# Sizes: n training rows, r prototypes, k regions, e edges of the tree.
ARRAYS: dict[str, Check] = {
    "extents": numbers("k", "(0, inf)"),
    "centres": numbers("k r"),
    "labels": indices("n", "k"),
    "representatives": indices("k", "n"),
    "tree_edges": indices("e 2", "n"),
    "tree_lengths": numbers("e", "[0, inf)"),
    "modularity_curve": numbers("n"),
}
KEYS = (*ARRAYS, "membership_function", "tconorm", "history", *NUMBERS)


def entropic_state(classifier: Any) -> dict[str, Any]:
    """Return the regions, the tree and the search as numbers and arrays; a region's members follow from the labels."""
    regions, fuzzy, history = classifier.regions_, classifier.fuzzy_model_, classifier.history_
    numbers = {name: getattr(classifier, f"{name}_") for name in NUMBERS}
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


def restore_entropic(classifier: Any, state: dict[str, Any]) -> None:
    """Set the remaining fitted attributes; a ValueError says which do not fit together."""
    n = len(classifier.training_indices_)
    sizes = {"n": n, "r": len(classifier.prototypes_), "e": n - 1}
    check_values(state, {**NUMBERS, **ARRAYS}, sizes)
    k = sizes["k"]
    demand(0 < k <= n, f"there must be 1 to {n} regions, not {k}")
    for name in NUMBERS:
        setattr(classifier, f"{name}_", state[name])
    edges, labels, representatives = state["tree_edges"], state["labels"], state["representatives"]
    demand((edges[:, 0] < edges[:, 1]).all(), "tree_edges must have the lower end first")
    classifier.spanning_tree_ = checked_tree(SpanningTree(edges, state["tree_lengths"]))
    demand((np.bincount(labels, minlength=k) > 0).all(), "every region must have a member")
    demand((labels[representatives] == np.arange(k)).all(), "a region's representative must be its member")
    classifier.modularity_curve_, classifier.labels_ = state["modularity_curve"], labels
    shapes = zip(members_of_clusters(labels), representatives.tolist(), state["extents"].tolist(), strict=True)
    classifier.regions_ = [Region(*shape) for shape in shapes]
    classifier.history_ = _history(state["history"])
    classifier.fuzzy_model_ = _fuzzy_model(state)
    threshold = 0.0 if classifier.calibration_ is None else classifier.calibration_.threshold
    demand(state["threshold"] == threshold, "threshold is not that of the calibration")
    check_offset(state, classifier.fuzzy_model_.threshold + threshold)


def _fuzzy_model(state: dict[str, Any]) -> FuzzyModel:
    """Return the regions' model, after a check that membership function and t-conorm give a score."""
    function, tconorm = state["membership_function"], state["tconorm"]
    demand(not isinstance(function, str) and callable(tconorm), "membership_function and tconorm must be objects")
    fuzzy = FuzzyModel(state["centres"], state["extents"], resolve_membership_function(function), tconorm)
    fuzzy.log_membership(fuzzy.centres[:1])
    return fuzzy


def _history(state: Any) -> Any:
    names = HISTORY if type(state) is dict and HISTORY[-1] in state else HISTORY[:-1]
    check_keys("history", state, names)
    sizes: dict[str, int] = {}
    check_values(state, dict.fromkeys(names, numbers("g")), sizes, "history")
    demand(sizes["g"] > 0, "history must hold a generation")
    return np.array(list(zip(*state.values(), strict=True)), [(name, np.float64) for name in state])
