"""The rivals that wrap scikit-learn and PyOD give the same scores as those."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.covariance import EllipticEnvelope, MinCovDet
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import LocalOutlierFactor
from sklearn.svm import OneClassSVM

from eocc.rivals import IsolationForestRival, PyodECOD
from eocc.rivals.boundaries import OneClassSupportVectorMachine
from eocc.rivals.densities import RobustCovariance
from eocc.rivals.neighbours import LocalOutlierFactorRival, PyodKNN


def cloud(n=50, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + 2


def new():
    return np.vstack([cloud(8, seed=1), 10 + cloud(8, seed=2)])


def seed_of(random_state):
    return int(np.random.default_rng(random_state).integers(2**31))


# one-class support vector machine


@pytest.mark.parametrize(("nu", "rate", "taken"), [(None, 0.1, 0.1), (None, 0.0, 0.01), (0.4, 0.1, 0.4)])
@pytest.mark.parametrize("gamma", ["scale", "auto", 0.3])
def test_one_class_svm_scores_equal_scikit_learn(nu, rate, taken, gamma):
    rival = OneClassSupportVectorMachine(nu=nu, gamma=gamma, rejection_rate=rate).fit(cloud())
    wrapped = OneClassSVM(nu=taken, gamma=gamma).fit(cloud())
    assert_array_equal(rival.score_samples(new()), wrapped.score_samples(new()))


def test_one_class_svm_score_is_the_sum_of_its_kernels():
    rival = OneClassSupportVectorMachine(gamma=0.5, nu=0.5).fit([[0.0], [1.0]])
    # Two targets share nu * n = 1 evenly, by symmetry.
    expected = 0.5 * np.exp(-0.5 * 4) + 0.5 * np.exp(-0.5 * 1)
    assert_allclose(rival.score_samples([[2.0]]), [expected], rtol=1e-6)


@pytest.mark.parametrize("nu", [0.0, 1.0, "a", True])
def test_invalid_nu_is_an_error(nu):
    with pytest.raises(ValueError, match="nu must be a number in"):
        OneClassSupportVectorMachine(nu=nu).fit(cloud())


@pytest.mark.parametrize("gamma", [0.0, -1.0, "wide", None, np.inf])
def test_invalid_gamma_is_an_error(gamma):
    with pytest.raises(ValueError, match="gamma must be a number > 0"):
        OneClassSupportVectorMachine(gamma=gamma).fit(cloud())


# isolation forest


def test_forest_scores_equal_scikit_learn():
    rival = IsolationForestRival(n_trees=20, random_state=5).fit(cloud())
    mean, spread = cloud().mean(axis=0), np.ptp(cloud(), axis=0)
    wrapped = IsolationForest(n_estimators=20, random_state=seed_of(5)).fit((cloud() - mean) / spread)
    assert_array_equal(rival.score_samples(new()), wrapped.score_samples((new() - mean) / spread))
    assert_array_equal(rival.training_scores_, wrapped.score_samples((cloud() - mean) / spread))


@pytest.mark.parametrize(("shift", "unit"), [(2.0**30, 1.0), (0.0, 2.0**-200), (0.0, 2.0**200)])
def test_forest_scores_do_not_depend_on_shift_or_unit_of_a_feature(shift, unit):
    # Multiples of 1/1024, so that the shift costs no digits in double precision; single precision would lose all.
    X, others = np.round(cloud() * 1024) / 1024, np.round(new() * 1024) / 1024
    scores = IsolationForestRival(n_trees=20, random_state=0).fit(X).score_samples(others)
    moved = IsolationForestRival(n_trees=20, random_state=0).fit(X * unit + shift)
    assert_allclose(moved.score_samples(others * unit + shift), scores, rtol=1e-3)


def test_forest_without_trees_is_an_error():
    with pytest.raises(ValueError, match="n_trees must be an integer >= 1"):
        IsolationForestRival(n_trees=0).fit(cloud())


# local outlier factor


@pytest.mark.parametrize("k", [1, 5, 20])
def test_outlier_factors_equal_scikit_learn(k):
    rival = LocalOutlierFactorRival(n_neighbors=k).fit(cloud())
    wrapped = LocalOutlierFactor(n_neighbors=k, novelty=True).fit(cloud())
    assert_allclose(rival.score_samples(new()), wrapped.score_samples(new()), rtol=1e-7)
    assert_allclose(rival.training_scores_, wrapped.negative_outlier_factor_, rtol=1e-7)


def test_the_factor_by_hand():
    # Neighbours 0-1, 1-0, 3-1; reachabilities 1, 1, 2; densities 1, 1, 1/2. A row at 7 reaches 3 at 4: 1/4.
    rival = LocalOutlierFactorRival(n_neighbors=1).fit([[0.0], [1.0], [3.0]])
    assert_allclose(rival.training_scores_, [-1, -1, -2], rtol=1e-8)
    assert_allclose(rival.score_samples([[7.0]]), [-2], rtol=1e-8)


def test_factors_do_not_depend_on_the_unit_of_the_distances():
    scores = LocalOutlierFactorRival().fit(cloud()).score_samples(new())
    assert_allclose(LocalOutlierFactorRival().fit(1e-12 * cloud()).score_samples(1e-12 * new()), scores, rtol=1e-6)


def test_n_neighbors_is_at_most_the_number_of_others():
    rival = LocalOutlierFactorRival(n_neighbors=20).fit(cloud(6))
    assert rival.n_neighbors_ == 5
    wrapped = LocalOutlierFactor(n_neighbors=5, novelty=True).fit(cloud(6))
    assert_allclose(rival.score_samples(new()), wrapped.score_samples(new()), rtol=1e-7)


@pytest.mark.parametrize("rival", [LocalOutlierFactorRival(), PyodKNN()])
def test_score_with_a_single_target_is_minus_the_distance(rival):
    assert_allclose(rival.fit([[1.0, 1.0]]).score_samples([[1.0, 1.0], [4.0, 5.0]]), [0, -5])


@pytest.mark.parametrize("rival", [LocalOutlierFactorRival(n_neighbors=0), PyodKNN(n_neighbors=0)])
def test_n_neighbors_of_0_is_an_error(rival):
    with pytest.raises(ValueError, match="n_neighbors must be an integer >= 1"):
        rival.fit(cloud())


# robust covariance


@pytest.mark.parametrize("d", [1, 3])
def test_robust_distances_equal_those_of_scikit_learn(d):
    X, others = cloud(60, d), cloud(12, d, seed=1)
    rival = RobustCovariance(random_state=4).fit(X)
    wrapped = EllipticEnvelope(random_state=seed_of(4)).fit(X)
    assert rival.is_robust_
    assert_allclose(rival.location_, wrapped.location_)
    assert_allclose(rival.score_samples(others), wrapped.score_samples(others), rtol=1e-8)


def test_a_few_outliers_among_the_targets_change_little():
    clean = RobustCovariance(random_state=0).fit(cloud(100))
    soiled = RobustCovariance(random_state=0).fit(np.vstack([cloud(100), np.full((10, 3), 90.0)]))
    assert_allclose(soiled.location_, clean.location_, atol=0.5)
    assert soiled.score_samples([[90.0] * 3])[0] < -1000


def test_dependent_column_does_not_prevent_the_robust_search():
    X = cloud(80, 2)
    rival = RobustCovariance(random_state=0).fit(np.column_stack([X, X.sum(axis=1)]))
    assert rival.is_robust_
    off, on = rival.score_samples([[*X[0], X[0].sum() + 50], [*X[0], X[0].sum()]])
    assert off < on


@pytest.mark.parametrize(
    "X", [cloud(8, 20), cloud(5, 3), np.repeat([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]], [20, 1, 1], axis=0)]
)
def test_covariance_of_all_rows_is_used_if_they_are_too_few_or_too_similar(X):
    rival = RobustCovariance(random_state=0, regularisation=0.1).fit(X)
    assert not rival.is_robust_
    centred = X - X.mean(axis=0)
    expected = centred.T @ centred / len(X)
    if np.linalg.matrix_rank(expected) < X.shape[1]:
        expected = 0.9 * expected + 0.1 * np.trace(expected) / X.shape[1] * np.eye(X.shape[1])
    assert_allclose(rival.covariance_, expected, atol=1e-12)
    distances = cdist(X, [X.mean(axis=0)], "mahalanobis", VI=np.linalg.inv(expected))[:, 0]
    assert_allclose(rival.score_samples(X), -(distances**2), rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 1.1, "a"])
def test_invalid_regularisation_is_an_error(value):
    with pytest.raises(ValueError, match="regularisation must be a number in"):
        RobustCovariance(regularisation=value).fit(cloud())


def test_other_errors_of_scikit_learn_are_not_hidden(monkeypatch):
    def fail(*_):
        raise ValueError("another cause")

    monkeypatch.setattr(MinCovDet, "fit", fail)
    with pytest.raises(ValueError, match="another cause"):
        RobustCovariance(random_state=0).fit(cloud())


# PyOD


@pytest.mark.parametrize("d", [2, 20])
def test_pyod_knn_scores_are_minus_those_of_pyod(d):
    from pyod.models.knn import KNN

    X, others = cloud(40, d), cloud(9, d, seed=1)
    rival = PyodKNN(n_neighbors=3).fit(X)
    wrapped = KNN(n_neighbors=3).fit(X)
    assert_allclose(rival.score_samples(others), -wrapped.decision_function(others), rtol=1e-9)
    assert_allclose(rival.training_scores_, -wrapped.decision_scores_, rtol=1e-9)
    assert_array_equal([rival.score_samples(row[None])[0] for row in others], rival.score_samples(others))


def test_the_largest_of_k_is_the_kth_distance():
    X = cloud(30)
    assert_allclose(PyodKNN(n_neighbors=4).fit(X).score_samples(new()), -np.sort(cdist(new(), X), axis=1)[:, 3])


def test_ecod_scores_equal_pyod_for_a_single_row():
    from pyod.models.ecod import ECOD

    wrapped = ECOD().fit(cloud())
    alone = np.concatenate([wrapped.decision_function(row[None]) for row in new()])
    rival = PyodECOD().fit(cloud())
    assert_allclose(rival.score_samples(new()), -alone, rtol=1e-12)
    assert_allclose(rival.training_scores_, -wrapped.decision_scores_, rtol=1e-12)
    # What a batch does to PyOD's scores, and the reason to hand rows over by themselves.
    assert not np.allclose(wrapped.decision_function(new()), alone)


def test_ecod_by_hand_with_ties():
    rival = PyodECOD().fit([[0.0, 5.0], [1.0, 5.0], [1.0, 6.0], [4.0, 9.0]])
    # Of five values, 1 has 4 to its left, 4 to its right; 5 has 3 and 5; 7 has 4 and 2; -3 has 1; 9 has 5 and 2.
    expected = [np.log(4 / 5) + np.log(3 / 5), np.log(4 / 5) + np.log(2 / 5), np.log(1 / 5) + np.log(2 / 5)]
    assert_allclose(rival.score_samples([[1.0, 5.0], [1.0, 7.0], [-3.0, 9.0]]), expected)


def test_ecod_training_scores_are_left_out():
    X = cloud(20)
    left_out = [PyodECOD().fit(np.delete(X, i, axis=0)).score_samples(X[[i]])[0] for i in range(20)]
    assert_allclose(PyodECOD().fit(X).training_scores_, left_out, rtol=1e-12)
