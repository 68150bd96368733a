"""The classes and functions that a model file may name: all that the registries list, and what these need.

A measure names in `fitted_class` and `stored_classes` what its models need. Their fields declare what is stored
(``base/stored.py``). Objects of the other registries, such as searches, have plain settings, which they check
themselves.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import FunctionType
from typing import Any

from eocc.base.checks import Check, wanted
from eocc.base.stored import declared, restored
from eocc.entropic.regions import EXTENTS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, TCONORMS
from eocc.entropic.search import SEARCHES
from eocc.measures import MEASURES
from eocc.measures.composite import Composite
from eocc.measures.labelled_graph import LabelledGraph
from eocc.space.baseline import Baseline
from eocc.space.prototypes import SELECTIONS
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import Column, Table
from eocc.tables.windows import Windowing

REGISTRIES: tuple[Mapping[str, Any], ...] = (
    EXTENTS, TCONORMS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, SELECTIONS,
)  # fmt: skip
SETTINGS = (type(None), bool, int, float, str)
SETTING = wanted(
    "a plain value or a tuple of numbers",
    lambda value: type(value) in SETTINGS or (type(value) is tuple and all(type(one) in (int, float) for one in value)),
)


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that a file may name, by name."""
    return {one.__name__: one for registry in REGISTRIES for one in registry.values() if isinstance(one, FunctionType)}


@cache
def _with_settings() -> dict[str, type]:
    entries = (entry for registry in REGISTRIES for entry in registry.values() if not isinstance(entry, FunctionType))
    return {name_of(kind): kind for kind in (one if isinstance(one, type) else type(one) for one in entries)}


@cache
def classes() -> dict[str, type]:
    """Return the classes that a file may name, by name."""
    return _with_settings() | {name_of(kind): kind for kind in _declared_classes()}


def _declared_classes() -> Iterator[type]:
    yield from (LabelledGraph, Table, Column, Reading, Baseline, ReadColumn, Windowing, Spelling)
    for kind in (Composite, *MEASURES.values()):
        yield from (kind, kind.fitted_class, *kind.stored_classes)


def name_of(kind: type) -> str:
    """Return what a file calls a class."""
    return kind.__name__.lstrip("_")


def is_stored(kind: type) -> bool:
    """Say whether a file may name the class."""
    return classes().get(name_of(kind)) is kind


def fields_of(kind: Any) -> Mapping[str, Check]:
    """Return the fields of a class that a file holds, each with its check."""
    if _with_settings().get(name_of(kind)) is not kind:
        return declared(kind)
    return {field.name: SETTING for field in fields(kind) if field.init} if is_dataclass(kind) else {}


def make(kind: type, values: Mapping[str, Any]) -> Any:
    """Return an object with these fields, all of them checked."""
    return restored(kind, values, name_of(kind), layout=fields_of(kind))
