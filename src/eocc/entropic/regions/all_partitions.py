"""All partitions of a spanning tree -> how well the regions of each classify a validation set (Algorithm 2)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph
from eocc.entropic.partition.cuts import leaf_order
from eocc.entropic.regions.fuzzy import cluster_extent, default_extent, width_of
from eocc.entropic.regions.rules import EQUALLY_CENTRAL, Extent, extents_of_sums
from eocc.entropic.regions.scores import BOUNDARY
from eocc.kernels.merges import Products, count_accepted, merge_clusters
from eocc.space.dissimilarity_space import distances_to


def accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the share of right decisions, as in the paper; `accepted` targets and `falsely` accepted outliers."""
    return (accepted + n_outliers - falsely) / (n_targets + n_outliers)


def balanced_accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the mean of the shares of right decisions among targets and among outliers."""
    return (accepted / n_targets + 1 - falsely / n_outliers) / 2


def f1(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * accepted / (accepted + falsely + n_targets)


# From the numbers of accepted targets and outliers, of one partition or (as arrays) of many, and those of all.
Performance = Callable[[Any, Any, int, int], Any]


def performance_curve(
    graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Extent, performance: Performance
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters on validation rows, targets first.

    With a single training pattern, k = 1.
    """
    accepted_by = counts_by_split if len(graph.tree.edges) else counts_by_one
    counts = accepted_by(graph, rows, n_targets, extent)
    return np.asarray(performance(*counts, n_targets, len(rows) - n_targets))


def counts_by_one(graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Extent) -> tuple[Indices, Indices]:
    """Return how many targets and outliers the only training pattern accepts, as its region."""
    radius = width_of(default_extent(graph.tree)) * BOUNDARY
    is_accepted = distances_to(rows, graph.space.rows) <= radius
    return is_accepted[:n_targets].sum(axis=0), is_accepted[n_targets:].sum(axis=0)


def counts_by_split(graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Extent) -> tuple[Indices, Indices]:
    """Return how many targets and outliers are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split."""
    cuts, space, default = leaf_order(graph.tree), graph.space, default_extent(graph.tree)
    nodes = merge_clusters(graph.distances, cuts, EQUALLY_CENTRAL)
    size = (cuts.stop - cuts.start).astype(np.float64)
    extents = extents_of_sums(extent, nodes.total, nodes.largest, size * (size - 1) / 2)
    if extents is None:
        clusters = [np.sort(cuts.order[start:stop]) for start, stop in zip(cuts.start, cuts.stop, strict=True)]
        facts = zip(clusters, nodes.total.tolist(), nodes.largest.tolist(), strict=True)
        extents = np.array([cluster_extent(graph.distances, extent, *one) for one in facts])
    radius = width_of(np.where(extents > 0, extents, default)) * BOUNDARY / space.scale
    single_radius = float(width_of(default)) * BOUNDARY / space.scale
    accepted, falsely = count_accepted(nodes, radius, single_radius, _products(space.rows, rows), n_targets)
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
