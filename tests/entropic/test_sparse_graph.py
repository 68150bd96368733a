import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from eocc import EntropicOneClassClassifier
from eocc.base.threads import threads
from eocc.entropic.graph.complete import euclidean_graph
from eocc.entropic.graph.neighbour_graph import renyi_neighbour_entropy, sparse_graph
from eocc.entropic.partition.cuts import ROUNDING, full_curve, greedy_prune, tree_labels
from eocc.entropic.regions.all_partitions import (
    ScorerPerformance,
    ValidationRows,
    accuracy,
    performance_curve,
    resolve_performance,
)
from eocc.entropic.regions.fuzzy import Fuzzification, build_regions
from eocc.entropic.regions.memberships import Gaussian, TwoSided
from eocc.entropic.regions.rules import EXTENTS, Centroid, MeanExtent, Medoid, maximum
from eocc.entropic.regions.sampled import (
    FIRST_SPLITS,
    LARGEST_PAIRED_SAMPLE,
    SAMPLE_SIZE,
    Sampling,
    build_sparse_regions,
    largest_sample,
    sampled_clusters,
    sparse_counts,
    sparse_performance_curve,
    sums_of_distances,
)
from eocc.kernels.sparse import join_times, meeting_edge
from eocc.space.dissimilarity_space import DissimilaritySpace
from oracles import core, sparse
from strategies import points

BALLS = Fuzzification(MeanExtent(), Medoid(), Gaussian(), maximum)


def in_unit(X):
    """Centred rows whose distances lie in [0, 1]."""
    largest = cdist(X, X).max() / math.sqrt(X.shape[1])
    rows = X / largest if largest > 0 else X
    return np.ascontiguousarray(rows - rows.mean(axis=0))


def complete(rows):
    space = DissimilaritySpace(rows, np.zeros(rows.shape[1]))
    return space, euclidean_graph(space, np.empty((len(rows), len(rows))))


def ordered_tree(graph):
    edges = zip(graph.tree.lengths.tolist(), graph.tree.edges.tolist(), strict=True)
    return [(length, i, j) for length, (i, j) in edges]


@st.composite
def sparse_problems(draw, max_rows=12):
    rows = in_unit(draw(points(min_rows=2, max_rows=max_rows)))
    return rows, draw(st.integers(1, len(rows) - 1))


@given(points(min_rows=2))
def test_with_all_neighbours_the_tree_is_that_of_the_complete_graph(X):
    rows = in_unit(X)
    tree = complete(rows)[1].tree
    graph = sparse_graph(rows, k=len(rows) - 1)
    assert graph.n_links == 0
    assert_array_equal(graph.tree.edges, tree.edges)
    assert_array_equal(graph.tree.lengths, tree.lengths)


@given(sparse_problems())
def test_pairs_tree_and_links_equal_the_definition(problem):
    rows, k = problem
    distances = core.rounded(np.array(core.space_distances(rows))).tolist()
    graph = sparse_graph(rows, k)
    pairs = sparse.pairs(graph.neighbours.indices.tolist())
    tree, links = sparse.spanning_tree(distances, pairs)
    assert graph.edges[: len(pairs)].tolist() == [list(pair) for pair in pairs]
    assert graph.n_links == len(links)
    assert_allclose(graph.tree.lengths, [length for length, _, _ in tree], atol=1e-10)
    assert_allclose(sorted(graph.distances[len(pairs) :]), sorted(length for length, _, _ in links), atol=1e-10)
    assert {tuple(edge) for edge in graph.tree.edges.tolist()} <= {tuple(edge) for edge in graph.edges.tolist()}


@pytest.mark.parametrize("k", [3, 10])
def test_components_of_copies_are_connected_as_in_the_complete_graph(k):
    rng = np.random.default_rng(k)
    rows = in_unit(np.repeat(rng.normal(size=(60, 20)), 12, axis=0)[rng.permutation(720)])
    tree = complete(rows)[1].tree
    graph = sparse_graph(rows, k)
    assert graph.n_links >= 59
    assert_allclose(graph.tree.lengths, tree.lengths, atol=1e-14)
    assert_array_equal(graph.tree.edges[:59], tree.edges[:59])


def test_links_are_the_same_on_any_number_of_threads():
    rows = in_unit(np.repeat(np.random.default_rng(0).normal(size=(90, 10)), 8, axis=0))
    graphs = []
    for count in (1, 3):
        with threads(count):
            graphs.append(sparse_graph(rows, 4))
    assert_array_equal(graphs[0].edges, graphs[1].edges)
    assert_array_equal(graphs[0].tree.edges, graphs[1].tree.edges)


