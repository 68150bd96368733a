"""What every registered measure must keep."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from eocc import EntropicOneClassClassifier
from eocc.measures import MEASURES, resolve_measure
from eocc.search import GeneticSearch
from samples import MAKERS, samples

pytestmark = pytest.mark.parametrize("name", MEASURES)


def read(name, X):
    measure = resolve_measure(name)
    return measure.read(X) if hasattr(measure, "read") else X


def test_has_samples(name):
    assert name in MAKERS or name == "precomputed"


def test_stays_in_the_unit_interval_on_its_training_set(name):
    patterns = read(name, samples(name)[0])
    fitted = resolve_measure(name).fit(patterns)
    prepared = fitted.prepare(patterns)
    for p in [np.ones(fitted.n_parameters), *np.random.default_rng(2).random((8, fitted.n_parameters))]:
        D = prepared.evaluate(p)
        assert D.shape == (20, 20)
        assert D.min() >= 0
        assert D.max() <= 1 + 1e-12
        assert_allclose(D.diagonal(), 0, atol=1e-12)
        out = np.full((20, 20), np.nan)
        assert prepared.evaluate(p, out) is not None
        assert_array_equal(prepared.evaluate(p, out), D)


def test_rows_do_not_depend_on_their_batch_nor_on_being_in_training(name):
    training, _ = samples(name)
    patterns = read(name, training)
    fitted = resolve_measure(name).fit(patterns)
    p = np.linspace(0.2, 1, fitted.n_parameters)
    whole = fitted.prepare(patterns, patterns).evaluate(p)
    assert_allclose(whole, fitted.prepare(patterns).evaluate(p), atol=1e-10)
    for index in (0, 11, 19):
        assert_array_equal(fitted.prepare(patterns[[index]], patterns).evaluate(p)[0], whole[index])


@pytest.mark.parametrize("synthesis", ["entropy", "validation"])
def test_fits_and_predicts_new_patterns_at_any_number_of_threads(name, synthesis):
    training, new = samples(name)
    y = np.array([1] * 14 + [-1] * 6)
    settings = {"measure": name, "synthesis": synthesis, "search": GeneticSearch(max_generations=2), "random_state": 0}
    one, two = (EntropicOneClassClassifier(**settings, n_jobs=jobs).fit(training, y) for jobs in (1, 2))
    scores = one.score_samples(new)
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 1
    assert_array_equal(scores, two.score_samples(new))
    assert_array_equal(scores[::-1], one.score_samples(new[::-1]))
    assert_array_equal(pickle.loads(pickle.dumps(one)).score_samples(new), scores)


def test_bad_input_leaves_the_estimator_as_it_was(name):
    training, new = samples(name)
    clf = EntropicOneClassClassifier(measure=name, search=None).fit(training)
    before = clf.score_samples(new)
    for bad in ([], None, 3.5):
        with pytest.raises((ValueError, TypeError)) as caught:
            clf.fit(bad)
        assert str(caught.value)
    assert_array_equal(clf.score_samples(new), before)
