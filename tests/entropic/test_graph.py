import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from eocc.entropic.graph import dissimilarity_space, euclidean_graph, spanning_tree
from eocc.measures import Euclidean
from eocc.measures.euclidean import euclidean_pairwise_distance
from oracles import core
from strategies import distance_matrices, points


@given(distance_matrices())
def test_tree_equals_kruskal_also_under_ties_and_zeros(distances):
    expected = core.heaviest_first(core.kruskal(distances.tolist()))
    tree = spanning_tree(distances)
    assert tree.edges.tolist() == [[i, j] for _, i, j in expected]
    assert tree.lengths.tolist() == [length for length, _, _ in expected]


def test_tree_of_four_points_on_a_line_by_hand():
    x = np.array([0.0, 1.0, 3.0, 7.0])
    tree = spanning_tree(np.abs(x[:, None] - x))
    assert tree.edges.tolist() == [[2, 3], [1, 2], [0, 1]]
    assert tree.lengths.tolist() == [4.0, 2.0, 1.0]


def test_edges_of_length_zero_count():
    tree = spanning_tree(np.zeros((4, 4)))
    assert tree.edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert tree.lengths.tolist() == [0.0, 0.0, 0.0]


def test_a_single_pattern_has_no_edges():
    tree = spanning_tree([[0.0]])
    assert tree.edges.shape == (0, 2)
    assert tree.n_vertices == 1


def square(X):
    return np.empty((len(X), len(X)))


@given(points())
def test_distances_and_total_length_equal_the_definition(X):
    fitted = Euclidean().fit(X)
    p = np.linspace(0.3, 1.0, X.shape[1])
    graph = euclidean_graph(dissimilarity_space(fitted.prepare(X), p, square(X)), square(X))
    rows = core.dissimilarities(X, X, p, core.largest_distance(X))
    expected = core.space_distances(rows)
    assert_allclose(graph.distances, expected, atol=1e-10)
    assert graph.distances.max() <= 1 + 1e-12
    lengths = sorted(length for length, _, _ in core.kruskal(expected.tolist()))
    assert_allclose(graph.tree.lengths[::-1], lengths, atol=1e-10)


class Given:
    """Prepared pairs with given dissimilarities."""

    def __init__(self, D):
        self.D = D

    def evaluate(self, p, out=None):
        return self.D.copy()


def exactly(D):
    """Distances between rows in extended precision."""
    wide = D.astype(np.longdouble)
    return np.sqrt(((wide[:, None] - wide[None]) ** 2).mean(axis=2))


def test_centring_keeps_digits_if_all_dissimilarities_are_similar():
    D = 0.9 + 0.01 * np.random.default_rng(0).random((60, 60))
    distances = euclidean_pairwise_distance(dissimilarity_space(Given(D), np.ones(1), square(D)).rows, 1 / np.sqrt(60))
    error = np.abs(distances - exactly(D)).max()
    assert np.abs(euclidean_pairwise_distance(D, 1 / np.sqrt(60)) - exactly(D)).max() > 20 * error
    graph = euclidean_graph(dissimilarity_space(Given(D), np.ones(1), square(D)), square(D))
    assert_allclose(graph.distances, exactly(D).astype(float), rtol=1e-11)


def test_lengths_of_the_tree_come_from_differences():
    rng = np.random.default_rng(0)
    D = np.vstack([rng.random((1, 20)) + 3e-3 * rng.random((10, 20)), rng.random((10, 20))])
    graph = euclidean_graph(dissimilarity_space(Given(D), np.ones(1), square(D)), square(D))
    i, j = graph.tree.edges.T
    assert_allclose(graph.tree.lengths, exactly(D)[i, j].astype(float), rtol=2e-14)
    assert np.abs(graph.distances[i, j] / exactly(D)[i, j] - 1).max() > 1e-12


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.zeros((2, 3)), r"square matrix, not of shape \(2, 3\)"),
        (np.zeros((0, 0)), "square matrix"),
        (np.array([[0, np.nan], [np.nan, 0]]), "NaN or infinity"),
        (np.array([[0, -1.0], [-1.0, 0]]), "negative; the least is -1"),
        (np.array([[0, 1.0], [2.0, 0]]), "symmetric"),
        (np.array([[5, 1.0], [1.0, 0]]), "0 on the diagonal; found 5"),
    ],
)
def test_invalid_distances_raise_clear_errors(distances, message):
    with pytest.raises(ValueError, match=message):
        spanning_tree(distances)
