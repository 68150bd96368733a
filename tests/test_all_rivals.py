"""What every registered rival must keep."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from eocc.rivals import RIVALS, DistanceRival
from samples import samples

EVERY = pytest.mark.parametrize("name", RIVALS)
BY_DISTANCE = pytest.mark.parametrize("name", [name for name in RIVALS if issubclass(RIVALS[name], DistanceRival)])


def cloud(n=60, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def new():
    return np.vstack([cloud(15, seed=1), cloud(15, seed=2) + 6])


def seeded(name, **arguments):
    rival = RIVALS[name](**arguments)
    return rival.set_params(random_state=0) if "random_state" in rival.get_params() else rival


def expected_failures(estimator):
    if type(estimator).__name__ in ("NearestNeighbour", "SpanningTreeDescription"):
        reason = "a training target is at distance 0 from the targets, so predict accepts it"
        return {"check_outliers_train": reason, "check_outliers_fit_predict": reason}
    return {}


@parametrize_with_checks([seeded(name) for name in RIVALS], expected_failed_checks=expected_failures)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


@EVERY
def test_says_what_it_is(name):
    assert len(RIVALS[name].__doc__.strip().splitlines()) >= 5
    assert "Good at" in RIVALS[name].__doc__
    assert "Bad at" in RIVALS[name].__doc__
    assert "Paper:" in RIVALS[name].__doc__


@EVERY
def test_tells_far_patterns_from_near_ones(name):
    rival = seeded(name).fit(cloud())
    scores = rival.score_samples(new())
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 2
    assert scores[:15].mean() > scores[15:].mean()
    assert_array_equal(rival.predict(new()), np.where(scores >= rival.offset_, 1, -1))
    assert_allclose(rival.decision_function(new()), scores - rival.offset_)


@EVERY
def test_rejects_no_more_training_targets_than_it_may(name):
    for rate in (0.0, 0.05, 0.3):
        rival = seeded(name, rejection_rate=rate).fit(cloud())
        assert (rival.training_scores_ < rival.offset_).mean() <= rate + 1e-9
        assert (rival.training_scores_ <= rival.offset_).mean() > rate - 1 / 60


@EVERY
@pytest.mark.parametrize("rate", [1.0, -0.1, "a", None])
def test_refuses_a_rate_that_is_none(name, rate):
    with pytest.raises(ValueError, match="rejection_rate must be a number"):
        seeded(name, rejection_rate=rate).fit(cloud())


@EVERY
def test_a_row_scores_the_same_alone_as_in_a_batch_and_tomorrow(name):
    rival = seeded(name).fit(cloud())
    scores = rival.score_samples(new())
    for index in (0, 7, 29):
        assert_array_equal(rival.score_samples(new()[[index]])[0], scores[index])
    assert_array_equal(pickle.loads(pickle.dumps(rival)).score_samples(new()), scores)
    assert_array_equal(clone(rival).fit(cloud()).score_samples(new()), scores)


DEGENERATE = {
    "a constant column": np.column_stack([cloud(30), np.full(30, 5.0)]),
    "duplicates": np.repeat(cloud(6), 5, axis=0),
    "all rows equal": np.full((12, 3), 2.0),
    "more features than rows": cloud(8, 40),
    "one row": cloud(1),
    "two rows": cloud(2),
    "three rows": cloud(3),
    "one feature": cloud(20, 1),
    "large numbers": 1e8 + 1e6 * cloud(30),
    "small numbers": 1e-9 * cloud(30),
}


@EVERY
@pytest.mark.parametrize("data", DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_input_gives_an_answer(name, data):
    rival = seeded(name).fit(data)
    scores = rival.score_samples(np.vstack([data, data[:1] * 3 + 1]))
    assert np.isfinite(scores).all()
    assert np.isfinite(rival.offset_)
    assert scores[-1] <= scores[:-1].max()


@EVERY
def test_a_fit_that_fails_leaves_the_rival_as_it_was(name):
    rival = seeded(name).fit(cloud())
    before = rival.score_samples(new())
    with pytest.raises(ValueError, match="NaN"):
        rival.fit([[np.nan, 1.0, 2.0]] * 5)
    assert_array_equal(rival.score_samples(new()), before)


@BY_DISTANCE
def test_precomputed_distances_serve_as_well(name):
    from scipy.spatial.distance import cdist

    X = cloud()
    given = seeded(name, metric="precomputed").fit(cdist(X, X))
    scores = given.score_samples(cdist(new(), X))
    assert np.isfinite(scores).all()
    assert scores[:15].mean() > scores[15:].mean()
    with pytest.raises(ValueError, match="60"):
        given.score_samples(cdist(new(), X[:50]))
    with pytest.raises(ValueError, match="square"):
        seeded(name, metric="precomputed").fit(cdist(new(), X))


@BY_DISTANCE
@pytest.mark.parametrize("measure", ["graph-edit", "string-edit", "dtw", "gower", "jaccard"])
def test_any_measure_serves(name, measure):
    training, others = samples(measure)
    rival = seeded(name, metric=measure).fit(training)
    scores = rival.score_samples(others)
    assert np.isfinite(scores).all()
    assert_array_equal(rival.score_samples(others[::-1]), scores[::-1])


@BY_DISTANCE
def test_an_unknown_metric_names_the_known_ones(name):
    with pytest.raises(ValueError, match=r"unknown measure 'euclid'.*Did you mean 'euclidean'"):
        seeded(name, metric="euclid").fit(cloud())
