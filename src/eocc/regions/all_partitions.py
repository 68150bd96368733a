"""Every partition of a spanning tree -> how well its regions recognise a validation set (Algorithm 2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.graph.complete import EuclideanGraph
from eocc.kernels.merges import count_accepted, merge_clusters
from eocc.partition.dense import leaf_order
from eocc.regions.fuzzy import BOUNDARY, Fuzzification, FuzzyModel, build_region, lone_extent, united_grades, width_of
from eocc.regions.performance import CountPerformance, Counts, ScorerPerformance
from eocc.regions.representatives import EQUALLY_CENTRAL
from eocc.space.dissimilarity_space import DissimilaritySpace


@dataclass(frozen=True)
class ValidationRows:
    """Validation patterns in the dissimilarity space, the `n_targets` targets first."""

    rows: Matrix
    n_targets: int

    @property
    def y(self) -> NDArray[np.int64]:
        """+1 for targets, -1 for outliers."""
        return np.repeat([1, -1], [self.n_targets, len(self.rows) - self.n_targets])


def performance_curve(
    space: DissimilaritySpace,
    graph: EuclideanGraph,
    validation: ValidationRows,
    fuzzification: Fuzzification,
    performance: CountPerformance | ScorerPerformance,
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters.

    In one pass where a region accepts exactly what lies within its extent of its medoid, and only counts of
    accepted patterns matter; else with the changed regions built anew at every split.
    """
    balls = fuzzification.gives_balls and graph.tree.n_vertices > 1
    if balls and not isinstance(performance, ScorerPerformance):
        return np.asarray(performance(counts_by_split(space, graph, validation, fuzzification.extent)))
    return np.array([judge_partition(performance, validation, ratios, fuzzification) for ratios in
                     ratios_by_split(space, graph, validation, fuzzification)])  # fmt: skip


def counts_by_split(
    space: DissimilaritySpace, graph: EuclideanGraph, validation: ValidationRows, extent: Any
) -> Counts:
    """Return how many patterns are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split.

    A split changes one cluster, so it updates the decisions instead of taking them anew.
    """
    cuts = leaf_order(graph.tree)
    n_edges, m = len(graph.tree.edges), len(validation.rows)
    medoid, left, right = np.empty((3, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    room = np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    merge_clusters(
        graph.distances, *cuts.arrays, EQUALLY_CENTRAL, medoid, total, largest, left, right, *room
    )  # fmt: skip
    size = (cuts.stop - cuts.start).astype(np.float64)
    lone = lone_extent(graph.tree)
    extents = extent.from_sums(total, largest, size * (size - 1) / 2)
    reach = width_of(np.where(extents > 0, extents, lone)) * BOUNDARY / space.scale
    true_positives, false_positives = np.zeros((2, n_edges), np.int64)
    count_accepted(
        medoid, reach, float(width_of(lone)) * BOUNDARY / space.scale, left, right,
        *_products(space.rows, validation.rows), validation.n_targets,
        np.empty((n_edges, m), np.uint8), np.zeros(m, np.int64), np.empty(m, np.uint8),
        true_positives, false_positives,
    )  # fmt: skip
    return Counts(true_positives, false_positives, validation.n_targets, m - validation.n_targets)


def _products(rows: Matrix, others: Matrix) -> tuple[Matrix, Matrix, Matrix, Matrix, NDArray[np.floating[Any]], float]:
    """Return (rows, others, their squared norms, their scalar products, the margin of the products).

    Single precision halves the time of the product and settles nearly all decisions: a sum of r rounded products errs
    by at most r u |x| |y|, u = 2^-24, and two more u come from rounding x and y themselves. What it cannot settle is
    computed exactly. Products are taken in a unit that makes the longest row about 1 long; rows too long
    or too short for single precision in that unit get an infinite norm, which leaves them all to exact computation.
    """
    norms, other_norms = (np.einsum("ij,ij->i", matrix, matrix) for matrix in (rows, others))
    unit = _unit(float(norms.max()))
    scaled = other_norms * unit**2
    out_of_range = ~((scaled > 1e-30) & (scaled < 1e30))
    short = (np.where(out_of_range[:, None], 0.0, others) * unit).astype(np.float32)
    products = (rows if unit == 1 else rows * unit).astype(np.float32) @ short.T
    margin = (rows.shape[1] + 4) * 2.0**-24
    others_norms = np.where(out_of_range, np.inf, other_norms)
    return rows, others, norms, others_norms, products if unit == 1 else products.astype(np.float64) / unit**2, margin


def _unit(largest: float) -> float:
    """Return the power of two that makes a row of that squared norm about 1 long; 1 where it is near that already."""
    return 1.0 if 1e-8 < largest < 1e8 or largest == 0 else 2.0 ** -(int(np.frexp(largest)[1]) // 2)


def ratios_by_split(
    space: DissimilaritySpace, graph: EuclideanGraph, validation: ValidationRows, fuzzification: Fuzzification
) -> Iterator[Matrix]:
    """Yield d / tau of every validation pattern in every region, (m, k), at k = 2, ..., n; at k = 1 if n = 1."""
    cuts, lone = leaf_order(graph.tree), lone_extent(graph.tree)
    n = graph.tree.n_vertices
    columns, current = np.empty((len(validation.rows), n)), np.zeros(n, dtype=bool)

    def place(start: int, stop: int) -> None:
        """Put the region of the cluster order[start:stop] in column `start`."""
        members = np.sort(cuts.order[start:stop])
        _, shape = build_region(space.rows, graph.distances, members, fuzzification, lone)
        region = FuzzyModel.of_shapes([shape], fuzzification.membership_function, fuzzification.tconorm)
        columns[:, start], current[start] = region.ratios(validation.rows)[:, 0], True

    if n == 1:
        place(0, 1)
        yield columns
    for start, middle, stop in zip(cuts.start, cuts.middle, cuts.stop, strict=True):
        place(start, middle)
        place(middle, stop)
        yield columns[:, current]


def judge_partition(
    performance: CountPerformance | ScorerPerformance,
    validation: ValidationRows,
    ratios: Matrix,
    fuzzification: Fuzzification,
) -> float:
    """Return the performance of one partition."""
    accepted = ratios.min(axis=1) <= BOUNDARY
    n_targets = validation.n_targets
    if isinstance(performance, ScorerPerformance):
        scores = united_grades(fuzzification.membership_function, fuzzification.tconorm, ratios)
        return performance.of(validation.y, np.where(accepted, 1, -1), scores)
    counts = Counts(int(accepted[:n_targets].sum()), int(accepted[n_targets:].sum()),
                    n_targets, len(accepted) - n_targets)  # fmt: skip
    return float(performance(counts))
