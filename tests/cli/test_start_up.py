"""What a command imports before it does its work, and what can be compiled in advance."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from eocc import SurpriseClassifier

HEAVY = (
    "sklearn", "pandas", "scipy.stats", "scipy.optimize", "scipy.linalg", "scipy.special", "joblib", "narwhals", "dask",
    "matplotlib", "eocc.explain.rules", "eocc.explain.by_neighbours", "eocc.entropic.regions",
    "eocc.classifiers.entropic", "eocc.measures.graphs",
)  # fmt: skip
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
    command = "score", model, data, "-o", tmp_path / "scores.csv"
    imported(*command)  # compiles, for which numba imports more
    assert imported(*command) == ["numba", "numpy"]


def test_reading_text_and_gaps_imports_no_pandas(tmp_path):
    data, model = tmp_path / "new.csv", tmp_path / "model.eocc"
    rows = [f"{k}.5, {'xyz'[k % 3]}" if k % 7 else f"NA, {'xyz'[k % 3]}" for k in range(90)]
    data.write_text("\n".join(["load,city", *rows, ""]))
    for command in (("fit", data, "-o", model), ("score", model, data, "-o", tmp_path / "scores.csv")):
        imported(*command)  # compiles
        assert not {"pandas", "sklearn"} & {*imported(*command)}


def test_kernels_load_where_numba_has_other_internals():
    code = """
from eocc.kernels import compile
{}
import numpy as np
from eocc import SurpriseClassifier
rows = np.random.default_rng(0).normal(size=(60, 3))
print(SurpriseClassifier().fit(rows).score_samples(rows[:3]).tolist())
"""
    assert run("-c", code.format("compile.rtsys = None")).stdout == run("-c", code.format("")).stdout != ""


def test_kernels_are_compiled_again_where_any_of_them_changed(tmp_path):
    code = """
from eocc.kernels import compile
{}
import numpy as np
from eocc.kernels.distances import row_distance
row_distance(np.ones(2), np.zeros(2))
print(sum(row_distance.stats.cache_misses.values()))
"""
    changes = "", "", "compile.SOURCES = 'of helpers in another file'"
    assert [run("-c", code.format(change), NUMBA_CACHE_DIR=str(tmp_path)).stdout for change in changes] == [
        "1\n", "0\n", "1\n"
    ]  # fmt: skip


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


WARMED = """
import json, sys
from eocc.cli import main

def compiled():
    modules = [module for name, module in sys.modules.items() if name.startswith("eocc.kernels")]
    kernels = [(name, one) for module in modules for name, one in vars(module).items() if hasattr(one, "signatures")]
    return {f"{name}{types}" for name, one in kernels for types in one.signatures}

assert main(["warm-up", "strings"]) == 0
before = compiled()
assert main(["fit", *sys.argv[1:]]) == 0
print(json.dumps([len(before), sorted(compiled() - before)]))
"""


def test_what_is_compiled_in_advance_is_not_compiled_again(tmp_path):
    data = tmp_path / "words.txt"
    data.write_text("".join(f"{a}{b}{a}\n" for a in "abcdef" for b in "abcd"))
    printed = run("-c", WARMED, data, "-o", tmp_path / "model.eocc").stdout
    count, more = json.loads(printed.splitlines()[-1])
    assert count > 5
    assert more == []