def test_five_points_on_a_line_by_hand():
    graph = sparse_graph(np.array([[0.0], [0.1], [0.4], [0.6], [1.0]]), k=1)
    assert graph.neighbours.indices[:, 0].tolist() == [1, 0, 3, 2, 3]
    assert graph.edges.tolist() == [[0, 1], [2, 3], [3, 4], [1, 2]]
    assert graph.tree.edges.tolist() == [[3, 4], [1, 2], [2, 3], [0, 1]]
    # s = 0.9, 0.8, 0.6, 0.7; E = 3; at k = 2 pattern 4 is alone: E_l = 2.4, degrees 5.4 and 0.6.
    assert_allclose(full_curve(graph)[1], 0.8 - 0.9**2 - 0.1**2)


def test_a_single_row_is_one_cluster():
    graph = sparse_graph(np.zeros((1, 3)), k=5)
    assert graph.tree.n_vertices == 1
    assert greedy_prune(graph) == (1, 0.0)
    assert full_curve(graph).tolist() == [0.0]


@given(sparse_problems())
def test_the_curve_equals_modularity_from_scratch(problem):
    rows, k = problem
    graph = sparse_graph(rows, k)
    distances = {tuple(edge): w for edge, w in zip(graph.edges.tolist(), graph.distances.tolist(), strict=True)}
    matrix = [[distances.get((min(i, j), max(i, j)), 0.0) for j in range(len(rows))] for i in range(len(rows))]
    expected = sparse.curve(matrix, list(distances), ordered_tree(graph))
    assert_allclose(full_curve(graph), expected, atol=1e-12)


@given(points(min_rows=2))
def test_with_all_neighbours_curve_and_partition_are_those_of_the_complete_graph(X):
    rows = in_unit(X)
    whole, graph = complete(rows)[1], sparse_graph(rows, k=len(rows) - 1)
    curve = full_curve(whole)
    assert_allclose(full_curve(graph), curve, atol=1e-12)
    # Where a change of Q is rounding alone, the two rules may stop at different cuts with the same Q.
    k, q = greedy_prune(whole)
    found, found_q = greedy_prune(graph)
    assert found == k or np.abs(np.diff(curve)[min(k, found) - 1 : max(k, found) - 1]).max() <= 2 * ROUNDING
    assert_allclose(found_q, q, atol=1e-11)


@given(sparse_problems())
def test_pruning_stops_at_the_first_fall_after_the_first_cut(problem):
    graph = sparse_graph(*problem)
    k, q = greedy_prune(graph)
    curve = full_curve(graph)
    assert k >= 2
    assert q == curve[k - 1]
    assert (np.diff(curve[1:k]) >= -ROUNDING).all()
    assert k == len(curve) or curve[k] < curve[k - 1]


@given(sparse_problems())
def test_the_meeting_edge_is_the_removal_that_separates_two_vertices(problem):
    tree, n = sparse_graph(*problem).tree, len(problem[0])
    parent, since, size = np.empty((3, n), np.int64)
    join_times(tree.edges, parent, since, size)
    labels = [tree_labels(tree, k) for k in range(1, n + 1)]
    for a in range(n):
        for b in range(a):
            parted = next(k for k, label in enumerate(labels) if label[a] != label[b])
            assert meeting_edge(a, b, parent, since) == parted - 1


