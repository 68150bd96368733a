"""All partitions of a spanning tree -> how well the regions of each classify a validation set (Algorithm 2)."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy

from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph
from eocc.entropic.partition.cuts import leaf_order
from eocc.entropic.regions.fuzzy import (
    Fuzzification,
    FuzzyModel,
    build_region,
    combined_grades,
    default_extent,
    width_of,
)
from eocc.entropic.regions.rules import EQUALLY_CENTRAL, extents_of_sums
from eocc.entropic.regions.scores import BOUNDARY
from eocc.kernels.merges import Nodes, Products, count_accepted, merge_clusters


def accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the share of right decisions, as in the paper; `accepted` targets and `falsely` accepted outliers."""
    return (accepted + n_outliers - falsely) / (n_targets + n_outliers)


def balanced_accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the mean of the shares of right decisions among targets and among outliers."""
    return (accepted / n_targets + 1 - falsely / n_outliers) / 2


def f1(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * accepted / (accepted + falsely + n_targets)


def auc(y: Indices, decisions: Indices, scores: Matrix) -> float:
    """Return the area under the ROC curve: how often a target scores above an outlier, ties count half."""
    n_targets = int((y == 1).sum())
    ranks = float(scipy.stats.rankdata(scores)[y == 1].sum()) - n_targets * (n_targets + 1) / 2
    return ranks / (n_targets * (len(y) - n_targets))


# Those that follow from the counts of accepted patterns, of one partition or (as arrays) of many. Others are functions
# of the labels, +1 for targets and -1 for outliers, the decisions, and the scores.
COUNTED = (accuracy, balanced_accuracy, f1)
PERFORMANCES = {performance.__name__: performance for performance in (*COUNTED, auc)}
Performance = Callable[..., Any]


def performance_curve(
    graph: EuclideanGraph, rows: Matrix, n_targets: int, fuzzification: Fuzzification, performance: Performance
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters on validation rows, targets first.

    If every region is a ball and the performance follows from counts, one pass computes all of them. Otherwise every
    split builds the regions of its two parts.
    """
    sizes = n_targets, len(rows) - n_targets
    if performance in COUNTED and fuzzification.gives_balls and len(graph.tree.edges):
        counts = counts_by_split(graph, rows, n_targets, fuzzification.extent)
        return np.asarray(performance(*counts, *sizes))
    found, y = [], np.repeat([1, -1], sizes)
    for ratios in ratios_by_split(graph, rows, fuzzification):
        is_accepted = ratios.min(axis=1) <= BOUNDARY
        if performance in COUNTED:
            counts = is_accepted[y == 1].sum(), is_accepted[y == -1].sum()
            found.append(float(performance(*counts, *sizes)))
        else:
            scores = combined_grades(fuzzification.membership_function, fuzzification.tconorm, ratios)
            found.append(_own_performance(performance, y, np.where(is_accepted, 1, -1), scores))
    return np.array(found)


def _own_performance(performance: Performance, y: Indices, decisions: Indices, scores: Matrix) -> float:
    try:
        value = float(performance(y, decisions, scores))
    except (AttributeError, TypeError) as error:
        wanted = "performance must be a function of the labels (+1 or -1), the decisions and the scores"
        raise ValueError(f"{wanted}; {performance!r} failed: {error}") from error
    if not np.isfinite(value):
        raise ValueError(f"performance must be a finite number; {performance!r} gave {value}")
    return value


def counts_by_split(graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Any) -> tuple[Indices, Indices]:
    """Return how many targets and outliers are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split."""
    cuts, space, (n_edges, m) = leaf_order(graph.tree), graph.space, (len(graph.tree.edges), len(rows))
    medoid, left, right = np.empty((3, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    nodes = Nodes(medoid, total, largest, left, right)
    merge_clusters(
        graph.distances, cuts, EQUALLY_CENTRAL, nodes, np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    )
    size = (cuts.stop - cuts.start).astype(np.float64)
    default = default_extent(graph.tree)
    extents = extents_of_sums(extent, total, largest, size * (size - 1) / 2)
    radius = width_of(np.where(extents > 0, extents, default)) * BOUNDARY / space.scale
    accepted, falsely = np.empty((2, n_edges), np.int64)
    scratch = np.empty((n_edges, m), np.uint8), np.zeros(m, np.int64), np.empty(m, np.uint8)
    count_accepted(
        nodes, radius, float(width_of(default)) * BOUNDARY / space.scale, _products(space.rows, rows),
        n_targets, scratch, accepted, falsely,
    )  # fmt: skip
    return accepted, falsely


def _products(rows: Matrix, others: Matrix) -> Products:
    """Return the scalar products of all pairs, and their relative error.

    Single precision settles nearly all decisions, and the kernel computes the rest exactly. A sum of r rounded products
    errs by at most r u |x| |y|, u = 2^-24.
    """
    (norms, short), (other_norms, other_short) = _in_single_precision(rows), _in_single_precision(others)
    return Products(rows, others, norms, other_norms, short @ other_short.T, (rows.shape[1] + 4) * 2.0**-24)


def _in_single_precision(rows: Matrix) -> tuple[Matrix, Any]:
    """Return the squared norms and the rows; rows out of range have an infinite norm, which settles no decision."""
    norms = np.einsum("ij,ij->i", rows, rows)
    is_out = ~((norms > 1e-30) & (norms < 1e30))
    with np.errstate(over="ignore"):
        short = rows.astype(np.float32)
    short[is_out] = 0.0
    return np.where(is_out, np.inf, norms), short


def ratios_by_split(graph: EuclideanGraph, rows: Matrix, fuzzification: Fuzzification) -> Iterator[Matrix]:
    """Yield d / tau of every validation pattern in every region, (m, k), at k = 2, 3, ...; at k = 1 if n = 1."""
    cuts = leaf_order(graph.tree)
    columns: dict[int, Matrix] = {}  # key: where the cluster starts in the leaf order

    def add(start: int, stop: int) -> None:
        region = build_region(graph, fuzzification, np.sort(cuts.order[start:stop]))
        columns[start] = FuzzyModel.of([region], fuzzification).ratios(rows)[:, 0]

    if graph.tree.n_vertices == 1:
        add(0, 1)
        yield np.column_stack(list(columns.values()))
    for start, middle, stop in zip(cuts.start, cuts.middle, cuts.stop, strict=True):
        add(start, middle)
        add(middle, stop)
        yield np.column_stack([columns[start] for start in sorted(columns)])
