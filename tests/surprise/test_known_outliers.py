"""Known outliers: rows with y = -1 make detection better, whatever their number."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from sklearn.metrics import roc_auc_score

from eocc import SurpriseClassifier, load, save
from eocc.kernels.gaussian import gaussian_columns
from eocc.measures import Euclidean
from eocc.measures.tables import Gower
from eocc.surprise.comparison import Reference
from eocc.surprise.likelihood_ratio import N_NEAR, Labelled, fit_gaussians, fit_likelihood_ratio
from oracles import likelihood_ratio as oracle


def both_kinds(seed, n=80, m=12):
    """Normal rows, and outliers that differ from them in the second of three columns only."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(m, 3)) * [1.0, 0.5, 1.0] + [0.0, 2.0, 0.0]


def labelled(X, outliers):
    return np.vstack([X, outliers]), np.repeat([1, -1], [len(X), len(outliers)])


def learned(seed=0, **settings):
    return SurpriseClassifier(**settings).fit(*labelled(*both_kinds(seed)))


def auc(clf, seed):
    X, outliers = both_kinds(seed, 300, 300)
    return roc_auc_score(np.repeat([1, 0], 300), clf.score_samples(np.vstack([X, outliers])))


def test_a_few_known_outliers_improve_detection():
    gains = [auc(learned(seed), 99) - auc(SurpriseClassifier().fit(both_kinds(seed)[0]), 99) for seed in range(5)]
    assert np.mean(gains) > 0.05
    assert min(gains) > 0


def test_normal_rows_train_and_outliers_are_kept():
    clf = learned()
    assert_array_equal(clf.training_indices_, np.arange(80))
    assert_array_equal(clf.surprise_model_.outliers.prototypes, both_kinds(0)[1])
    assert clf._facts()["known outliers"] == 12


def test_lists_hold_as_many_outliers_as_are_needed(tmp_path, monkeypatch):
    monkeypatch.setattr("eocc.surprise.comparison.nearest_in", None)
    clf = learned()
    save(clf, tmp_path / "m.eocc")
    for model in (clf, load(tmp_path / "m.eocc")):
        assert model.surprise_model_.outliers.length == N_NEAR + 1
        model.score_samples(both_kinds(1)[0])


def test_booleans_mark_outliers_too():
    X, outliers = both_kinds(0)
    found = SurpriseClassifier().fit(np.vstack([X, outliers]), np.arange(92) < 80)
    assert_array_equal(found.score_samples(X), learned().score_samples(X))


@pytest.mark.parametrize("make", [list, np.array, lambda y: pd.Series(y, dtype="category"), pl.Series])
def test_labels_of_text_are_refused(make):
    y = make(["negative"] * 4 + ["positive"])
    with pytest.raises(
        ValueError, match=r"^y must hold \+1 for normal rows and -1 \(or False\) for .*, not 'negative'$"
    ):
        SurpriseClassifier().fit(np.eye(5), y)


def test_other_labels_than_minus_1_are_normal_and_a_warning_says_so():
    X, outliers = both_kinds(0)
    rows = np.vstack([X, outliers])
    with pytest.warns(UserWarning, match="y holds 0 and 1 but no -1: all rows are taken as normal"):
        clf = SurpriseClassifier().fit(rows, np.repeat([0, 1], [80, 12]))
    assert_array_equal(clf.score_samples(X), SurpriseClassifier().fit(rows).score_samples(X))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_do_not_change_scores(n_jobs, monkeypatch):
    new = both_kinds(7)[0]
    expected = learned(prototypes=20)._score_all(new).ratios
    monkeypatch.setattr("eocc.surprise.comparison.BLOCK_SIZE", 100)
    monkeypatch.setattr("eocc.classifiers.learning.BLOCK_ROWS", 7)
    monkeypatch.setattr("eocc.neighbours.exact.ROWS_PER_TASK", 3)
    assert_array_equal(learned(prototypes=20, n_jobs=n_jobs)._score_all(new).ratios, expected)


