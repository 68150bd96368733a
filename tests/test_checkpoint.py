import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.metrics import fbeta_score, make_scorer

from eocc import EntropicOneClassClassifier
from eocc.search import SEARCHES, Checkpointed, GeneticSearch, RandomSearch
from eocc.search.checkpointed import PROBES
from eocc.search.identity import identity_of

SHORT = GeneticSearch(max_generations=4, population_size=6)


def classifier(search, **settings):
    return EntropicOneClassClassifier(**{"search": search, "random_state": 0, **settings})


def assert_same(one, other):
    assert_array_equal(one.weights_, other.weights_)
    assert_array_equal(one.history_, other.history_)
    assert_array_equal(one.spanning_tree_.lengths, other.spanning_tree_.lengths)


class InterruptedSearchError(Exception):
    pass


def interrupt(search, n_generations, of_run=0):
    """The same search, which raises an error after some generations."""
    started = []

    class Run:
        def __init__(self, run):
            self.run, self.count = run, 0

        def ask(self):
            if self.count == n_generations:
                raise InterruptedSearchError
            self.count += 1
            return self.run.ask()

        def tell(self, candidates, values):
            self.run.tell(candidates, values)

        def should_stop(self):
            return self.run.should_stop()

        def close(self):
            if hasattr(self.run, "close"):
                self.run.close()

    class Interrupting(Checkpointed):
        def start(self, n_parameters, rng):
            started.append(self.search.start(n_parameters, rng))
            return Run(started[-1]) if len(started) == of_run + 1 else started[-1]

    return Interrupting(search.search, search.path)


@pytest.mark.parametrize("name", SEARCHES)
def test_a_resumed_search_gives_the_same_model(name, setosa, tmp_path):
    search = type(SEARCHES[name]())(population_size=6, max_generations=5)
    kept = Checkpointed(search, tmp_path / "search.ckpt")
    with pytest.raises(InterruptedSearchError):
        classifier(interrupt(kept, 2)).fit(setosa)
    assert (tmp_path / "search.ckpt").exists()
    assert_same(classifier(kept).fit(setosa), classifier(search).fit(setosa))


def test_a_finished_search_costs_nothing_the_second_time(setosa, tmp_path, monkeypatch):
    clf = classifier(Checkpointed(SHORT, str(tmp_path / "search.ckpt")))
    first = clone(clf).fit(setosa)
    evaluated = []
    monkeypatch.setattr("eocc.synthesis.evaluation.Evaluator.__call__", recording(evaluated))
    assert_same(clone(clf).fit(setosa), first)
    assert len(evaluated) == 1 + PROBES  # the probes that identify the data


def recording(calls):
    from eocc.synthesis.evaluation import Evaluator

    inner = Evaluator.__call__

    def call(self, p, workspace):
        calls.append(p)
        return inner(self, p, workspace)

    return call


def test_the_number_of_threads_may_change(setosa, tmp_path):
    kept = Checkpointed(SHORT, tmp_path / "search.ckpt")
    with pytest.raises(InterruptedSearchError):
        classifier(interrupt(kept, 2), n_jobs=2).fit(setosa)
    assert_same(classifier(kept).fit(setosa), classifier(SHORT).fit(setosa))


def test_the_folds_of_a_calibration_resume_too(setosa, tmp_path):
    kept = Checkpointed(SHORT, tmp_path / "search.ckpt")
    with pytest.raises(InterruptedSearchError):
        classifier(interrupt(kept, 2, of_run=1), false_alarm_rate=0.1).fit(setosa)
    found, expected = (classifier(search, false_alarm_rate=0.1).fit(setosa) for search in (kept, SHORT))
    assert_same(found, expected)
    assert found.threshold_ == expected.threshold_


