"""Graph of nearest neighbours -> the regions of its clusters, measured by samples where clusters are large."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Matrix
from eocc.graph.complete import SpanningTree
from eocc.graph.neighbour_graph import SparseGraph
from eocc.kernels.distances import drop_spare_bits
from eocc.kernels.sampled import count_accepted_sparsely, merge_samples, sum_distances
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.neighbours.nearest import Rows, fit_projection, slack_of
from eocc.partition.dense import Labels, leaf_order
from eocc.regions.all_partitions import ValidationRows, judge_partition
from eocc.regions.fuzzy import (
    BOUNDARY,
    NO_EXTENT,
    Fuzzification,
    FuzzyModel,
    Region,
    Shape,
    build_region,
    build_region_from_sums,
    lone_extent,
    width_of,
)
from eocc.regions.performance import CountPerformance, Counts, ScorerPerformance
from eocc.regions.representatives import EQUALLY_CENTRAL
from eocc.space.dissimilarity_space import distance_scale

# Clusters of up to so many members are measured whole, others by a sample of this size: in every one of the n
# partitions that Algorithm 2 looks at, and in the one that is kept.
MOST_MEMBERS = 500
MOST_PAIRED = 2000  # where all pairs have to be kept: 32 MiB
# Where only sums are, the differences of numbers taken for all clusters together: a second. Short rows cost as much as
# some of 16 numbers.
MOST_WORK = 5e9
SHORTEST = 16
SUMMED = 64  # rows a thread sums at a time
FIRST_SPLITS = 64  # those judged where the regions of every partition have to be built anew


@dataclass(frozen=True, eq=False)
class Sampling:
    """One random order of all patterns: a cluster is measured by its `most` members of lowest `rank`.

    >>> Sampling(np.array([2, 0, 1]), most=2).of(np.array([0, 1, 2]))
    array([1, 2])
    """

    rank: NDArray[np.int64]
    most: int = MOST_MEMBERS

    @classmethod
    def seeded(cls, n: int, rng: np.random.Generator, most: int = MOST_MEMBERS) -> "Sampling":
        """Draw the order."""
        return cls(rng.permutation(n), most)

    def for_regions(self, labels: Labels, n_columns: int, fuzzification: Fuzzification) -> "Sampling":
        """Return the same order with samples as large as the regions of one partition may have."""
        most = most_summed(np.bincount(labels), n_columns) if fuzzification.takes_sums else MOST_PAIRED
        return Sampling(self.rank, max(most, self.most))

    def of(self, members: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sample, in the order of the members: all of them where they are few."""
        if len(members) <= self.most:
            return members
        lowest = np.argpartition(self.rank[members], self.most - 1)[: self.most]
        return np.asarray(members[np.sort(lowest)])


def most_summed(sizes: NDArray[np.int64], n_columns: int) -> int:
    """Return how many members of a cluster are measured, of clusters of these sizes, where sums are enough.

    >>> most_summed(np.array([100_000]), 256), most_summed(np.array([50_000, 50_000]), 256)
    (4419, 3125)
    """
    return max(MOST_MEMBERS, most_within(sizes, MOST_WORK / max(n_columns, SHORTEST)))


def most_within(sizes: NDArray[np.int64], budget: float) -> int:
    """Return the largest sample such that the squares of all samples' sizes add up to at most `budget`.

    >>> most_within(np.array([3, 10, 20]), budget=3**2 + 2 * 8**2)
    8
    """
    squares = np.sort(sizes).astype(np.float64) ** 2
    for_the_rest = budget - np.concatenate([[0.0], np.cumsum(squares)[:-1]])
    share = np.maximum(for_the_rest, 0.0) / np.arange(len(squares), 0, -1)
    return int(np.sqrt(np.append(share[share < squares], squares[-1])[0]))


def build_sparse_regions(
    rows: Rows, tree: SpanningTree, labels: Labels, fuzzification: Fuzzification, sampling: Sampling
) -> list[tuple[Region, Shape]]:
    """Return one region per cluster, in the order of the labels, with its shape; see `build_sparse_region`."""
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    lone = lone_extent(tree)
    return [build_sparse_region(rows, members, fuzzification, sampling, lone) for members in clusters]


def build_sparse_region(
    rows: Rows, members: NDArray[np.int64], fuzzification: Fuzzification, sampling: Sampling, lone: float
) -> tuple[Region, Shape]:
    """Return the region of one cluster, exact for up to sampling.most members, else that of its sample."""
    sample = sampling.of(members)
    own = np.asarray(rows[sample], dtype=np.float64)
    if fuzzification.takes_sums and len(sample) > MOST_MEMBERS:
        everyone = np.arange(len(sample))
        region, shape = build_region_from_sums(own, everyone, *sums_of_distances(own), fuzzification, lone)
    else:
        centred = np.ascontiguousarray(own - own.mean(axis=0))
        distances = euclidean_pairwise_distance(centred, distance_scale(own.shape[1]))
        drop_spare_bits(distances.reshape(-1).view(np.int64))
        region, shape = build_region(own, distances, np.arange(len(sample)), fuzzification, lone)
    return Region(members, int(sample[region.representative]), region.extent), shape


