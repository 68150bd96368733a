"""The documentation: links, a page and an example for every public name, and commands that print what is shown.

`make docs` builds the site itself.
"""

import ast
import doctest
import importlib
import inspect
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from eocc.cli import main

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.parts)
GALLERY = sorted((DOCS / "gallery").glob("*/*.py"))
EXECUTED = [*GALLERY, *sorted((DOCS / "how_it_works").glob("*.py"))]
# The packages for users, and the page that lists their names.
PUBLIC = {
    "eocc": "classifiers",
    "eocc.measures": "measures",
    "eocc.entropic.search": "stages",
    "eocc.space.prototypes": "stages",
    "eocc.explain": "explain",
    "eocc.plots": "plots",
    "eocc.report": "explain",
    "eocc.streaming": "classifiers",
    "eocc.scale.cluster": "classifiers",
    "eocc.rivals": "rivals",
    "eocc.datasets": "rivals",
    "eocc.experiments": "rivals",
    "eocc.entropic.graph": "stages",
    "eocc.entropic.partition": "stages",
}
# Names in __all__ that serve other rooms of the package.
INTERNAL = {"__version__", "files_of", "writing_parquet", "contents", "lazily"}
NAMES = [
    (module, name)
    for module in PUBLIC
    for name in importlib.import_module(module).__all__
    if name not in INTERNAL
] + [("eocc.integrations.pyod", "EOCC")]  # fmt: skip


def without_code(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    headings = re.findall(r"^#+ (.+)$", without_code(page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def source_of(path):
    """The file that a link leads to: pages of the executed galleries are made from Python files."""
    parts = path.relative_to(ROOT).parts
    if len(parts) < 2 or not parts[1].startswith("auto_"):
        return path
    header = "GALLERY_HEADER.rst" if path.stem == "index" else f"{path.stem}.py"
    return DOCS / parts[1].removeprefix("auto_") / Path(*parts[2:-1]) / header


@pytest.mark.parametrize("page", [*PAGES, *ROOT.glob("*.md")], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    links = re.findall(r"\]\(([^)\s]+)\)", without_code(page.read_text()))
    for target, _, anchor in (link.partition("#") for link in links):
        if not target.startswith(("http://", "https://")):
            found = (page.parent / target).resolve() if target else page
            assert source_of(found).exists(), f"{page}: {target}"
            assert not anchor or anchor in anchors(found), f"{page}: {target}#{anchor}"


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_links_of_executed_pages_lead_to_pages(path):
    for target in re.findall(r":doc:`(?:[^<`]*<)?(/?[\w/]+)>?`", path.read_text()):
        home = DOCS / target[1:] if target.startswith("/") else path.parent / target
        assert home.with_suffix(".md").exists() or home.with_suffix(".py").exists(), target


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.DOTALL):
            entries = [re.sub(r".*<(.+)>", r"\1", line) for line in block.splitlines() if line and line[0] != ":"]
            listed |= {(page.parent / f"{entry}.md").resolve() for entry in entries}
    assert set(PAGES) - listed == set()


def test_links_to_the_source_name_functions_that_exist():
    line_of = runpy.run_path(str(DOCS / "_ext" / "source_lines.py"))["line_of"]
    links = [link for page in PAGES for link in re.findall(r"\{source\}`([^`]+)`", page.read_text())]
    assert len(links) > 10
    for path, _, name in (link.partition(" ") for link in links):
        assert (ROOT / "src" / path).is_file()
        assert not name or line_of(ROOT / "src" / path, name) > 0


def listed_names(page):
    """The names that the tables of a page of the reference list, with their module."""
    module = None
    for line in (DOCS / "reference" / "api" / f"{page}.md").read_text().splitlines():
        if found := re.match(r"\.\. currentmodule:: (\S+)", line):
            module = found[1]
        elif module and re.match(r"   \w+$", line):
            yield module, line.strip()


def test_every_public_name_has_a_page_and_every_page_a_name():
    assert sorted(name for page in set(PUBLIC.values()) for name in listed_names(page)) == sorted(NAMES)


def words(text):
    return set(re.findall(r"\w+", text))


@pytest.fixture(scope="module")
def shown():
    """All words in the code of the gallery and of the examples in the reference."""
    examples = [code for page in (DOCS / "reference" / "api").glob("*.md")
                for code in re.findall(r"^(?:>>>|\.\.\.) (.*)$", page.read_text(), re.MULTILINE)]  # fmt: skip
    return words(" ".join([*examples, *(path.read_text() for path in EXECUTED)]))


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda part: part)
def test_every_public_name_has_a_docstring_and_an_example(module, name, shown):
    text = inspect.getdoc(getattr(importlib.import_module(module), name)) or ""
    assert len(text.split()) > 2
    assert ">>>" in text or name in shown


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, name in NAMES if module in ("eocc", "eocc.report", "eocc.integrations.pyod")],
)
def test_docstrings_of_the_public_face_have_sections(module, name):
    thing = getattr(importlib.import_module(module), name)
    sections = inspect.getdoc(thing).split("Parameters\n----------\n")[1]
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^([\w, ]+) : ", sections, re.MULTILINE))))
    assert set(inspect.signature(thing).parameters) - {"parameters"} <= described


@pytest.mark.parametrize(("module", "name"), NAMES, ids=lambda part: part)
def test_every_public_name_says_what_its_parameters_mean_and_what_it_returns(module, name):
    thing = getattr(importlib.import_module(module), name)
    text, is_class = inspect.getdoc(thing), isinstance(thing, type)
    signature = inspect.signature(thing)
    if any(one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in signature.parameters.values()):
        assert re.search(r"^(Parameters|Attributes)\n-", text, re.MULTILINE)
    if not is_class and signature.return_annotation is not None:
        assert re.search(r"^(Returns|Yields)\n-", text, re.MULTILINE)


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_executed_pages_have_a_title_and_a_picture_and_import_what_exists(path):
    tree = ast.parse(path.read_text())
    title, line = ast.get_docstring(tree).splitlines()[:2]
    assert line == "=" * len(title)
    assert path.read_text().rstrip().splitlines()[-1].startswith(("plt.show()", "#"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "eocc":
            assert all(hasattr(importlib.import_module(node.module), alias.name) for alias in node.names)


def test_the_gallery_is_large():
    assert len(GALLERY) >= 15


def blocks(page):
    """The blocks of code of a page, with their languages."""
    return re.findall(r"^```(python|console)\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", ["start"])
def test_commands_print_what_the_page_shows(page, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    known = {}
    for language, code in blocks(DOCS / f"{page}.md"):
        if language == "python":
            examples = doctest.DocTestParser().get_examples(code)
            exec(compile("".join(one.source for one in examples), page, "exec"), known)
            continue
        for command, shown in re.findall(r"^\$ eocc (.*)\n((?:[^$].*\n)*)", code, re.MULTILINE):
            capsys.readouterr()
            assert main(shlex.split(command)) == 0
            printed = "".join(capsys.readouterr())
            assert [line for line in shown.splitlines() if line not in printed] == []


@pytest.mark.parametrize("path", EXECUTED, ids=lambda path: path.stem)
def test_what_the_site_executes_runs(path):
    subprocess.run([sys.executable, "-PW", "ignore", path], env={**os.environ, "MPLBACKEND": "agg"}, check=True)
