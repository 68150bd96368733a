"""A result on disk is valid as long as the system computes the same."""

import numpy as np
import pytest

from eocc.experiments import cells
from eocc.experiments.cells import SYSTEMS, Cell
from eocc.rivals.densities import Gauss


@pytest.fixture(autouse=True)
def no_cache():
    cells.fingerprint.cache_clear()
    yield
    cells.fingerprint.cache_clear()


def test_systems_have_different_fingerprints_that_do_not_change():
    names = ["EOCC-1", "EOCC-1 (one region allowed)", "EOCC-1 (p = 1)", "EOCC-2", "EOCC-2_10%", "Gauss", "1-NN"]
    first = [cells.fingerprint(name, "rows") for name in names]
    cells.fingerprint.cache_clear()
    assert first == [cells.fingerprint(name, "rows") for name in names]
    assert len(set(first)) == len(names)
    graphs = {cells.fingerprint(name, "graphs") for name in ("EOCC-1", "EOCC-1 (TWEC)", "1-NN", "Parzen")}
    assert len(graphs) == 4


def test_a_fingerprint_changes_with_the_scores_and_with_the_limit(monkeypatch):
    before = {name: cells.fingerprint(name, "rows") for name in ("Gauss", "1-NN")}
    scores, rate = Gauss.score_samples, Gauss().rejection_rate

    def changed(method, amount):
        cells.fingerprint.cache_clear()
        monkeypatch.setattr(Gauss, "score_samples", method)
        monkeypatch.setitem(SYSTEMS, "Gauss", SYSTEMS["Gauss"])
        return cells.fingerprint("Gauss", "rows")

    assert changed(lambda self, X: scores(self, X) * (1 + 1e-9), rate) == before["Gauss"]  # another processor
    assert changed(lambda self, X: scores(self, X) * (1 + 1e-3), rate) != before["Gauss"]
    assert cells.fingerprint("1-NN", "rows") == before["1-NN"]


def test_a_fingerprint_changes_with_the_protocol(monkeypatch):
    before = cells.fingerprint("EOCC-2", "rows"), cells.fingerprint("EOCC-1", "rows")
    monkeypatch.setattr("eocc.experiments.protocol.NOISE", 0.2)
    cells.fingerprint.cache_clear()
    after = cells.fingerprint("EOCC-2", "rows"), cells.fingerprint("EOCC-1", "rows")
    assert (before[0] != after[0], before[1] == after[1]) == (True, True)


def test_a_cell_on_disk_is_known_by_its_fingerprint():
    source = cells._tables()[0]
    assert Cell(source, "raw", "Gauss", 0, 0, 0, "a").key != Cell(source, "raw", "Gauss", 0, 0, 0, "b").key


def test_the_made_up_rows_hold_what_makes_systems_differ():
    rows = np.array(cells._tables()[0].rows)
    assert len(np.unique(rows, axis=0)) < len(rows)
    assert [len(np.unique(column)) <= 2 for column in rows.T] == [False, False, True, False]
