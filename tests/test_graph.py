import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose

from eocc.graph import euclidean_graph, spanning_tree
from eocc.measures import Euclidean
from eocc.space import dissimilarity_space
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


def test_zero_edges_are_edges():
    tree = spanning_tree(np.zeros((4, 4)))
    assert tree.edges.tolist() == [[0, 1], [0, 2], [0, 3]]
    assert tree.lengths.tolist() == [0.0, 0.0, 0.0]


def test_a_lone_pattern_has_no_edges():
    tree = spanning_tree([[0.0]])
    assert tree.edges.shape == (0, 2)
    assert tree.n_vertices == 1


def square(X):
    return np.empty((len(X), len(X)))


@given(points())
def test_distances_and_total_length_equal_the_definition(X):
    frozen = Euclidean().freeze(X)
    p = np.linspace(0.3, 1.0, X.shape[1])
    graph = euclidean_graph(dissimilarity_space(frozen.prepare(X), p, square(X)), square(X))
    rows = core.dissimilarities(X, X, p, core.largest_distance(X))
    expected = core.space_distances(rows)
    assert_allclose(graph.distances, expected, atol=1e-10)
    assert graph.distances.max() <= 1 + 1e-12
    lengths = sorted(length for length, _, _ in core.kruskal(expected.tolist()))
    assert_allclose(graph.tree.lengths[::-1], lengths, atol=1e-10)


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
def test_unsound_distances_are_named(distances, message):
    with pytest.raises(ValueError, match=message):
        spanning_tree(distances)