@pytest.mark.parametrize(
    "other",
    [
        {"eta": 0.4},
        {"random_state": 1},
        {"measure": "standardised"},
        {"graph": "knn"},
        {"search": Checkpointed(RandomSearch(max_generations=4), "{}")},
        {"search": Checkpointed(GeneticSearch(max_generations=5, population_size=6), "{}")},
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(other, setosa, tmp_path):
    path = tmp_path / "search.ckpt"
    classifier(Checkpointed(SHORT, path)).fit(setosa)
    if "search" in other:
        other = {"search": Checkpointed(other["search"].search, path)}
    with pytest.raises(ValueError, match=r"search\.ckpt' is the checkpoint of a fit with other data, settings or seed"):
        classifier(**{"search": Checkpointed(SHORT, path), **other}).fit(setosa)


def test_a_checkpoint_of_other_data_is_refused(setosa, iris, tmp_path):
    kept = Checkpointed(SHORT, tmp_path / "search.ckpt")
    X, y = iris
    for data in ((setosa,), (setosa[:-1],), (setosa + 1e-9 * np.arange(50)[:, None],)):
        if data[0] is setosa:
            classifier(kept).fit(*data)
            continue
        with pytest.raises(ValueError, match="other data"):
            classifier(kept).fit(*data)
    labelled = Checkpointed(SHORT, tmp_path / "labelled.ckpt")
    classifier(labelled, synthesis="validation").fit(setosa, validation=(X, y))
    with pytest.raises(ValueError, match="other data"):
        classifier(labelled, synthesis="validation").fit(setosa, validation=(X[5:], y[5:]))


def quantile_of(q):
    return lambda x: float(np.quantile(x, q))


FRACTIONS = [0.3, 0.4]
FUNCTIONS = [lambda x: float(np.mean(x)), lambda x: float(np.median(x))]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("extent", FUNCTIONS),
        ("extent", [partial(np.quantile, q=q) for q in FRACTIONS]),
        ("extent", [lambda x, q=q: float(np.quantile(x, q)) for q in FRACTIONS]),
        ("extent", [quantile_of(q) for q in FRACTIONS]),
        ("performance", [make_scorer(fbeta_score, beta=beta) for beta in (0.2, 5)]),
    ],
    ids=["code", "partial", "defaults", "closure", "scorer"],
)
@pytest.mark.parametrize("seed", range(3))
def test_a_checkpoint_of_other_functions_is_refused(name, values, seed, tmp_path):
    """On few rows both functions may give the same scores for one candidate."""
    rng = np.random.default_rng(seed)
    X, y = np.vstack([rng.normal(size=(30, 2)), rng.normal(size=(6, 2)) + 2]), np.repeat([1, -1], [30, 6])
    path = tmp_path / "search.ckpt"
    one, other = (
        classifier(Checkpointed(SHORT, path), synthesis="validation", validation_fraction=0.3, **{name: value})
        for value in values
    )
    kept = clone(one).fit(X, y)
    assert_same(one.fit(X, y), kept)
    with pytest.raises(ValueError, match="other data, settings or seed"):
        other.fit(X, y)


def test_a_change_in_a_called_function_is_noticed(tmp_path, iris, monkeypatch):
    search = Checkpointed(SHORT, tmp_path / "search.ckpt")
    clf = classifier(search, synthesis="validation", performance=lambda clf, X, y: share(clf.predict(X) == y))
    clf.fit(*iris)
    monkeypatch.setitem(globals(), "share", lambda right: float(np.mean(right)) ** 2)
    with pytest.raises(ValueError, match="other data, settings or seed"):
        clone(clf).fit(*iris)


def share(right):
    return float(np.mean(right))


@pytest.mark.parametrize("performance", ["accuracy", "precision"])
def test_a_calibrated_fit_with_any_performance_is_nearly_free_the_second_time(iris, tmp_path, monkeypatch, performance):
    X, y = iris
    path = tmp_path / "search.ckpt"
    settings = {"synthesis": "validation", "performance": performance, "false_alarm_rate": 0.2}
    first = classifier(Checkpointed(SHORT, path), **settings).fit(X, y)
    size = path.stat().st_size
    evaluated = []
    monkeypatch.setattr("eocc.synthesis.evaluation.Evaluator.__call__", recording(evaluated))
    assert_same(classifier(Checkpointed(SHORT, path), **settings).fit(X, y), first)
    assert len(evaluated) == 11 * (1 + PROBES)  # all, and ten folds
    assert path.stat().st_size == size


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x05\x06" + bytes(18)])
def test_other_files_are_refused_and_left_unchanged(content, setosa, tmp_path):
    path = tmp_path / "search.ckpt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not a checkpoint of this version, or it is damaged") as caught:
        classifier(Checkpointed(SHORT, path)).fit(setosa)
    assert "\n" not in str(caught.value)
    assert path.read_bytes() == content


