"""Calibrated decisions: what is promised about new targets holds, over and over."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.calibration import Calibration, cross_calibrate, folds
from eocc.search import GeneticSearch


def cloud(rng, n):
    """Two round clusters of different size and a lone pattern now and then."""
    kinds = rng.random(n)
    centres = np.where(kinds[:, None] < 0.6, [0.0, 0.0], [4.0, 1.0])
    return centres + rng.normal(size=(n, 2)) * np.where(kinds[:, None] < 0.6, 1.0, 0.4)


def calibrated(rng, n=60, rate=0.1, **arguments):
    clf = EntropicOneClassClassifier(search=None, false_alarm_rate=rate, random_state=0, **arguments)
    return clf.fit(cloud(rng, n))


def test_p_values_and_threshold_by_hand():
    margins = np.array([-3.0, -1.0, -1.0, 2.0])
    assert_array_equal(
        Calibration(margins, 0.2).p_values(np.array([-4.0, -3.0, -1.0, 0.0, 2.0])), [0.2, 0.4, 0.8, 0.8, 1.0]
    )
    thresholds = [Calibration(margins, rate).threshold for rate in (0.2, 0.4, 0.79, 0.8, 1 - 1e-12)]
    assert thresholds == [-3.0, -1.0, -1.0, 2.0, 2.0]
    with pytest.raises(ValueError, match=r"0\.1 needs at least 9 training targets; there are 4"):
        _ = Calibration(margins, 0.1).threshold


def test_accepted_is_exactly_what_has_a_p_value_above_the_rate():
    rng = np.random.default_rng(1)
    for rate in (0.05, 0.1, 0.33):
        clf = calibrated(rng, rate=rate)
        new = rng.uniform(-4, 8, size=(300, 2))
        assert_array_equal(clf.predict(new) == 1, clf.p_values(new) > rate)
        assert_array_equal(clf.predict(new) == 1, clf.decision_function(new) >= 0)


def test_folds_hold_out_every_pattern_once_and_its_model_has_not_seen_it():
    for n in (2, 7, 10, 53):
        pairs = list(folds(n, np.random.default_rng(0)))
        assert sorted(np.concatenate([held for _, held in pairs])) == list(range(n))
        assert all(len(np.intersect1d(kept, held)) == 0 and len(kept) + len(held) == n for kept, held in pairs)


def test_margins_come_from_the_folds_a_pattern_is_not_in():
    patterns = np.arange(20.0)
    calibration = cross_calibrate(
        patterns, lambda kept, held, rng: np.isin(held, kept) * -1.0, 0.1, np.random.default_rng(0)
    )
    assert_array_equal(calibration.margins, np.zeros(20))


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_new_targets_are_rejected_no_more_often_than_promised(rate):
    rng = np.random.default_rng(5)
    rejected = [(calibrated(rng, rate=rate).predict(cloud(rng, 200)) == -1).mean() for _ in range(40)]
    error = np.std(rejected) / np.sqrt(len(rejected))
    assert np.mean(rejected) <= rate + 3 * error
    assert np.mean(rejected) >= rate / 3  # nor is everything accepted


def test_p_values_of_new_targets_are_spread_evenly_or_larger():
    rng = np.random.default_rng(6)
    p = np.concatenate([calibrated(rng).p_values(cloud(rng, 100)) for _ in range(30)])
    for level in (0.05, 0.1, 0.25, 0.5):
        assert (p <= level).mean() <= level + 0.015


def test_three_way_decisions_follow_the_p_values():
    rng = np.random.default_rng(2)
    clf = calibrated(rng)
    new = rng.uniform(-4, 8, size=(300, 2))
    p, said = clf.p_values(new), clf.predict_with_reject(new)
    assert set(said) == {-1, 0, 1}
    assert_array_equal(said == -1, p <= 0.1)
    assert_array_equal(said == 1, p > 0.4)
    assert_array_equal(said == -1, clf.predict(new) == -1)
    assert 0 not in clf.predict_with_reject(new, unsure_rate=0.1)


def test_the_default_stays_the_papers_rule(setosa):
    plain = EntropicOneClassClassifier(search=None).fit(setosa)
    calibrated = EntropicOneClassClassifier(search=None, false_alarm_rate=0.05).fit(setosa)
    assert_array_equal(plain.score_samples(setosa), calibrated.score_samples(setosa))
    shift = plain.decision_function(setosa) - calibrated.decision_function(setosa)
    assert np.ptp(shift) < 1e-9
    assert abs(shift[0] - calibrated.threshold_) < 1e-9


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_same_seed_gives_the_same_calibration_with_a_search_and_a_validation_set(iris, jobs):
    X, y = iris
    settings = {"false_alarm_rate": 0.1, "random_state": 3, "search": GeneticSearch(max_generations=2)}
    one = EntropicOneClassClassifier(synthesis="validation", **settings).fit(X, y)
    two = EntropicOneClassClassifier(synthesis="validation", **settings, n_jobs=jobs).fit(X, y)
    assert len(one.calibration_.margins) == len(one.training_indices_)
    assert_array_equal(one.calibration_.margins, two.calibration_.margins)


def test_precomputed_dissimilarities_can_be_calibrated(setosa):
    D = np.linalg.norm(setosa[:, None] - setosa, axis=2)
    rows = EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0).fit(setosa)
    block = EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0, measure="precomputed").fit(D)
    np.testing.assert_allclose(rows.calibration_.margins, block.calibration_.margins, rtol=1e-6)


@pytest.mark.parametrize("rate", [0, 1, -0.1, "5 %", True])
def test_a_rate_that_is_none_is_named(setosa, rate):
    with pytest.raises(ValueError, match=r"false_alarm_rate must be a number in \(0, 1\), or None, not"):
        EntropicOneClassClassifier(search=None, false_alarm_rate=rate).fit(setosa)


def test_too_few_targets_for_a_rate_are_told_how_many_it_takes(setosa):
    with pytest.raises(ValueError, match=r"0\.01 needs at least 99 training targets; there are 50"):
        EntropicOneClassClassifier(search=None, false_alarm_rate=0.01).fit(setosa)
    EntropicOneClassClassifier(search=None, false_alarm_rate=0.05).fit(setosa[:19])


def test_an_uncalibrated_model_says_what_to_do(setosa):
    clf = EntropicOneClassClassifier(search=None).fit(setosa)
    for ask in (clf.p_values, clf.predict_with_reject):
        with pytest.raises(ValueError, match="fit it with a false_alarm_rate"):
            ask(setosa)
    with pytest.raises(ValueError, match="unsure_rate must be a number"):
        EntropicOneClassClassifier(search=None, false_alarm_rate=0.1).fit(setosa).predict_with_reject(setosa, 0.05)


def heavy_tailed(rng, n):
    return rng.standard_t(2, size=(n, 3))


def with_copies(rng, n):
    return rng.integers(0, 4, size=(n, 2)).astype(float)


def many_features(rng, n):
    return rng.normal(size=(n, 20))


@pytest.mark.parametrize("draw", [heavy_tailed, with_copies, many_features])
@pytest.mark.parametrize("n", [19, 40])
def test_the_rate_is_kept_on_other_data_and_on_the_fewest_targets(draw, n):
    rng = np.random.default_rng(7)
    rejected = []
    for _ in range(30):
        clf = EntropicOneClassClassifier(search=None, false_alarm_rate=0.05, random_state=0).fit(draw(rng, n))
        rejected.append((clf.predict(draw(rng, 100)) == -1).mean())
    assert np.mean(rejected) <= 0.05 + 3 * np.std(rejected) / np.sqrt(len(rejected))


def test_the_rate_is_kept_with_a_search_and_a_validation_set():
    rng = np.random.default_rng(8)
    search = GeneticSearch(population_size=6, max_generations=2)
    rejected = []
    for _ in range(12):
        X = np.vstack([cloud(rng, 60), rng.uniform(-6, 10, size=(30, 2))])
        y = np.repeat([1, -1], [60, 30])
        clf = EntropicOneClassClassifier(
            synthesis="validation", search=search, false_alarm_rate=0.1, random_state=0
        )  # fmt: skip
        rejected.append((clf.fit(X, y).predict(cloud(rng, 200)) == -1).mean())
    assert np.mean(rejected) <= 0.1 + 3 * np.std(rejected) / np.sqrt(len(rejected))


def test_decisions_are_those_of_the_fit_whatever_is_set_later(setosa):
    clf = EntropicOneClassClassifier(search=None, false_alarm_rate=0.1, random_state=0).fit(setosa)
    before, doubts = clf.predict(setosa), clf.predict_with_reject(setosa)
    for later in (0.001, None):
        clf.set_params(false_alarm_rate=later)
        assert_array_equal(clf.predict(setosa), before)
        assert_array_equal(clf.predict_with_reject(setosa), doubts)
    np.testing.assert_allclose(clf.decision_function(setosa), clf.score_samples(setosa) - clf.offset_, atol=1e-9)


def test_too_few_targets_are_noticed_before_the_search(setosa):
    class Never:
        def start(self, n_parameters, rng):
            raise AssertionError("the search was started")

    with pytest.raises(ValueError, match="needs at least 99"):
        EntropicOneClassClassifier(search=Never(), false_alarm_rate=0.01).fit(setosa)
