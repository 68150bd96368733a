"""The classes and functions that a model file may name: all that the registries list, and what these need.

A measure names in `fitted_class` and `stored_classes` what its models need. Their fields declare what is stored
(``base/stored.py``). Objects of the other registries, such as searches, have plain settings, which they check
themselves.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from itertools import chain
from types import FunctionType
from typing import Any

from eocc.base.checks import Check, wanted
from eocc.base.stored import declared, restored
from eocc.entropic import EXTENTS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, TCONORMS
from eocc.measures import MEASURES
from eocc.measures.composite import Composite
from eocc.measures.labelled_graph import LabelledGraph
from eocc.space.baseline import Baseline
from eocc.space.prototypes import SELECTIONS
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import Column, Table
from eocc.tables.windows import Windowing

SETTINGS = (type(None), bool, int, float, str)
SETTING = wanted(
    "a plain value or a tuple of numbers",
    lambda value: type(value) in SETTINGS or (type(value) is tuple and all(type(one) in (int, float) for one in value)),
)


def _entries() -> Iterator[Any]:
    for registry in (EXTENTS, TCONORMS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, SELECTIONS):
        yield from registry.values()


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that a file may name, by name."""
    return {one.__name__: one for one in _entries() if isinstance(one, FunctionType)}


def classes() -> Iterator[tuple[type, Callable[[Any], Mapping[str, Check]]]]:
    """Yield the classes that a file may name, each with what returns its fields; most are imported only then."""
    yield from _with_settings(MEMBERSHIP_FUNCTIONS.values())  # every model has one
    for stored in (LabelledGraph, Table, Column, Reading, Baseline, ReadColumn, Windowing, Spelling):
        yield stored, declared
    for measure in chain([Composite], MEASURES.values()):
        for kind in (measure, measure.fitted_class, *measure.stored_classes):
            yield kind, declared
    yield from _with_settings(_entries())


def _with_settings(entries: Iterable[Any]) -> Iterator[tuple[type, Any]]:
    for one in entries:
        if not isinstance(one, FunctionType):
            yield one if isinstance(one, type) else type(one), _settings_of


def _settings_of(kind: Any) -> Mapping[str, Check]:
    return {field.name: SETTING for field in fields(kind) if field.init} if is_dataclass(kind) else {}


@cache
def _stored(name: str) -> tuple[type | None, Callable[[Any], Mapping[str, Check]]]:
    return next((one for one in classes() if name_of(one[0]) == name), (None, declared))


def class_named(name: str) -> type | None:
    """Return the class of this name, None if a file may name none."""
    return _stored(name)[0]


def name_of(kind: type) -> str:
    """Return what a file calls a class."""
    return kind.__name__.lstrip("_")


def is_stored(kind: type) -> bool:
    """Say whether a file may name the class."""
    return kind.__module__.startswith("eocc.") and class_named(name_of(kind)) is kind


def fields_of(kind: Any) -> Mapping[str, Check]:
    """Return the fields of a class that a file holds, each with its check."""
    return _stored(name_of(kind))[1](kind)


def make(kind: type, values: Mapping[str, Any]) -> Any:
    """Return an object with these fields, all of them checked."""
    return restored(kind, values, name_of(kind), layout=fields_of(kind))
