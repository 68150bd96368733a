"""Known outliers: rows with y = -1 make detection better, whatever their number."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import KernelDensity

from eocc import SurpriseClassifier, load, save
from eocc.kernels.density import finite_squares, kernel_sums
from eocc.measures import MEASURES, Euclidean
from eocc.surprise.comparison import Reference
from eocc.surprise.likelihood_ratio import BothKinds, Densities
from eocc.surprise.score import fit_surprise
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


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 40)), elements=st.floats(0, 1e3) | st.just(np.inf)),
    st.floats(1e-3, 1e3),
)
def test_sums_of_kernels_are_those_of_their_definition(distances, width):
    sums = np.empty(len(distances))
    kernel_sums(distances, width, sums)
    expected = [oracle.kernel_sum(row, width) for row in distances.tolist()]
    assert_allclose(sums, expected, rtol=1e-12, atol=1e-15)


def test_a_sum_of_kernels_does_not_depend_on_the_batch():
    distances = np.abs(np.random.default_rng(0).normal(size=(9, 37)))
    together, alone = np.empty(9), np.empty((9, 1))
    kernel_sums(distances, 0.4, together)
    for i in range(9):
        kernel_sums(distances[i : i + 1], 0.4, alone[i])
    assert_array_equal(together, alone[:, 0])


@given(
    arrays(np.float64, st.tuples(st.integers(1, 4), st.integers(1, 20)), elements=st.floats(0, 1e6) | st.just(np.inf))
)
def test_sums_of_squares_are_of_finite_distances(distances):
    sums = np.empty((len(distances), 2))
    finite_squares(distances, sums)
    finite = [row[np.isfinite(row)] for row in distances]
    assert_allclose(sums[:, 0], [(row**2).sum() for row in finite], rtol=1e-12)
    assert_array_equal(sums[:, 1], [len(row) for row in finite])


def test_a_few_known_outliers_improve_detection():
    gains = [auc(learned(seed), 99) - auc(SurpriseClassifier().fit(both_kinds(seed)[0]), 99) for seed in range(5)]
    assert np.mean(gains) > 0.05
    assert min(gains) > 0


def test_the_informative_column_gets_the_weight():
    model = learned().surprise_model_.likelihood_ratio
    assert model.coefficients[-3:].argmax() == 1
    assert model.densities.weights.tolist() == [0, 1, 2]


def test_normal_rows_train_and_outliers_are_kept():
    clf = learned()
    assert_array_equal(clf.training_indices_, np.arange(80))
    assert_array_equal(clf.surprise_model_.outliers.prototypes, both_kinds(0)[1])
    assert clf.facts()["known outliers"] == 12


def test_booleans_mark_outliers_too():
    X, outliers = both_kinds(0)
    found = SurpriseClassifier().fit(np.vstack([X, outliers]), np.arange(92) < 80)
    assert_array_equal(found.score_samples(X), learned().score_samples(X))


def test_other_labels_than_minus_1_are_normal_and_a_warning_says_so():
    X, outliers = both_kinds(0)
    rows = np.vstack([X, outliers])
    with pytest.warns(UserWarning, match="y holds 0 and 1 but no -1: all rows are taken as normal"):
        clf = SurpriseClassifier().fit(rows, np.repeat([0, 1], [80, 12]))
    assert_array_equal(clf.score_samples(X), SurpriseClassifier().fit(rows).score_samples(X))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_blocks_and_threads_do_not_change_scores(n_jobs, monkeypatch):
    new = both_kinds(7)[0]
    expected = learned(prototypes=20).score_all(new).ratios
    monkeypatch.setattr("eocc.surprise.comparison.BLOCK_SIZE", 100)
    monkeypatch.setattr("eocc.classifiers.surprise.BLOCK_ROWS", 7)
    monkeypatch.setattr("eocc.neighbours.exact.ROWS_PER_TASK", 3)
    assert_array_equal(learned(prototypes=20, n_jobs=n_jobs).score_all(new).ratios, expected)


def test_an_enormous_outlier_leaves_the_distances_of_the_others_alone():
    X, outliers = np.random.default_rng(0).normal(size=(50, 1)), np.array([[4.0], [5.0], [7.0], [1e20]])
    measure = Euclidean().fit(X)
    rows = Reference(measure, outliers, np.ones((1, 1))).among_itself().rows(np.ones(1))
    assert_allclose(rows[0, :3] * measure.delta, [np.inf, 1.0, 3.0])
    assert SurpriseClassifier().fit(*labelled(X, outliers)).predict([[0.0], [4.5]]).tolist() == [1, -1]


def test_the_density_ratio_is_that_of_two_kernel_densities():
    X, outliers = both_kinds(0)
    measure = Euclidean().fit(X)
    new, known = both_kinds(5)[0][:6], [Reference(measure, kind, np.ones((1, 3))) for kind in (X, outliers)]
    rows = BothKinds(known[0].compare_fully(new), [], known[1].compare_fully(new))
    ratio = Densities(np.array([1]), np.array([[0.05], [0.08]])).columns(rows)[:, 1]
    scaled = [one[:, [1]] / measure.delta for one in (new, outliers, X)]
    logs = []
    for kind, width in zip(scaled[1:], (0.08, 0.05), strict=True):
        density = np.exp(KernelDensity(bandwidth=width).fit(kind).score_samples(scaled[0]))
        # A twentieth of a kernel is everywhere, so that no logarithm is infinite.
        logs.append(np.log(density * np.sqrt(2 * np.pi) + 0.05 / (len(kind) * width)))
    assert_allclose(ratio, logs[0] - logs[1], rtol=1e-6)


def test_labels_that_contradict_all_distances_do_not_remove_them():
    X = np.random.default_rng(0).normal(size=(40, 2))
    clf = SurpriseClassifier().fit(*labelled(X, X[:20] * 0.01))
    assert (clf.surprise_model_.likelihood_ratio.coefficients[:2] >= 0.01).all()
    assert len(np.unique(clf.score_samples(X))) > 30


def test_distances_count_up_to_ten_million_neighbour_distances():
    far = np.repeat([[1e5, 0.0, 0.0], [1e6, 0.0, 0.0]], 3, axis=0)
    X = both_kinds(0)[0]
    clf = SurpriseClassifier(measure="euclidean").fit(*labelled(X, far))
    model = clf.surprise_model_
    rows, near = model.compare(far[[0, 3]])
    columns = model.labelled_columns(model.surprise.terms(near), rows, near)
    # The first log ratio of distances, to the normal rows and to the outliers, which are copies of these rows.
    ratios = columns[:, 4] * model.likelihood_ratio.standardisation.scale[4]
    assert_allclose(np.diff(ratios), np.log(10), rtol=1e-3)


def test_a_column_of_rounding_size_has_no_densities():
    X, outliers = both_kinds(0)
    X[:, 0] *= 1e-9
    clf = SurpriseClassifier().fit(*labelled(X, outliers))
    assert clf.surprise_model_.likelihood_ratio.densities.weights.tolist() == [1, 2]


def test_labels_that_look_inverted_give_a_warning():
    X, outliers = both_kinds(0, 10, 50)
    with pytest.warns(UserWarning, match="y marks 50 of 60 rows as outliers, with False; if True means an outlier"):
        SurpriseClassifier().fit(np.vstack([X, outliers]), np.arange(60) < 10)


def test_precomputed_dissimilarities_know_outliers_too():
    rows, y = labelled(*both_kinds(0))
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    clf = SurpriseClassifier(measure="precomputed").fit(distances, y)
    assert len(clf.surprise_model_.outliers) == 12
    assert len(clf.surprise_model_.likelihood_ratio.coefficients) == 3
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
    assert clf.surprise_model_.likelihood_ratio.densities.weights.tolist() == [0, 2]
    assert len(np.unique(clf.score_samples(new))) == 1


def test_an_outlier_at_an_absurd_distance_does_not_spoil_the_model(tmp_path):
    X, outliers = both_kinds(0)
    outliers[0] = 1e100
    clf = SurpriseClassifier().fit(*labelled(X, outliers))
    save(clf, tmp_path / "m.eocc")
    assert_array_equal(load(tmp_path / "m.eocc").score_samples(X), clf.score_samples(X))


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(6, 12))
def test_columns_scales_and_coefficients_are_those_of_the_definition(seed, m, n):
    rng = np.random.default_rng(seed)
    X, outliers, new = rng.integers(0, 5, (n, 2)) * 1.0, rng.integers(2, 8, (m, 2)) * 1.0, rng.normal(size=(3, 2)) * 4
    if len(np.unique(X, axis=0)) < 3 or (np.ptp(X, axis=0) == 0).any():
        return
    clf = SurpriseClassifier().fit(*labelled(X, outliers))
    model, measure = clf.surprise_model_, clf.measure_
    weightings = [(one.weights, one.mean_distance) for one in model.surprise.weightings]
    rows, near = model.compare(new)
    terms = {
        "normal": fit_surprise(model.normal.among_itself(), model.surprise.left_out)[1],
        "outliers": model.surprise.terms(model.compare(outliers)[1]),
        "new": model.surprise.terms(near),
    }
    left_out = dict(zip(model.surprise.left_out.rows.tolist(), model.surprise.left_out.weights, strict=True))
    known = terms["normal"], terms["outliers"]
    expected = oracle.LikelihoodRatio(X, outliers, measure.delta, weightings, *known, left_out)
    found = model.likelihood_ratio
    assert_allclose(found.densities.widths, expected.widths, rtol=1e-6)
    assert_allclose(found.standardisation.mean, expected.mean, rtol=1e-6, atol=1e-8)
    assert_allclose(found.standardisation.scale, expected.scale, rtol=1e-6)
    best = np.append(found.coefficients, expected.best_intercept(found.coefficients))
    loss = expected.loss(best)
    for k in range(len(best) - 1):
        for step in (-1e-3, 1e-3):
            other = best.copy()
            other[k] = max(other[k] + step, expected.least[k])
            assert loss <= expected.loss(np.append(other[:-1], expected.best_intercept(other[:-1]))) + 1e-7
    surprises = found.of_columns(model.labelled_columns(terms["new"], rows, near))
    assert_allclose(surprises, expected.of(new, terms["new"], found.coefficients), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("measure", ["euclidean", "standardised"])
def test_kernel_sums_and_spreads_along_a_column_are_those_of_all_pairs(measure):
    rows = np.random.default_rng(0).normal(size=(300, 4)) * [1, 10, 1e-3, 5]
    rows[7] = rows[8]
    normal = Reference(MEASURES[measure]().fit(rows), rows, np.ones((1, 4)))
    for k in range(4):
        distances = normal.measure.prepare(rows, rows).evaluate(np.eye(4)[k])
        np.fill_diagonal(distances, np.inf)
        sums = [oracle.kernel_sum(row, 0.02) for row in distances]
        assert_allclose(normal.among_itself().kernel_sums(k, 0.02), sums, rtol=1e-9, atol=1e-11)
        squares = distances[np.isfinite(distances)] ** 2
        assert_allclose(normal.among_itself().spread(k), np.sqrt(squares.mean() / 2), rtol=1e-9)