def test_an_enormous_outlier_leaves_the_distances_of_the_others_alone():
    X, outliers = np.random.default_rng(0).normal(size=(50, 1)), np.array([[4.0], [5.0], [7.0], [1e20]])
    measure = Euclidean().fit(X)
    rows = Reference(measure, outliers, np.ones((1, 1))).among_itself().rows(np.ones(1))
    assert_allclose(rows[0, :3] * measure.delta, [np.inf, 1.0, 3.0])
    assert SurpriseClassifier().fit(*labelled(X, outliers)).predict([[0.0], [4.5]]).tolist() == [1, -1]


def test_distances_of_far_outliers_count_in_full():
    far = np.repeat([[1e5, 0.0, 0.0], [1e6, 0.0, 0.0]], 3, axis=0)
    X = both_kinds(0)[0]
    clf = SurpriseClassifier(measure="euclidean").fit(*labelled(X, far))
    model = clf.surprise_model_
    # The first log ratio of distances, to the normal rows and to the outliers, which are copies of these rows.
    ratios = model.labelled(*model.compare(far[[0, 3]])).ratios[:, 0]
    assert_allclose(np.diff(ratios), np.log(10), rtol=1e-3)


def test_labels_that_look_inverted_give_a_warning():
    X, outliers = both_kinds(0, 10, 50)
    with pytest.warns(UserWarning, match="y marks 50 of 60 rows as outliers, with False; if True means an outlier"):
        SurpriseClassifier().fit(np.vstack([X, outliers]), np.arange(60) < 10)


def test_precomputed_dissimilarities_know_outliers_too():
    rows, y = labelled(*both_kinds(0))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    clf = SurpriseClassifier(measure="precomputed").fit(distances, y)
    assert clf.surprise_model_.n_outliers == 12
    assert len(clf.surprise_model_.likelihood_ratio.coefficients) == 2
    assert np.isfinite(clf.score_samples(distances)).all()


@pytest.mark.parametrize(("m", "n"), [(1, 20), (2, 1), (1, 1)])
def test_very_few_rows_of_either_kind(m, n):
    X, outliers = both_kinds(0, n, m)
    clf = SurpriseClassifier().fit(*labelled(X, outliers))
    assert np.isfinite(clf.score_samples(both_kinds(1)[0])).all()
    assert (clf.predict(X) == 1).sum() >= n - 1


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([-1, -1, -1], "y marks all rows as outliers"),
        ([1, -1], "X holds 3 rows, y 2 labels"),
        ([[1], [1], [-1]], r"y must be one label per row, not of shape \(3, 1\)"),
    ],
)
def test_bad_labels_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        SurpriseClassifier().fit([[0.0], [1.0], [2.0]], y)


def test_a_row_scores_the_same_alone_as_in_a_batch():
    clf = learned()
    new = np.vstack([both_kinds(7)[0], both_kinds(0)[0][:3], both_kinds(0)[1][:3]])
    scores = clf.score_samples(new)
    assert np.isfinite(scores).all()
    assert_array_equal([clf.score_samples(row[None])[0] for row in new], scores)


def test_a_column_of_weight_0_has_no_effect():
    clf = learned(weights=[1.0, 0.0, 1.0])
    new = np.zeros((3, 3))
    new[:, 1] = [0.0, 2.0, 90.0]
    assert len(clf.surprise_model_.likelihood_ratio.gaussians.mean) == 2
    assert len(np.unique(clf.score_samples(new))) == 1


