import math
import pickle
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from eocc.classifiers.fitting import fuzzification_of
from eocc.classifiers.plan import (
    COMPLETE_UP_TO,
    PlanWarning,
    Request,
    budget_of,
    bytes_of,
    changes,
    fitting_plan,
    free_memory,
    plan_for,
    within_choice,
)
from eocc.classifiers.plan.costs import COSTS, UNKNOWN, cost_of
from eocc.classifiers.plan.estimate import ANYWAY
from eocc.classifiers.plan.stages import IN_ONE_REGION
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from doubles import Manhattan, Midpoint, OneBatch, plain
from eocc import EntropicOneClassClassifier
from eocc.measures import MEASURES, Composite, StringEdit
from eocc.neighbours.nearest import EXACT_ROWS
from eocc.synthesis.graph_kinds import CompleteGraph, NeighbourGraph

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(3000, 4))


def traced_fit(X, y=None, **settings):
    """The plan of a fit, and the bytes that it allocated at its peak."""
    some = np.r_[0:150, len(X) - 150 : len(X)]
    few = X[some][:, some] if settings.get("measure") == "precomputed" else [X[i] for i in some]
    # What is compiled and cached at first use is not the fit's.
    plain(random_state=0, **settings).fit(few, None if y is None else y[some])
    tracemalloc.start()
    try:
        clf = plain(random_state=0, **settings).fit(X, y)
        return clf.plan_, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def normal(n, size=10):
    return RNG.normal(size=(n, size))


def words(n):
    return ["".join(RNG.choice(list("abcd"), size=8)) for _ in range(n)]


def people(n, n_categories):
    """Records of two numbers and two categories: many clusters for few categories."""
    codes, numbers = RNG.integers(n_categories, size=(n, 2)), RNG.normal(size=(n, 2)).tolist()
    return [{"a": a, "b": b, "c": str(c), "d": str(d)} for (a, b), (c, d) in zip(numbers, codes.tolist(), strict=True)]


def labelled(n, others, n_features=10):
    """Rows of both kinds, which differ, and their labels."""
    rows = normal(n + others, n_features)
    rows[n:] += 2
    return rows, np.repeat([1, -1], [n, others])


def few_candidates(n_parameters=10):
    """A search that is soon over."""
    return OneBatch([np.random.default_rng(0).random((4, n_parameters))])


BOTH = Composite({"name": "string-edit", "size": "euclidean"})


@pytest.mark.parametrize(
    ("X", "settings"),
    [
        (normal(1000), {}),
        (normal(2000), {"resolution": "single"}),
        (normal(1000) / 10 + RNG.integers(4, size=(1000, 1)), {"measure": "standardised"}),  # clusters
        (normal(50_000), {"prototypes": 64}),
        (normal(20_000), {"prototypes": 64, "resolution": "single"}),
        (normal(1500), {"graph": "knn"}),
        (normal(6000), {"prototypes": 64, "selection": "k-medoids"}),
        (normal(2500), {"prototypes": 100, "graph": "complete"}),
        (normal(1500), {"resolution": "single", "representative": "centroid"}),
        (normal(1500), {"resolution": "single", "membership_function": "two-sided"}),
        (normal(1500), {"resolution": "single", "representative": Midpoint()}),
        (normal(1000), {"resolution": "single", "search": few_candidates(), "n_jobs": 2}),
        (normal(5000), {"resolution": "single", "search": few_candidates(), "n_jobs": 2, "prototypes": 64,
                        "graph": "knn"}),
        (normal(1000), {"resolution": "single", "search": few_candidates(), "false_alarm_rate": 0.05}),
        (people(1000, 2), {"measure": "gower"}),
        (people(1000, 8), {"measure": "gower"}),
        (people(4000, 4), {"measure": "gower", "prototypes": 64, "graph": "knn"}),
        (cdist(ROWS[:1000], ROWS[:1000]), {"measure": "precomputed"}),
        (cdist(ROWS[:1500], ROWS[:1500]), {"measure": "precomputed", "prototypes": 50, "graph": "knn"}),
        ([{"name": name, "size": size} for name, size in zip(words(700), normal(700), strict=True)],
         {"measure": BOTH}),
        (words(600), {"measure": "string-edit"}),
        (list(normal(600)), {"measure": "dtw"}),
    ],
    ids=lambda value: "-".join(map(str, value)) if isinstance(value, dict) else f"n{len(value)}",
)  # fmt: skip
def test_the_peak_is_known_to_within_30_percent(X, settings):
    plan, peak = traced_fit(X, **settings)
    assert abs(plan.peak - peak) <= 0.3 * peak


