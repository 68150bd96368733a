"""The memory limit: what a fit needs is known before it starts, and a fit that needs more is refused with a remedy."""

import tracemalloc

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from doubles import Manhattan, plain
from eocc import RegionClassifier, SurpriseClassifier
from eocc.base.checks import bytes_of
from eocc.entropic.search import GeneticSearch
from eocc.measures.base import n_columns_of
from eocc.scale import memory
from eocc.scale.memory import OVERHEAD, MemoryLimitError, check_memory, free_memory, memory_limit
from eocc.streaming import fit_stream

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(5000, 10))
WORDS = ["".join(RNG.choice(list("abcd"), size=8)) for _ in range(500)]
RECORDS = [{"a": float(a), "b": float(b), "c": str(round(a))} for a, b in RNG.normal(size=(800, 2))]
FEW = GeneticSearch(population_size=6, max_generations=2)


def needed(clf, X, n_outliers=0):
    """What the classifier says that a fit needs, without the constant overhead."""
    patterns = clf._read(X)
    pair_bytes = clf.resolved_measure_.pair_bytes(patterns)
    n = len(patterns) - n_outliers
    return clf._plan_fit(n, n_columns_of(patterns), pair_bytes, n_outliers)[0] - OVERHEAD


@pytest.mark.parametrize(
    ("clf", "X"),
    [
        (SurpriseClassifier(), ROWS),
        (SurpriseClassifier(n_jobs=2), ROWS),
        (SurpriseClassifier(), RNG.normal(size=(3000, 100))),
        (SurpriseClassifier(prototypes=300), ROWS),
        (SurpriseClassifier(measure=Manhattan(), prototypes=300), ROWS),
        (SurpriseClassifier(), WORDS),
        (SurpriseClassifier(prototypes=100), WORDS),
        (SurpriseClassifier(), RECORDS),
        (SurpriseClassifier(measure="precomputed"), cdist(ROWS[:1000], ROWS[:1000])),
        (plain(), ROWS[:2000]),
        (plain(search=FEW, n_jobs=2), ROWS[:1000]),
        (plain(extent="median"), ROWS[:1500]),
        (plain(prototypes=100), ROWS[:2500]),
        (plain(), WORDS),
        (plain(), RECORDS),
    ],
    ids=lambda value: f"{len(value)}" if hasattr(value, "__len__") else str(value)[:40],
)
def test_the_estimate_covers_the_peak_and_is_not_far_above_it(clf, X):
    clf.fit(X)  # what is compiled and cached at first use is not part of the fit
    tracemalloc.start()
    try:
        clf.fit(X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    estimate = needed(clf, X)
    assert peak <= estimate + OVERHEAD
    assert estimate <= 5 * peak


@pytest.mark.parametrize("prototypes", [1000, 5000])
def test_a_measure_of_rows_of_your_own_counts_all_pairs(prototypes):
    clf = SurpriseClassifier(measure=Manhattan(), prototypes=prototypes, max_memory="100MiB")
    for fit in (clf.fit, lambda rows: fit_stream(clf, [rows[:3000], rows[3000:]])):
        with pytest.raises(MemoryLimitError, match="pass prototypes="):
            fit(ROWS)
    assert len(fit_stream(clf.set_params(prototypes=100), [ROWS[:3000], ROWS[3000:]]).prototypes_) == 100


def test_rows_that_are_read_part_by_part_do_not_count():
    clf, parts = SurpriseClassifier(prototypes=0.1, max_memory="47MiB"), [ROWS + k for k in range(20)]
    with pytest.raises(MemoryLimitError, match=r"needs about 51\.7 MiB"):
        clf.fit(np.concatenate(parts))
    assert len(fit_stream(clf, parts).prototypes_) == 10_000
    with pytest.raises(MemoryLimitError, match=r"needs about 42\.2 MiB"):
        fit_stream(clf.set_params(max_memory="40MiB"), parts)


def test_known_outliers_count():
    X, y = np.vstack([ROWS[:2000], ROWS[:500] + 3]), np.repeat([1, -1], [2000, 500])
    clf = SurpriseClassifier().fit(X, y)
    tracemalloc.start()
    try:
        clf.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= needed(clf, X, 500) + OVERHEAD


@pytest.mark.parametrize(
    ("clf", "remedy"),
    [
        (SurpriseClassifier(), "pass prototypes=1000, or fewer rows, or raise max_memory"),
        (plain(), "use RegionClassifier, or pass fewer rows, prototypes=1250, fewer threads, or raise max_memory"),
        (plain(prototypes=64), "use RegionClassifier, or pass fewer rows, fewer threads, or raise max_memory"),
    ],
)
def test_a_fit_that_needs_more_is_refused_at_once_with_a_remedy(clf, remedy):
    clf.set_params(max_memory="1MiB")
    with pytest.raises(MemoryLimitError, match=f"the fit needs about .*, more than the limit of 1 MiB; {remedy}"):
        clf.fit(ROWS)


def test_the_remedy_works():
    limit = 2**27
    with pytest.raises(MemoryLimitError):
        plain(max_memory=limit).fit(ROWS)
    assert len(plain(max_memory=limit).fit(ROWS[:1500]).labels_) == 1500
    assert len(RegionClassifier(max_memory=limit).fit(ROWS).regions_) > 0


def test_without_a_limit_free_memory_is_the_limit(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 2**30)
    assert memory_limit(None) == 0.7 * 2**30
    check_memory(0.69 * 2**30, None, "")
    with pytest.raises(MemoryLimitError, match="more than 70% of the free memory, 717 MiB; buy more"):
        check_memory(0.71 * 2**30, None, "buy more")


def test_small_fits_are_never_refused_without_a_limit(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 0)
    monkeypatch.setattr(SurpriseClassifier, "_plan_fit", lambda self, n, *more: (self.bytes, "", n))
    clf = SurpriseClassifier()
    clf.bytes = 2**28 - 1
    assert clf._check_memory(30, 2) == 30
    clf.bytes += 1
    with pytest.raises(MemoryLimitError):
        clf._check_memory(30, 2)


def test_an_unknown_amount_of_free_memory_refuses_nothing(monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    check_memory(1e18, None, "")


def test_the_memory_of_this_machine_is_known():
    assert 2**20 < free_memory() < 2**50


@pytest.mark.parametrize(("text", "size"), [("1KiB", 1024), ("2 MB", 2_000_000), ("1.5GiB", 3 * 2**29), (7, 7)])
def test_sizes_as_text(text, size):
    assert bytes_of(text) == size


@pytest.mark.parametrize("wrong", ["", "GiB", "-1", 0, -5, True, 1.5, "1 XB"])
def test_wrong_sizes_are_named(wrong):
    with pytest.raises(ValueError, match="max_memory must be a number of bytes or a text such as '2GiB'"):
        SurpriseClassifier(max_memory=wrong).fit(ROWS[:10])
