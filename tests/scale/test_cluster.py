"""Fits and scores on a Dask cluster equal those of one machine, also when a worker dies."""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import dask
import dask.array as da
import dask.bag as db
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from distributed.utils import get_mp_context
from numpy.testing import assert_array_equal
from sklearn.model_selection import cross_val_score

from doubles import plain
from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.base.threads import cluster_in_use
from eocc.entropic.search import GeneticSearch
from eocc.measures import Composite, FunctionMeasure, GraphEdit, StringEdit
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.protocol import prepare
from eocc.scale import cluster
from eocc.scale.cluster import Pickled, _blocks, given, given_tasks
from eocc.space.prototypes.content import Census, Sketch
from samples import samples

IMPORTED = [
    "eocc.classifiers.entropic",
    "eocc.classifiers.surprise",
    "eocc.measures.composite",
    "eocc.entropic.search",
]
LAZY = ["membership", "score_samples", "decision_function", "predict", "p_values", "predict_or_abstain", "transform"]


@pytest.fixture(scope="module")
def client():
    settings = {
        # How long Dask waits for a dead worker's data before it computes them again: 30 s by default.
        "distributed.comm.timeouts.connect": "3s",
        # Workers are forked from a process that has imported everything already.
        "distributed.worker.multiprocessing-method": "forkserver",
    }
    with dask.config.set(settings):
        get_mp_context().set_forkserver_preload(["distributed", "dask.dataframe", *IMPORTED])
        workers = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
        with workers, Client(workers, set_as_default=False) as made:
            yield made


def test_tasks_are_dealt_to_the_workers_in_turn(client):
    held = given(client, "data")  # on one worker, to which Dask would send most tasks
    tasks = given_tasks(client, print, [(held,)] * 4)
    client.gather(tasks)
    known = [client.cluster.scheduler.tasks[task.key] for task in tasks]
    assert [task.worker_restrictions for task in known] == [{address} for address in sorted(client.nthreads())] * 2
    assert all(task.loose_restrictions for task in known)  # others may take over


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(size=(60, 3)), rng.normal(size=(60, 3)) + 6])


def named_graphs(n, largest):
    """Graphs with texts, many of equal size."""
    rng = np.random.default_rng(n)

    def one():
        size = int(rng.integers(1, largest + 1))
        ends = np.array([(a, b) for a in range(size) for b in range(a) if rng.random() < 0.5], np.int64).reshape(-1, 2)
        names = ["".join(rng.choice(list("abcd"), 6)) for _ in range(size)]
        return LabelledGraph(size, ends, {"name": names, "x": rng.random(size)})

    return [one() for _ in range(n)]


def words(n):
    return ["".join(map(str, word)) for word in np.random.default_rng(n).integers(0, 3, size=(n, 7))]


