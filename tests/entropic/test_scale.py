"""Fewer prototypes, which make large fits possible."""

from collections import Counter
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from doubles import plain
from eocc import EntropicOneClassClassifier, SurpriseClassifier, load, save
from eocc.base.threads import _allowed
from eocc.entropic.search import GeneticSearch
from eocc.space.prototypes import SELECTIONS
from samples import samples

BOTH = [SurpriseClassifier, plain]


@pytest.fixture(scope="module")
def targets():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(150, 3)), rng.normal(size=(150, 3)) + 6])


CHOSEN = {name: partial(plain, selection=name, random_state=0) for name in SELECTIONS}


@pytest.mark.parametrize("make", [SurpriseClassifier, *CHOSEN.values()], ids=["surprise", *CHOSEN])
def test_fewer_prototypes_give_fewer_columns_and_nearly_the_same_ranking(make, targets):
    clf = make(prototypes=60).fit(targets)
    assert clf.transform(targets).shape == (300, 60)
    assert_array_equal(clf.prototypes_, targets[clf.training_indices_[clf.prototype_indices_]])
    assert len(clf.labels_) == len(clf.training_indices_)
    assert (clf._n_training, clf._is_whole) == (300, False)
    rng = np.random.default_rng(1)
    new = np.vstack([targets + rng.normal(size=targets.shape) * 0.1, rng.uniform(-8, 14, size=(300, 3))])
    y = np.repeat([1, 0], 300)
    whole = make().fit(targets)
    assert roc_auc_score(y, clf.score_samples(new)) > roc_auc_score(y, whole.score_samples(new)) - 0.03


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize("prototypes", [300, 1.0, 1000])
def test_all_prototypes_are_the_model_without_the_argument(make, prototypes, targets):
    scores = make().fit(targets).score_samples(targets)
    assert_array_equal(make(prototypes=prototypes).fit(targets).score_samples(targets), scores)


@pytest.mark.parametrize(
    "clf",
    [
        SurpriseClassifier(prototypes=0.2),
        EntropicOneClassClassifier(prototypes=0.2, search=GeneticSearch(max_generations=2), random_state=0),
    ],
)
def test_the_model_is_the_same_at_any_number_of_threads(clf, targets):
    one, two = (clone(clf).set_params(n_jobs=jobs).fit(targets) for jobs in (1, 2))
    assert_array_equal(one.score_samples(targets), two.score_samples(targets))
    assert_array_equal(one.spanning_tree_.edges, two.spanning_tree_.edges)


@pytest.mark.parametrize("prototypes", [None, 700])
def test_many_blocks_of_products_give_the_same_model_on_two_threads(prototypes):
    X = np.random.default_rng(0).normal(size=(3000, 8))
    one, two = (SurpriseClassifier(prototypes=prototypes, n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert_array_equal(one.calibration_.margins, two.calibration_.margins)
    assert_array_equal(one.score_samples(X), two.score_samples(X))


def test_rows_that_are_not_kept_are_scored_on_all_threads(monkeypatch):
    allowed, plain_values = [], SurpriseClassifier._calibration_values

    def values(self, patterns):
        allowed.append(_allowed.get())
        return plain_values(self, patterns)

    monkeypatch.setattr(SurpriseClassifier, "_calibration_values", values)
    SurpriseClassifier(prototypes=8, n_jobs=2).fit(samples("string-edit", 60)[0])
    assert set(allowed) == {2}


def test_another_seed_gives_other_prototypes(targets):
    one, other = (plain(prototypes=0.2, random_state=seed).fit(targets) for seed in (0, 1))
    assert (one.prototype_indices_ != other.prototype_indices_).any()


def test_the_surprise_is_that_of_the_prototypes_alone_and_all_rows_calibrate_it(targets):
    few = SurpriseClassifier(prototypes=60, false_alarm_rate=0.1).fit(targets)
    alone = SurpriseClassifier().fit(few.prototypes_)
    values = alone.surprise_model_.surprises(targets)
    assert_array_equal(few.surprise_model_.surprises(targets), values)
    assert (few.n_rows_, alone.n_rows_, len(few.calibration_.margins)) == (300, 60, 300)
    assert few.surprise_model_.threshold.value == np.sort(values)[-30]
    assert (few.predict(targets) == -1).sum() == 29


@pytest.mark.parametrize("name", ["dtw", "gower", "string-edit", "graph-edit", "precomputed", "jaccard"])
@pytest.mark.parametrize("make", [SurpriseClassifier, partial(plain, random_state=0)])
def test_every_kind_of_data_may_have_fewer_prototypes(name, make, tmp_path):
    training, new = samples(name)
    clf = make(measure=name, prototypes=8).fit(training)
    scores = clf.score_samples(new)
    assert np.isfinite(scores).all()
    assert clf.transform(new).shape == (5, 8)
    save(clf, tmp_path / "m.eocc")
    loaded = load(tmp_path / "m.eocc")
    assert_array_equal(loaded.score_samples(new), scores)
    assert_array_equal(loaded.training_indices_, clf.training_indices_)
    assert_array_equal(loaded.prototype_indices_, clf.prototype_indices_)
    assert loaded._facts() == clf._facts()


def test_training_dissimilarities_to_prototypes_stay_within_1(targets):
    for measure in ("euclidean", "standardised", lambda a, b: float(np.abs(a - b).sum())):
        rows = targets if isinstance(measure, str) else list(targets[:40])
        clf = plain(measure=measure, prototypes=10, random_state=0).fit(rows)
        assert_allclose(clf.transform(rows).max(), 1.0)


@pytest.mark.parametrize("clf", [SurpriseClassifier(), plain(synthesis="validation", random_state=0)])
def test_labelled_outliers_are_no_prototypes(clf, targets):
    X = np.vstack([targets, np.random.default_rng(3).uniform(-8, 14, size=(40, 3))])
    clf = clone(clf).set_params(prototypes=50).fit(X, np.repeat([1, -1], [300, 40]))
    assert clf.training_indices_.max() < 300
    assert_array_equal(clf.prototypes_, X[clf.training_indices_[clf.prototype_indices_]])
    assert len(clf.labels_) == len(clf.training_indices_)


def test_a_function_is_called_once_for_each_pattern_and_prototype():
    called = Counter()

    def gap(a, b):
        called[a, b] += 1
        return abs(a - b)

    numbers = np.random.default_rng(0).normal(size=200).tolist()
    clf = plain(measure=gap, prototypes=20, random_state=0).fit(numbers)
    chosen = {numbers[i] for i in clf.prototype_indices_}
    extra = 200 + 2 * 20**2 + 2 * 10**2  # a scale, the prototypes among themselves, two checks of symmetry
    assert all(called[a, b] >= 1 for a in numbers for b in chosen)
    assert called.total() <= 200 * 20 + extra


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"prototypes": 0}, "prototypes must be an integer >= 1, a fraction"),
        ({"prototypes": 1.5}, "prototypes must be an integer >= 1, a fraction"),
        ({"prototypes": True}, "prototypes must be an integer >= 1, a fraction"),
        ({"selection": "clever"}, "unknown selection 'clever'"),
    ],
)
def test_bad_arguments_are_named(settings, message, targets):
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        plain(**settings).fit(targets)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(n):
    X = np.arange(2.0 * n).reshape(n, 2)
    clf = plain(prototypes=1).fit(X)
    assert (clf.predict(X) == 1).any()
    assert np.isfinite(clf.score_samples([[1e9, 0.0]])).all()
