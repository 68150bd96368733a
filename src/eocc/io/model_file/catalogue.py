"""The classes and functions that a model file may name: all that the registries list, and what these need.

A measure names in `fitted_class` and `stored_classes` what its models need. A class lists its fields, each with a
check, in `stored`. One without `stored`, such as a search, is a dataclass of plain settings, which it checks itself.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import FunctionType
from typing import Any

import numpy as np

from eocc.foundation.checks import Check, array_of, hashable, instance, integer, optional, setting, tuple_of
from eocc.measures import MEASURES
from eocc.measures.coders import FittedColumn
from eocc.measures.composite import Composite
from eocc.measures.labelled_graph import LabelledGraph
from eocc.regions import EXTENTS, MEMBERSHIP_FUNCTIONS, REPRESENTATIVES, TCONORMS
from eocc.regions.performance import COUNT_PERFORMANCES
from eocc.search import SEARCHES
from eocc.space.baseline import Baseline
from eocc.space.prototypes import SELECTIONS
from eocc.synthesis import GRAPHS
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import AND, EMPTY, KINDS, Column, Table
from eocc.tables.windows import Windowing

REGISTRIES: tuple[Mapping[str, Any], ...] = (
    EXTENTS, REPRESENTATIVES, TCONORMS, MEMBERSHIP_FUNCTIONS, COUNT_PERFORMANCES, SEARCHES, SELECTIONS, GRAPHS,
)  # fmt: skip


def _is_column(value: Any) -> bool:
    """Accept numbers with gaps, which are NaN."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and not np.isinf(value).any()


GRAPHS_AND_TABLES: dict[type, Mapping[str, Check]] = {
    LabelledGraph: {
        "n_vertices": integer(0, 2**40),
        "edges": array_of(np.int64, 2),
        "vertex_attributes": instance(dict),
        "edge_attributes": instance(dict),
        "directed": instance(bool),
        "vertex_names": instance(list),
    },
    Table: {"columns": tuple_of(instance(Column), 1)},
    Column: {
        "name": hashable,
        "kind": instance(str),
        "values": _is_column,
        "labels": optional(instance(tuple)),
        "levels": optional(instance(tuple)),
    },
    Reading: Reading.stored,
    Baseline: Baseline.stored,
    ReadColumn: ReadColumn.stored,
    Windowing: Windowing.stored,
    Spelling: {
        "decimal": lambda value: value in (".", ","),
        "day_first": optional(instance(bool)),
    },
}


def _has_its_labels(column: Column) -> bool:
    """Say whether the values of a column with labels are indices into them, and others are of a known kind."""
    present = column.values[~np.isnan(column.values)]
    if column.labels is None:
        return _has_known_kind(column) and (column.kind != EMPTY or len(present) == 0)
    return bool(((present >= 0) & (present < len(column.labels)) & (present == np.floor(present))).all())


def _has_known_kind(column: Any) -> bool:
    """Say whether a column of a table, or of a fitted measure, holds kinds of values that exist."""
    return {*column.kind.split(AND)} <= {EMPTY, *KINDS}


def _has_equal_columns(table: Table) -> bool:
    """Say whether all columns of a table are equally long and have different names."""
    lengths = {len(column.values) for column in table.columns}
    return len(lengths) == 1 and len(set(table.names)) == len(table.columns)


FITS: dict[type, Callable[[Any], bool]] = {
    Column: _has_its_labels, Table: _has_equal_columns, FittedColumn: _has_known_kind,
    Baseline: lambda baseline: baseline.is_sound,
}  # fmt: skip


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that a file may name, by name."""
    return {one.__name__: one for registry in REGISTRIES for one in registry.values() if isinstance(one, FunctionType)}


@cache
def classes() -> dict[str, type]:
    """Return the classes that a file may name, by name."""
    return {name_of(kind): kind for kind in _classes()}


def _classes() -> Iterator[type]:
    for registry in REGISTRIES:
        for entry in registry.values():
            if not isinstance(entry, FunctionType):
                yield entry if isinstance(entry, type) else type(entry)
    yield from GRAPHS_AND_TABLES
    for kind in (Composite, *MEASURES.values()):
        yield from (kind, kind.fitted_class, *kind.stored_classes)


def name_of(kind: type) -> str:
    """Return what a file calls a class."""
    return kind.__name__.lstrip("_")


def is_stored(kind: type) -> bool:
    """Say whether a file may name the class."""
    return classes().get(name_of(kind)) is kind


def fields_of(kind: type) -> Mapping[str, Check]:
    """Return the fields of a class that a file holds, each with its check."""
    if kind in GRAPHS_AND_TABLES:
        return GRAPHS_AND_TABLES[kind]
    if hasattr(kind, "stored"):
        stored: Mapping[str, Check] = kind.stored
        return stored
    return {field.name: setting for field in fields(kind) if field.init} if is_dataclass(kind) else {}


def make(kind: type, values: Mapping[str, Any]) -> Any:
    """Return an object with these fields, all of them checked."""
    for field, accepts in fields_of(kind).items():
        if not accepts(values[field]):
            raise ValueError(f"{name_of(kind)}.{field} is of the wrong kind or out of range")
    made = kind(**values)
    if kind in FITS and not FITS[kind](made):
        raise ValueError(f"the fields of a {name_of(kind)} do not fit together")
    return made
