import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq

from eocc.entropic.graph import SpanningTree, spanning_tree
from eocc.entropic.partition import cut, greedy_prune, modularity_curve, normalized_modularity, prune
from oracles import core
from strategies import distance_matrices


def oracle_edges(tree):
    return [(length, i, j) for length, (i, j) in zip(tree.lengths.tolist(), tree.edges.tolist(), strict=True)]


@given(distance_matrices())
def test_curve_equals_modularity_of_every_cut_from_scratch(distances):
    tree = spanning_tree(distances)
    expected = core.modularity_curve(distances.tolist(), oracle_edges(tree))
    curve = modularity_curve(distances, tree)
    assert_allclose(curve, expected, atol=1e-10)


@given(distance_matrices())
def test_prune_equals_algorithm_1(distances):
    tree = spanning_tree(distances)
    labels, q = core.algorithm_1(distances.tolist(), oracle_edges(tree))
    assert prune(distances, tree).tolist() == labels
    assert greedy_prune(distances, tree, "always") == (len(set(labels)), pytest.approx(q, abs=1e-10))


@given(distance_matrices())
def test_cut_gives_the_connected_components(distances):
    tree = spanning_tree(distances)
    for k in range(1, len(distances) + 1):
        labels = cut(tree, k)
        assert labels.tolist() == core.components(len(distances), oracle_edges(tree)[k - 1 :])
        assert len(set(labels.tolist())) == k


@given(distance_matrices(min_rows=2))
def test_modularity_lies_in_its_range(distances):
    curve = modularity_curve(distances, spanning_tree(distances))
    assert curve.min() >= -0.5 - 1e-12
    assert curve.max() <= 1
    assert all(-1e-12 <= normalized_modularity(q) <= 1 for q in curve)


def test_two_pairs_by_hand():
    w = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]])
    # s = 1 inside the pairs only: E = 2, every degree 1; k = 2: 1/2 + 1/2 - 2 (2/4)^2 = 1/2
    assert_allclose(modularity_curve(w, spanning_tree(w)), [0, 1 / 2, 1 / 8, -1 / 4])
    assert prune(w, spanning_tree(w)).tolist() == [0, 0, 1, 1]
    assert normalized_modularity(0.5) == pytest.approx(np.log(2) / np.log(2.5))


@pytest.mark.parametrize("rounding", [0.0, 1e-16, 1e-13])
def test_q_is_zero_if_all_similarities_are_rounding_errors(rounding):
    w = (1 - rounding) * (1 - np.eye(5))
    assert_array_equal(modularity_curve(w, spanning_tree(w)), 0)


@pytest.mark.parametrize(("n", "clusters"), [(1, 1), (2, 2), (3, 2)])
def test_first_cut_is_always_made(n, clusters):
    w = np.zeros((n, n))  # copies: every cut lowers Q
    assert len(set(prune(w, spanning_tree(w)).tolist())) == clusters


@pytest.mark.parametrize(("change", "clusters"), [(0.0, 3), (1e-13, 3), (1e-9, 2)])
def test_a_decrease_of_q_within_rounding_does_not_stop_the_cuts(change, clusters):
    def three_clusters(x):
        """The first cut separates the first cluster, the second cut the other two, at distance x."""
        cluster = np.repeat([0, 1, 2], 4)
        w = np.array([[0.1, 0.9, 0.9], [0.9, 0.1, x], [0.9, x, 0.1]])[np.ix_(cluster, cluster)]
        np.fill_diagonal(w, 0)
        return w

    def gain(x):
        curve = modularity_curve(three_clusters(x), spanning_tree(three_clusters(x)))
        return curve[2] - curve[1]

    balanced = brentq(gain, 0.15, 0.85, xtol=1e-15)
    steeper = balanced - change / abs((gain(balanced + 1e-4) - gain(balanced - 1e-4)) / 2e-4)
    w = three_clusters(steeper)
    assert gain(steeper) == pytest.approx(-change, abs=max(change / 10, 2e-15))
    assert len(set(prune(w, spanning_tree(w)).tolist())) == clusters


def test_invalid_arguments_raise_clear_errors():
    w = np.array([[0, 0.5], [0.5, 0]])
    tree = spanning_tree(w)
    for edges, lengths, message in [
        ([[0, 10**9]], [1.0], r"edges must join patterns 0\.\.1; found 0 and 1000000000"),
        ([[0, 1], [0, 1]], [1.0, 1.0], "edges must join all patterns without a circle"),
        ([[0, 1], [1, 2]], [1.0, 2.0], "edges must come heaviest first"),
        ([[0.5, 1.0]], [1.0], "pairs of integers"),
        ([[0, 1]], [1.0, 0.5], "pairs of integers"),
    ]:
        wrong = SpanningTree(np.array(edges), np.array(lengths))
        for stage, arguments in ((cut, (wrong, 2)), (prune, (w, wrong)), (modularity_curve, (w, wrong))):
            with pytest.raises(ValueError, match=message):
                stage(*arguments)
    with pytest.raises(ValueError, match=r"k must be an integer in 1\.\.2, .* got 1.5"):
        cut(tree, 1.5)
    with pytest.raises(ValueError, match="the tree spans 2 patterns, the distances 3"):
        modularity_curve(np.zeros((3, 3)), tree)
    with pytest.raises(ValueError, match=r"k must be an integer in 1\.\.2, the number of patterns; got 3"):
        cut(tree, 3)
