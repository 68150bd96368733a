import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.entropic.search import GeneticSearch
from eocc.measures.objects import Objects
from eocc.measures.series import DTW
from oracles import series as oracle
from strategies import BANDS, sets_of_series


def waves(n, channels=2, seed=0, lengths=(20, 30)):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(*lengths, size=n)
    return [
        np.sin(np.linspace(0, 7, m)[:, None] + np.arange(channels)) + rng.normal(0, 0.1, (m, channels)) for m in sizes
    ]


def weights(seed, u):
    return np.random.default_rng(seed).random(u)


@given(sets_of_series(), st.sampled_from(BANDS), st.integers(0, 10**6))
def test_square_and_rowwise_evaluation_equal_the_definition(X, band, seed):
    measure = DTW(band)
    series = measure.read(X)
    fitted, p = measure.fit(series), weights(seed, X[0].shape[1])
    delta = oracle.largest_distance(X, band)
    assert fitted.delta == pytest.approx(delta, rel=1e-12)
    expected = oracle.dissimilarities(X, X, p, band, delta)
    assert_allclose(fitted.prepare(series).evaluate(p), expected, atol=1e-10)
    assert_allclose(fitted.prepare(series, series).evaluate(p), expected, atol=1e-10)


@given(sets_of_series(), st.sampled_from(BANDS), st.integers(0, 10**6))
def test_training_values_lie_in_the_unit_interval_and_are_symmetric(X, band, seed):
    measure = DTW(band)
    series = measure.read(X)
    pairs = measure.fit(series).prepare(series)
    for p in (weights(seed, X[0].shape[1]), np.ones(X[0].shape[1]), np.zeros(X[0].shape[1])):
        D = pairs.evaluate(p)
        assert D.min() >= 0
        assert D.max() <= 1  # no slack: rounding, too, keeps the order
        assert_array_equal(D, D.T)
        assert_array_equal(D.diagonal(), 0)


@given(sets_of_series(), st.sampled_from(BANDS), st.integers(0, 10**6))
def test_a_row_alone_equals_the_row_in_a_batch_bit_for_bit(X, band, seed):
    measure = DTW(band)
    series = measure.read(X)
    fitted, p = measure.fit(series), weights(seed, X[0].shape[1])
    batch = fitted.prepare(series, series).evaluate(p)
    assert_array_equal(batch, fitted.prepare(series).evaluate(p))
    for i in range(len(series)):
        assert_array_equal(fitted.prepare(series[i : i + 1], series).evaluate(p)[0], batch[i])
        assert_array_equal(fitted.prepare(series, series[[i]]).evaluate(p)[:, 0], batch[:, i])


@given(sets_of_series(max_size=5), st.sampled_from(BANDS))
def test_equality_with_dtaidistance(X, band):
    # Its Python code: the C code gives infinity for some pairs, (0, 0, 0) and (1, 1, 1) for one, by a rounded bound.
    pytest.importorskip("dtaidistance")
    from dtaidistance import dtw, dtw_ndim

    measure = DTW(band)
    series = measure.read(X)
    fitted = measure.fit(series)
    D = fitted.prepare(series).evaluate(np.ones(X[0].shape[1])) * fitted.delta
    for i, x in enumerate(X):
        for j, y in enumerate(X):
            longer = max(len(x), len(y))
            window = (longer if band is None else round(band * longer)) + 1
            if x.shape[1] == 1:
                theirs = dtw.distance(x[:, 0].copy(), y[:, 0].copy(), window=window)
            else:
                theirs = dtw_ndim.distance(x, y, window=window)
            assert D[i, j] == pytest.approx(theirs, abs=1e-9)


def test_values_derived_by_hand():
    measure = DTW(band=None)
    series = measure.read([[0, 1, 2], [0, 2], [0, 0, 0, 3]])
    fitted = measure.fit(series)
    # 0-1: 1 meets 0 or 2, at 1 either way. 0-2: 1 meets 0, 2 meets 3. 1-2: 2 meets 3.
    distances = [[0, 1, math.sqrt(2)], [1, 0, 1], [math.sqrt(2), 1, 0]]
    assert fitted.delta == pytest.approx(math.sqrt(2))
    assert_allclose(fitted.prepare(series).evaluate(np.ones(1)) * fitted.delta, distances)


def test_without_a_band_to_speak_of_equal_lengths_are_compared_step_by_step():
    X = np.random.default_rng(0).normal(size=(6, 15, 2))
    measure = DTW(band=0)
    series = measure.read(X)
    fitted = measure.fit(series)
    p = np.array([0.3, 0.9])
    expected = np.sqrt((p * (X[:, None] - X) ** 2).sum(axis=(2, 3))) / fitted.delta
    assert_allclose(fitted.prepare(series).evaluate(p), expected, atol=1e-12)


def test_the_path_depends_on_the_weights():
    # Channel 0 peaks at step 1 against 2, channel 1 at 2 against 1: either can be warped away, not both at once.
    x = np.array([[0, 0], [1, 0], [0, 1], [0, 0]], float)
    y = x[:, ::-1]
    measure = DTW(band=None)
    series = measure.read([x, y])
    pairs = measure.fit(series).prepare(series)
    first, second, both = (pairs.evaluate(np.array(p, float))[0, 1] for p in ([1, 0], [0, 1], [1, 1]))
    assert (first, second, both) == (0, 0, 1)


@pytest.mark.parametrize("magnitude", [1e-300, 1e-150, 1e150, 1e300])
def test_huge_and_tiny_values_are_measured_as_others_are(magnitude):
    X = np.random.default_rng(0).normal(size=(6, 9, 2))
    p = np.array([0.2, 0.7])
    plain, scaled = (DTW().read(data) for data in (X, X * magnitude))
    expected = DTW().fit(plain).prepare(plain).evaluate(p)
    assert_allclose(DTW().fit(scaled).prepare(scaled).evaluate(p), expected, atol=1e-12)


