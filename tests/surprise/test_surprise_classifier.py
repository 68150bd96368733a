"""SurpriseClassifier: what it accepts, how it keeps its false-alarm rate, and that every parameter has an effect."""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import SurpriseClassifier
from eocc.measures import resolve_measure
from eocc.scale.memory import MemoryLimitError
from samples import samples


def normal_rows(seed, n=100):
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(n // 2, 3)), rng.normal(size=(n - n // 2, 3)) * 0.3 + 4])


def left_out_scores(clf):
    """The scores of the training rows, each left out of its own neighbours."""
    return clf._score_all(clf.prototypes_)


def test_it_follows_a_ring_that_one_ball_cannot():
    angle = np.linspace(0, 2 * np.pi, 100, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    clf = SurpriseClassifier().fit(ring)
    # (0, 1) itself is an extreme of both columns, and a rare one: no other row is as high.
    assert clf.predict([[0.0, 0.0], [1.5, 0.0], [0.5, 0.86], [-0.7, 0.72]]).tolist() == [-1, -1, 1, 1]


@pytest.mark.parametrize("scale", [1e-9, 1e-6, 1e6, 1e9])
def test_columns_in_very_different_units_all_count(scale):
    X = np.random.default_rng(0).normal(size=(200, 2)) * [1.0, scale]
    assert SurpriseClassifier().fit(X).predict([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0 * scale]]).tolist() == [1, -1, -1]


@pytest.mark.parametrize("rate", [None, 0.2])
def test_about_the_promised_share_of_new_normal_rows_is_rejected(rate):
    rejected = [
        (SurpriseClassifier(false_alarm_rate=rate).fit(normal_rows(s)).predict(normal_rows(s + 1000)) == -1).mean()
        for s in range(60)
    ]
    promised = rate or 0.05
    assert abs(np.mean(rejected) - promised) < 0.2 * promised


def test_a_left_out_score_is_nearly_that_of_a_model_without_the_row():
    X = normal_rows(0, 60)
    left_out = left_out_scores(SurpriseClassifier().fit(X)).log_memberships
    for index in (0, 17, 59):
        without = SurpriseClassifier().fit(np.delete(X, index, axis=0)).score_samples(X[[index]])[0]
        assert abs(without - left_out[index]) < 0.15


@pytest.mark.parametrize("rate", [0.05, 0.3])
def test_left_out_scores_keep_the_rate(rate):
    clf = SurpriseClassifier(false_alarm_rate=rate).fit(normal_rows(3))
    assert (left_out_scores(clf).margins < 0).sum() == round(rate * 101) - 1
    assert_allclose(np.sort(left_out_scores(clf).margins), clf.calibration_.margins, atol=1e-8)


def test_training_rows_score_as_left_out():
    X = normal_rows(3)
    clf = SurpriseClassifier(false_alarm_rate=0.1).fit(X)
    assert_array_equal(clf.score_samples(X), left_out_scores(clf).log_memberships)
    assert_array_equal(clf.fit_predict(X), np.where(left_out_scores(clf).margins >= 0, 1, -1))
    assert (clf.fit_predict(X) == -1).sum() == 9


def test_fit_predict_rejects_known_outliers():
    X = np.vstack([normal_rows(3), [[30.0, 30.0, 30.0]] * 3])
    y = np.repeat([1, -1], [100, 3])
    assert SurpriseClassifier().fit_predict(X, y)[-3:].tolist() == [-1, -1, -1]


@pytest.mark.parametrize("rate", [0.3, 0.5, 0.6, 0.9])
def test_decisions_and_p_values_agree_at_high_rates(rate):
    clf = SurpriseClassifier(false_alarm_rate=rate).fit(normal_rows(0, 200))
    new = normal_rows(1, 2000)
    assert_array_equal(clf.predict(new) == -1, clf.p_values(new) <= rate)
    assert abs((clf.predict(new) == -1).mean() - rate) < 0.1


def test_one_far_training_row_does_not_raise_the_threshold():
    X = np.vstack([normal_rows(0), [[1e4, 1e4, 1e4]]])
    away = np.random.default_rng(0).normal(loc=[8.0, -8.0, 8.0], size=(200, 3))
    assert (SurpriseClassifier().fit(X).predict(away) == -1).all()


@pytest.mark.parametrize("decimals", [0, 6])
@pytest.mark.parametrize(("n", "d"), [(100, 3), (100, 1), (30, 40)])
def test_the_order_of_the_rows_does_not_matter(n, d, decimals):
    rng = np.random.default_rng(1)
    X, new = (rng.normal(size=(m, d)).round(decimals) * rng.uniform(1, 9, d) for m in (n, 50))
    first, order = SurpriseClassifier().fit(X), rng.permutation(n)
    again = SurpriseClassifier().fit(X[order])
    assert_allclose(again.score_samples(new), first.score_samples(new), rtol=1e-9, atol=1e-12)
    assert_allclose(again.training_p_values_, first.training_p_values_[order], rtol=1e-9)


def test_the_unit_of_the_data_matters_little():
    # Landmarks and folds are chosen by the content of the rows, so that another unit gives others.
    X, new = normal_rows(1), normal_rows(2)
    clf, other = SurpriseClassifier().fit(X), SurpriseClassifier().fit(X * 8 - 5)
    views, others = (
        one.surprise_model_.views(*one.surprise_model_.compare(rows))
        for one, rows in ((clf, new), (other, new * 8 - 5))
    )
    names = clf.surprise_model_.names
    for name in ("neighbours", "cell"):
        assert_allclose(others[:, names.index(name)], views[:, names.index(name)], rtol=1e-9, atol=1e-9)
    assert_allclose(other.score_samples(new * 8 - 5), clf.score_samples(new), atol=0.1)


@pytest.mark.parametrize("X", [[[1.0, 2.0]], [[1.0, 2.0]] * 6, [[0.0, 0.0], [1.0, 1.0]]])
def test_one_row_copies_and_two_rows(X):
    clf = SurpriseClassifier().fit(X)
    assert (clf.predict(X) == 1).all()
    assert clf.predict([[500.0, -900.0]]) == -1
    scores = clf.score_samples([[500.0, -900.0], [1e9, 0.0], [1e300, 0.0]])
    assert np.isfinite(scores).all()
    assert (np.diff(scores) < 0).all()


def test_a_weight_of_0_is_0_under_all_weightings():
    clf = SurpriseClassifier(weights=[1.0, 0.5, 0.0]).fit(normal_rows(0))
    first, *others = clf.surprise_model_.neighbours.weightings
    assert_array_equal(first.weights, [1.0, 0.5, 0.0])
    assert all(one.weights[2] == 0 for one in others)


def test_ratios_memberships_and_margins_agree():
    clf = SurpriseClassifier().fit(normal_rows(0))
    scores = clf._score_all(normal_rows(1))
    assert_array_equal(scores.log_memberships, clf.score_samples(normal_rows(1)))
    assert_allclose(scores.log_memberships, -(scores.ratios**2) / 2)
    assert_array_equal(scores.margins, clf.decision_function(normal_rows(1)))
    margins = clf.score_samples(normal_rows(1)) - clf.offset_
    assert_allclose(margins, clf.decision_function(normal_rows(1)), rtol=1e-7)


@pytest.mark.parametrize("name", ["triangular", "bell"])
def test_every_membership_function_grades_the_same_ratios(name):
    clf, gaussian = (SurpriseClassifier(membership_function=f).fit(normal_rows(0)) for f in (name, "gaussian"))
    assert_array_equal(clf._score_all(normal_rows(1)).ratios, gaussian._score_all(normal_rows(1)).ratios)
    assert_array_equal(clf.predict(normal_rows(1)), gaussian.predict(normal_rows(1)))


@pytest.mark.parametrize("name", ["euclidean", "gower", "string-edit"])
def test_the_model_takes_the_measure_it_is_given(name):
    training, new = samples(name)
    clf = SurpriseClassifier(measure=name).fit(training)
    assert type(clf.resolved_measure_) is type(resolve_measure(name))
    assert len(clf.predict(new)) == len(new)


class TestRegions:
    X = np.vstack([normal_rows(0, 40), normal_rows(1, 40) + 50])

    def test_a_fit_does_not_compute_them(self):
        clf = SurpriseClassifier().fit(self.X)
        clf.predict(self.X)
        assert "structure_" not in vars(clf)

    def test_they_are_those_of_the_paper_at_the_weights(self):
        clf = SurpriseClassifier().fit(self.X)
        assert len(clf.regions_) >= 2
        assert sorted(np.concatenate([region.members for region in clf.regions_])) == list(range(80))
        assert_array_equal(clf.labels_ >= 0, True)
        assert clf.fuzzy_model_.centres.shape == (len(clf.regions_), 80)

    def test_rows_that_are_no_prototypes_have_no_region(self):
        clf = SurpriseClassifier(prototypes=20).fit(self.X)
        assert (clf.labels_ >= 0).sum() == 20
        assert all(np.isin(region.members, clf.prototype_indices_).all() for region in clf.regions_)

    def test_more_rows_than_they_can_be_computed_for_are_refused_with_a_remedy(self, monkeypatch):
        monkeypatch.setattr("eocc.classifiers.surprise.MOST_PROTOTYPES", 79)
        with pytest.raises(ValueError, match=r"regions of 80 rows .* fit with prototypes=79 or fewer"):
            _ = SurpriseClassifier().fit(self.X).regions_

    def test_a_new_fit_forgets_them(self):
        clf = SurpriseClassifier().fit(self.X)
        before = clf.regions_
        assert clf.fit(self.X[:40]).regions_ is not before
        assert len(clf.labels_) == 40


X, NEW = normal_rows(0), normal_rows(1)


def outcome(**settings):
    """All that a user sees of a fit: scores, decisions, the rows compared with, or the refusal."""
    try:
        clf = SurpriseClassifier(**{"prototypes": 60, **settings}).fit(X)
    except MemoryLimitError as error:
        return str(error)
    return [clf.score_samples(NEW).tolist(), clf.predict(NEW).tolist(), clf.prototype_indices_.tolist()]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("measure", "gower"),
        ("weights", [1.0, 0.5, 0.0]),
        ("prototypes", 30),
        ("membership_function", "bell"),
        ("false_alarm_rate", 0.2),
        ("contamination", 0.2),
        ("max_memory", "1KiB"),
    ],
)
def test_every_parameter_has_an_effect(name, value):
    assert outcome(**{name: value}) != outcome()


def test_the_number_of_threads_changes_nothing_else_and_no_parameter_is_missing_here():
    assert outcome(n_jobs=2) == outcome()
    varied = {
        *("measure", "weights", "prototypes", "membership_function", "false_alarm_rate", "contamination"),
        *("baseline_by", "max_memory", "n_jobs"),
    }
    assert set(inspect.signature(SurpriseClassifier).parameters) == varied
    assert {parameter.name for parameter in SurpriseClassifier._parameters} == varied