def test_an_outlier_at_an_absurd_distance_does_not_spoil_the_model(tmp_path):
    X, outliers = both_kinds(0)
    outliers[0] = 1e100
    clf = SurpriseClassifier().fit(*labelled(X, outliers))
    save(clf, tmp_path / "m.eocc")
    assert_array_equal(load(tmp_path / "m.eocc").score_samples(X), clf.score_samples(X))


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 5), st.booleans())
def test_the_columns_of_two_gaussians_are_those_of_the_definition(seed, m, d, is_correlated):
    rng = np.random.default_rng(seed)
    z, mean, variance, direction = rng.normal(size=(m, d)) * 3, *rng.normal(size=(2, d)) ** 2 + 0.1, rng.normal(size=d)
    precision = rng.normal(size=(d, d)) if is_correlated else np.empty((0, 0))
    found = np.empty((m, 3))
    gaussian_columns(z, mean, variance, -np.log(variance) / 2, direction, precision, 3.0, found)
    expected = [oracle.gaussian_columns(row, mean, variance, direction, precision.tolist(), 3.0) for row in z.tolist()]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_gaussians_of_three_rows_and_one_outlier():
    # Two columns: 0, 3, 6 has mean 3 and variance 6; the other does not vary.
    found = fit_gaussians(np.array([[0.0, 1.0], [3.0, 1.0], [6.0, 1.0]]), np.array([[3 + np.sqrt(6), 1.0]]))
    assert_allclose(found.centre, [3.0, 1.0])
    assert_allclose(found.scale[0], np.sqrt(6))
    # z = 1; three rows at 0 join the mean, and three of variance 1 join (1 - 0.25)^2.
    assert_allclose(found.mean, [0.25, 0.0])
    assert_allclose(found.variance, [(0.75**2 + 3) / 4, 0.75])
    # The identity has the share 2 / (2 * 3).
    assert_allclose(found.precision, [[1.0, 0.0], [0.0, 3.0]], atol=1e-12)
    assert_allclose(found.direction, [1.0, 0.0], atol=1e-12)
    columns = found.columns(np.array([[1.0, 0.0]]), np.array([True]))[0]
    # A training row is left out: 1 / (1 - 1 / 3).
    assert_allclose(columns[1:], [1.0, np.log(2.5), 1.0, 0.0, 1.0, 0.0])


def test_outliers_are_left_out_of_their_own_gaussian():
    known = fit_gaussians(np.random.default_rng(0).normal(size=(40, 2)), np.zeros((1, 2)))
    z = np.random.default_rng(1).normal(size=(25, 2)) + 2
    found = known.columns_left_out(z, np.zeros(25, bool))
    for i in (0, 3, 24):
        others = np.delete(z, np.arange(i % 5, 25, 5), axis=0)
        assert_allclose(found[i], known.of_outliers(others).columns(z[i : i + 1], np.zeros(1, bool))[0])


def rows_of(surprises, ratios):
    return Labelled(
        np.array(surprises), np.array(ratios)[:, None], np.empty((len(ratios), 0)), np.zeros(len(ratios), bool)
    )


def test_coefficients_minimise_the_loss_of_the_definition():
    rng = np.random.default_rng(0)
    normal, outliers = (
        rows_of(rng.normal(size=30), rng.normal(size=30)),
        rows_of(rng.normal(size=6) + 1, rng.normal(size=6) + 2),
    )
    confirmed = rows_of([1.0, 2.0], [0.5, 0.0])
    model = fit_likelihood_ratio(None, normal, outliers, confirmed)
    columns = np.vstack([np.column_stack([one.surprises, one.ratios]) for one in (normal, outliers, confirmed)])
    assert_allclose(model.standardisation.mean, [0.0, columns[:30, 1].mean()])
    assert_allclose(model.standardisation.scale, [columns[:30, 0].std(), columns[:36, 1].std()])
    evidence = ((columns - model.standardisation.mean) / model.standardisation.scale)[:, 1:].tolist()
    is_outlier, share = np.repeat([0, 1, 0], [30, 6, 2]), np.repeat([6 / 30, 1.0, 1.0], [30, 6, 2])

    def least_loss(coefficient):
        def of(intercept):
            return oracle.loss(evidence, is_outlier, share, [coefficient], intercept, [0.1])

        return minimize_scalar(of, tol=1e-12).fun

    assert model.coefficients[0] == 0.6
    best = least_loss(model.coefficients[1])
    for step in (1e-3, -1e-3):
        assert best < least_loss(max(model.coefficients[1] + step, 0.0))