@st.composite
def validated(draw):
    pool = in_unit(draw(points(min_rows=6, max_rows=16, max_columns=3)))
    n = draw(st.integers(2, len(pool) - 2))
    others = np.vstack([pool[n:], pool[:1]])
    rank = np.random.default_rng(draw(st.integers(0, 99))).permutation(n)
    k = draw(st.integers(1, n - 1))
    return pool[:n].copy(), k, ValidationRows(others, len(others) // 2), rank


@given(validated(), st.sampled_from([3, 4, 500]))
def test_counts_equal_regions_built_from_scratch(problem, most):
    rows, k, validation, rank = problem
    graph = sparse_graph(rows, k)
    expected = sparse.counts(
        rows.tolist(), validation.rows.tolist(), validation.n_targets, ordered_tree(graph), rank.tolist(), most
    )
    counts = sparse_counts(rows, graph.tree, validation, MeanExtent(), Sampling(rank, most))
    assert list(zip(counts.true_positives.tolist(), counts.false_positives.tolist(), strict=True)) == expected


@pytest.mark.parametrize("seed", range(5))
def test_counts_are_right_if_a_split_does_not_change_the_sample(seed):
    rng = np.random.default_rng(seed)
    pool = in_unit(rng.normal(size=(70, 3)))
    rows, validation, sampling = pool[:40].copy(), ValidationRows(pool[40:], 15), Sampling.seeded(40, rng, most=5)
    graph = sparse_graph(rows, 5)
    assert (sampled_clusters(rows, graph.tree, sampling)[0].region != np.arange(39)).any()
    tree = ordered_tree(graph)
    expected = sparse.counts(rows.tolist(), validation.rows.tolist(), 15, tree, sampling.rank.tolist(), 5)
    counts = sparse_counts(rows, graph.tree, validation, MeanExtent(), sampling)
    assert list(zip(counts.true_positives.tolist(), counts.false_positives.tolist(), strict=True)) == expected


@given(validated(), st.sampled_from(["mean", "max"]))
def test_performance_with_all_neighbours_is_that_of_the_complete_graph(problem, extent):
    rows, _, validation, rank = problem
    space, whole = complete(rows)
    how = Fuzzification(EXTENTS[extent], Medoid(), Gaussian(), maximum)
    graph = sparse_graph(rows, len(rows) - 1)
    expected = performance_curve(space, whole, validation, how, accuracy)
    found = sparse_performance_curve(rows, graph, validation, how, accuracy, Sampling(rank))
    assert_allclose(found, expected, atol=1e-12)


def test_validation_patterns_too_far_for_single_precision_are_rejected():
    rows = in_unit(np.random.default_rng(0).normal(size=(30, 4)))
    validation = ValidationRows(np.vstack([rows[:5], np.full((1, 4), 1e60)]), 5)
    counts = sparse_counts(rows, sparse_graph(rows, 5).tree, validation, MeanExtent(), Sampling(np.arange(30)))
    assert not counts.false_positives.any()
    assert counts.true_positives[-1] == 5


def test_regions_that_are_not_balls_are_evaluated_for_the_first_splits():
    rng = np.random.default_rng(0)
    rows = in_unit(rng.normal(size=(90, 5)))
    validation = ValidationRows(np.vstack([rows[:20] + 0.01, rows[:20] * 3]), 20)
    how = Fuzzification(MeanExtent(), Centroid(), Gaussian(), maximum)
    sampling = Sampling.seeded(90, rng)
    graph = sparse_graph(rows, 89)
    space, whole = complete(rows)
    for performance in (accuracy, resolve_performance("auc")):
        expected = performance_curve(space, whole, validation, how, performance)
        found = sparse_performance_curve(rows, graph, validation, how, performance, sampling)
        assert_allclose(found, expected[:FIRST_SPLITS], atol=1e-12)
    assert isinstance(resolve_performance("auc"), ScorerPerformance)


def test_regions_of_small_clusters_are_those_of_the_complete_graph():
    rows = in_unit(np.random.default_rng(1).normal(size=(80, 6)))
    whole = complete(rows)[1]
    labels = tree_labels(whole.tree, 7)
    expected = build_regions(rows, whole, labels, BALLS)
    found = build_sparse_regions(rows, whole.tree, labels, BALLS, Sampling(np.arange(80)))
    for (region, shape), (other, other_shape) in zip(found, expected, strict=True):
        assert_array_equal(region.members, other.members)
        assert region.representative == other.representative
        assert_allclose(region.extent, other.extent, rtol=1e-9)
        assert_array_equal(shape.centre, other_shape.centre)


def test_a_large_cluster_is_measured_on_its_members_of_lowest_rank():
    rng = np.random.default_rng(2)
    rows = in_unit(rng.normal(size=(120, 6)))
    graph, sampling = sparse_graph(rows, 10), Sampling.seeded(120, rng, most=30)
    ((region, _),) = build_sparse_regions(rows, graph.tree, np.zeros(120, np.int64), BALLS, sampling)
    medoid, extent = sparse.ball(rows.tolist(), sorted(np.argsort(sampling.rank)[:30].tolist()))
    assert len(region.members) == 120
    assert region.representative == medoid
    assert_allclose(region.extent, extent, rtol=1e-9)
    clusters, n_pairs = sampled_clusters(rows, graph.tree, sampling)
    assert clusters.medoid[0] == medoid
    assert_allclose(clusters.total[0] / n_pairs[0], extent, rtol=1e-9)


@pytest.mark.parametrize("extent", ["mean", "max"])
@pytest.mark.parametrize("representative", [Medoid(), Centroid()])
@pytest.mark.parametrize("function", [Gaussian(), TwoSided()])
def test_regions_from_sums_are_those_from_all_pairs(extent, representative, function):
    rows = in_unit(np.random.default_rng(3).normal(size=(SAMPLE_SIZE + 1, 4)))
    how = Fuzzification(EXTENTS[extent], representative, function, maximum)
    whole, labels = complete(rows)[1], np.zeros(len(rows), np.int64)
    ((expected, shape),) = build_regions(rows, whole, labels, how)
    sampling = Sampling(np.arange(len(rows))).for_regions(labels, 4, how)
    with threads(2):
        ((found, other_shape),) = build_sparse_regions(rows, whole.tree, labels, how, sampling)
    assert found.representative == expected.representative
    assert_allclose(found.extent, expected.extent, rtol=1e-9)
    assert_allclose(other_shape.widths, shape.widths, rtol=1e-9)
    assert_array_equal(other_shape.centre, shape.centre)


@given(points(min_rows=1, max_rows=12), st.integers(1, 3))
def test_sums_of_distances_equal_the_definition(rows, n_threads):
    sums, largest = sparse.sums_of_distances(rows.tolist())
    with threads(n_threads):
        found, found_largest = sums_of_distances(rows)
    assert_allclose(found, sums, rtol=1e-12, atol=1e-300)
    assert_allclose(found_largest, largest, rtol=1e-12, atol=1e-300)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.floats(0, 2e4))
