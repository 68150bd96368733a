"""The sources that the results of a system depend on. Results on disk are keyed by a digest of them."""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from eocc.foundation.registry import Registry

# What a run does. Their own imports, all systems and all loaders of data, are not followed.
OF_EVERY_RUN = ("eocc.experiments.protocol", "eocc.experiments.cells")
# The classifiers import these rooms, but a run neither explains nor saves anything.
NOT_RUN = ("eocc.explain", "eocc.io")
# The rivals import it, but on rows of numbers they use no measure.
MEASURES = "eocc.measures"


def code_digest(estimator: Any, measure: str) -> str:
    """Return a digest of the estimator's parameters and of the code of this library that a run of it may execute.

    Comments and docstrings do not count.
    """
    parameters = estimator.get_params(deep=False)
    roots = {type(value).__module__ for value in (estimator, *parameters.values())}
    names = frozenset({measure, *(value for value in parameters.values() if isinstance(value, str))})
    not_run = NOT_RUN if "measure" in parameters or measure != "euclidean" else (*NOT_RUN, MEASURES)
    digest = hashlib.sha256(repr(sorted(parameters.items())).encode())
    for module in sorted(sources(roots, names, not_run) | set(OF_EVERY_RUN)):
        digest.update(f"{module} {_code(module)}".encode())
    return digest.hexdigest()[:16]


def sources(roots: Iterable[str], names: frozenset[str], not_run: tuple[str, ...] = NOT_RUN) -> set[str]:
    """Return the modules of this library among the roots, and all that they import, directly or not.

    Of a table of named choices only those in `names` count. Packages in `not_run` are left out.
    """
    found, new = set[str](), set(roots)
    while new := {module for module in new - found if _is_own(module) and not module.startswith(not_run)}:
        found |= new
        new = {module for one in new for module in _imported_by(one, names)}
    return found


@cache
def _tree(module: str) -> ast.Module:
    spec = find_spec(module)
    assert spec is not None
    return ast.parse(Path(str(spec.origin)).read_text(encoding="utf-8"))


@cache
def _code(module: str) -> str:
    """Return the code of a module without docstrings and comments."""
    for node in ast.walk(_tree(module)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            del node.body[0]
    return ast.dump(_tree(module))


@cache
def _imported_by(module: str, names: frozenset[str]) -> frozenset[str]:
    return frozenset(name for node in _nodes(_tree(module)) for name in _modules_of(node, names))


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes but those that only type checkers read."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        return
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _nodes(child)


def _modules_of(node: ast.AST, names: frozenset[str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    if not isinstance(node, ast.ImportFrom) or not _is_own(str(node.module)):
        return
    package = import_module(str(node.module))
    yield package.__name__
    for alias in node.names:
        thing = getattr(package, alias.name)
        if isinstance(thing, Registry):
            yield from (thing[name].__module__ for name in names & set(thing))
        elif hasattr(package, "__path__"):  # a module of the package, or what a module of it defines
            yield str(getattr(thing, "__module__", None) or getattr(thing, "__name__", ""))


def _is_own(module: str) -> bool:
    return module.startswith("eocc.")
