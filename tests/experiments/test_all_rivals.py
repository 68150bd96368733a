"""Properties that every registered rival must have."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from eocc.measures import StringEdit
from eocc.rivals import RIVALS, DistanceRival
from eocc.rivals.base import threshold
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


def documented(column):
    """Return what the table of the documentation with this column says about each rival."""
    page = (Path(__file__).parents[2] / "docs" / "reference" / "api" / "rivals.md").read_text(encoding="utf-8")
    for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
        head, _, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
        if column in head:
            return {row[0]: row[head.index(column)] for row in rows}
    raise LookupError(column)


@pytest.mark.parametrize("column", ["assumes", "score", "good at", "bad at", "paper"])
def test_the_documentation_has_an_entry_for_every_rival(column):
    assert list(documented(column)) == list(RIVALS)
    assert all(documented(column).values())


@EVERY
def test_the_documentation_says_whether_training_scores_are_left_out_or_fitted(name):
    rival = seeded(name).fit(cloud())
    is_fitted_score = rival.training_scores_ == rival.score_samples(cloud())
    kind = {0.0: "left out", 1.0: "fitted"}.get(is_fitted_score.mean(), "left out for centres")
    assert documented("training scores")[name] == kind
    if kind == "left out for centres":
        assert set(np.flatnonzero(~is_fitted_score)) <= set(rival.centres_)


def test_rejection_rate_just_below_1_keeps_the_best_target():
    assert threshold(np.array([3.0, 1.0, 2.0]), 1 - 1e-12) == 3.0


@EVERY
def test_far_rows_score_lower_than_near_ones(name):
    rival = seeded(name).fit(cloud())
    scores = rival.score_samples(new())
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 2
    assert scores[:15].mean() > scores[15:].mean()
    assert_array_equal(rival.predict(new()), np.where(scores >= rival.offset_, 1, -1))
    assert_allclose(rival.decision_function(new()), scores - rival.offset_)


@EVERY
def test_training_targets_are_rejected_at_the_rejection_rate(name):
    for rate in (0.0, 0.05, 0.3):
        rival = seeded(name, rejection_rate=rate).fit(cloud())
        assert (rival.training_scores_ < rival.offset_).mean() <= rate + 1e-9
        assert (rival.training_scores_ <= rival.offset_).mean() > rate - 1 / 60


@EVERY
@pytest.mark.parametrize("rate", [1.0, -0.1, "a", None])
def test_invalid_rejection_rate_is_an_error(name, rate):
    with pytest.raises(ValueError, match="rejection_rate must be a number"):
        seeded(name, rejection_rate=rate).fit(cloud())


@EVERY
def test_a_row_scores_the_same_alone_in_a_batch_pickled_and_refitted(name):
    rival = seeded(name).fit(cloud())
    scores = rival.score_samples(new())
    for index in (0, 7, 29):
        assert_array_equal(rival.score_samples(new()[[index]])[0], scores[index])
    assert_array_equal(pickle.loads(pickle.dumps(rival)).score_samples(new()), scores)
    assert_array_equal(clone(rival).fit(cloud()).score_samples(new()), scores)


@BY_DISTANCE
def test_a_row_of_precomputed_distances_scores_the_same_alone_as_in_a_batch(name):
    X = cloud(200, 8)
    block = cdist(cloud(40, 8, seed=1), X)
    rival = seeded(name, metric="precomputed").fit(cdist(X, X))
    scores = rival.score_samples(block)
    assert_array_equal([rival.score_samples(row[None])[0] for row in block], scores)


@EVERY
@pytest.mark.parametrize("n", [40, 1])
def test_a_model_does_not_change_with_the_callers_array(name, n):
    X = cloud(n)
    rival = seeded(name).fit(X)
    scores = rival.score_samples(new())
    X[:] = 99.0
    assert_array_equal(rival.score_samples(new()), scores)


@BY_DISTANCE
def test_a_model_of_precomputed_distances_does_not_change_with_the_callers_block(name):
    D, block = cdist(cloud(), cloud()), cdist(new(), cloud())
    rival = seeded(name, metric="precomputed").fit(D)
    scores = rival.score_samples(block)
    D[:] = 99.0
    assert_array_equal(rival.score_samples(block), scores)


@pytest.mark.parametrize("name", ["Gauss", "MoG", "k-Means", "PCA", "MPM", "Robust covariance"])
def test_the_bits_of_a_model_do_not_depend_on_the_threads(name):
    X, scores = cloud(500, 70), []
    for limit in (1, 2):
        with threadpool_limits(limits=limit):
            scores.append(seeded(name).fit(X).score_samples(X[:50]))
    assert_array_equal(scores[0], scores[1])


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
    # A tree parts two rows by one split, so that all patterns end at the same depth.
    if len(np.unique(data, axis=0)) > (2 if name == "Isolation forest" else 1):
        assert len(np.unique(scores)) > 1


FAR = np.array([[1e308, -1e308, 1e308], [1e160, 0.0, 0.0]])


@EVERY
@pytest.mark.parametrize("data", [cloud(), 1e90 * cloud(), np.full((5, 3), 0.1)])
def test_scores_of_far_rows_are_finite(name, data):
    rival = seeded(name).fit(data)
    scores = rival.score_samples(np.vstack([data, FAR]))
    assert np.isfinite(scores).all()
    assert scores[-2:].max() <= scores[:-2].max()


@EVERY
def test_numbers_too_large_to_square_are_an_error(name):
    with pytest.raises(ValueError, match=r"X holds values .*overflow; scale the features to at"):
        seeded(name).fit(1e160 * cloud())


@BY_DISTANCE
def test_precomputed_distances_too_large_to_square_are_an_error(name):
    D = cdist(cloud(), cloud())
    with pytest.raises(ValueError, match=r"distances holds values .* overflow"):
        seeded(name, metric="precomputed").fit(1e160 * D)
    rival = seeded(name, metric="precomputed").fit(D)
    assert np.isfinite(rival.score_samples(np.vstack([D[:3], np.full(60, 1e300)]))).all()


@EVERY
def test_failed_fit_leaves_the_rival_unchanged(name):
    rival = seeded(name).fit(cloud())
    before = rival.score_samples(new())
    with pytest.raises(ValueError, match="NaN"):
        rival.fit([[np.nan, 1.0, 2.0]] * 5)
    assert_array_equal(rival.score_samples(new()), before)


@BY_DISTANCE
def test_precomputed_distances_are_accepted(name):
    X = cloud()
    given = seeded(name, metric="precomputed").fit(cdist(X, X))
    scores = given.score_samples(cdist(new(), X))
    assert np.isfinite(scores).all()
    assert scores[:15].mean() > scores[15:].mean()
    with pytest.raises(ValueError, match="60"):
        given.score_samples(cdist(new(), X[:50]))
    with pytest.raises(ValueError, match="square"):
        seeded(name, metric="precomputed").fit(cdist(new(), X))
    with pytest.raises(ValueError, match=r"sparse one: use X.toarray\(\)"):
        seeded(name, metric="precomputed").fit(sparse.csr_matrix(cdist(X, X)))


@BY_DISTANCE
def test_the_dissimilarities_of_a_measure_are_accepted(name):
    training, others = samples("string-edit")
    measure = StringEdit()
    patterns, new = measure.read(training), measure.read(others)
    fitted = measure.fit(patterns)
    D, block = (fitted.prepare(one, patterns).evaluate(fitted.neutral_weights()) for one in (patterns, new))
    assert np.isfinite(seeded(name, metric="precomputed").fit((D + D.T) / 2).score_samples(block)).all()


@BY_DISTANCE
def test_unknown_metric_error_suggests_a_known_one(name):
    with pytest.raises(ValueError, match=r"unknown metric 'euclid'.*Did you mean 'euclidean'"):
        seeded(name, metric="euclid").fit(cloud())


def test_copies_and_integer_codes_do_not_overflow_in_k_nearest_neighbours():
    codes = np.repeat(np.arange(4), [60, 5, 1, 1])[:, None] * 1000
    by_rows = RIVALS["k-NN"]().fit(codes)
    by_distances = RIVALS["k-NN"](metric="precomputed").fit(np.abs(codes - codes.T))
    assert by_rows.k_ == by_distances.k_
    assert_array_equal(by_rows.training_scores_, by_distances.training_scores_)