@pytest.mark.parametrize(
    ("n", "n_others", "n_features", "settings"),
    [
        (300, 1200, 10, {}),
        (500, 5000, 50, {}),
        (8000, 300, 100, {"graph": "knn", "prototypes": 32}),
        (4000, 100, 200, {"graph": "knn", "prototypes": 32}),
        (1000, 300, 10, {"measure": "gower"}),
        (1500, 1500, 10, {"resolution": "single"}),
        (5000, 3000, 10, {"resolution": "single", "graph": "knn", "prototypes": 64}),
        (1200, 600, 10, {"resolution": "single", "search": few_candidates(), "n_jobs": 2}),
    ],
)
def test_known_others_count_too(n, n_others, n_features, settings):
    plan, peak = traced_fit(*labelled(n, n_others, n_features), synthesis="validation", **settings)
    assert plan.n == n if settings.get("resolution") != "single" else plan.n == n - n // 10
    assert abs(plan.peak - peak) <= 0.3 * peak


@pytest.mark.parametrize(
    ("n", "m", "settings"),
    [
        (400, 900, {"performance": "auc"}),
        (500, 200, {"performance": "average_precision"}),
        (600, 600, {"extent": "median"}),
        (3000, 3000, {"performance": "auc", "graph": "knn", "prototypes": 32}),
        (3000, 500, {"extent": "median", "graph": "knn", "prototypes": 32}),
        (1200, 40, {"precision": "single", "search": few_candidates(), "n_jobs": 2}),
    ],
)
def test_what_judges_partitions_counts_too(n, m, settings):
    """Regions built anew at every split, grades for a scorer, a search in single precision."""
    X, y = labelled(n + m // 2, m - m // 2)
    clf = plain(synthesis="validation", resolution="single", random_state=0, **settings)
    clf.fit(X[n - 100 : n], validation=(X[n - 20 : n + 20], np.repeat([1, -1], 20)))
    tracemalloc.start()
    clf.fit(X[:n], validation=(X[n:], y[n:]))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert abs(clf.plan_.peak - peak) <= 0.3 * peak


def test_a_fit_tells_its_plan_how_it_judges():
    settings = {"resolution": "single", "performance": "auc", "precision": "single", "search": few_candidates()}
    clf = plain(synthesis="validation", validation_fraction=0.5, extent="median", **settings).fit(*labelled(300, 200))
    told = plan_for(150, 10, n_others=250, fuzzification=fuzzification_of(clf), **settings)
    assert clf.plan_.parts == told.parts
    assert told.peak > plan_for(150, 10, n_others=250, resolution="single").peak


def test_the_parts_are_the_arrays_of_the_code():
    n, features = 1000, 5
    assert plan_for(n, features, resolution="single", search=None).parts == {
        "dissimilarity space": 8 * n * n,
        "distances of all pairs": 8 * n * n,
        "the rest": ANYWAY,
        "patterns": 3 * 8 * n * features,
    }
    by_median = fuzzification_of(EntropicOneClassClassifier(extent="median"))
    copied = plan_for(n, features, fuzzification=by_median).parts["largest region"]
    assert copied == 8 * IN_ONE_REGION * n * n  # half of the distances, and what the median sorts
    assert plan_for(n, 8, "string-edit").parts["prepared comparisons"] == 3 * 8 * n * n
    few = plan_for(1_000_000, 10, prototypes=64)
    assert few.parts["dissimilarity space"] == 8 * 1_000_000 * 64
    assert few.peak == sum(few.parts.values())


def test_the_scale_of_all_patterns_is_a_matrix_of_all_pairs():
    n = 100_000
    assert plan_for(n, 10, graph="knn").peak > 8 * n * n
    assert plan_for(n, 10, graph="knn", prototypes=256).peak < 8 * n * n / 100


def test_every_thread_of_a_search_has_a_matrix_of_its_own():
    one, four = (plan_for(2000, 5, resolution="single", n_jobs=jobs) for jobs in (1, 4))
    assert four.peak - one.peak == 3 * 2 * 8 * 2000**2
    assert four.n_jobs == 4
    assert four.seconds < one.seconds
    sets = [plan_for(500, 5, "jaccard", resolution="single", n_jobs=jobs).peak for jobs in (1, 4)]
    assert sets[0] == sets[1]  # no weights, no search


def test_calibration_by_folds_costs_ten_fits_and_what_waits_for_them():
    settings = {"measure": "string-edit", "resolution": "single", "search": None}
    one, more = plan_for(500, 8, **settings), plan_for(500, 8, false_alarm_rate=0.05, **settings)
    assert more.seconds == pytest.approx(11 * one.seconds)
    assert more.peak > one.peak
    assert plan_for(500, 8, false_alarm_rate=0.05) == plan_for(500, 8)  # left-out patterns calibrate: no more fits


@given(
    n=st.integers(1, 10**7),
    features=st.integers(1, 1000),
    r=st.integers(1, 2000),
    graph=st.sampled_from(["complete", "knn"]),
    measure=st.sampled_from(sorted(COSTS)),
    resolution=st.sampled_from(["multi", "single"]),
    others=st.integers(0, 1000),
)
def test_more_patterns_or_prototypes_never_take_less(n, features, r, graph, measure, resolution, others):
    request = Request(n, features, measure, r, graph, resolution, n_others=others)
    plan = request.plan()
    assert plan.peak > 0
    assert 0 < plan.seconds < math.inf
    if graph == "complete" or not n <= EXACT_ROWS < 2 * n:  # beyond so many rows neighbours are not all compared
        assert replace(request, n=2 * n).plan().peak >= plan.peak
    assert replace(request, prototypes=2 * r).plan().peak >= plan.peak * 0.99


@given(n=st.integers(1, 10**6), power=st.integers(21, 40), graph=st.sampled_from(["auto", "complete", "knn"]))
def test_a_plan_that_is_proposed_fits_and_is_what_its_settings_give(n, power, graph):
    request, budget = Request(n, 10, graph=graph), float(2**power)
    plan = fitting_plan(request, budget)
    if plan is not None:
        assert plan.peak <= budget
        taken = within_choice(replace(request, **changes(request, plan)), budget)
        assert (taken.peak, taken.graph, taken.prototypes) == (plan.peak, plan.graph, plan.prototypes)


def test_every_measure_has_a_cost():
    assert set(COSTS) == set(MEASURES)
    assert cost_of(StringEdit()) == cost_of("string-edit")
    assert cost_of(Manhattan()) == UNKNOWN
    both = cost_of(Composite({"name": "string-edit", "size": "euclidean"}))
    assert both.kept == 3
    assert both.freezing == 1


@pytest.mark.parametrize(
    ("given", "expected"),
    [(1, 1), (np.int64(5), 5), ("1", 1), ("1B", 1), ("2kB", 2000), ("2KiB", 2048), ("1.5 MiB", 3 * 2**19),
     ("3gb", 3 * 10**9), ("1TiB", 2**40)],
)  # fmt: skip
def test_budgets_are_read(given, expected):
    assert bytes_of(given) == expected
    assert budget_of(given) == expected


@pytest.mark.parametrize("wrong", [0, -1, True, 2.5, "", "0", "2 gigs", "-1GB", "GiB", "1e9", "1GiB each", b"1GB"])
def test_budgets_that_are_none_are_named(wrong):
    with pytest.raises(
        ValueError, match="max_memory must be an integer > 0, in bytes, or text such as '2GiB'"
    ) as error:
        plain(max_memory=wrong).fit(ROWS[:5])
    assert "\n" not in str(error.value)


def test_plans_that_are_none_are_named():
    with pytest.raises(ValueError, match="unknown plan 'maybe'; known: 'auto', 'refuse'"):
        plain(plan="maybe").fit(ROWS[:5])


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose files say what the test writes."""
    for name, path in (("MEMORY_INFORMATION", "meminfo"), ("OWN_GROUPS", "cgroup"), ("GROUPS", "groups")):
        monkeypatch.setattr(f"eocc.classifiers.plan.memory.{name}", tmp_path / path)
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable: 1000 kB\n")
    return tmp_path


def limit(folder, names, limit, usage, droppable=0):
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in zip(names, (limit, usage), strict=True):
        (folder / name).write_text(f"{text}\n")
    (folder / "memory.stat").write_text(f"anon 7\ninactive_file {droppable}\n")


def test_free_memory_is_the_machines(system):
    assert free_memory() == 1000 * 1024
    assert budget_of(None) == pytest.approx(0.7 * 1000 * 1024)


def test_free_memory_is_that_of_the_tightest_group(system):
    (system / "cgroup").write_text("0::/box/inner\n")
    names = ("memory.max", "memory.current")
    limit(system / "groups" / "box", names, 900_000, 600_000, 50_000)
    limit(system / "groups" / "box" / "inner", names, "max", 1)
    assert free_memory() == 350_000
    limit(system / "groups", names, 100_000, 90_000)
    assert free_memory() == 10_000
    limit(system / "groups", names, 100_000, 190_000)
    assert free_memory() == 0


def test_free_memory_of_older_groups(system):
    (system / "cgroup").write_text("3:cpu:/a\n4:memory:/a\n")
    limit(system / "groups" / "memory" / "a", ("memory.limit_in_bytes", "memory.usage_in_bytes"), 500, 100)
    assert free_memory() == 400


def test_where_nobody_knows_what_is_free_nothing_is_refused(system, monkeypatch):
    (system / "meminfo").unlink()
    monkeypatch.delattr("os.sysconf")
    assert free_memory() is None
    assert budget_of(None) == math.inf
    assert plain().fit(ROWS[:20]).plan_.graph == "complete"


def test_a_fit_over_the_budget_is_refused_before_anything_large_is_there():
    plain().fit(ROWS[:50])
    tracemalloc.start()
    with pytest.raises(ValueError, match="needs about 138 MiB of memory, but the budget is 11") as error:
        plain(graph="complete", max_memory="11MiB").fit(ROWS)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * ROWS.nbytes + 2**18
    assert "prototypes=32, graph='knn' would take" in str(error.value)
    assert "\n" not in str(error.value)
    assert plain(graph="knn", prototypes=32, max_memory="11MiB").fit(ROWS).plan_.peak <= 11 * 2**20


def test_what_cannot_fit_at_all_says_so():
    with pytest.raises(ValueError, match="no other settings fit either: raise max_memory, or fit to fewer patterns"):
        plain(graph="complete", max_memory="1MB").fit(ROWS)


def test_with_plan_auto_what_fits_is_taken_and_told():
    clf = plain(graph="complete", max_memory="20MB", plan="auto", random_state=0)
    with pytest.warns(PlanWarning, match="taken instead: prototypes=64, graph='knn'") as told:
        clf.fit(ROWS)
    assert told[0].filename == __file__
    assert (clf.plan_.graph, clf.plan_.prototypes, len(clf.prototypes_)) == ("knn", 64, 64)
    assert hasattr(clf, "neighbour_entropy_")
    same = plain(graph="knn", prototypes=64, random_state=0).fit(ROWS)
    assert_array_equal(clf.score_samples(ROWS[:50]), same.score_samples(ROWS[:50]))
    assert clf.get_params()["prototypes"] is None
    assert pickle.loads(pickle.dumps(clf)).plan_ == clf.plan_


def test_fewer_threads_come_before_another_model():
    request = Request(2000, 5, resolution="single", n_jobs=8, graph="complete")
    one = replace(request, n_jobs=1).plan()
    assert changes(request, fitting_plan(request, one.peak)) == {"n_jobs": 1}


def test_graph_auto_is_complete_for_few_patterns_and_where_all_are_prototypes():
    assert plan_for(COMPLETE_UP_TO, 5).graph == "complete"
    assert plan_for(COMPLETE_UP_TO, 5, prototypes=10).graph == "complete"
    assert plan_for(2 * COMPLETE_UP_TO, 5).graph == "complete"  # the components of as many columns take longer
    assert plan_for(2 * COMPLETE_UP_TO, 5, prototypes=256).graph == "knn"
    auto, complete = (plain(graph=graph).fit(ROWS[:200]) for graph in ("auto", "complete"))
    assert_array_equal(auto.score_samples(ROWS), complete.score_samples(ROWS))
    assert auto.plan_ == complete.plan_


def test_graph_auto_becomes_sparse_where_all_pairs_do_not_fit():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = plain(prototypes=50, max_memory="60MB").fit(ROWS)
    assert clf.plan_.graph == "knn"
    assert hasattr(clf, "neighbour_entropy_")
    assert len(clf.prototypes_) == 50


def test_the_users_own_graph_and_share_of_prototypes_are_kept(monkeypatch):
    built = []
    build = NeighbourGraph.build
    monkeypatch.setattr(NeighbourGraph, "build", lambda self, *rest: built.append(self.k) or build(self, *rest))
    clf = plain(graph=NeighbourGraph(k=3), prototypes=0.1, random_state=0).fit(ROWS[:300])
    assert built == [3]
    assert (clf.plan_.graph, clf.plan_.prototypes) == ("knn", 30)
    assert plain(graph=CompleteGraph()).fit(ROWS[:50]).plan_.graph == "complete"


def test_a_search_of_the_users_own_can_be_planned():
    clf = EntropicOneClassClassifier(search=OneBatch([np.ones((3, 4)) * 0.5]), random_state=0).fit(ROWS[:60])
    assert clf.plan_.seconds > plain().fit(ROWS[:60]).plan_.seconds


@pytest.mark.parametrize(
    ("measure", "X"),
    [
        ("gower", [{"a": 1.0, "b": "x"}, {"a": 2.0, "b": "y"}, {"a": 4.0, "b": "x"}]),
        ("precomputed", np.ones((4, 4)) - np.eye(4)),
        ("jaccard", [{1}, {1, 2}, {3}]),
        (Manhattan(), np.eye(3)),
        (lambda a, b: abs(a - b), [1.0, 2.0, 4.0]),
    ],
)
def test_every_kind_of_data_has_a_plan(measure, X):
    plan = plain(measure=measure).fit(X).plan_
    assert (plan.n, plan.prototypes, plan.graph) == (len(X), len(X), "complete")
