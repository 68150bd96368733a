"""Neighbour graph -> the regions of its clusters, measured on samples where clusters are large."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eocc.base.threads import for_each_block
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted
from eocc.entropic.graph.complete import SpanningTree
from eocc.entropic.graph.nearest_rows import Rows, fit_projection, projection_error
from eocc.entropic.graph.neighbour_graph import SparseGraph
from eocc.entropic.partition.cuts import leaf_order, members_of_clusters
from eocc.entropic.regions import fuzzy
from eocc.entropic.regions.all_partitions import (
    Counts,
    Performance,
    ScorerPerformance,
    ValidationRows,
    performance_by_split,
)
from eocc.entropic.regions.fuzzy import NO_EXTENT, Fuzzification, Region, Shape, default_extent, width_of
from eocc.entropic.regions.rules import EQUALLY_CENTRAL
from eocc.entropic.regions.scores import BOUNDARY
from eocc.kernels.distances import drop_spare_bits
from eocc.kernels.sampled import SampledNodes, Validation, count_accepted_sparsely, merge_samples, sum_distances
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.space.dissimilarity_space import distance_scale

# Clusters of up to this many members are measured whole, larger ones on a sample of this size, in each of the n
# partitions of Algorithm 2.
SAMPLE_SIZE = 500
LARGEST_PAIRED_SAMPLE = 2000  # in the final partition, if all pairs are needed: 32 MiB
# In the final partition, if sums suffice: number of subtractions over all clusters, about a second. Rows shorter than
# SHORTEST columns cost as much as rows of SHORTEST.
MOST_WORK = 5e9
SHORTEST = 16
ROWS_PER_TASK = 64
FIRST_SPLITS = 64  # the partitions evaluated if each needs new regions


@dataclass(frozen=True, eq=False)
class Sampling:
    """A random order of all patterns: the sample of a cluster is its `most` members of lowest `rank`."""

    rank: Indices
    most: int = SAMPLE_SIZE

    @classmethod
    def seeded(cls, n: int, rng: np.random.Generator, most: int = SAMPLE_SIZE) -> "Sampling":
        """Draw the order."""
        return cls(rng.permutation(n), most)

    def for_regions(self, labels: Indices, n_columns: int, fuzzification: Fuzzification) -> "Sampling":
        """Return the same order with larger samples, for the regions of a single partition."""
        most = LARGEST_PAIRED_SAMPLE
        if fuzzification.takes_sums:
            most = largest_sample(np.bincount(labels), MOST_WORK / max(n_columns, SHORTEST))
        return Sampling(self.rank, max(most, self.most))

    def of(self, members: Indices) -> Indices:
        """Return the sample, in the order of the members; all members if they are few."""
        if len(members) <= self.most:
            return members
        lowest = np.argpartition(self.rank[members], self.most - 1)[: self.most]
        return np.asarray(members[np.sort(lowest)])


def largest_sample(sizes: Indices, budget: float) -> int:
    """Return the sample size per cluster for which the squared sizes of all samples add up to at most `budget`."""
    squares = np.sort(sizes).astype(np.float64) ** 2
    left = budget - np.concatenate([[0.0], np.cumsum(squares)[:-1]])
    share = np.maximum(left, 0.0) / np.arange(len(squares), 0, -1)
    return int(np.sqrt(np.append(share[share < squares], squares[-1])[0]))


def build_sparse_regions(
    rows: Rows, tree: SpanningTree, labels: Indices, fuzzification: Fuzzification, sampling: Sampling
) -> list[tuple[Region, Shape]]:
    """Return one region per cluster, in the order of the labels, with its shape."""
    build = partial(build_sampled_region, rows, fuzzification, sampling, default_extent(tree))
    return list(map(build, members_of_clusters(labels)))


def build_sampled_region(
    rows: Rows, fuzzification: Fuzzification, sampling: Sampling, default: float, members: Indices
) -> tuple[Region, Shape]:
    """Return the region of one cluster: exact for up to sampling.most members, otherwise that of its sample."""
    sample = sampling.of(members)
    own = np.asarray(rows[sample], dtype=np.float64)
    if fuzzification.takes_sums and len(sample) > SAMPLE_SIZE:
        none, each = np.empty((0, 0)), np.arange(len(own))
        region, shape = fuzzy.region_of(own, none, each, *sums_of_distances(own), fuzzification, default)
    else:
        centred = np.ascontiguousarray(own - own.mean(axis=0))
        distances = euclidean_pairwise_distance(centred, distance_scale(own.shape[1]))
        drop_spare_bits(distances.reshape(-1).view(np.int64))
        region, shape = fuzzy.build_region(own, distances, fuzzification, default, np.arange(len(sample)))
    return Region(members, int(sample[region.representative]), region.extent), shape


def sums_of_distances(rows: Matrix) -> tuple[Matrix, float]:
    """Return the sum of the distances of every row to all others, and the largest distance, without a matrix."""
    sums, largest = np.empty((2, len(rows)))
    scale = distance_scale(rows.shape[1])

    def work(start: int, stop: int) -> None:
        sum_distances(rows, scale, start, stop, sums, largest)

    for_each_block(len(rows), ROWS_PER_TASK, work, f"comparing {counted(len(rows), 'row')}")
    return sums, float(largest.max())


def sparse_performance_curve(
    rows: Rows, graph: SparseGraph, validation: ValidationRows, fuzzification: Fuzzification,
    performance: Performance, sampling: Sampling,
) -> Matrix:  # fmt: skip
    """Return the performance at k = 2, ..., n clusters, or of the first 64 partitions if each needs new regions."""
    if not isinstance(performance, ScorerPerformance) and fuzzification.gives_balls and len(graph.tree.edges):
        return np.asarray(performance(sparse_counts(rows, graph.tree, validation, fuzzification.extent, sampling)))
    build = partial(build_sampled_region, rows, fuzzification, sampling, default_extent(graph.tree))
    return performance_by_split(graph.tree, validation, fuzzification, performance, build, FIRST_SPLITS)


def sampled_clusters(rows: Rows, tree: SpanningTree, sampling: Sampling) -> tuple[SampledNodes, Matrix]:
    """Return all clusters of the tree, and the number of pairs in their samples.

    They are exact for up to sampling.most members, and take about n * most / 2 distances in all.
    """
    cuts, n_edges = leaf_order(tree), len(tree.edges)
    medoid, left, right, region = np.empty((4, n_edges), np.int64)
    total, largest = np.empty((2, n_edges))
    scratch = np.empty(n_edges + 1, np.int64), np.zeros(n_edges + 1), np.empty(n_edges + 1, np.int64)
    nodes, scale = SampledNodes(medoid, total, largest, left, right, region), distance_scale(rows.shape[1])
    merge_samples(rows, scale, sampling.rank, sampling.most, cuts, EQUALLY_CENTRAL, nodes, scratch)
    size = np.minimum(cuts.stop - cuts.start, sampling.most).astype(np.float64)
    return nodes, size * (size - 1) / 2


def sparse_counts(
    rows: Rows, tree: SpanningTree, validation: ValidationRows, extent: Any, sampling: Sampling
) -> Counts:
    """Return how many validation patterns are accepted at k = 2, ..., n."""
    # Distances in the projection exclude most patterns from a region; the others are compared exactly.
    (nodes, n_pairs), default = sampled_clusters(rows, tree, sampling), default_extent(tree)
    extents = extent.from_sums(nodes.total, nodes.largest, n_pairs)
    is_positive = extents > NO_EXTENT * nodes.largest  # dropping members from a sum leaves a rounding error
    radius, single_radius = (
        width_of(width) * BOUNDARY / distance_scale(rows.shape[1])
        for width in (np.where(is_positive, extents, default), default)
    )
    projection = fit_projection(rows, 1)
    points, others = projection.points(rows), projection.points(validation.rows)
    error = max(projection_error(points), projection_error(others))
    positives, m = np.empty((2, len(tree.edges)), np.int64), len(validation.rows)
    compared = Validation(rows, points, validation.rows, np.ascontiguousarray(others.T), error, validation.n_targets)
    scratch = np.empty(m, np.float32), np.zeros(m, np.int64), np.zeros(2, np.int64)
    count_accepted_sparsely(nodes, radius, float(single_radius), compared, *scratch, positives)
    return Counts(positives[0], positives[1], validation.n_targets, m - validation.n_targets)
