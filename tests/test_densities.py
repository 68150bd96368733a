"""Sums of Gaussian kernels along one axis, and the spread that their width comes from."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc.surprise.densities import KernelSums, spread
from oracles.likelihood_ratio import kernel_sum, squared_spread

# Copies, neighbours a few widths apart, and values as far away as numbers go.
PLACES = st.sampled_from([-1e150, -30.0, -1.0, 0.0, 0.5, 1.0, 8.9, 19.5, 20.5, 1e16, 1e150]) | st.floats(-40, 40)
SCALES = st.sampled_from([1e-150, 1e-3, 1.0, 7.0, 1e150])


def expected(values, width, points):
    return [kernel_sum([x - v for v in values], width) for x in points]


@given(st.lists(PLACES, min_size=1, max_size=30), st.lists(PLACES, min_size=1, max_size=10), SCALES)
def test_sums_are_those_of_their_definition(values, points, scale):
    values, points = np.array(values) * scale, np.array(points + values[:3]) * scale
    sums = KernelSums(values, scale).at(points)
    assert_allclose(sums, expected(values, scale, points), rtol=0, atol=1e-14 * len(values))


@given(st.integers(0, 99), st.floats(0.05, 3.0))
def test_many_values_are_as_exact(seed, width):
    rng = np.random.default_rng(seed)
    values, points = rng.normal(size=3000), np.append(rng.normal(size=5) * 3, [-40.0, 40.0])
    wanted = np.array(expected(values, width, points))
    assert (abs(KernelSums(values, width).at(points) - wanted) <= 1e-12 * (wanted + 0.05)).all()


@given(st.lists(PLACES, min_size=1, max_size=30), st.randoms(use_true_random=False))
def test_the_order_of_the_values_does_not_matter(values, random):
    shuffled = random.sample(values, len(values))
    points = np.linspace(-12, 12, 50)
    assert_array_equal(KernelSums(np.array(values), 1.0).at(points), KernelSums(np.array(shuffled), 1.0).at(points))


def test_a_point_has_the_same_sum_alone_as_in_a_batch():
    rng = np.random.default_rng(0)
    sums, points = KernelSums(rng.standard_t(2, size=500), 0.3), rng.standard_t(2, size=(100, 2))[:, 1]
    assert_array_equal(sums.at(points), [sums.at(points[i : i + 1])[0] for i in range(100)])
    assert sums.at(points[:0]).shape == (0,)


def test_a_point_without_a_place_is_near_no_value():
    assert_array_equal(KernelSums(np.array([0.0, 1e300]), 1.0).at(np.array([np.inf, -np.inf, np.nan, 1e200])), 0.0)


def test_the_series_are_long_enough():
    # The remainder is largest half a width from both centres: at the ends of the box of a value at its edge.
    points = np.linspace(-9, 9, 1001)
    assert_allclose(KernelSums(np.zeros(1), 1.0).at(points), expected([0.0], 1.0, points), rtol=0, atol=5e-15)


@pytest.mark.parametrize("gap", [16.5, 18.5, 19.5, 20.5])
def test_values_reach_nine_widths_and_across_gaps(gap):
    near, middle = KernelSums(np.array([0.0, gap]), 1.0).at(np.array([gap - 8.9, gap / 2]))
    assert near == pytest.approx(math.exp(-(8.9**2) / 2) + math.exp(-((gap - 8.9) ** 2) / 2), rel=0.01, abs=0)
    if gap < 18:
        assert middle == pytest.approx(2 * math.exp(-(gap**2) / 8), rel=0.01, abs=0)


@given(st.lists(PLACES, min_size=1, max_size=12), SCALES, st.sampled_from([0.0, 1e6]))
def test_the_spread_is_that_of_its_definition(values, scale, shift):
    values = (np.array(values) + shift) * scale
    found, wanted = Fraction(spread(values)) ** 2, squared_spread(values)
    assert abs(found - wanted) <= wanted * Fraction(1e-12)


def test_the_spread_neither_overflows_nor_vanishes():
    assert spread(np.array([-1e308, 1e308, 0.0])) == pytest.approx(1e308)
    assert spread(np.array([3.0, 3.0])) == 0
    assert spread(np.array([1e-300, 2e-300, 3e-300])) == pytest.approx(1e-300)
    assert spread(np.array([5.0])) == 0
