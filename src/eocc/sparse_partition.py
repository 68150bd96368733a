"""Graph of nearest neighbours -> clusters, how good they are, and their regions; without a matrix of all pairs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.graph import SpanningTree
from eocc.kernels.distances import drop_spare_bits
from eocc.kernels.modularity import NO_SIMILARITY
from eocc.kernels.sampled import count_accepted_sparsely, merge_samples, sum_distances
from eocc.kernels.sparse import join_times, separated_similarity, sparse_split_curve
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.neighbours import Rows, fit_projection, slack_of
from eocc.partition import ROUNDING, Labels, leaf_order
from eocc.performance import CountPerformance, Counts, ScorerPerformance
from eocc.regions import (
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
from eocc.representatives import EQUALLY_CENTRAL
from eocc.space import distance_scale
from eocc.sparse_graph import SparseGraph
from eocc.threads import for_each_block
from eocc.validation import ValidationRows, judge_partition

Matrix = NDArray[np.float64]

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


def sparse_modularity(graph: SparseGraph, labels: ArrayLike) -> float:
    """Return Q = sum_l [E_l / E - (deg_l / 2E)^2] of a partition, with similarities s_ij = 1 - w_ij on the edges alone.

    E_l sums s over the edges inside cluster l, E over all of them; deg_l sums the degrees of its vertices.
    Q = 0 where E = 0.

    >>> from eocc.sparse_graph import sparse_graph
    >>> sparse_modularity(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1), [0, 0, 1, 1])
    0.5
    """
    _, index = np.unique(np.asarray(labels), return_inverse=True)
    if index.shape != (graph.tree.n_vertices,):
        raise ValueError(f"labels must be one per pattern, shape ({graph.tree.n_vertices},), not {index.shape}")
    similarity = 1.0 - graph.distances
    total = float(similarity.sum())
    if total <= NO_SIMILARITY * len(similarity):
        return 0.0
    ends = index[graph.edges]
    inside = float(similarity[ends[:, 0] == ends[:, 1]].sum())
    degrees = np.bincount(ends.ravel(), weights=np.repeat(similarity, 2))
    return inside / total - float(np.sum((degrees / (2 * total)) ** 2))


def sparse_curve(graph: SparseGraph) -> Matrix:
    """Return Q of the partitions into k = 1, ..., n clusters that cutting the tree gives: O(e log n) in all.

    >>> from eocc.sparse_graph import sparse_graph
    >>> sparse_curve(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1)).tolist()
    [0.0, 0.5, 0.125, -0.25]
    """
    return _split(graph, np.inf)[1]


def sparse_prune(graph: SparseGraph) -> tuple[int, float]:
    """Return (k, Q) of Algorithm 1: cut the heaviest edges while Q does not fall; the first one always.

    As `eocc.partition.greedy_prune`, but Q falls when it does so by more than 1e-12 of the two terms of its change, not
    of 1: cutting off one pattern of a million changes Q by less than that.

    >>> from eocc.sparse_graph import sparse_graph
    >>> sparse_prune(sparse_graph(np.array([[0.0], [0.0], [1.0], [1.0]]), k=1))
    (2, 0.5)
    """
    k, curve = _split(graph, ROUNDING)
    return k, float(curve[k - 1])


def _split(graph: SparseGraph, slack: float) -> tuple[int, Matrix]:
    """Split from the top until Q falls by the share `slack` of its terms: return the k kept, and Q for 1..n so far."""
    tree, n = graph.tree, graph.tree.n_vertices
    if float(np.sum(1.0 - graph.distances)) <= NO_SIMILARITY * len(graph.distances):
        return n, np.zeros(n)
    parent, since, size = np.empty((3, n), np.int64)
    join_times(tree.edges, parent, since, size)
    across, degree, curve = np.zeros(n - 1), np.zeros(n), np.zeros(n)
    separated_similarity(graph.edges, graph.distances, parent, since, across, degree)
    k = sparse_split_curve(across, degree, *leaf_order(tree).arrays, slack, curve, np.empty(n + 1))
    return int(k), curve


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
