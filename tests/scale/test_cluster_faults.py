"""A cluster whose workers come late, and one whose scheduler goes away."""

import json
import subprocess
import sys
import threading
import time
from contextlib import ExitStack

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from eocc import SurpriseClassifier
from eocc.scale import cluster

ROWS = np.random.default_rng(0).normal(size=(120, 3))
WORDS = ["".join(map(str, word)) for word in np.random.default_rng(1).integers(0, 3, size=(80, 7))]
FITS = {
    "pairs": lambda: SurpriseClassifier(measure="string-edit").fit(WORDS),
    "passes": lambda: SurpriseClassifier().fit(da.from_array(ROWS, chunks=(30, 3))),
}


def test_workers_that_come_late_give_the_same_model():
    here = FITS["pairs"]()
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as made,
        Client(made, set_as_default=False) as empty,
        ExitStack() as stack,
    ):
        with pytest.warns(RuntimeWarning, match="no worker"):
            stack.enter_context(cluster.on(empty))
        threading.Thread(target=made.scale, args=[1]).start()
        there = FITS["pairs"]()
    np.testing.assert_array_equal(there.score_samples(WORDS), here.score_samples(WORDS))


@pytest.mark.filterwarnings("ignore:the cluster has no worker")
@pytest.mark.parametrize("name", FITS)
def test_a_scheduler_that_goes_away_is_one_clear_error(name, tmp_path):
    where = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    scheduler = subprocess.Popen([*command, "--scheduler-file", where], stderr=subprocess.DEVNULL)
    try:
        while not where.exists() or not where.read_text():
            assert scheduler.poll() is None
            time.sleep(0.05)
        address = json.loads(where.read_text())["address"]
        gone = f"the scheduler at {address} went away .*; start it again and repeat"
        with Client(address, set_as_default=False) as client:
            threading.Timer(0.5, scheduler.kill).start()
            with pytest.raises(ConnectionError, match=gone), cluster.on(client):
                FITS[name]()
    finally:
        scheduler.kill()
        scheduler.wait()