KINDS = {
    "graphs": (GraphEdit(), named_graphs(70, 6)),
    "strings": (StringEdit(), words(70)),
    "functions": (FunctionMeasure(lambda a, b: abs(a - b) + 0.1 * (a != b)), list(np.linspace(0, 1, 70) ** 2)),
    "records": (
        Composite({"word": StringEdit(), "graph": GraphEdit(), "size": "euclidean"}),
        [{"word": word, "graph": graph, "size": len(word)}
         for word, graph in zip(words(70), named_graphs(70, 4), strict=True)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("prototypes", [None, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_pairs_computed_in_blocks_equal_those_of_one_machine(kind, prototypes, client):
    measure, patterns = KINDS[kind]
    here = plain(measure=measure, prototypes=prototypes, random_state=0).fit(patterns)
    with cluster.on(client):
        there = plain(measure=measure, prototypes=prototypes, random_state=0).fit(patterns)
        read = measure.read(patterns)
        against = None if prototypes is None else read[here.prototype_indices_]
        spread = prepare(there.measure_, read, against)
    p = np.random.default_rng(1).random(here.measure_.n_parameters)
    assert_array_equal(spread.evaluate(p), here.measure_.prepare(read, against).evaluate(p))
    assert_array_equal(there.spanning_tree_.edges, here.spanning_tree_.edges)
    assert_array_equal(there.score_samples(patterns), here.score_samples(patterns))


@pytest.mark.parametrize(("n", "slots"), [(1, 1), (70, 2), (1000, 3), (97, 500)])
def test_blocks_cover_every_pair_once(n, slots):
    whole, half = np.zeros((2, n, n), int)
    for block in _blocks(n, n, slots):
        whole[block] += 1
    for rows, columns in _blocks(n, None, slots):
        half[rows, columns] += 1
        if rows != columns:
            half[columns, rows] += 1
    assert (whole == 1).all()
    assert (half == 1).all()


def test_a_search_on_the_cluster_finds_the_model_of_one_machine(client, rows):
    y = np.where(np.arange(len(rows)) % 7 == 0, -1, 1)
    settings = {"search": GeneticSearch(max_generations=2), "random_state": 5}
    for how in ({"synthesis": "validation"}, {"prototypes": 40}, {"false_alarm_rate": 0.1}):
        here = EntropicOneClassClassifier(**settings, **how).fit(rows, y)
        with cluster.on(client):
            there = EntropicOneClassClassifier(**settings, **how).fit(rows, y)
        assert_array_equal(there.weights_, here.weights_)
        assert_array_equal(there.history_, here.history_)
        assert_array_equal(there.score_samples(rows), here.score_samples(rows))


def deadly(flag, after):
    """Manhattan distances; the first process but this one to look at `after` candidates is killed, once."""
    own = os.getpid()

    class Pairs:
        def __init__(self, gaps):
            self.gaps, self.count = gaps, 0

        def evaluate(self, p, out=None):
            self.count += 1
            if os.getpid() != own and self.count >= after and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return self.gaps @ p

    class Fitted:
        n_parameters = 3

        def prepare(self, patterns, prototypes=None):
            return Pairs(np.abs(patterns[:, None] - patterns[None]) / 40)

    class Deadly:
        def fit(self, training):
            return Fitted()

    return Deadly()


def test_a_search_survives_the_death_of_a_worker(client, rows, tmp_path):
    measure = deadly(tmp_path / "killed", after=7)
    clf = EntropicOneClassClassifier(measure=measure, search=GeneticSearch(max_generations=3), random_state=0)
    here = clf.fit(rows).history_
    with cluster.on(client):
        there = clf.fit(rows).history_
    assert (tmp_path / "killed").exists()
    assert_array_equal(there, here)


def facts_of(clf):
    margins = clf.calibration_.margins.tolist()
    return clf.prototypes_.tolist(), clf.training_indices_.tolist(), clf.threshold_, clf.n_rows_, margins, clf._facts()


@pytest.mark.parametrize("settings", [{"prototypes": 50}, {"prototypes": None}, {"measure": "standardised"}])
def test_a_fit_to_partitions_is_that_of_one_machine(client, settings):
    X = np.random.default_rng(1).normal(size=(900, 3))
    y = np.where(np.arange(900) % 90 == 0, -1, 1)
    frame = pd.DataFrame(X, columns=["load", "heat", "wear"])
    clf = SurpriseClassifier(**settings)
    here = [facts_of(clf.fit(X)), facts_of(clf.fit(X, y))]
    lazy = da.from_array(X, chunks=(70, 3))
    with dask.config.set(scheduler="synchronous"):
        assert facts_of(clf.fit(dd.from_pandas(frame, npartitions=3))) == here[0]
        assert clf.feature_names_in_.tolist() == list(frame.columns)
        assert facts_of(clf.fit(lazy, y)) == here[1]
        assert facts_of(clf.fit(lazy, da.from_array(y, chunks=100))) == here[1]
    with cluster.on(client):
        assert facts_of(clf.fit(lazy)) == here[0]
        assert facts_of(clf.fit(lazy, y)) == here[1]


def test_partitions_of_known_outliers_only_and_many_copies_give_the_same_model():
    # Enough rows and columns to be compared by products, some of them copies.
    X = np.random.default_rng(2).normal(size=(3000, 8))
    X[500:900] = X[:4].repeat(100, axis=0)
    y = np.ones(3000)
    y[1000:1500] = -1
    clf = SurpriseClassifier(prototypes=700)
    here = facts_of(clf.fit(X, y))
    with dask.config.set(scheduler="synchronous"):
        assert facts_of(clf.fit(da.from_array(X, chunks=(500, 8)), y)) == here


def test_a_fit_to_partitions_survives_the_death_of_a_worker(client, tmp_path):
    own, flag = os.getpid(), tmp_path / "killed"
    X = np.random.default_rng(1).normal(size=(900, 3))

    def deadly_block(block):
        """Kill the worker that reads this block for the third time, in the pass that scores."""
        if os.getpid() != own and block[0, 0] == X[490, 0]:
            reads = len(list(tmp_path.iterdir()))
            (tmp_path / f"read{reads}").touch()
            if reads == 2:
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return block

    with cluster.on(client):
        lazy = da.from_array(X, chunks=(70, 3)).map_blocks(deadly_block, meta=X[:0])
        there = facts_of(SurpriseClassifier(prototypes=50).fit(lazy))
    assert flag.exists()
    assert there == facts_of(SurpriseClassifier(prototypes=50).fit(X))


def test_passes_survive_the_death_of_a_worker(client, tmp_path):
    own, flag = os.getpid(), tmp_path / "killed"
    X = np.random.default_rng(0).normal(size=(4000, 3))
    passes = cluster.DaskPasses(da.from_array(X, chunks=(300, 3)))

    def kept_in(part, census):
        if os.getpid() != own and part.numbers[0] == 2100 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Sketch(census, 100).add(part.values, part.numbers)

    with cluster.on(client):
        census = passes.fold(lambda part: Census().add(part.values), Census.merge)
        kept = passes.fold(lambda part: kept_in(part, census), Sketch.merge).kept()
    assert flag.exists()
    assert census.n_rows == 4000
    assert_array_equal(census.counts, Census().add(X).counts)
    here = Sketch(census, 100).add(X, np.arange(4000)).kept()
    assert_array_equal(kept.numbers, here.numbers)
    assert_array_equal(kept.values, here.values)


def test_pairs_survive_the_death_of_a_worker(client, tmp_path):
    own, flag = os.getpid(), tmp_path / "killed"

    def gap(a, b):
        if os.getpid() != own and a > 0.5 and not flag.exists():
            flag.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return abs(a - b)

    points = list(np.linspace(0, 1, 80) ** 2)
    here = plain(measure=gap).fit(points).raw_entropy_
    with cluster.on(client):
        assert plain(measure=gap).fit(points).raw_entropy_ == here
    assert flag.exists()


def test_graph_pairs_survive_the_death_of_a_worker(client, tmp_path):
    own, flag, graphs = os.getpid(), tmp_path / "killed", named_graphs(70, 6)

    class DeadlyFitted(FittedGraphEdit):
        def prepare(self, patterns, prototypes=None):
            if os.getpid() != own and not flag.exists():
                flag.touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return super().prepare(patterns, prototypes)

    class Deadly(GraphEdit):
        def fit(self, training):
            found = super().fit(training)
            return DeadlyFitted(found.vertex, found.edge, found.directed)

    here = SurpriseClassifier(measure="graph-edit").fit(graphs)
    with cluster.on(client):
        there = SurpriseClassifier(measure=Deadly()).fit(graphs)
    assert flag.exists()
    assert_array_equal(there.calibration_.margins, here.calibration_.margins)
    assert_array_equal(there.score_samples(graphs), here.score_samples(graphs))


def test_errors_of_workers_are_raised_here(client, rows):
    own = os.getpid()

    def spoilt(a, b):
        return np.nan if os.getpid() != own else abs(a - b)

    with cluster.on(client), pytest.raises(ValueError, match="must return a finite number"):
        plain(measure=spoilt).fit(list(range(80)))
    assert cluster_in_use.get() is None


@contextmanager
def no_stealing(client):
    """Leave every task with the worker it was dealt to."""
    stealing = client.cluster.scheduler.extensions["stealing"]
    client.sync(stealing.stop)
    try:
        yield
    finally:
        client.sync(stealing.start)


def test_modules_that_workers_lack_are_named(client, tmp_path, monkeypatch):
    (tmp_path / "my_measure.py").write_text("def gap(a, b):\n    return abs(len(a) - len(b))\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    gap = __import__("my_measure").gap
    words = ["a" * length for length in range(1, 80)]
    fitted = SurpriseClassifier(measure=gap).fit(words)
    lines = db.from_sequence(words[:6], npartitions=2)
    remedy = r"No module named 'my_measure'; install .* client.upload_file\('module.py'\)"

    def learn_where(folder):
        sys.path.insert(0, folder)

    client.wait_for_workers(2, timeout=60)  # one may have been killed before
    knows, lacks = sorted(client.nthreads())
    with cluster.on(client):
        with pytest.raises(ImportError, match=remedy):  # no worker has the module
            SurpriseClassifier(measure=gap).fit(words)
        with pytest.raises(ImportError, match=remedy):
            fitted.score_samples(lines).compute()

        client.run(learn_where, str(tmp_path), workers=[knows])
        with no_stealing(client), pytest.raises(ImportError, match=remedy):
            SurpriseClassifier(measure=gap).fit(words)
        with pytest.raises(ImportError, match=remedy):
            client.compute(fitted.score_samples(lines), workers=[lacks]).result()

        client.upload_file(str(tmp_path / "my_measure.py"))
        assert SurpriseClassifier(measure=gap).fit(words)._facts() == fitted._facts()
        assert_array_equal(fitted.score_samples(lines).compute(), fitted.score_samples(words[:6]))


def test_errors_of_unpickling_are_not_changed():
    class Broken:
        def __setstate__(self, state):
            raise AttributeError("no such thing")

        def __getstate__(self):
            return {"a": 1}

    with pytest.raises(AttributeError, match="no such thing"):
        pickle.loads(pickle.dumps(Pickled(Broken()))).open()


def test_nothing_is_pickled_for_threads():
    class Locked(FunctionMeasure):
        def __reduce__(self):
            raise TypeError("this cannot be pickled")

    clf = SurpriseClassifier(measure=Locked(lambda a, b: abs(len(a) - len(b)))).fit(["a", "aa", "aaaa"])
    lines = db.from_sequence(["a", "aaaaaa"], npartitions=2)
    found = clf.score_samples(lines).compute(scheduler="threads")
    assert_array_equal(found, clf.score_samples(["a", "aaaaaa"]))


def test_joblib_distributes_whole_fits_with_its_own_backend(client, rows):
    def mean_score(clf, X, y=None):
        return clf.score_samples(X).mean()

    here = cross_val_score(plain(), rows, cv=3, scoring=mean_score)
    with client.as_current(), joblib.parallel_config("dask", n_jobs=2):
        there = cross_val_score(plain(), rows, cv=3, scoring=mean_score)
    assert_array_equal(there, here)


def test_partitions_are_scored_on_the_cluster(client, rows):
    clf = plain().fit(rows)
    with cluster.on(client):
        scores = clf.score_samples(da.from_array(rows, chunks=(50, 3))).compute()
    assert_array_equal(scores, clf.score_samples(rows))


@pytest.mark.parametrize("name", LAZY)
def test_arrays_are_scored_lazily_and_bit_identically(name, rows):
    clf = SurpriseClassifier().fit(rows)
    expected = getattr(clf, name)(rows)
    for chunks in ((50, 3), (120, 2), (1, 3)):
        found = getattr(clf, name)(da.from_array(rows, chunks=chunks))
        assert isinstance(found, da.Array)
        assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
        with dask.config.set(scheduler="synchronous"):
            assert_array_equal(found.compute(), expected)


def test_arguments_reach_every_partition(rows):
    clf = plain(false_alarm_rate=0.1).fit(rows)
    with dask.config.set(scheduler="synchronous"):
        found = clf.predict_or_abstain(da.from_array(rows, chunks=(50, 3)), unsure_rate=0.9).compute()
    assert_array_equal(found, clf.predict_or_abstain(rows, unsure_rate=0.9))
    assert 0 in found


def test_partitions_of_unknown_length_may_be_empty(rows):
    clf, X = plain().fit(rows), da.from_array(rows, chunks=(60, 3))
    with dask.config.set(scheduler="synchronous"):
        assert_array_equal(clf.predict(X[X[:, 0] > 4]).compute(), clf.predict(rows[rows[:, 0] > 4]))
        assert clf.transform(X[X[:, 0] > 99]).compute().shape == (0, 120)


def test_frames_keep_their_names(rows):
    frame = pd.DataFrame(rows, columns=["load", "heat", "wear"])
    X = dd.from_pandas(frame, npartitions=4)
    with dask.config.set(scheduler="synchronous"):
        clf = plain().fit(X)
        assert clf.feature_names_in_.tolist() == ["load", "heat", "wear"]
        assert_array_equal(clf.score_samples(X).compute(), plain().fit(frame).score_samples(frame))
        with pytest.raises(ValueError, match="feature names"):
            clf.score_samples(X.rename(columns={"load": "toll"}))
    with pytest.raises(ValueError, match="2 features"):
        plain().fit(rows).score_samples(da.zeros((4, 2)))


def test_labels_and_validation_sets_may_be_dask_collections(rows):
    y = np.where(np.arange(len(rows)) % 5 == 0, -1, 1)
    X, labels = da.from_array(rows, chunks=(50, 3)), da.from_array(y, chunks=50)
    with dask.config.set(scheduler="synchronous"):
        there = plain(synthesis="validation", random_state=0).fit(X, labels)
        apart = plain(synthesis="validation", random_state=0).fit(X[y == 1], validation=(X, labels))
    assert_array_equal(
        there.score_samples(rows), plain(synthesis="validation", random_state=0).fit(rows, y).score_samples(rows)
    )
    here = plain(synthesis="validation", random_state=0).fit(rows[y == 1], validation=(rows, y))
    assert_array_equal(apart.score_samples(rows), here.score_samples(rows))


@pytest.mark.parametrize("name", ["gower", "graph-edit"])
def test_frames_and_bags_of_objects_are_fitted_and_scored(name):
    training, new = samples(name)
    lazy = [dd.from_pandas(part, npartitions=2) if name == "gower" else db.from_sequence(part, npartitions=2)
            for part in (training, new)]  # fmt: skip
    with dask.config.set(scheduler="synchronous"):
        scores = plain(measure=name).fit(lazy[0]).score_samples(lazy[1]).compute()
    assert_array_equal(scores, plain(measure=name).fit(training).score_samples(new))


@pytest.mark.parametrize("make", [plain, SurpriseClassifier])
def test_a_fit_that_needs_too_much_memory_is_refused_before_anything_is_loaded(rows, make):
    computed = []
    X = da.from_array(rows, chunks=(50, 3)).map_blocks(lambda block: computed.append(block) or block, meta=rows[:0])
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match="the fit needs about"):
            make(max_memory="550kB").fit(X)
        assert computed == []
        assert_array_equal(make().fit(X).score_samples(rows), make().fit(rows).score_samples(rows))


def test_other_clients_are_refused(monkeypatch):
    with pytest.raises(ValueError, match=r"pass a distributed.Client, for example"), cluster.on(2):
        pass
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ModuleNotFoundError, match=r"dask"), cluster.on("tcp://nowhere:1"):
        pass


def test_dask_is_not_imported_before_it_is_used():
    code = """import sys
from eocc import EntropicOneClassClassifier, SurpriseClassifier
EntropicOneClassClassifier(search=None).fit([[0.0], [1.0], [3.0]]).predict([[1.0]])
assert not {"dask", "distributed"} & set(sys.modules)"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[1])