def sums_of_distances(rows: Matrix) -> tuple[Matrix, float]:
    """Return the sum of the distances of every row to all others, and the largest distance; nothing else is kept.

    >>> sums_of_distances(np.array([[0.0], [1.0], [3.0]]))
    (array([4., 3., 5.]), 3.0)
    """
    sums, largest = np.empty((2, len(rows)))
    scale = distance_scale(rows.shape[1])

    def work(start: int, stop: int) -> None:
        sum_distances(rows, scale, start, stop, sums, largest)

    for_each_block(len(rows), SUMMED, work)
    return sums, float(largest.max())


def sparse_performance_curve(
    rows: Rows,
    graph: SparseGraph,
    validation: ValidationRows,
    fuzzification: Fuzzification,
    performance: CountPerformance | ScorerPerformance,
    sampling: Sampling,
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters, or of the first of them.

    Of all where a region accepts exactly what lies within its extent of its medoid, and only counts of accepted
    patterns matter. Else regions have to be built anew at every split, and only the first 64 splits are looked at.
    """
    if fuzzification.gives_balls and graph.tree.n_vertices > 1 and not isinstance(performance, ScorerPerformance):
        return np.asarray(performance(sparse_counts(rows, graph.tree, validation, fuzzification.extent, sampling)))
    return np.array([judge_partition(performance, validation, ratios, fuzzification) for ratios in
                     _ratios_by_split(rows, graph.tree, validation, fuzzification, sampling)])  # fmt: skip


@dataclass(frozen=True, eq=False)
class SampledClusters:
    """Every cluster of two or more patterns, as node e that edge e joins: what its sample says of it, its children."""

    medoid: NDArray[np.int64]
    total: Matrix
    largest: Matrix
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    region: NDArray[np.int64]
    n_pairs: Matrix


def sampled_clusters(rows: Rows, tree: SpanningTree, sampling: Sampling) -> SampledClusters:
    """Return all clusters of the tree: exact for up to sampling.most members.

    A merge compares members across only, and leaves most samples of large clusters as they are: some
    n * most / 2 distances in all.
    """
    cuts, n_edges = leaf_order(tree), len(tree.edges)
    medoid, left, right, region = np.empty((4, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    room = np.empty(n_edges + 1, np.int64), np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    merge_samples(
        rows, distance_scale(rows.shape[1]), sampling.rank, sampling.most, *cuts.arrays, EQUALLY_CENTRAL,
        medoid, total, largest, left, right, region, *room,
    )  # fmt: skip
    size = np.minimum(cuts.stop - cuts.start, sampling.most).astype(np.float64)
    return SampledClusters(medoid, total, largest, left, right, region, size * (size - 1) / 2)


def sparse_counts(
    rows: Rows, tree: SpanningTree, validation: ValidationRows, extent: Any, sampling: Sampling
) -> Counts:
    """Return how many validation patterns are accepted at k = 2, ..., n.

    Every region is compared with all m patterns in the projection, and truly with those that may lie in it.
    """
    clusters, lone = sampled_clusters(rows, tree, sampling), lone_extent(tree)
    extents = extent.from_sums(clusters.total, clusters.largest, clusters.n_pairs)
    known = extents > NO_EXTENT * clusters.largest  # sums that members left again keep a rounding error
    reach, lone_reach = (
        width_of(width) * BOUNDARY / distance_scale(rows.shape[1]) for width in (np.where(known, extents, lone), lone)
    )
    projection = fit_projection(rows, 1)
    points, others = projection.points(rows), projection.points(validation.rows)
    slack = max(slack_of(points), slack_of(others))
    true_positives, false_positives = np.empty((2, len(tree.edges)), np.int64)
    m = len(validation.rows)
    count_accepted_sparsely(
        clusters.medoid, reach, float(lone_reach), clusters.left, clusters.right, clusters.region,
        rows, points, validation.rows, np.ascontiguousarray(others.T), slack, validation.n_targets,
        np.empty(m, np.float32), np.zeros(m, np.int64), np.zeros(2, np.int64), true_positives, false_positives,
    )  # fmt: skip
    return Counts(true_positives, false_positives, validation.n_targets, m - validation.n_targets)


def _ratios_by_split(
    rows: Rows, tree: SpanningTree, validation: ValidationRows, fuzzification: Fuzzification, sampling: Sampling
) -> Iterator[Matrix]:
    """Yield d / tau of every validation pattern in every region, (m, k), at the first splits; at k = 1 if n = 1."""
    cuts, lone = leaf_order(tree), lone_extent(tree)
    columns: dict[int, Matrix] = {}  # by where in the leaf order the cluster starts

    def place(start: int, stop: int) -> None:
        members = np.sort(cuts.order[start:stop])
        _, shape = build_sparse_region(rows, members, fuzzification, sampling, lone)
        model = FuzzyModel.of_shapes([shape], fuzzification.membership_function, fuzzification.tconorm)
        columns[start] = model.ratios(validation.rows)[:, 0]

    if tree.n_vertices == 1:
        place(0, 1)
        yield np.column_stack(list(columns.values()))
    for start, middle, stop in list(zip(cuts.start, cuts.middle, cuts.stop, strict=True))[:FIRST_SPLITS]:
        place(start, middle)
        place(middle, stop)
        yield np.column_stack([columns[start] for start in sorted(columns)])
