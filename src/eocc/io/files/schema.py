"""What a file must hold, and its chunks as the rows, records or objects that a measure takes."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eocc.foundation.printing import complaint, printable, quoted
from eocc.foundation.registry import listed
from eocc.foundation.types import Flags
from eocc.foundation.wording import counted
from eocc.io.files.cells import complete_rows, units_in, values_in
from eocc.io.files.chunk import Chunk
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.schema import NUMBER, DataSchema
from eocc.measures.text_format import TextFormat, difference_in_unit

TABLES = ("numbers", "records")
SINGULAR = {
    "numbers": "list of {} numbers", "records": "record of {} values", "strings": "text",
    "series": "series of numbers", "tokens": "list of texts", "graphs": "graph",
}  # fmt: skip
LONGEST_SHOWN = 40


class GapError(ValueError):
    """A row of numbers has a missing value."""


@dataclass(frozen=True)
class Schema(DataSchema):
    """A DataSchema that reads chunks. `remarks` are what the user should know about the columns.

    The columns in `reasons` are in the training file and are not compared: they name the rows, hold no values, or the
    user said so (""). Columns are found by name, or by their order if the model or the file has no names.
    """

    remarks: tuple[str, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    text_format: TextFormat = field(default_factory=TextFormat)

    @property
    def aside(self) -> tuple[str, ...]:
        """The names of the columns that are not compared."""
        return tuple(self.reasons)

    @property
    def names(self) -> list[str]:
        """The names of the columns that are compared."""
        return [str(name) for name, _ in self.columns]

    def describe(self) -> str:
        """Return the schema in words.

        >>> Schema("records", (("load", "number"), ("state", "text"))).describe()
        'records of 2 columns (number: load; text: state)'
        """
        if self.kind not in TABLES:
            return f"series of {counted(self.n_channels, 'channel')}" if self.n_channels else self.kind
        count = counted(len(self.columns), "column")
        if self.kind == "numbers":
            names, what = listed(map(shown, self.names)), "rows of numbers in"
        else:
            by_kind = {held: [shown(name) for name, kind in self.columns if kind == held] for _, held in self.columns}
            names, what = "; ".join(f"{held}: {listed(some)}" for held, some in by_kind.items()), "records of"
        return f"{what} {count}" + (f" ({names})" if self.is_named else "")

    def patterns(self, chunk: Chunk) -> Any:
        """Return the chunk as an array of rows, a list of records, or a list of objects."""
        if self.kind in TABLES:
            return self._rows(chunk if chunk.columns else self._as_table(chunk))
        if chunk.columns:
            wanted = f"write one {SINGULAR[self.kind]} per line"
            raise complaint(chunk.where, None, f"holds a table, but the model compares {self.kind}; {wanted}")
        return [self._object(chunk, index) for index in range(len(chunk))]

    def found(self, chunk: Chunk) -> list[str]:
        """Return the names that the columns have in the file. Columns without names are taken in their order."""
        names = list(chunk.columns)
        if not (self.is_named and (chunk.is_named or set(self.names) <= set(names))):
            if len(names) != len(self.columns):
                needs = f"but the model needs {len(self.columns)}, and one of the two has no names to match"
                raise complaint(chunk.where, None, f"has {counted(len(names), 'column')}, {needs}; drop the others")
            return names
        for absent in (name for name in self.names if name not in chunk.columns):
            has = listed(map(quoted, names))
            raise complaint(chunk.where, None, f"has no column {quoted(absent)}, which the model needs; it has {has}")
        return self.names

    def complete(self, chunk: Chunk) -> Flags:
        """Return, for each row of a chunk, whether no value is missing. Objects are always complete."""
        return complete_rows(chunk, self.found(chunk) if self.kind in TABLES and chunk.columns else [])

    def ignored(self, chunk: Chunk) -> list[str]:
        """Return the columns of a file that the model does not use."""
        known = set(self.found(chunk)) if chunk.columns else set()
        return [name for name in chunk.columns if name not in known]

    def differences(self, chunk: Chunk) -> list[str]:
        """Return how the text of a chunk differs from that of the training table: decimal mark, dates, signs."""
        if not chunk.columns or self.kind not in TABLES:
            return []
        here, there = chunk.spelling, self.text_format.spelling
        notes = list[str]()
        if chunk.is_text and (here.decimal, there.decimal) == (".", ","):
            notes.append("numbers have decimal points, but commas in training")
        if None not in (here.day_first, there.day_first) and here.day_first != there.day_first:
            first, second = ("day", "month") if here.day_first else ("month", "day")
            notes.append(f"dates have the {first} first, but the {second} in training")
        for found, (name, kind) in zip(self.found(chunk), self.columns, strict=True):
            trained = self.text_format.units.get(name, "")
            units = sorted(units_in(chunk, found)) if kind == NUMBER else []
            notes += [note for unit in units if (note := difference_in_unit(found, unit, trained))]
        return notes

    def _rows(self, chunk: Chunk) -> Any:
        found = self.found(chunk)
        values = [values_in(chunk, name, kind) for name, (_, kind) in zip(found, self.columns, strict=True)]
        if self.kind == "records":
            keys = [name for name, _ in self.columns]
            lists = [column.tolist() if isinstance(column, np.ndarray) else column for column in values]
            return [dict(zip(keys, row, strict=True)) for row in zip(*lists, strict=True)]
        rows = np.empty((len(chunk), len(values)))
        for k, column in enumerate(values):
            rows[:, k] = column  # None becomes NaN
        for row, k in [] if self.allows_gaps else np.argwhere(np.isnan(rows))[:1]:
            message = f"column {quoted(found[k])} has no number here; fill it in, or drop the row"
            raise GapError(str(chunk.fault(row, message)))
        return rows

    def _as_table(self, chunk: Chunk) -> Chunk:
        """Return lists, all as long as the model's rows, as columns without names."""
        width = len(self.columns)
        for index, value in enumerate(chunk.objects):
            is_row = isinstance(value, list) and len(value) == width
            if not is_row or (self.kind == "numbers" and channels_of(value) != 1):
                wanted = SINGULAR[self.kind].format(width)
                message = f"{described(value)} is not a {wanted}; the model compares {self.describe()}"
                raise chunk.fault(index, message)
        return as_table(chunk)

    def _object(self, chunk: Chunk, index: int) -> Any:
        value = chunk.objects[index]
        if kind_of_object(value) != self.kind:
            wanted = f"not a {SINGULAR[self.kind]}, which the model compares"
            raise chunk.fault(index, f"{described(value)} is {wanted}; correct it, or leave it out")
        if self.kind != "series":
            return value
        if channels_of(value) != self.n_channels:
            here = counted(channels_of(value), "channel")
            raise chunk.fault(index, f"a series of {here}, but the model compares {self.n_channels}; correct it")
        return np.array(value, np.float64)


def schema_of_model(classifier: Any) -> Schema:
    """Return what a file must hold to be scored with a fitted model."""
    known: DataSchema = classifier.measure_.schema(classifier.prototypes_, classifier.feature_names)
    return Schema(
        known.kind, known.columns, known.is_named, known.n_channels, known.allows_gaps,
        text_format=classifier.text_format_,
    )  # fmt: skip


def as_table(chunk: Chunk) -> Chunk:
    """Return lists of one length as a table whose columns have no names."""
    columns = {str(k): list(cells) for k, cells in enumerate(zip(*chunk.objects, strict=True))}
    return replace(chunk, columns=columns, objects=(), is_named=False)


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


def shown(name: Hashable) -> str:
    """Return the name of a column on one line."""
    return printable(str(name)[:60])
