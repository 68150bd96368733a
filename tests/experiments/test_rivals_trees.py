import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from eocc.entropic.graph import spanning_tree
from eocc.kernels.trees import lower_to_edges, lower_to_triangles
from eocc.rivals.neighbours import SpanningTreeDescription
from eocc.rivals.reconstructions import (
    ChameleonDescription,
    KCentres,
    chameleon_labels,
    left_out_distances,
    radius,
    recentred_centres,
    regions,
)
from oracles import rivals as oracle
from strategies import distance_matrices, points


def cloud(n, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def three_groups():
    return np.vstack([cloud(40, seed=seed) + centre for seed, centre in enumerate([(0, 0), (20, 0), (0, 20)])])


# The tree.


@given(points(min_rows=2), st.integers(0, 2**32))
def test_distances_to_the_edges_equal_the_definition(X, seed):
    random = np.random.default_rng(seed)
    edges = random.integers(len(X), size=(len(X), 2))  # edges from a vertex to itself too
    new = np.vstack([X, random.integers(-3, 4, size=(5, X.shape[1])), (X[edges[:, 0]] + X[edges[:, 1]]) / 2])
    nearest = cdist(new, X).min(axis=1)
    lower_to_edges(new, np.full(len(new), -1), X, edges, nearest)
    expected = [oracle.distance_to_tree(x, X.tolist(), edges.tolist()) for x in new.tolist()]
    # Of a point on an edge rounding leaves a distance of some 1e-16 of the coordinates.
    assert_allclose(nearest, expected, rtol=1e-9, atol=1e-12)
    assert_array_equal(nearest[: len(X)], 0)


@given(points(min_rows=2))
def test_training_scores_leave_out_the_edges_of_the_vertex(X):
    distances = cdist(X, X)
    edges = spanning_tree(distances).edges
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    lower_to_edges(X, np.arange(len(X)), X, edges, nearest)
    expected = [oracle.distance_to_tree(x, X.tolist(), edges.tolist(), own=i) for i, x in enumerate(X.tolist())]
    assert_allclose(nearest, expected, rtol=1e-9, atol=1e-12)


@given(distance_matrices(min_rows=3))
def test_heights_equal_herons_formula_even_without_the_triangle_inequality(distances):
    training, new = distances[1:, 1:], distances[:1, 1:]
    tree = spanning_tree(training)
    nearest = new.min(axis=1)
    lower_to_triangles(np.ascontiguousarray(new), np.array([-1]), tree.edges, tree.lengths, nearest)
    row = new[0].tolist()
    sides = [oracle.height_over_edge(row[i], row[j], training[i, j]) for i, j in tree.edges.tolist()]
    # A height is the root of a difference of squares: 1e-16 of them is 1e-8 of the sides.
    assert_allclose(nearest, min(row + sides), rtol=1e-6, atol=1e-7)


def test_the_tree_of_a_corner_by_hand():
    corner = SpanningTreeDescription().fit([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0]])
    assert corner.tree_.edges.tolist() == [[1, 2], [0, 1]]
    rows = [[2.0, 3.0], [3.0, 5.0], [-3.0, -4.0], [4.0, 4.5], [4.0, 9.0]]
    assert_allclose(corner.score_samples(rows), [-2, -1, -5, 0, 0])
    # For the ends of the path the other edge counts; for the corner, which is on both edges, the nearer neighbour.
    assert_allclose(corner.training_scores_, [-4, -4, -9])


def test_a_zero_length_edge_is_a_point():
    tree = SpanningTreeDescription().fit([[0.0, 0.0], [0.0, 0.0], [0.0, 2.0]])
    assert_allclose(tree.score_samples([[1.0, 1.0], [0.0, 0.0], [3.0, -4.0]]), [-1, 0, -5])
    assert_allclose(tree.training_scores_, [0, 0, -2])


def test_given_euclidean_distances_the_heights_are_the_distances_to_the_edges():
    X, new = cloud(40, 3), 2 * cloud(50, 3, seed=1)
    by_rows = SpanningTreeDescription().fit(X)
    by_distances = SpanningTreeDescription(metric="precomputed").fit(cdist(X, X))
    assert_allclose(by_distances.score_samples(cdist(new, X)), by_rows.score_samples(new), atol=1e-7)
    assert_allclose(by_distances.training_scores_, by_rows.training_scores_, atol=1e-7)
    assert (by_rows.score_samples(new) > -cdist(new, X).min(axis=1)).sum() > 10


def test_training_scores_are_left_out_for_leaves_and_never_higher_for_others():
    X = cloud(30)
    tree = SpanningTreeDescription().fit(X)
    degree = np.bincount(tree.tree_.edges.ravel())
    exact = np.array(
        [SpanningTreeDescription().fit(np.delete(X, i, axis=0)).score_samples(X[[i]])[0] for i in range(len(X))]
    )
    assert_allclose(tree.training_scores_[degree == 1], exact[degree == 1])
    assert (tree.training_scores_ <= exact + 1e-12).all()
    assert (tree.training_scores_ < exact - 1e-12).any()


# The centres.