def test_samples_use_their_budget(sizes, budget):
    most = largest_sample(np.array(sizes), budget)

    def spent(most):
        return sum(min(size, most) ** 2 for size in sizes)

    assert spent(most) <= budget
    assert most >= max(sizes) or spent(most + 1) > budget


def test_extents_that_need_all_pairs_use_a_smaller_sample():
    how = Fuzzification(EXTENTS["median"], Medoid(), Gaussian(), maximum)
    labels = np.zeros(10**6, np.int64)
    assert Sampling(np.arange(0)).for_regions(labels, 10, how).most == LARGEST_PAIRED_SAMPLE
    assert Sampling(np.arange(0)).for_regions(labels, 10, BALLS).most > LARGEST_PAIRED_SAMPLE


def test_large_clusters_do_not_depend_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    rows, new = rng.normal(size=(1500, 3)), rng.normal(size=(300, 3)) * 1.5

    def fitted(rows):
        return EntropicOneClassClassifier(graph="knn", search=None).fit(rows)

    one, other = fitted(rows), fitted(rows[rng.permutation(len(rows))])
    assert max(len(region.members) for region in one.regions_) > SAMPLE_SIZE
    assert_array_equal(one.predict(new), other.predict(new))


def test_entropies_by_hand():
    distances = [[0.25, 1.0], [0.25, 0.25], [0.0, 1.0]]
    # d = 2, gamma = 1: beta = pi^(-1/2) (Gamma(1.5) + Gamma(2.5)) = (1/2 + 3/4) = 5/4; L = 2.75, alpha = 1/2.
    expected = 2 * math.log(2.75 / math.sqrt(3) / 1.25)
    assert renyi_neighbour_entropy(distances, n_dims=2, gamma=1.0) == pytest.approx(expected)
    assert renyi_neighbour_entropy(np.zeros((3, 1)), 2) == -math.inf


@pytest.mark.parametrize("k", [1, 8])
def test_the_entropy_of_uniform_points_on_a_square_is_the_logarithm_of_its_area(k):
    rows = 3.0 * np.random.default_rng(0).random((4000, 2))
    distances = sparse_graph(rows, k).neighbours.distances * math.sqrt(2)  # without the factor of the space
    assert renyi_neighbour_entropy(distances, 2, gamma=0.5) == pytest.approx(math.log(9), abs=0.1)


@pytest.mark.parametrize(
    ("distances", "gamma", "message"),
    [(np.ones(3), 0.02, r"not shape \(3,\)"), (np.ones((3, 1)), 2.0, r"\(0, d\), with d = 2 .*; not 2")],
)
def test_invalid_input_of_the_entropy_raises_clear_errors(distances, gamma, message):
    with pytest.raises(ValueError, match=message):
        renyi_neighbour_entropy(distances, 2, gamma)
