import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc.rivals import GeometricEntropyMinimisation, NearestNeighbour
from oracles.rivals import length_to_nearest

POINTS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=3, max_size=12)


@given(POINTS, st.integers(1, 4), st.sampled_from([0.5, 1.0, 2.0]))
def test_scores_are_minus_the_lengths_of_the_definition_with_copies_and_ties(points, k, gamma):
    X = np.array(points, float)
    gem = GeometricEntropyMinimisation(k=k, gamma=gamma).fit(X)
    new = np.array([[0.0, 0.0], [2.5, -1.0], [30.0, 4.0]])
    in_data_units = gem.unit_**gamma
    k = min(k, len(points) - 1)
    expected = [-length_to_nearest(row, points, k, gamma) for row in new]
    assert_allclose(gem.score_samples(new) * in_data_units, expected, rtol=1e-9)
    own = [-length_to_nearest(row, points, k, gamma, own=i) for i, row in enumerate(points)]
    assert_allclose(gem.training_scores_ * in_data_units, own, rtol=1e-9)


def test_one_neighbour_ranks_as_the_nearest_neighbour():
    X, new = np.random.default_rng(0).normal(size=(2, 40, 3))
    gem, nearest = GeometricEntropyMinimisation(k=1).fit(X), NearestNeighbour().fit(X)
    assert_array_equal(np.argsort(gem.score_samples(new)), np.argsort(nearest.score_samples(new)))


def test_gamma_lets_far_neighbours_count_more():
    X = [[0.0], [1.0], [6.0]]
    assert GeometricEntropyMinimisation(k=2, gamma=1.0).fit(X).score_samples([[3.0]])[0] == pytest.approx(-5 / 6)
    assert GeometricEntropyMinimisation(k=2, gamma=2.0).fit(X).score_samples([[3.0]])[0] == pytest.approx(-13 / 36)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be an integer >= 1, not 0"),
        ({"gamma": 0}, r"gamma must be a number in \(0, 5\], not 0"),
        ({"gamma": 6}, r"gamma must be a number in \(0, 5\], not 6"),
    ],
)
def test_invalid_arguments_are_errors(arguments, message):
    with pytest.raises(ValueError, match=message):
        GeometricEntropyMinimisation(**arguments).fit([[0.0], [1.0]])
