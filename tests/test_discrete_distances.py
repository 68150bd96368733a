"""Few different distances: units are no finer than a step, and all outputs agree in their order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.calibration.threshold import Threshold
from eocc.measures import Euclidean
from eocc.space.weightings import no_left_out_weights
from eocc.surprise.comparison import Reference
from eocc.surprise.model import fit_surprise_model
from eocc.surprise.score import smallest_step

LINES = ["GET /index.html 200", "GET /about.html 200", "POST /login 302"] * 60 + ["GET /index.html 304"]


def test_a_log_line_one_digit_away_is_just_beyond_the_limit():
    clf = SurpriseClassifier().fit(LINES)
    known, changed = np.exp(clf.score_samples(["GET /index.html 200", "GET /index.html 201"]))
    assert known > 0.75
    assert 0.1 < changed < 0.6  # 1.6e-20 in units of the standard deviations


def test_a_row_like_nearly_all_others_is_well_within_the_limit():
    X = np.random.default_rng(0).integers(0, 5, size=(3000, 2)).astype(float)
    clf = SurpriseClassifier().fit(X)
    new = [[2.0, 2.0], [0.0, 0.0], [5.0, 2.0]]
    assert_array_equal(clf.p_values(new)[:2], 1.0)
    # Their surprise is a quarter of a step below the limit: log2(1 + 1 / e) = 0.452, and 3 quarters above.
    assert clf.score_all(np.array(new)).ratios.round(2).tolist() == [0.67, 0.67, 2.1]


def test_the_surprise_is_counted_in_steps():
    X = np.random.default_rng(0).integers(0, 5, size=(300, 2)).astype(float)
    found = SurpriseClassifier().fit(X).surprise_model_.surprises(np.array([[5.0, 2.0]]))
    assert 0.5 < found[0] < 1.5  # 9.5 in units of the standard deviations


def step_of(X):
    normal = Reference(Euclidean().fit(X), X, np.ones((1, X.shape[1])))
    return fit_surprise_model(normal, None, no_left_out_weights(X.shape[1]))[2]


@pytest.mark.parametrize("n", [5, 9, 20, 1000])
def test_measured_numbers_have_no_steps(n):
    assert step_of(np.random.default_rng(0).normal(size=(n, 3)) * [1.0, 2.0, 5.0]) == 0.0


@pytest.mark.parametrize("jitter", [0.0, 1e-12])
def test_a_clump_of_copies_is_no_step(jitter):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30))
    X[450:] = 6 / np.sqrt(30)
    assert step_of(X + jitter * rng.normal(size=X.shape)) == 0.0
    assert step_of(X.round()) > 0
    assert step_of(X[440:].round(1)) > 0  # nearly all rows have copies


def test_common_distances_are_those_at_two_successive_ranks():
    # Of 200 distances 20 are looked at, the second at rank 199 / 19 = 10; of 100 only 12, the second at rank 9.
    for n, apart in ((200, 10), (100, 9)):
        rest = np.linspace(10.0, 20.0, n)
        for count, step in ((apart, 0.0), (apart + 1, 2.0)):
            rest[:count] = 2.0
            assert smallest_step(rest) == step
    assert smallest_step(np.repeat([3.0, 5.0, 5.5], 20)) == 0.5
    assert smallest_step(np.repeat([3.0, 3.0 + 1e-12], 20)) == 3.0


def test_the_threshold_is_a_quarter_of_a_step_above_the_median():
    tied = np.append(np.zeros(95), np.ones(4))
    threshold = Threshold.fit(tied, 0.05, step=2.0)
    assert (threshold.value, threshold.scale) == (0.5, 0.5)
    threshold = Threshold.fit(np.arange(1.0, 100.0), 0.05, step=2.0)
    assert (threshold.value, threshold.scale) == (95.0, 22.5)


@given(
    st.sampled_from(["numbers", "integers", "strings"]),
    st.integers(4, 60),
    st.sampled_from(["gaussian", "triangular", "bell"]),
    st.sampled_from([0.2, 0.5, 0.8]),
    st.integers(0, 99),
)
def test_membership_ratio_and_p_value_agree_in_their_order(kind, n, function, rate, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n + 30, 2)) * [1.0, 3.0]
    rows = {"numbers": X, "integers": X.round(), "strings": ["ab"[int(a > 0)] * int(abs(b) + 1) for a, b in X]}[kind]
    clf = SurpriseClassifier(false_alarm_rate=rate, membership_function=function).fit(rows[:n])
    ratios = clf.score_all(clf.read(rows)).ratios
    order = np.argsort(ratios)
    for falling in (clf.score_samples(rows), clf.p_values(rows), clf.decision_function(rows)):
        assert (np.diff(falling[order]) <= 0).all()
        assert (np.diff(falling[order])[np.diff(ratios[order]) == 0] == 0).all()
    assert_array_equal(clf.predict(rows) == 1, clf.p_values(rows) > rate)
