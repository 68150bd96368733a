"""Objects of files, texts, series, tokens and graphs: which kind they are, and whether a model compares them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eocc.foundation.printing import complaint, quoted
from eocc.foundation.wording import counted
from eocc.io.files.chunk import Chunk
from eocc.measures import measures_of
from eocc.measures.auto import kind_of
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.schema import DataSchema
from eocc.tables.sources import column_of_cells
from eocc.tables.table import Table

SINGULAR = {
    "numbers": "list of {} numbers", "records": "record of {} values", "strings": "text",
    "series": "series of numbers", "tokens": "list of texts", "graphs": "graph",
}  # fmt: skip
LONGEST_SHOWN = 40


def describe(schema: DataSchema) -> str:
    """Return the kind of objects in words."""
    return f"series of {counted(schema.n_channels, 'channel')}" if schema.n_channels else schema.kind


def schema_of_objects(chunks: Sequence[Chunk], measure: str | None) -> DataSchema:
    """Return the schema of objects to learn from: the kind that "auto" finds, unless the measure compares another."""
    kind = _common_kind(chunks)
    values = [value for chunk in chunks for value in chunk.objects]
    if measure is None:
        kind = kind_of(values)
    elif kind == "series" and measure in measures_of("numbers"):
        kind = "numbers"
    if kind in ("numbers", "records"):
        width = len(values[0])
        for chunk, index, value in _objects(chunks):
            if len(value) != width:
                raise chunk.fault(index, f"{described(value)} has {len(value)} values, but the first has {width}")
    return DataSchema(kind, n_channels=channels_of(values[0]) if kind == "series" else 0)


def checked_objects(chunk: Chunk, schema: DataSchema) -> list[Any]:
    """Return the objects of a chunk; raise if one is not of the kind that a model compares."""
    if chunk.table is not None:
        wanted = f"write one {SINGULAR[schema.kind]} per line"
        raise complaint(chunk.where, None, f"holds a table, but the model compares {schema.kind}; {wanted}")
    return [_checked(chunk, index, schema) for index in range(len(chunk))]


def _checked(chunk: Chunk, index: int, schema: DataSchema) -> Any:
    value = chunk.objects[index]
    if kind_of_object(value) != schema.kind:
        wanted = f"not a {SINGULAR[schema.kind]}, which the model compares"
        raise chunk.fault(index, f"{described(value)} is {wanted}; correct it, or leave it out")
    if schema.kind != "series":
        return value
    if channels_of(value) != schema.n_channels:
        here = counted(channels_of(value), "channel")
        raise chunk.fault(index, f"a series of {here}, but the model compares {schema.n_channels}; correct it")
    return np.array(value, np.float64)


def as_table(chunk: Chunk, width: int, is_numbers: bool, compared: str) -> Chunk:
    """Return lists, all as long as the model's rows, as a table whose columns have no names."""
    for index, value in enumerate(chunk.objects):
        is_row = isinstance(value, list) and len(value) == width
        if not is_row or (is_numbers and channels_of(value) != 1):
            wanted = SINGULAR["numbers" if is_numbers else "records"].format(width)
            raise chunk.fault(index, f"{described(value)} is not a {wanted}; the model compares {compared}")
    columns = [column_of_cells(str(k), list(cells)) for k, cells in enumerate(zip(*chunk.objects, strict=True))]
    return replace(chunk, table=Table(tuple(columns)), objects=(), is_named=False)


def _common_kind(chunks: Sequence[Chunk]) -> str:
    """Return the kind of all objects; raise if one is of another kind."""
    first = kind_of_object(chunks[0].objects[0])
    for chunk, index, value in _objects(chunks):
        kind = kind_of_object(value)
        if not kind:
            wanted = "records, texts, lists of numbers (steps of one length), lists of texts or node-link graphs"
            raise chunk.fault(index, f"{described(value)} cannot be compared; write {wanted}")
        if kind != first:
            one = f"{described(value)} is one of {kind}, but the first object is one of {first}"
            raise chunk.fault(index, f"{one}; all must be of one kind")
    return first


def _objects(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, int, Any]]:
    return ((chunk, index, value) for chunk in chunks for index, value in enumerate(chunk.objects))


def kind_of_object(value: Any) -> str:
    """Return the kind of data that an object is; "" if it is none."""
    if isinstance(value, LabelledGraph):
        return "graphs"
    if isinstance(value, str):
        return "strings"
    if channels_of(value):
        return "series"
    return "tokens" if isinstance(value, list) and all(isinstance(item, str) for item in value) else ""


def channels_of(value: Any) -> int:
    """Return the number of channels of a series; 0 if the value is not a series."""
    if not isinstance(value, list) or not value:
        return 0
    if all(map(_is_number, value)):
        return 1
    if not all(isinstance(step, list) and step and all(map(_is_number, step)) for step in value):
        return 0
    return len(value[0]) if len({len(step) for step in value}) == 1 else 0


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)


def described(value: Any) -> str:
    """Return an object in a few words, for an error."""
    if isinstance(value, LabelledGraph):
        return "a graph"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Mapping):
        return "an object" if value else "an object without keys"
    text = str(value)
    text = text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
    return f"the {'list' if isinstance(value, list) else 'number'} {text}"
