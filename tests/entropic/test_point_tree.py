import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist

from eocc.entropic.graph import DissimilaritySpace, euclidean_graph, point_spanning_tree, spanning_tree
from oracles import core
from oracles import point_tree as oracle
from strategies import points


def complete_tree(X):
    return spanning_tree(core.rounded(cdist(X, X)))


def assert_same(tree, expected):
    assert tree.edges.tolist() == expected.edges.tolist()
    assert_allclose(tree.lengths, expected.lengths, rtol=1e-10)


@given(X=points(max_rows=20))
@settings(max_examples=40)
def test_tree_equals_the_oracle_also_under_ties_and_copies(X):
    edges, lengths = oracle.point_spanning_tree(X)
    tree = point_spanning_tree(X)
    assert tree.edges.tolist() == edges
    assert_allclose(tree.lengths, lengths, rtol=1e-14)


def test_tree_of_four_points_on_a_line_by_hand():
    tree = point_spanning_tree([[0.0], [1.0], [7.0], [3.0]])
    assert tree.edges.tolist() == [[2, 3], [1, 3], [0, 1]]
    assert tree.lengths.tolist() == [4.0, 2.0, 1.0]


def test_ties_go_to_the_lower_endpoints_on_a_square_with_its_centre_twice():
    tree = point_spanning_tree([[0, 0], [2, 0], [0, 2], [2, 2], [1, 1], [1, 1]])
    assert tree.edges.tolist() == [[0, 4], [1, 4], [2, 4], [3, 4], [4, 5]]
    assert_allclose(tree.lengths, [np.sqrt(2)] * 4 + [0])


def test_lengths_equal_up_to_rounding_are_ties():
    X = np.array([[0.3], [0.1], [0.2]])  # 0.3 - 0.2 is less than 0.2 - 0.1 by one bit
    tree = point_spanning_tree(np.vstack([X, X + 0.7]))
    assert tree.edges.tolist() == oracle.point_spanning_tree(np.vstack([X, X + 0.7]))[0]
    assert tree.edges[-4:].tolist() == [[0, 2], [1, 2], [3, 5], [4, 5]]


def test_copies_are_connected_to_the_first_and_negative_zero_equals_zero():
    tree = point_spanning_tree([[1.0, 0.0], [1.0, -0.0], [5.0, 0.0], [1.0, 0.0], [5.0, 0.0]])
    assert tree.edges.tolist() == [[0, 2], [0, 1], [0, 3], [2, 4]]
    assert tree.lengths.tolist() == [4.0, 0.0, 0.0, 0.0]


def test_a_single_point_has_no_edges_and_edges_between_copies_have_length_0():
    assert point_spanning_tree([[3.0, 4.0]]).edges.shape == (0, 2)
    tree = point_spanning_tree(np.ones((500, 2)))
    assert tree.edges.tolist() == [[0, i] for i in range(1, 500)]
    assert not tree.lengths.any()


def samples():
    rng = np.random.default_rng(0)
    normal = rng.normal(size=(900, 5))
    return {
        "normal": normal,
        "one column": normal[:, :1],
        "grid": rng.integers(0, 5, size=(900, 5)).astype(float),
        "corners of a cube": rng.integers(0, 2, size=(900, 12)).astype(float),
        "two far clusters": normal + 1000 * (np.arange(900) % 2)[:, None],
        "a cluster a million times tighter": np.vstack([normal[:500], 50 + 1e-6 * normal[500:]]),
        "rows of a dissimilarity space": cdist(normal, normal[:64]),
        "one far point": np.vstack([normal, [[1e9] * 5]]),
        "a line of growing gaps": (1.01 ** np.arange(900.0))[:, None],
    }


@pytest.mark.parametrize("sample", samples())
def test_tree_equals_that_of_the_complete_graph(sample):
    X = samples()[sample]
    assert_same(point_spanning_tree(X), complete_tree(X))


def test_tree_equals_that_of_the_graph_over_a_dissimilarity_space():
    X = np.random.default_rng(1).normal(size=(700, 20))
    space = DissimilaritySpace(X - X.mean(axis=0), X.mean(axis=0))
    graph = euclidean_graph(space, np.empty((700, 700)))
    tree = point_spanning_tree(space.rows * space.scale)
    assert tree.edges.tolist() == graph.tree.edges.tolist()
    assert_allclose(tree.lengths, graph.tree.lengths, rtol=1e-14)


@given(points(min_rows=2, max_rows=20))
def test_a_tree_spans_all_points_and_scales_with_powers_of_two(X):
    tree, doubled = point_spanning_tree(X), point_spanning_tree(2.0 * X)
    assert core.components(len(X), [(0, i, j) for i, j in tree.edges.tolist()]) == [0] * len(X)
    assert tree.n_vertices == len(X)
    assert (np.diff(tree.lengths) <= 0).all()
    assert doubled.edges.tolist() == tree.edges.tolist()
    assert doubled.lengths.tolist() == (2 * tree.lengths).tolist()


def test_without_ties_the_order_of_rows_only_renumbers_the_tree():
    X = np.random.default_rng(4).normal(size=(400, 4))
    order = np.random.default_rng(5).permutation(400)
    tree, shuffled = point_spanning_tree(X), point_spanning_tree(X[order])
    assert np.sort(order[shuffled.edges], axis=1).tolist() == tree.edges.tolist()


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros(3), r"points must be a matrix with rows and columns, not of shape \(3,\)"),
        (np.zeros((0, 2)), r"not of shape \(0, 2\)"),
        (np.zeros((2, 0)), r"not of shape \(2, 0\)"),
        ([[np.nan]], "NaN or infinity"),
        ([[-1e200], [0.0]], r"points reach 1e\+200, whose square overflows"),
    ],
)
def test_invalid_input_raises_clear_errors(points, message):
    with pytest.raises(ValueError, match=message):
        point_spanning_tree(points)
