"""A model read from a file must hang together: no index out of range, no array of another length, nothing NaN.

Kernels do not check what they are given, so this is what keeps a damaged file from reaching memory it should not.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from eocc.calibration.conformal import Calibration
from eocc.foundation.checks import array_of, optional, positive, real
from eocc.measures.columns import Table
from eocc.measures.composite import Composite, FittedComposite, Records
from eocc.measures.euclidean import Euclidean, FittedEuclidean
from eocc.measures.fingerprints import FittedTanimoto, Tanimoto
from eocc.measures.graphs import FittedGraphEdit, GraphEdit
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects
from eocc.measures.precomputed import FittedPrecomputed, Precomputed, PrecomputedRows
from eocc.measures.resolve import resolve_measure
from eocc.measures.series import DTW, FittedDTW
from eocc.measures.sets import CosineBags, FittedCosineBags, FittedJaccard, Jaccard
from eocc.measures.standardised import Standardised
from eocc.measures.strings import FittedStringEdit, StringEdit
from eocc.measures.tables import FittedGower, Gower

# How far below 0 the margin at the border may be: the room that is given to rounding there.
BORDER = 1e-6
HISTORY = ("best", "mean", "entropy", "modularity", "performance")
NUMBERS = ("entropy", "raw_entropy", "modularity", "objective", "offset", "threshold")
FROZEN_BY: dict[type, type] = {
    Composite: FittedComposite, CosineBags: FittedCosineBags, DTW: FittedDTW, Euclidean: FittedEuclidean,
    Gower: FittedGower, GraphEdit: FittedGraphEdit, Jaccard: FittedJaccard, Precomputed: FittedPrecomputed,
    Standardised: FittedEuclidean, StringEdit: FittedStringEdit, Tanimoto: FittedTanimoto,
}  # fmt: skip


def demand(condition: Any, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def vector(name: str, value: Any, length: int, low: float = -math.inf, high: float = math.inf) -> None:
    """Demand finite doubles in [low, high], so many of them."""
    demand(array_of(np.float64, 1)(value) and value.shape == (length,), f"{name} must be {length} finite numbers")
    demand(not length or (value.min() >= low and value.max() <= high), f"{name} must lie in [{low:g}, {high:g}]")


def indices(name: str, value: Any, shape: tuple[int, ...], stop: int) -> None:
    """Demand 64-bit integers in [0, stop), in an array of that shape."""
    is_right = type(value) is np.ndarray and value.dtype == np.int64 and value.shape == shape
    demand(is_right, f"{name} must be integers of shape {shape}")
    demand(not value.size or (value.min() >= 0 and value.max() < stop), f"{name} must lie in 0..{stop - 1}")


def check_measure_pair(measure: Any, fitted: Any) -> None:
    """Demand that the frozen measure is of the kind that this measure freezes into."""
    own: Any = resolve_measure(measure)
    if type(own) not in FROZEN_BY:
        return
    demand(type(fitted) is FROZEN_BY[type(own)], f"the measure {type(own).__name__} is frozen as another kind")
    if isinstance(fitted, FittedComposite):
        demand(list(own.measures) == list(fitted.measures), "the parts of the measure are not those of the model")
        for name, part in own.measures.items():
            check_measure_pair(part, fitted.measures[name])


def check_prototypes(fitted: Any, prototypes: Any, max_bytes: int) -> int:
    """Demand that the patterns are what the frozen measure compares; return how many there are."""
    check = _PROTOTYPES.get(type(fitted))
    if check is not None:
        demand(
            check(fitted, prototypes, max_bytes), f"the training patterns are not what {type(fitted).__name__} takes"
        )
    n = len(prototypes)
    demand(n > 0, "there are no training patterns")
    return n


def _rows(fitted: FittedEuclidean, rows: Any, max_bytes: int) -> bool:
    spreads = getattr(fitted.unit, "spreads", np.ones(fitted.n_parameters))
    demand(
        spreads.shape == (fitted.n_parameters,) and bool((spreads > 0).all()),
        "the spreads are not one for each feature",
    )
    return array_of(np.float64, 2)(rows) and 0 < rows.shape[1] == fitted.n_parameters


def _bits(fitted: FittedTanimoto, rows: Any, max_bytes: int) -> bool:
    return array_of(np.bool_, 2)(rows) and rows.shape[1] == fitted.n_bits


def _block(fitted: FittedPrecomputed, rows: Any, max_bytes: int) -> bool:
    if type(rows) is not PrecomputedRows or rows.block.shape != (len(rows.columns), fitted.n_columns):
        return False
    return bool((rows.block >= 0).all() and (rows.columns >= 0).all() and (rows.columns < fitted.n_columns).all())


def _series(fitted: FittedDTW, patterns: Any, max_bytes: int) -> bool:
    is_series, n_channels = array_of(np.float64, 2), fitted.n_parameters
    return type(patterns) is Objects and all(
        is_series(one) and len(one) > 0 and 0 < one.shape[1] == n_channels for one in patterns
    )


def _graphs(fitted: FittedGraphEdit, patterns: Any, max_bytes: int) -> bool:
    if type(patterns) is not Objects or not all(type(graph) is LabelledGraph for graph in patterns):
        return False
    sizes = [graph.n_vertices for graph in patterns]
    # A file can name more vertices than it holds bytes: pairing them takes a table of the largest graph's, squared.
    room = 8 * (sum(sizes) + max(sizes, default=0) ** 2)
    demand(room <= max_bytes, f"graphs of up to {max(sizes, default=0)} vertices exceed the limit of {max_bytes} bytes")
    return True


def _of(*classes: type) -> Callable[[Any, Any, int], bool]:
    return lambda fitted, patterns, max_bytes: (
        type(patterns) is Objects and all(type(pattern) in classes for pattern in patterns)
    )


def _bags(fitted: FittedCosineBags, patterns: Any, max_bytes: int) -> bool:
    return type(patterns) is Objects and all(
        type(bag) is dict and all(type(weight) is float and positive(weight) for weight in bag.values())
        for bag in patterns
    )


def _records(fitted: FittedComposite, records: Any, max_bytes: int) -> bool:
    if type(records) is not Records or list(records.parts) != list(fitted.measures):
        return False
    lengths = {check_prototypes(fitted.measures[name], part, max_bytes) for name, part in records.parts.items()}
    return len(lengths) == 1


_PROTOTYPES: dict[type, Callable[[Any, Any, int], bool]] = {
    FittedComposite: _records,
    FittedCosineBags: _bags,
    FittedDTW: _series,
    FittedEuclidean: _rows,
    FittedGower: lambda fitted, patterns, max_bytes: type(patterns) is Table,
    FittedGraphEdit: _graphs,
    FittedJaccard: _of(frozenset),
    FittedPrecomputed: _block,
    FittedStringEdit: _of(str, tuple),
    FittedTanimoto: _bits,
}


def check_fitted(values: dict[str, Any], n_prototypes: int, n_parameters: int) -> int:
    """Demand of the arrays of a model that they fit each other; return the number of training patterns."""
    labels = values["labels"]
    n = len(labels) if isinstance(labels, np.ndarray) and labels.ndim else 0
    demand(n >= n_prototypes, f"there must be a label for each of {n_prototypes} prototypes at least, not {n}")
    indices("prototype_indices", values["prototype_indices"], (n_prototypes,), n)
    demand((np.diff(values["prototype_indices"]) > 0).all(), "prototype_indices must rise")
    vector("weights", values["weights"], n_parameters, 0, 1)
    vector("modularity_curve", values["modularity_curve"], n)
    indices("training_indices", values["training_indices"], (n,), 2**62)
    demand((np.diff(values["training_indices"]) > 0).all(), "training_indices must rise")
    check_tree(values["tree_edges"], values["tree_lengths"], n)
    check_regions(values, n, n_prototypes)
    check_history(values["history"])
    for name in NUMBERS:
        # The entropy of a tree of length 0, of copies of one pattern, is log 0.
        is_log_zero = name == "raw_entropy" and values[name] == -math.inf
        demand(real()(values[name]) or is_log_zero, f"{name} must be a finite number")
    demand(optional(real())(values["performance"]), "performance must be a finite number")
    entropy = values["neighbour_entropy"]
    demand(optional(real())(entropy) or entropy == -math.inf, "neighbour_entropy must be a finite number")
    return n


def check_calibration(values: dict[str, Any], rate: float | None, n: int) -> None:
    """Demand margins, a rate and the threshold that follows from them, or neither margins nor a rate.

    >>> check_calibration({"calibration": None, "threshold": 0.0}, 0.1, 3)
    Traceback (most recent call last):
    ...
    ValueError: it has a false_alarm_rate but no calibration
    """
    margins = values["calibration"]
    has, lacks = ("false_alarm_rate", "calibration") if margins is None else ("calibration", "false_alarm_rate")
    demand((margins is None) == (rate is None), f"it has a {has} but no {lacks}")
    if margins is None or rate is None:
        demand(values["threshold"] == 0, "threshold must be 0 without a calibration")
        return
    vector("calibration", margins, n)
    demand((np.diff(margins) >= 0).all(), "calibration must rise")
    threshold = Calibration(margins, rate).threshold
    if values.get("surprise") is not None:  # its margins are counted from the border, which is the threshold
        demand(values["threshold"] == 0 and threshold > -BORDER, "the border is not that of the calibration")
        return
    demand(values["threshold"] == threshold, "threshold is not that of the calibration")


def check_tree(edges: Any, lengths: Any, n: int) -> None:
    """Demand a tree over all n patterns, its edges heaviest first, each with the lower end first.

    >>> check_tree(np.array([[0, 1], [0, 1]]), np.array([2.0, 1.0]), 3)
    Traceback (most recent call last):
    ...
    ValueError: tree_edges must join all training patterns
    """
    indices("tree_edges", edges, (n - 1, 2), n)
    vector("tree_lengths", lengths, n - 1, 0)
    demand((np.diff(lengths) <= 0).all(), "tree_lengths must fall")
    demand((edges[:, 0] < edges[:, 1]).all(), "tree_edges must have the lower end first")
    links = coo_array((np.ones(n - 1), (edges[:, 0], edges[:, 1])), shape=(n, n))
    demand(connected_components(links, directed=False)[0] == 1, "tree_edges must join all training patterns")


def check_regions(values: dict[str, Any], n: int, n_prototypes: int) -> None:
    """Demand k regions without an empty one, each represented by a member, with a centre and two positive widths."""
    centres, widths, labels = (values[name] for name in ("centres", "widths", "labels"))
    is_right = array_of(np.float64, 2)(centres) and centres.shape[1] == n_prototypes
    demand(is_right, f"centres must be points of {n_prototypes} finite numbers")
    k = len(centres)
    demand(0 < k <= n, f"there must be 1..{n} regions, not {k}")
    demand(array_of(np.float64, 2)(widths) and widths.shape == (k, 2), f"widths must be of shape ({k}, 2)")
    demand((widths > 0).all(), "widths must be positive")
    vector("extents", values["extents"], k)
    demand((values["extents"] > 0).all(), "extents must be positive")
    indices("labels", labels, (n,), k)
    demand((np.bincount(labels, minlength=k) > 0).all(), "every region must have a member")
    indices("representatives", values["representatives"], (k,), n)
    demand((labels[values["representatives"]] == np.arange(k)).all(), "a region's representative must be its member")


def check_history(history: Any) -> None:
    """Demand a column per quantity, all equally long."""
    names = tuple(history) if type(history) is dict else ()
    demand(names in (HISTORY, HISTORY[:-1]), f"history must hold {', '.join(HISTORY)}")
    length = len(history["best"]) if isinstance(history["best"], np.ndarray) and history["best"].ndim else 0
    demand(length > 0, "history must hold a generation")
    for name in names:
        vector(f"history.{name}", history[name], length)
