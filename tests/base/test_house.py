"""The house keeps its own rules: what imports what, and what the documents promise."""

import ast
import re
import runpy
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import eocc

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "eocc"
# The rooms in the order in which the package's docstring lists them: a room may import those before it.
ROOMS = re.findall(r"^- ``(\w+)``", eocc.__doc__, re.MULTILINE)


@cache
def imports(path):
    """The full names of all modules a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    modules = [name.name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    return modules + [node.module for node in nodes if isinstance(node, ast.ImportFrom)]


def imported(path):
    """The eocc modules a file imports, by their first name."""
    for name in imports(path):
        if name.split(".")[0] == "eocc":
            yield name.split(".")[1] if "." in name else "__init__"


def files():
    return [path for path in sorted(SOURCE.rglob("*.py")) if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_rooms_before_it(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    names = set(imported(path)) - {own, "kernels"}
    if own == "kernels":
        allowed = {"numpy", "numba", "typing", "hashlib", "pathlib", "eocc"}
        assert {name.split(".")[0] for name in imports(path)} <= allowed
        assert names == set()
    if own == "cli":  # it prints the version, which the package itself knows
        names -= {"__init__"}
    places = [*ROOMS, "__main__"]
    assert {name for name in names if places.index(name) >= places.index(own)} == set()


def test_dask_is_a_plug_in():
    outside = {name for path in files() if "scale" not in path.parts for name in imports(path)}
    assert {name for name in outside if name.startswith(("dask", "distributed", "eocc.scale.cluster"))} == set()


BLOCKED = """
import sys
sys.modules["dask"] = sys.modules["distributed"] = None
import numpy as np
from eocc import EntropicOneClassClassifier, RegionClassifier, SurpriseClassifier
X = np.random.default_rng(0).normal(size=(30, 2))
for classifier in (SurpriseClassifier(), RegionClassifier(), EntropicOneClassClassifier(search=None)):
    for rows in (X, [f"word {k % 7}" for k in range(30)]):
        classifier.fit(rows).predict(rows)
print([name for name in sys.modules if name.startswith("eocc.scale.cluster")])
"""


def test_all_classifiers_fit_without_dask():
    run = subprocess.run([sys.executable, "-c", BLOCKED], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_nobody_asks_what_a_measure_has():
    asked = [
        f"{path.relative_to(SOURCE)}: {line.strip()}"
        for path in files()
        for line in path.read_text().splitlines()
        if re.search(r"(has|get)attr\((\w+\.)*(fitted_)?measures?_?\b(?!, \"fit\")", line)
    ]
    assert asked == []


def test_the_package_holds_the_rooms_of_its_docstring_and_no_loose_modules():
    found = {path.name for path in SOURCE.iterdir()} - {"__pycache__", "py.typed"}
    assert found == {*ROOMS, "kernels", "__init__.py", "__main__.py"}


def test_files_stay_short():
    assert {path.name: lines for path in files() if (lines := len(path.read_text().splitlines())) > 400} == {}


def test_every_departure_is_cited_where_it_happens_and_only_those():
    table = (ROOT / "docs" / "research" / "departures.md").read_text().splitlines()
    keys = {line.split("|")[1].strip() for line in table if line.startswith("|")} - {"point", "---"}
    source = " ".join(path.read_text() for path in files())
    cited = set(re.findall(r"departure: ([a-z0-9 ]+?)(?=[\.\n;)]|$)", source))
    assert cited == keys


def test_the_readme_names_files_that_exist():
    readme = (ROOT / "README.md").read_text()
    links = [part.split(")")[0] for part in readme.split("](")[1:]]
    assert links
    assert all((ROOT / link).exists() for link in links)


def test_the_readmes_picture_can_be_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["front_page.py", str(tmp_path / "picture.png")])
    runpy.run_path(str(ROOT / "examples" / "front_page.py"), run_name="__main__")
    assert (tmp_path / "picture.png").stat().st_size > 10_000


def definitions(path):
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)]


def test_kernels_take_at_most_eight_arguments():
    paths = (SOURCE / "kernels").glob("*.py")
    long = {node.name for path in paths for node in definitions(path) if len(node.args.args) > 8}
    assert long <= {"insert_near", "lane_minima", "nearest_by_products", "summarise_lists"}  # these may only go


# Public names of modules that stand for different things in different rooms. The count may only fall.
MOST_SHARED_NAMES = 101


def test_a_name_stands_for_one_thing():
    rooms = {}
    for path in files():
        for node in ast.parse(path.read_text()).body:
            if not (isinstance(node, ast.Assign) and "TypeVar" in ast.unparse(node)):
                for name in defined(node):
                    rooms.setdefault(name, set()).add(path.relative_to(SOURCE).parts[0])
    assert len([name for name, owners in rooms.items() if len(owners) > 1]) <= MOST_SHARED_NAMES


def defined(node):
    """The public names that a statement of a module defines."""
    names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
    for target in getattr(node, "targets", []):
        names += [part.id for part in ast.walk(target) if isinstance(part, ast.Name)]
    return [name for name in names if not name.startswith("_")]


@pytest.mark.parametrize("name", ["SurpriseClassifier", "RegionClassifier", "EntropicOneClassClassifier"])
def test_a_classifier_shows_what_users_call(name):
    shown = [one for one in dir(getattr(eocc, name)) if not one.startswith("_")]
    assert len(shown) <= 42, shown


def test_no_test_imports_from_another_test():
    tests = {path.stem: path for path in (ROOT / "tests").rglob("test_*.py")}
    assert [(test, name) for test, path in tests.items() for name in imports(path) if name in tests] == []
