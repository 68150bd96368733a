"""Few different distances: rows like the others are accepted, and all outputs agree in their order."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from eocc import SurpriseClassifier
from eocc.calibration.conformal import Threshold

LINES = ["GET /index.html 200", "GET /about.html 200", "POST /login 302"] * 60 + ["GET /index.html 304"]


def test_a_known_log_line_is_accepted_and_one_a_digit_away_is_not():
    clf, lines = SurpriseClassifier().fit(LINES), ["GET /index.html 200", "GET /index.html 201", "DELETE /users"]
    assert clf.predict(lines).tolist() == [1, -1, -1]
    assert clf.p_values(lines)[0] == 1.0
    assert (np.diff(clf.score_samples(lines)) < 0).all()


def test_a_row_like_nearly_all_others_is_within_the_limit():
    X = np.random.default_rng(0).integers(0, 5, size=(3000, 2)).astype(float)
    clf = SurpriseClassifier().fit(X)
    new = [[2.0, 2.0], [0.0, 0.0], [7.0, 2.0]]
    assert clf.predict(new).tolist() == [1, 1, -1]
    assert (clf.p_values(new)[:2] > 0.2).all()


def test_the_threshold_of_ties_has_a_scale():
    tied = np.append(np.zeros(95), np.ones(4))
    threshold = Threshold.fit(tied, 0.05)
    assert (threshold.value, threshold.scale) == (0.0, 0.5)
    threshold = Threshold.fit(np.arange(1.0, 100.0), 0.05)
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
    ratios = clf._score_all(clf._read(rows)).ratios
    order = np.argsort(ratios)
    for falling in (clf.score_samples(rows), clf.p_values(rows), clf.decision_function(rows)):
        assert (np.diff(falling[order]) <= 0).all()
        assert (np.diff(falling[order])[np.diff(ratios[order]) == 0] == 0).all()
    assert_array_equal(clf.predict(rows) == 1, clf.p_values(rows) > rate)
