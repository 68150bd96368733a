"""A cluster without workers, one that loses them, and one whose scheduler goes away."""

import json
import subprocess
import sys
import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from doubles import plain
from eocc import SurpriseClassifier
from eocc.scale import cluster
from eocc.scale.cluster import client as module

ROWS = np.random.default_rng(0).normal(size=(120, 3))
WORDS = ["".join(map(str, word)) for word in np.random.default_rng(1).integers(0, 3, size=(80, 7))]
BEGUN = threading.Event()
FITS = {
    "search": lambda: plain(search="random").fit(ROWS),
    "pairs": lambda: SurpriseClassifier(measure="string-edit").fit(WORDS),
    "passes": lambda: SurpriseClassifier().fit(da.from_array(ROWS, chunks=(30, 3))),
    "a whole collection": lambda: plain().fit(da.from_array(ROWS, chunks=(30, 3))),
}


@pytest.fixture
def empty(monkeypatch):
    """A client of a cluster without workers."""
    monkeypatch.setattr(module, "LOOK_EVERY", 0.05)
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as made,
        Client(made, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.parametrize("name", FITS)
def test_a_cluster_without_workers_is_reported_and_then_an_error(name, empty):
    said = pytest.warns(RuntimeWarning, match=r"the cluster has no worker: waiting for one, at most 0\.4 s")
    failed = pytest.raises(
        TimeoutError, match=r"has had no worker for \d+ s; start workers .* cluster\.on\(client, max_wait"
    )
    with said, failed, cluster.on(empty, max_wait=0.4):
        FITS[name]()


@pytest.mark.parametrize(("name", "rows"), [("search", ROWS), ("pairs", WORDS), ("passes", ROWS)])
def test_workers_that_come_late_give_the_same_model(name, rows, empty, monkeypatch):
    here, start = FITS[name](), threading.Timer(0.5, empty.cluster.scale, [1])
    monkeypatch.setattr(module, "WARNED_AFTER", 0.1)
    start.start()
    with pytest.warns(RuntimeWarning, match="has no worker"), cluster.on(empty, max_wait=60):
        there = FITS[name]()
    start.join()
    np.testing.assert_array_equal(there.score_samples(rows), here.score_samples(rows))


def slow_gap(a, b):
    BEGUN.set()  # the worker is a thread of this process
    time.sleep(0.001)
    return abs(a - b)


def test_workers_that_are_all_lost_later_are_an_error(empty):
    empty.cluster.scale(1)
    empty.wait_for_workers(1)

    def lose():
        BEGUN.wait()
        empty.cluster.scale(0)

    thread = threading.Thread(target=lose)
    thread.start()
    said, failed = (
        pytest.warns(RuntimeWarning, match="no worker"),
        pytest.raises(TimeoutError, match="has had no worker"),
    )
    with said, failed, cluster.on(empty, max_wait=0.4):
        SurpriseClassifier(measure=slow_gap).fit(list(np.linspace(0, 1, 200)))
    thread.join()


def test_a_scheduler_that_goes_away_is_one_clear_error(tmp_path):
    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", where], stderr=subprocess.DEVNULL)
    try:
        while not where.exists() or not where.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(where.read_text())["address"]
        threading.Timer(0.5, scheduler.kill).start()
        with (
            pytest.raises(ConnectionError, match=f"the scheduler at {address} went away .*; start it again and repeat"),
            cluster.on(address),
        ):
            FITS["pairs"]()
    finally:
        scheduler.kill()
        scheduler.wait()


@pytest.mark.parametrize("wait", [0, -1, "long", True])
def test_the_longest_wait_must_be_a_positive_number(wait, empty):
    with pytest.raises(ValueError, match="max_wait must be a number > 0"), cluster.on(empty, max_wait=wait):
        pass


def test_the_default_waits_are_documented():
    assert (module.WARNED_AFTER, module.MAX_WAIT) == (5, 300)
