import os
import pty
import subprocess
import sys

import pytest

from eocc import EntropicOneClassClassifier
from eocc.search import GeneticSearch

SEARCH = GeneticSearch(max_generations=3)
SCRIPT = """
import numpy as np
from eocc import EntropicOneClassClassifier
from eocc.search import GeneticSearch
X = np.random.default_rng(0).normal(size=(30, 3))
search = GeneticSearch(max_generations=3)
EntropicOneClassClassifier(search=search, random_state=0, verbose=True).fit(X)
"""


def test_silent_by_default(setosa, capsys):
    EntropicOneClassClassifier(search=SEARCH, random_state=0).fit(setosa)
    assert capsys.readouterr() == ("", "")


def test_one_line_per_generation_without_a_terminal(iris, capsys):
    X, y = iris
    EntropicOneClassClassifier(synthesis="validation", search=SEARCH, random_state=0, verbose=True).fit(X, y)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert [line.split(":")[0] for line in lines] == ["generation 0", "generation 1", "generation 2"]
    for word in ("objective", "entropy", "modularity", "performance", "regions", "s left"):
        assert word in lines[0]


def test_a_progress_bar_in_a_terminal():
    master, slave = pty.openpty()
    environment = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    run = subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=slave, stdout=slave, env=environment)
    os.close(slave)
    shown = b""
    while True:
        try:
            chunk = os.read(master, 65536)
        except OSError:  # the other end has closed
            break
        if not chunk:
            break
        shown += chunk
    assert run.wait() == 0
    text = shown.decode()
    assert "3/3" in text
    for word in ("generation", "objective", "entropy", "modularity", "regions", "left"):
        assert word in text


def test_lines_without_rich(setosa, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    EntropicOneClassClassifier(search=SEARCH, random_state=0, verbose=True).fit(setosa)
    assert capsys.readouterr().err.startswith("generation 0: objective")


def test_cma_es_without_its_package_names_the_remedy(setosa, monkeypatch):
    monkeypatch.setitem(sys.modules, "cmaes", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'eocc\[search\]'"):
        EntropicOneClassClassifier(search="cma-es").fit(setosa)