def test_recentred_centres_are_the_middles_of_their_clusters():
    X = cloud(50)
    distances = cdist(X, X)
    centres = recentred_centres(distances, 4, 1, np.random.default_rng(0))
    labels = distances[:, centres].argmin(axis=1)
    for label, centre in enumerate(centres):
        members = np.flatnonzero(labels == label)
        spread = distances[np.ix_(members, members)].max(axis=1)
        assert distances[centre, members].max() == spread.min()


def test_two_centres_of_two_groups_by_hand():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    centres = KCentres(k=2, random_state=0).fit(X)
    assert sorted(centres.centres_) == [1, 4]
    assert centres.radius_ == 1
    assert_array_equal(centres.score_samples([[1.0], [5.0], [20.0]]), [0, -4, -9])
    assert_array_equal(centres.training_scores_, [-1, -1, -1, -1, -1, -1])


def test_a_centre_alone_in_its_cluster_is_as_far_as_the_next_centre():
    distances = cdist([[0.0], [1.0], [7.0]], [[0.0], [1.0], [7.0]])
    assert_array_equal(left_out_distances(distances, np.array([0, 2])), [1, 1, 7])
    assert_array_equal(left_out_distances(np.zeros((1, 1)), np.array([0])), [0])


def test_copies_are_not_chosen_twice_and_k_is_at_most_the_number_of_targets():
    copies = KCentres(k=4, random_state=0).fit([[0.0], [0.0], [3.0], [3.0]])
    assert len(copies.centres_) == copies.k_ == 2
    assert sorted(KCentres(k=9, random_state=0).fit([[0.0], [1.0], [3.0]]).centres_) == [0, 1, 2]


def test_the_best_of_many_starts_is_kept():
    D = cdist(cloud(60), cloud(60))
    random = np.random.default_rng(3)
    each = [radius(D, recentred_centres(D, 5, 1, random)) for _ in range(25)]
    assert KCentres(metric="precomputed", random_state=3).fit(D).radius_ == min(each) < max(each)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be an integer >= 1, not 0"),
        ({"k": "many"}, "k must be an integer >= 1, not 'many'"),
        ({"n_starts": 0}, "n_starts must be an integer >= 1, not 0"),
        ({"random_state": -1}, "random_state must be"),
    ],
)
def test_invalid_arguments_of_k_centres_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        KCentres(**arguments).fit(cloud(10))


# CHAMELEON's clusters.


def test_three_groups_far_apart_are_three_clusters_at_any_scale_and_with_copies():
    X = three_groups()
    for rows in (X, 1e8 + 1e6 * X, 1e-9 * X):
        labels = chameleon_labels(rows, 3)
        assert_array_equal(labels, np.repeat(labels[[0, 40, 80]], 40))
        assert sorted(set(labels)) == [0, 1, 2]
    twice = chameleon_labels(np.vstack([X, X]), 3)
    assert_array_equal(twice[:120], twice[120:])
    assert_array_equal(twice[:120], chameleon_labels(X, 3))


def test_the_same_rows_give_the_same_clusters_again():
    X = cloud(200, 3)
    first = chameleon_labels(X, 5)
    chameleon_labels(cloud(90, 3, seed=1), 7)
    assert_array_equal(chameleon_labels(X, 5), first)


def test_regions_are_medoids_and_mean_pair_distances():
    X = np.array([[0.0], [1.0], [5.0], [20.0], [23.0], [50.0]])
    centres, extents = regions(X, np.array([0, 0, 0, 1, 1, 2]))
    assert_array_equal(centres, [[1.0], [20.0], [50.0]])
    # The lone row has the mean distance to the nearest neighbour: 1, 1, 4, 3, 3, 27.
    assert_allclose(extents, [10 / 3, 3, 6.5])


def test_scores_are_the_log_membership_in_the_nearest_region():
    X = three_groups()
    model = ChameleonDescription(n_clusters=3).fit(X)
    new = np.array([[1.0, 1.0], [10.0, 10.0], [21.0, -2.0]])
    memberships = []
    for start in (0, 40, 80):
        group = X[start : start + 40]
        distances = cdist(group, group)
        medoid, extent = group[distances.sum(axis=1).argmin()], distances.sum() / (40 * 39)
        memberships.append(np.exp(-(((new - medoid) ** 2).sum(axis=1) / extent**2) / 2))
    assert_allclose(model.score_samples(new), np.log(np.max(memberships, axis=0)))
    assert_array_equal(model.training_scores_, model.score_samples(X))


def test_few_rows_are_one_cluster():
    for rows in ([[0.0, 1.0]] * 9, [[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]]):
        assert len(ChameleonDescription().fit(rows).centres_) == 1


@pytest.mark.parametrize("n_clusters", [0, 2.5, "five"])
def test_invalid_number_of_clusters_is_an_error(n_clusters):
    with pytest.raises(ValueError, match="n_clusters must be an integer >= 1, not"):
        ChameleonDescription(n_clusters=n_clusters).fit(cloud(10))


def test_missing_package_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pychameleon", None)
    with pytest.raises(ImportError, match=r"needs the package chameleon-cluster: pip install chameleon-cluster"):
        ChameleonDescription().fit(cloud(10))
