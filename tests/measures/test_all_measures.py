"""What every registered measure must keep."""

import ast
import pickle
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import eocc
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.base.stored import declared, restored
from eocc.entropic.search import GeneticSearch
from eocc.measures import MEASURES, measures_of, resolve_measure
from samples import MAKERS, samples

SOURCE = Path(eocc.__file__).parent
ROOM = SOURCE / "measures"
pytestmark = pytest.mark.parametrize("name", MEASURES)


def read(name, X):
    measure = resolve_measure(name)
    return X if measure.read is None else measure.read(X)


def test_has_samples(name):
    assert name in MAKERS or name == "precomputed"


def test_stays_in_the_unit_interval_on_its_training_set(name):
    X = samples(name)[0]
    is_complete = X.notna().all(axis=1) if name == "gower" else np.ones(len(X), bool)
    patterns = read(name, X)
    fitted = resolve_measure(name).fit(patterns)
    prepared = fitted.prepare(patterns)
    for p in [np.ones(fitted.n_parameters), *np.random.default_rng(2).random((8, fitted.n_parameters))]:
        D = prepared.evaluate(p)
        assert D.shape == (20, 20)
        assert D.min() >= 0
        assert D.max() <= 1 + 1e-12
        assert_allclose(D.diagonal()[is_complete], 0, atol=1e-12)
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


def fitted_and_patterns(name):
    patterns = read(name, samples(name)[0])
    return resolve_measure(name).fit(patterns), patterns


def test_says_how_it_is_stored(name):
    fitted, patterns = fitted_and_patterns(name)
    measure = MEASURES[name]
    assert type(fitted) is measure.fitted_class
    made = measure()
    for thing in (made, fitted):
        for field, check in declared(type(thing)).items():
            check(field, getattr(thing, field))
            with pytest.raises(ValueError, match=f"{field} must be"):
                check(field, [object()])
    again = restored(type(fitted), {field: getattr(fitted, field) for field in declared(type(fitted))}, name)
    p = np.ones(fitted.n_parameters)
    assert_array_equal(again.prepare(patterns, patterns).evaluate(p), fitted.prepare(patterns, patterns).evaluate(p))


def test_accepts_its_training_patterns_and_no_others(name):
    fitted, patterns = fitted_and_patterns(name)
    fitted.check_patterns(patterns)
    assert fitted.comparison_work(patterns) >= 0
    for wrong in (None, [], "oak", np.zeros((3, 99))):
        with pytest.raises(ValueError, match="training patterns"):
            fitted.check_patterns(wrong)


def test_has_a_kind_of_data_a_description_and_names_of_its_weights(name):
    fitted, patterns = fitted_and_patterns(name)
    assert len(fitted.weight_names()) == fitted.n_parameters
    assert isinstance(fitted.describe(patterns[:1]), str)
    assert name in measures_of(fitted.kind_of_data(patterns))


def test_holds_no_more_memory_per_pair_than_it_says(name):
    patterns = read(name, samples(name, n=300)[0])
    measure = resolve_measure(name)
    fitted = measure.fit(patterns)
    fitted.prepare(patterns, patterns)  # compile first
    tracemalloc.start()
    prepared = fitted.prepare(patterns, patterns)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert prepared is not None
    assert peak <= measure.pair_bytes(patterns) * 300**2 + 2**20


@pytest.mark.parametrize("classifier", [SurpriseClassifier, EntropicOneClassClassifier])
def test_both_classifiers_explain_new_patterns(name, classifier):
    training, new = samples(name)
    settings = {"search": None} if classifier is EntropicOneClassClassifier else {}
    clf = classifier(measure=name, **settings).fit(training)
    assert all(str(explanation) for explanation in clf.explain(new))


@cache
def names_by_file():
    """The names of classes that the code of each file uses, defines, imports or registers."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        used = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name):
                used.add(node.id)
            elif isinstance(node, ast.ImportFrom):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ClassDef):
                used.add(node.name)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                used |= {text.rpartition(".")[2]} if text.count(".") == 1 and " " not in text else set()
        found[path] = used
    return found


def places_that_name(name):
    """The files that name a class in their code; a measure's own folder counts once."""
    named = [path for path, used in names_by_file().items() if name in used]
    return {path if path.parent.parent != ROOM else path.parent for path in named}


def test_is_named_in_its_own_file_and_one_row_only(name):
    measure = MEASURES[name]
    assert len(places_that_name(measure.__name__)) <= 2
    allowed = 3 if name in ("euclidean", "standardised") else 1  # the standardised measure fits into a Euclidean one
    assert len(places_that_name(measure.fitted_class.__name__)) <= allowed
