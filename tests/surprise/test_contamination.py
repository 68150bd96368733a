"""Training rows that may not be normal: `contamination` moves the limit, and nothing else."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import SurpriseClassifier, load, save

X = np.random.default_rng(0).normal(size=(399, 3))
NEW = np.random.default_rng(1).normal(size=(100, 3)) * 2


@pytest.mark.parametrize("prototypes", [None, 100])
def test_it_moves_the_limit_and_nothing_else(prototypes):
    clf, other = (SurpriseClassifier(contamination=c, prototypes=prototypes).fit(X) for c in (None, 0.1))
    assert_array_equal(other._calibration_values(NEW), clf._calibration_values(NEW))
    assert_array_equal(other.p_values(NEW), clf.p_values(NEW))
    assert_array_equal(other.training_p_values_, clf.training_p_values_)
    assert other.surprise_model_.threshold.value < clf.surprise_model_.threshold.value
    assert (other.predict(NEW) == -1).sum() > (clf.predict(NEW) == -1).sum()


def test_half_of_it_is_added_to_the_share_of_training_rows_that_are_rejected():
    for contamination, rejected in ((None, 19), (0.0, 19), (0.05, 29), (0.1, 39), (0.2, 59)):
        clf = SurpriseClassifier(contamination=contamination).fit(X)
        assert clf.calibration_.rate == 0.05
        assert_allclose(clf.calibration_.limit, 0.05 + (contamination or 0.0) / 2)
        assert (clf.predict(X) == -1).sum() == rejected  # (n + 1) (0.05 + c / 2) - 1
        assert_array_equal(clf.predict(X) == -1, clf.training_p_values_ <= clf.calibration_.limit + 1e-12)


def test_false_alarms_rise_to_the_promised_rate_at_most_where_foreign_rows_raised_the_limit():
    rejected = {None: [], 0.1: []}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, new = rng.normal(size=(300, 3)), rng.normal(size=(1000, 3))
        rows[:30] = rng.normal(size=(30, 3)) * 4  # a tenth of the rows are foreign
        for contamination, shares in rejected.items():
            shares.append((SurpriseClassifier(contamination=contamination).fit(rows).predict(new) == -1).mean())
    assert np.mean(rejected[None]) + 0.005 < np.mean(rejected[0.1]) < 0.05


def test_a_loaded_model_has_the_same_limit(tmp_path):
    clf = SurpriseClassifier(contamination=0.1).fit(X)
    save(clf, tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc")
    assert_array_equal(loaded.predict(NEW), clf.predict(NEW))
    assert (loaded.calibration_.rate, loaded.calibration_.limit) == (0.05, 0.1)
    assert loaded.get_params()["contamination"] == 0.1


def test_a_taught_model_keeps_it():
    clf = SurpriseClassifier(contamination=0.1).fit(X)
    taught = clf.teach(NEW[:3], [1, 1, -1])
    assert_allclose(taught.calibration_.limit, 0.1)
    assert_array_equal(taught.withdraw([0, 1, 2]).predict(NEW), clf.predict(NEW))


def test_a_limit_that_no_row_could_meet_is_refused():
    with pytest.raises(
        ValueError, match=r"^a false_alarm_rate of 0.9 and a contamination of 0.4 leave no row to accept"
    ):
        SurpriseClassifier(false_alarm_rate=0.9, contamination=0.4).fit(X)


@pytest.mark.parametrize("value", [-0.1, 0.5, 1, float("nan"), "0.1", True])
def test_a_bad_value_is_named_in_one_line(value):
    with pytest.raises(ValueError, match=r"^contamination must be a number in \[0, 0\.5\), not ") as caught:
        SurpriseClassifier(contamination=value).fit(X)
    assert repr(value) in str(caught.value)
    assert "\n" not in str(caught.value)
