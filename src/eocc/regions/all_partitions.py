"""All partitions of a spanning tree -> how well the regions of each classify a validation set (Algorithm 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.graph.complete import EuclideanGraph, SpanningTree
from eocc.kernels.merges import Nodes, Products, count_accepted, merge_clusters
from eocc.partition.dense import leaf_order
from eocc.regions import fuzzy
from eocc.regions.fuzzy import BuildRegion, Fuzzification, FuzzyModel, default_extent, width_of
from eocc.regions.performance import Counts, Performance, ScorerPerformance
from eocc.regions.representatives import EQUALLY_CENTRAL
from eocc.regions.scores import BOUNDARY
from eocc.space.dissimilarity_space import DissimilaritySpace


@dataclass(frozen=True)
class ValidationRows:
    """Validation patterns in the dissimilarity space: `n_targets` targets, then the outliers."""

    rows: Matrix
    n_targets: int

    @property
    def y(self) -> Indices:
        """+1 for targets, -1 for outliers."""
        return np.repeat([1, -1], [self.n_targets, len(self.rows) - self.n_targets])


def performance_curve(
    space: DissimilaritySpace, graph: EuclideanGraph, validation: ValidationRows, fuzzification: Fuzzification,
    performance: Performance,
) -> Matrix:  # fmt: skip
    """Return the performance of the partitions into k = 2, ..., n clusters.

    If every region is a ball and the performance follows from counts, one pass computes all of them. Otherwise every
    split builds the regions of its two parts.
    """
    if not isinstance(performance, ScorerPerformance) and fuzzification.gives_balls and len(graph.tree.edges):
        return np.asarray(performance(counts_by_split(space, graph, validation, fuzzification.extent)))
    build = fuzzy.region_builder(space.rows, graph, fuzzification)
    return performance_by_split(graph.tree, validation, fuzzification, performance, build)


def counts_by_split(
    space: DissimilaritySpace, graph: EuclideanGraph, validation: ValidationRows, extent: Any
) -> Counts:
    """Return how many patterns are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split."""
    cuts = leaf_order(graph.tree)
    n_edges, m = len(graph.tree.edges), len(validation.rows)
    medoid, left, right = np.empty((3, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    nodes = Nodes(medoid, total, largest, left, right)
    merge_clusters(
        graph.distances, cuts, EQUALLY_CENTRAL, nodes, np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    )
    size = (cuts.stop - cuts.start).astype(np.float64)
    default = default_extent(graph.tree)
    extents = extent.from_sums(total, largest, size * (size - 1) / 2)
    radius = width_of(np.where(extents > 0, extents, default)) * BOUNDARY / space.scale
    true_positives, false_positives = np.empty((2, n_edges), np.int64)
    scratch = np.empty((n_edges, m), np.uint8), np.zeros(m, np.int64), np.empty(m, np.uint8)
    count_accepted(
        nodes, radius, float(width_of(default)) * BOUNDARY / space.scale, _products(space.rows, validation.rows),
        validation.n_targets, scratch, true_positives, false_positives,
    )  # fmt: skip
    return Counts(true_positives, false_positives, validation.n_targets, m - validation.n_targets)


def _products(rows: Matrix, others: Matrix) -> Products:
    """Return the scalar products of all pairs, and their relative error."""
    # Single precision settles nearly all decisions; the kernel computes the rest exactly. A sum of r rounded products
    # errs by at most r u |x| |y|, u = 2^-24; rounding x and y adds two more u. Rows out of range get an infinite norm.
    norms, other_norms = (np.einsum("ij,ij->i", matrix, matrix) for matrix in (rows, others))
    largest = float(norms.max())
    # A power of two that scales the longest row to about 1; 1 if it is close to that already.
    unit = 1.0 if 1e-8 < largest < 1e8 or largest == 0 else 2.0 ** -(int(np.frexp(largest)[1]) // 2)
    scaled = other_norms * unit**2
    out_of_range = ~((scaled > 1e-30) & (scaled < 1e30))
    short = (np.where(out_of_range[:, None], 0.0, others) * unit).astype(np.float32)
    products = (rows if unit == 1 else rows * unit).astype(np.float32) @ short.T
    margin = (rows.shape[1] + 4) * 2.0**-24
    other_norms = np.where(out_of_range, np.inf, other_norms)
    exact = products if unit == 1 else products.astype(np.float64) / unit**2
    return Products(rows, others, norms, other_norms, exact, margin)


def performance_by_split(
    tree: SpanningTree, validation: ValidationRows, fuzzification: Fuzzification, performance: Performance,
    build: BuildRegion, n_splits: int | None = None,
) -> Matrix:  # fmt: skip
    """Return the performance after each of the first splits, all of them for None."""
    splits = ratios_by_split(tree, validation, fuzzification, build, n_splits)
    return np.array([_performance(performance, validation, ratios, fuzzification) for ratios in splits])


def ratios_by_split(
    tree: SpanningTree, validation: ValidationRows, fuzzification: Fuzzification, build: BuildRegion,
    n_splits: int | None = None,
) -> Iterator[Matrix]:  # fmt: skip
    """Yield d / tau of every validation pattern in every region, (m, k), at k = 2, 3, ...; at k = 1 if n = 1."""
    cuts = leaf_order(tree)
    columns: dict[int, Matrix] = {}  # key: where the cluster starts in the leaf order

    def add(start: int, stop: int) -> None:
        _, shape = build(np.sort(cuts.order[start:stop]))
        model = FuzzyModel.of_shapes([shape], fuzzification.membership_function, fuzzification.tconorm)
        columns[start] = model.ratios(validation.rows)[:, 0]

    if tree.n_vertices == 1:
        add(0, 1)
        yield np.column_stack(list(columns.values()))
    for start, middle, stop in list(zip(cuts.start, cuts.middle, cuts.stop, strict=True))[:n_splits]:
        add(start, middle)
        add(middle, stop)
        yield np.column_stack([columns[start] for start in sorted(columns)])


def _performance(
    performance: Performance, validation: ValidationRows, ratios: Matrix, fuzzification: Fuzzification
) -> float:
    accepted, n_targets = ratios.min(axis=1) <= BOUNDARY, validation.n_targets
    if isinstance(performance, ScorerPerformance):
        scores = fuzzy.combined_grades(fuzzification.membership_function, fuzzification.tconorm, ratios)
        return performance.of(validation.y, np.where(accepted, 1, -1), scores)
    accepted_each = int(accepted[:n_targets].sum()), int(accepted[n_targets:].sum())
    return float(performance(Counts(*accepted_each, n_targets, len(accepted) - n_targets)))
