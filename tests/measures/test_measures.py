import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.measures import Euclidean, Precomputed, Standardised, resolve_measure
from eocc.measures.euclidean import euclidean_pairwise_distance
from eocc.measures.unit import Unit
from oracles import core
from strategies import points


@given(points(), st.integers(0, 10**6))
def test_square_and_rowwise_evaluation_equal_the_definition(X, seed):
    p = np.random.default_rng(seed).random(X.shape[1])
    fitted = Euclidean().fit(X)
    assert fitted.delta == pytest.approx(core.largest_distance(X), rel=1e-12)
    expected = core.dissimilarities(X, X, p, core.largest_distance(X))
    assert_allclose(fitted.prepare(X).evaluate(p), expected, atol=1e-10)
    assert_allclose(fitted.prepare(X, X).evaluate(p), expected, atol=1e-10)


@given(points(min_rows=2), st.floats(1e-12, 1e-3))
def test_distances_of_near_copies_keep_their_digits(X, offset):
    rows = np.vstack([X, X + offset])
    rows = rows - rows.mean(axis=0)
    scale = 1 / max(np.abs(rows).max(), 1.0)
    assert_allclose(euclidean_pairwise_distance(rows, scale), core.pairwise(rows) * scale, atol=1e-10)


def test_copies_are_exactly_zero_apart_also_among_many():
    rows = np.repeat(np.random.default_rng(0).normal(size=(7, 5)), 30, axis=0)
    distances = euclidean_pairwise_distance(rows, 1.0)
    same = np.repeat(np.arange(7), 30)
    assert_array_equal(distances == 0, same[:, None] == same)


def test_larger_than_a_tile():
    rows = np.random.default_rng(0).normal(size=(150, 3))
    assert_allclose(euclidean_pairwise_distance(rows, 0.5), core.pairwise(rows) * 0.5, atol=1e-12)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1.0, 1e150, 1e300])
def test_huge_and_tiny_values_are_measured_as_others_are(magnitude):
    X = np.random.default_rng(0).normal(size=(6, 3))
    small, large = Euclidean().fit(X), Euclidean().fit(X * magnitude)
    p = np.array([0.2, 1.0, 0.7])
    scaled = X * magnitude
    assert_allclose(large.prepare(scaled).evaluate(p), small.prepare(X).evaluate(p), atol=1e-12)


def test_a_pattern_out_of_all_proportion_is_far_but_not_nan():
    X = np.random.default_rng(0).normal(size=(5, 2)) * 1e-200
    far = np.array([[1e300, -1e300]])
    distances = Euclidean().fit(X).prepare(far, X).evaluate(np.array([0.0, 1.0]))
    assert (distances > 1e100).all()


def test_equal_rows_have_delta_one():
    X = np.full((4, 2), 7.0)
    fitted = Euclidean().fit(X)
    assert fitted.delta == 1.0
    assert fitted.prepare(np.array([[7.0, 10.0]]), X).evaluate(np.ones(2)) == pytest.approx(np.full((1, 4), 3.0))


def test_measure_by_object_and_by_mistake():
    measure = Euclidean()
    assert resolve_measure(measure) is measure
    with pytest.raises(ValueError, match=r"write Euclidean\(\)"):
        resolve_measure(Euclidean)
    with pytest.raises(ValueError, match=r"unknown measure 'euclid'; known: .*'euclidean'"):
        resolve_measure("euclid")


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-300, 1e-9, 1.0, 1e9, 1e300, 8e307])
def test_a_unit_scales_by_a_power_of_two(scale):
    rows = np.array([[-1.0, 0.0], [0.5, 1.0], [1.0, -1.0]]) * scale
    unit = Unit.of(rows)
    assert_array_equal(unit.measure(rows), np.ldexp(rows - unit.centre, -unit.exponent))
    assert np.abs(unit.measure(rows)).max() <= 1
    assert unit.measure(np.full((1, 2), np.finfo(float).max)).max() <= 1e150
    assert_array_equal(unit.measure(np.asfortranarray(rows)), unit.measure(rows))


@pytest.mark.parametrize(
    ("rows", "divisor"), [([[1e-140], [1e-140 + 1e-155]], 1.0), ([[1e-130], [1e-130 + 1e-145]], 1e-145)]
)
def test_a_divisor_that_would_make_distances_infinite_counts_as_0(rows, divisor):
    rows = np.array(rows)
    fitted = Standardised().fit(rows)
    assert fitted.largest == pytest.approx(divisor, rel=0.5)
    assert np.isfinite(fitted.prepare(np.array([[1e308]]), rows).evaluate(np.ones(1))).all()


def test_precomputed_dissimilarities_are_not_rescaled_if_asked():
    D = np.array([[0.0, 0.25], [0.25, 0.0]])
    kept, scaled = (Precomputed(rescale=rescale) for rescale in (False, True))
    for measure, factor in ((kept, 1), (scaled, 4)):
        rows = measure.read(D)
        assert_array_equal(measure.fit(rows).prepare(rows).evaluate(np.empty(0)), factor * D)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]; the largest is 1.25"):
        kept.fit(kept.read(5 * D))
    assert EntropicOneClassClassifier(measure=kept).fit(D).spanning_tree_.lengths[0] == 0.25