def test_a_pickle_is_not_read(setosa, tmp_path):
    path = tmp_path / "search.ckpt"
    with path.open("wb") as file:
        np.savez(file, about=np.array([{"format": 1}], dtype=object))
    with pytest.raises(ValueError, match="not a checkpoint"):
        classifier(Checkpointed(SHORT, path)).fit(setosa)


def test_invalid_arguments_are_refused_before_the_search(setosa, tmp_path):
    with pytest.raises(ValueError, match="needs a search object"):
        Checkpointed("genetic", "search.ckpt")
    with pytest.raises(ValueError, match="must be a string or a path"):
        Checkpointed(SHORT, 3)
    with pytest.raises(FileNotFoundError, match="no folder"):
        classifier(Checkpointed(SHORT, tmp_path / "none" / "search.ckpt")).fit(setosa)


def test_identities_differ_by_content():
    things = [None, 1, 1.0, "1", [1], {"a": 1}, {"a": 2}, np.zeros(2), np.zeros((2, 1)), SHORT, GeneticSearch(), len]
    assert len({identity_of(thing) for thing in things}) == len(things)
    assert identity_of({"a": 1, "b": [np.ones(3)]}) == identity_of({"b": [np.ones(3)], "a": 1})


FIT = """
import sys, time
import numpy as np
from eocc import EntropicOneClassClassifier
from eocc.search import Checkpointed, GeneticSearch

count = 0

def slow(self, p, workspace):
    global count
    count += 1
    time.sleep(1000 if count > 20 else 0)  # for the signal, in the fourth generation
    return evaluated(self, p, workspace)

from eocc.synthesis.evaluation import Evaluator
evaluated, Evaluator.__call__ = Evaluator.__call__, slow
search = GeneticSearch(population_size=6, max_generations=int(sys.argv[2]))
rows = np.random.default_rng(0).normal(size=(40, 3))
EntropicOneClassClassifier(
    search=Checkpointed(search, sys.argv[1]), random_state=0
).fit(rows)
"""


def test_a_fit_resumes_after_its_process_was_killed(tmp_path):
    path, rows = tmp_path / "search.ckpt", np.random.default_rng(0).normal(size=(40, 3))
    search = GeneticSearch(population_size=6, max_generations=60, patience=10)
    process = subprocess.Popen([sys.executable, "-c", FIT, str(path), "60"])
    try:
        while not path.exists():
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    kept = classifier(Checkpointed(search, path)).fit(rows)
    assert_same(kept, classifier(search).fit(rows))


def test_a_process_killed_while_writing_leaves_no_files(tmp_path):
    path, rows = tmp_path / "search.ckpt", np.random.default_rng(0).normal(size=(40, 3))
    classifier(Checkpointed(SHORT, path)).fit(rows)
    half_written = f"""
import os, signal
import numpy as np
from eocc.search.checkpointed import _read, _write

def savez(file, **arrays):
    file.write(bytes(100))
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

np.savez = savez
from pathlib import Path
_write(Path({str(path)!r}), _read(Path({str(path)!r})))
"""
    assert subprocess.run([sys.executable, "-c", half_written]).returncode == -signal.SIGKILL
    assert len(list(tmp_path.iterdir())) == 2
    assert_same(classifier(Checkpointed(SHORT, path)).fit(rows), classifier(SHORT).fit(rows))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("name", "kills"), [("Saving", 5), ("Searching", 5)])
def test_processes_killed_around_their_writes_lose_nothing(name, kills):
    path = Path(__file__).parent.parent / "benchmarks" / "kill.py"
    script = f"""
import random, runpy
kill = runpy.run_path({str(path)!r})
kill["attack"](kill[{name!r}](), {kills}, random.Random(0), print)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.stderr, done.stdout[:-1].split(" in ")[0]) == ("", f"{name}: {kills} kills")
