"""A fitted EntropicOneClassClassifier <-> values by name, as the model file stores them."""

import math
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eocc.foundation.array_checks import (
    check_indices,
    check_keys,
    check_number,
    check_numbers,
    check_positive,
    demand,
    length_of,
)
from eocc.graph.complete import SpanningTree
from eocc.regions.fuzzy import FuzzyModel, Region
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.tconorms import resolve_tconorm

NUMBERS = ("entropy", "raw_entropy", "modularity", "objective", "performance", "neighbour_entropy")
# The value of a number that was not measured, and the entropy of copies, whose tree has length 0.
EXCEPTIONS = {
    "raw_entropy": (-math.inf,),
    "performance": (None,),
    "neighbour_entropy": (None, -math.inf),
}
HISTORY = ("best", "mean", "entropy", "modularity", "performance")
KEYS = (
    "labels", "representatives", "extents", "centres", "widths", "membership_function", "tconorm", "tree_edges",
    "tree_lengths", "modularity_curve", "history", *NUMBERS,
)  # fmt: skip
# A stored number agrees with a computed one up to the rounding of another machine's mathematical library.
ROUNDING = 1e-6


def entropic_state(classifier: Any) -> dict[str, Any]:
    """Return the regions, the tree and the search as numbers and arrays; a region's members follow from the labels."""
    regions, fuzzy, history = classifier.regions_, classifier.fuzzy_model_, classifier.history_
    numbers = {name: getattr(classifier, f"{name}_") for name in NUMBERS}
    return {
        "labels": np.asarray(classifier.labels_, np.int64),
        "representatives": np.array([region.representative for region in regions], np.int64),
        "extents": np.array([region.extent for region in regions], np.float64),
        "centres": fuzzy.centres,
        "widths": fuzzy.widths,
        "membership_function": fuzzy.membership_function,
        "tconorm": fuzzy.tconorm,
        "tree_edges": np.asarray(classifier.spanning_tree_.edges, np.int64),
        "tree_lengths": classifier.spanning_tree_.lengths,
        "modularity_curve": classifier.modularity_curve_,
        "history": {name: np.ascontiguousarray(history[name]) for name in history.dtype.names or ()},
        **{name: None if value is None else float(value) for name, value in numbers.items()},
    }


def restore_entropic(classifier: Any, state: dict[str, Any]) -> None:
    """Give a classifier with its shared values all others; a ValueError says which do not fit together."""
    n, r = len(classifier.training_indices_), len(classifier.prototypes_)
    for name in NUMBERS:
        if state[name] not in EXCEPTIONS.get(name, ()):
            check_number(name, state[name])
        setattr(classifier, f"{name}_", state[name])
    check_tree(state["tree_edges"], state["tree_lengths"], n)
    check_numbers("modularity_curve", state["modularity_curve"], (n,))
    _check_regions(state, n, r)
    classifier.spanning_tree_ = SpanningTree(state["tree_edges"], state["tree_lengths"])
    classifier.modularity_curve_, classifier.labels_ = state["modularity_curve"], state["labels"]
    classifier.regions_ = _regions(state)
    classifier.history_ = _history(state["history"])
    classifier.fuzzy_model_ = _fuzzy_model(state)
    calibration = classifier.calibration_
    threshold = 0.0 if calibration is None else calibration.threshold
    demand(state["threshold"] == threshold, "threshold is not that of the calibration")
    offset = classifier.fuzzy_model_.threshold + threshold
    is_same = math.isclose(state["offset"], offset, rel_tol=ROUNDING, abs_tol=ROUNDING)
    demand(is_same, "offset is not the log-membership at the threshold")


def check_tree(edges: Any, lengths: Any, n: int) -> None:
    """Demand a tree over all n patterns, its edges heaviest first, each with the lower end first.

    >>> check_tree(np.array([[0, 1], [0, 1]]), np.array([2.0, 1.0]), 3)
    Traceback (most recent call last):
    ...
    ValueError: tree_edges must join all training rows
    """
    check_indices("tree_edges", edges, (n - 1, 2), n)
    check_numbers("tree_lengths", lengths, (n - 1,), 0)
    demand((np.diff(lengths) <= 0).all(), "tree_lengths must not rise")
    demand((edges[:, 0] < edges[:, 1]).all(), "tree_edges must have the lower end first")
    links = coo_array((np.ones(n - 1), (edges[:, 0], edges[:, 1])), shape=(n, n))
    demand(connected_components(links, directed=False)[0] == 1, "tree_edges must join all training rows")


def _check_regions(state: dict[str, Any], n: int, r: int) -> None:
    """Demand k regions, none of them empty, each represented by a member, with a centre and two positive widths."""
    k, labels = length_of("extents", state["extents"]), state["labels"]
    demand(0 < k <= n, f"there must be 1 to {n} regions, not {k}")
    check_positive("extents", state["extents"], (k,))
    check_numbers("centres", state["centres"], (k, r))
    check_positive("widths", state["widths"], (k, 2))
    check_indices("labels", labels, (n,), k)
    demand((np.bincount(labels, minlength=k) > 0).all(), "every region must have a member")
    check_indices("representatives", state["representatives"], (k,), n)
    demand((labels[state["representatives"]] == np.arange(k)).all(), "a region's representative must be its member")


def _regions(state: dict[str, Any]) -> list[Region]:
    order = np.argsort(state["labels"], kind="stable")
    members = np.split(order, np.cumsum(np.bincount(state["labels"]))[:-1])
    shapes = zip(members, state["representatives"].tolist(), state["extents"].tolist(), strict=True)
    return [Region(own, representative, extent) for own, representative, extent in shapes]


def _fuzzy_model(state: dict[str, Any]) -> FuzzyModel:
    """Return the regions' model, after a check that membership function and t-conorm give a score."""
    function, tconorm = state["membership_function"], state["tconorm"]
    demand(not isinstance(function, str) and callable(tconorm), "membership_function and tconorm must be objects")
    fuzzy = FuzzyModel(
        state["centres"], state["widths"], resolve_membership_function(function), resolve_tconorm(tconorm)
    )
    fuzzy.log_membership(fuzzy.centres[:1])
    return fuzzy


def _history(state: Any) -> Any:
    check_keys("history", state, HISTORY if type(state) is dict and HISTORY[-1] in state else HISTORY[:-1])
    length = length_of("history.best", state["best"])
    demand(length > 0, "history must hold a generation")
    history = np.empty(length, [(name, np.float64) for name in state])
    for name, column in state.items():
        check_numbers(f"history.{name}", column, (length,))
        history[name] = column
    return history