def test_a_series_out_of_all_proportion_is_far_but_not_nan():
    series = DTW().read(np.random.default_rng(0).normal(size=(5, 8, 2)) * 1e-200)
    far = DTW().read([np.full((3, 2), 1e300)])
    distances = DTW().fit(series).prepare(far, series).evaluate(np.array([0.0, 1.0]))
    assert np.isfinite(distances).all()
    assert (distances > 1e100).all()


def test_equal_series_have_delta_one():
    series = DTW().read([[7.0, 7.0], [7.0], [7.0] * 5])
    fitted = DTW().fit(series)
    assert fitted.delta == 1.0
    assert_allclose(fitted.prepare(DTW().read([[10.0]]), series).evaluate(np.ones(1)), [[18**0.5, 3, 45**0.5]])


def test_threads_share_what_is_prepared():
    series = DTW().read(waves(40))
    pairs = DTW().fit(series).prepare(series)
    candidates = np.random.default_rng(1).random((8, 2))
    alone = [pairs.evaluate(p) for p in candidates]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda p: pairs.evaluate(p, np.empty((40, 40))), candidates))
    assert_array_equal(alone, together)


@pytest.mark.parametrize(
    "X",
    [
        np.arange(6.0).reshape(2, 3),
        np.arange(6).reshape(2, 3, 1),
        [[0, 1, 2], [3, 4, 5]],
        (np.array(row) for row in ([0, 1, 2], [3, 4, 5])),
        pd.DataFrame([[0, 1, 2], [3, 4, 5]]),
        pd.Series([[0, 1, 2], [3, 4, 5]]),
        Objects([np.array([[0.0], [1.0], [2.0]]), np.array([[3.0], [4.0], [5.0]])]),
    ],
    ids=lambda X: type(X).__name__,
)
def test_every_form_of_the_same_series_is_read_alike(X):
    series = DTW().read(X)
    assert [one.dtype for one in series] == [np.float64] * 2
    assert [one.tolist() for one in series] == [[[0], [1], [2]], [[3], [4], [5]]]


def test_what_was_read_is_the_measures_own():
    X = np.zeros((2, 3))
    series = DTW().read(X)
    X[:] = 1
    assert series[0].max() == 0


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "X holds no series; at least 1 is required"),
        ("abc", "X must be a sequence of series, not str"),
        (3.0, "X must be a sequence of series, not float"),
        (np.zeros(5), r"X must be of shape \(n, length\) or .* not \(5,\); write \[x\] for one series"),
        (np.zeros((2, 3, 4, 5)), r"X must be of shape .* not \(2, 3, 4, 5\)"),
        ([1.0, 2.0], r"X\[0\]: this has shape \(\); pass an array of shape \(length,\) or \(length, channels\)"),
        ([[1.0], np.zeros((2, 2, 2))], r"X\[1\]: this has shape \(2, 2, 2\); pass an array"),
        ([[1.0], ["a", "b"]], r"X\[1\]: this is not a series of numbers; pass an array"),
        ([[1.0], [1j]], r"X\[1\]: this is not a series of numbers"),
        ([[[1.0], [1.0, 2.0]]], r"X\[0\]: this is not a series of numbers"),
        ([[1.0], []], r"X\[1\]: this series is empty; leave it out"),
        (np.zeros((2, 0)), r"X\[0\]: this series is empty"),
        ([[1.0], [1.0, np.nan]], r"X\[1\]: NaN or infinity at step 1; .* interpolate \(numpy.interp\)"),
        ([[1.0], [None]], r"X\[1\]: NaN or infinity at step 0"),
        ([np.zeros((4, 2)), np.zeros((4, 3))], r"X\[1\] has 3 channels, X\[0\] 2; pass series with the same"),
    ],
)
def test_what_is_not_a_set_of_series_is_refused_in_one_line(X, message):
    with pytest.raises(ValueError, match=message) as caught:
        DTW().read(X)
    assert "\n" not in str(caught.value)


def test_new_series_must_have_the_channels_of_the_training_series():
    fitted = DTW().fit(DTW().read(waves(3)))
    with pytest.raises(ValueError, match="a new series has 1 channel, the training series 2; pass series with the"):
        fitted.prepare(DTW().read([[1.0, 2.0]]), DTW().read(waves(3)))


@pytest.mark.parametrize("band", [-0.1, 1.1, math.nan, "wide", True, 5])
def test_a_band_is_a_share(band):
    with pytest.raises(ValueError, match=r"band must be a number in \[0, 1\]"):
        DTW(band)


@pytest.mark.parametrize("channels", [1, 2])
def test_end_to_end_at_any_number_of_threads(channels):
    series = waves(25, channels)
    new = [*waves(3, channels, seed=1), np.zeros((25, channels)), 3 * waves(1, channels, seed=2)[0]]
    one, two = (
        EntropicOneClassClassifier(
            measure=DTW(), random_state=0, search=GeneticSearch(max_generations=3), n_jobs=n_jobs
        ).fit(series)
        for n_jobs in (1, 2)
    )
    assert one.weights_.shape == (channels,)
    assert_array_equal(one.weights_, two.weights_)
    assert_array_equal(one.score_samples(new), two.score_samples(new))
    assert_array_equal(one.predict(new)[3:], [-1, -1])
    assert one.score_samples(new[:3]).min() > one.score_samples(new[3:]).max()
    assert_array_equal(one.score_samples(new), np.concatenate([one.score_samples([x]) for x in new]))
    with pytest.raises(ValueError, match="a new series has 4 channels"):
        one.predict([np.zeros((5, 4))])
