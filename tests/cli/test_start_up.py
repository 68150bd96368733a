"""What a command imports before it does its work, and what can be compiled in advance."""

import os
import subprocess
import sys

import numpy as np
import pytest

from eocc import SurpriseClassifier

HEAVY = ("sklearn", "pandas", "scipy.stats", "scipy.optimize", "joblib", "narwhals", "dask", "matplotlib")
COMMAND = f"""
import sys
from eocc.cli import main
code = main()
print("imported:", *(name for name in {(*HEAVY, "numba", "numpy")!r} if name in sys.modules))
sys.exit(code)
"""


def run(*arguments, **environment):
    asked = [sys.executable, *map(str, arguments)]
    return subprocess.run(asked, capture_output=True, text=True, check=True, env={**os.environ, **environment})


def imported(*arguments):
    return run("-c", COMMAND, *arguments).stdout.splitlines()[-1].split()[1:]


@pytest.mark.parametrize("n_columns", [3, 7])
def test_scoring_numbers_imports_no_heavy_package(n_columns, tmp_path):
    rows = np.random.default_rng(0).normal(size=(60, n_columns))
    model, data = tmp_path / "model.eocc", tmp_path / "new.csv"
    SurpriseClassifier().fit(rows).save(model)
    np.savetxt(data, rows[:20], delimiter=",", header=",".join(f"c{k}" for k in range(n_columns)), comments="")
    assert imported("score", model, data, "-o", tmp_path / "scores.csv") == ["numba", "numpy"]


def test_help_imports_nothing_but_the_command_line():
    assert imported("--help") == []
    assert imported("score", "--help") == []


def test_a_command_decides_as_python_does(tmp_path):
    rows = np.random.default_rng(1).normal(size=(80, 3))
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    run("-m", "eocc", "fit", tmp_path / "rows.csv", "-o", tmp_path / "model.eocc")
    run("-m", "eocc", "score", tmp_path / "model.eocc", tmp_path / "rows.csv", "-o", tmp_path / "scores.csv")
    lines = (tmp_path / "scores.csv").read_text().splitlines()
    place = lines[0].split(",").index("score")
    found = [float(line.split(",")[place]) for line in lines[1:]]
    assert found == SurpriseClassifier().fit(rows).score_samples(rows).tolist()


def test_what_is_compiled_in_advance_is_not_compiled_again(tmp_path):
    data, cache = tmp_path / "sets.jsonl", str(tmp_path / "cache")
    data.write_text("".join(f'["a", "{word}"]\n' for word in "bcdefghijk"))
    asked = "-m", "eocc", "fit", data, "-o", tmp_path / "model.eocc"
    assert "Ready" in run("-m", "eocc", "warm-up", "sets", NUMBA_CACHE_DIR=cache).stdout
    assert "Note: compiling" not in run(*asked, NUMBA_CACHE_DIR=cache).stderr
    assert run(*asked, NUMBA_CACHE_DIR=str(tmp_path / "empty")).stderr.count("Note: compiling code") == 1