def test_how_surprising_the_outliers_are_does_not_change_the_coefficients():
    normal, ratios = rows_of([-1.0, 1.0] * 20, [0.0, 1.0] * 20), [2.0, 3.0]
    models = [fit_likelihood_ratio(None, normal, rows_of([one] * 2, ratios), rows_of([one], [1.0])) for one in (0, 9)]
    assert_array_equal(models[0].coefficients, models[1].coefficients)
    assert models[0].coefficients[0] == 0.6


def test_far_outliers_do_not_make_the_unit_of_the_surprise_coarse():
    normal = rows_of([-1.0, 1.0] * 20, [0.0, 1.0] * 20)
    assert fit_likelihood_ratio(None, normal, rows_of([500.0] * 3, [3.0] * 3)).standardisation.scale[0] == 1.0


def test_an_answer_about_a_far_value_does_not_hide_a_new_category():
    rng = np.random.default_rng(0)
    rows = [{"delay": float(rng.normal(10, 5)), "carrier": str(rng.choice(list("ABCD")))} for _ in range(400)]
    clf = SurpriseClassifier().fit(rows)
    unseen = [{**row, "carrier": "ZZ"} for row in rows[:20]]
    taught = clf.teach([{"delay": 4000.0, "carrier": "A"}], [-1])
    assert (clf.predict(unseen) == -1).all()
    assert (taught.predict(unseen) == -1).all()


def test_unlike_known_outliers_counts_no_more_than_for_the_lower_quartile():
    normal = rows_of(np.zeros(9), np.linspace(-4, 4, 9))
    model = fit_likelihood_ratio(None, normal, rows_of([0.0, 0.0], [6.0, 8.0]))
    found = model.of(rows_of([0.0, 0.0, 0.0], [-2.0, -3.0, -1e9]))
    assert_allclose(found, [model.least] * 3, rtol=1e-12)
    assert model.of(rows_of([0.0], [-1.9]))[0] > model.least
    assert model.least < 0


def test_outliers_of_a_new_kind_stay_visible():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    known, new_kind = rng.normal([4.0, 0.0, 0.0], 0.3, (20, 3)), rng.normal([-7.0, 0.0, 0.0], 0.3, (20, 3))
    assert (SurpriseClassifier().fit(*labelled(X, known)).predict(new_kind) == -1).all()


def test_at_most_2000_normal_rows_fit_the_coefficients():
    ratios = np.random.default_rng(0).normal(size=5000)
    normal, outliers = rows_of(np.arange(5000.0), ratios), rows_of([6000.0, 7000.0], [3.0, 4.0])
    shuffled = np.random.default_rng(1).permutation(5000)
    some = np.arange(2000) * 4999 // 1999
    found = [
        fit_likelihood_ratio(None, one, outliers).coefficients
        for one in (normal, normal.some(shuffled), normal.some(some))
    ]
    assert_array_equal(found[0], found[1])
    assert_array_equal(found[0], found[2])


def test_categories_have_a_column_each():
    frame = pd.DataFrame({"size": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "blue", "red", None]})
    measure = Gower().fit(Gower().read(frame))
    columns, weights = measure.indicator_columns(Gower().read(frame[:2]))
    assert weights.tolist() == [0, 1, 1]
    assert sorted(columns[0, 1:].tolist()) == sorted(columns[1, 1:].tolist()) == [0.0, 1.0]
    new = pd.DataFrame({"size": [1.0], "colour": ["green"]})
    assert measure.indicator_columns(Gower().read(new))[0][0, 1:].tolist() == [0.0, 0.0]


def test_a_category_that_outliers_have_is_learned():
    rng = np.random.default_rng(0)
    normal = pd.DataFrame(
        {"size": rng.normal(size=200), "colour": rng.choice(["red", "blue", "green"], 200, p=[0.6, 0.3, 0.1])}
    )
    outliers = pd.DataFrame({"size": rng.normal(size=12), "colour": "green"})
    clf = SurpriseClassifier().fit(pd.concat([normal, outliers]), np.repeat([1, -1], [200, 12]))
    new = pd.DataFrame({"size": np.zeros(2), "colour": ["red", "green"]})
    assert np.diff(clf.decision_function(new))[0] < np.diff(SurpriseClassifier().fit(normal).decision_function(new))[0]
