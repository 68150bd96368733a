"""What a file must hold, and how its chunks become patterns that a measure takes."""

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import complaint, printable, quoted
from eocc.foundation.registry import listed
from eocc.io.files.cells import complete_rows, values_in
from eocc.io.files.chunk import Chunk
from eocc.measures.labelled_graph import LabelledGraph

# kind of data -> the measures that compare it, that which is taken unless another is asked for first
MEASURES_OF = {
    "numbers": ("standardised", "euclidean", "tanimoto"),
    "records": ("gower",),
    "strings": ("string-edit",),
    "series": ("dtw",),
    "tokens": ("jaccard", "cosine-bags", "string-edit"),
    "graphs": ("graph-edit",),
}
TABLES = ("numbers", "records")
SINGULAR = {
    "numbers": "row of numbers", "records": "record", "strings": "text", "series": "series of numbers",
    "tokens": "list of texts", "graphs": "graph",
}  # fmt: skip
LONGEST_SHOWN = 40


class GapError(ValueError):
    """A cell of a row of numbers holds none."""


@dataclass(frozen=True)
class Schema:
    """The kind of data and, of tables, the columns that count with what each holds.

    Columns are found by name, or by their order where model or file know no names. `n_channels` is that of series.
    """

    kind: str
    columns: tuple[tuple[Hashable, str], ...] = ()
    is_named: bool = True
    n_channels: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that count."""
        return [str(name) for name, _ in self.columns]

    @property
    def measure(self) -> str:
        """The measure for this kind of data."""
        return MEASURES_OF[self.kind][0]

    def describe(self) -> str:
        """Return the schema in words.

        >>> Schema("records", (("load", "number"), ("state", "text"))).describe()
        'records of 2 columns (number: load; text: state)'
        """
        if self.kind not in TABLES:
            return f"series of {_counted(self.n_channels, 'channel')}" if self.n_channels else self.kind
        counted = _counted(len(self.columns), "column")
        by_kind = {held: [shown(name) for name, kind in self.columns if kind == held] for _, held in self.columns}
        if self.kind == "numbers":
            told, what = listed(map(shown, self.names)), "rows of numbers in"
        else:
            told, what = "; ".join(f"{held}: {listed(names)}" for held, names in by_kind.items()), "records of"
        return f"{what} {counted}" + (f" ({told})" if self.is_named else "")

    def patterns(self, chunk: Chunk) -> Any:
        """Return the chunk as patterns: an array of rows, a list of records, or a list of objects."""
        if self.kind in TABLES:
            return self._rows(chunk) if chunk.columns else self._rows_of_lists(chunk)
        if chunk.columns:
            needed = f"the model compares {self.kind}"
            raise complaint(chunk.where, None, f"holds a table, but {needed}; write a {SINGULAR[self.kind]} a line")
        return [self._object(chunk, index) for index in range(len(chunk))]

    def _rows(self, chunk: Chunk) -> Any:
        found = self.found(chunk)
        holds = [kind for _, kind in self.columns]
        values = [values_in(chunk, name, kind) for name, kind in zip(found, holds, strict=True)]
        if self.kind == "records":
            keys = [name for name, _ in self.columns]
            return [dict(zip(keys, row, strict=True)) for row in zip(*values, strict=True)]
        gaps = [(column.index(None), name) for name, column in zip(found, values, strict=True) if None in column]
        if gaps:
            row, name = min(gaps, key=lambda gap: gap[0])
            message = f"column {quoted(name)} has no number here; fill it in, or drop the row"
            raise GapError(str(chunk.fault(row, message)))
        return np.array(values, np.float64).T.copy()

    def found(self, chunk: Chunk) -> list[str]:
        """Return the names of the model's columns in the file, where those without names are taken in their order.

        >>> array = Chunk("a.npy", 0, {"0": [1.0], "1": [2.0]}, is_named=False)
        >>> Schema("numbers", (("load", "number"), ("heat", "number"))).found(array)
        ['0', '1']
        """
        names = list(chunk.columns)
        is_by_name = self.is_named and (chunk.is_named or set(self.names) <= set(names))
        if not is_by_name:
            if len(names) != len(self.columns):
                knows = "and knows no names" if not self.is_named else "and an array names none"
                wanted = f"the model compares {len(self.columns)}, {knows}"
                raise complaint(chunk.where, None, f"has {len(names)} columns, but {wanted}; leave the others out")
            return names
        absent = next((name for name in self.names if name not in chunk.columns), None)
        if absent is not None:
            has = listed(map(quoted, names))
            raise complaint(chunk.where, None, f"has no column {quoted(absent)}, which the model needs; it has {has}")
        return self.names

    def complete(self, chunk: Chunk) -> NDArray[np.bool_]:
        """Say which patterns of a chunk miss no value; objects never do."""
        return complete_rows(chunk, self.found(chunk) if self.kind in TABLES and chunk.columns else [])

    def _rows_of_lists(self, chunk: Chunk) -> Any:
        """Return lists of numbers, all as long as the model's rows, as a matrix."""
        for index, value in enumerate(chunk.objects):
            if self.kind == "records" or channels_of(value) != 1 or len(value) != len(self.columns):
                wanted = f"list of {_counted(len(self.columns), 'number')}" if self.kind == "numbers" else "record"
                raise chunk.fault(index, f"{described(value)} is no {wanted}; the model compares {self.describe()}")
        return np.array(chunk.objects, np.float64).reshape(len(chunk), -1)

    def _object(self, chunk: Chunk, index: int) -> Any:
        value = chunk.objects[index]
        if self.kind not in kinds_of(value):
            wanted = f"no {SINGULAR[self.kind]}, which the model compares"
            raise chunk.fault(index, f"{described(value)} is {wanted}; leave it out, or correct it")
        if self.kind != "series":
            return value
        if channels_of(value) != self.n_channels:
            here = _counted(channels_of(value), "channel")
            raise chunk.fault(index, f"a series of {here}, the model compares {self.n_channels}; write as many")
        return np.array(value, np.float64)


def kinds_of(value: Any) -> tuple[str, ...]:
    """Return the kinds of data that an object may be one of.

    >>> kinds_of("oak"), kinds_of([1, 2.5]), kinds_of([[1], [2, 3]]), kinds_of([])
    (('strings',), ('series',), (), ('tokens',))
    """
    if isinstance(value, LabelledGraph):
        return ("graphs",)
    if isinstance(value, str):
        return ("strings",)
    if channels_of(value):
        return ("series",)
    return ("tokens",) if isinstance(value, list) and all(isinstance(item, str) for item in value) else ()


def channels_of(value: Any) -> int:
    """Return how many channels a series has; 0 if the value is no series.

    >>> channels_of([1, 2, 3]), channels_of([[1, 2], [3, 4], [5, 6]]), channels_of([[1, 2], [3]]), channels_of("ab")
    (1, 2, 0, 0)
    """
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
    """Return what an object is, for an error.

    >>> described([[1, 2], [3]]), described(None)
    ('the list [[1, 2], [3]]', 'null')
    """
    if isinstance(value, LabelledGraph):
        return "a graph"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Mapping):
        return "an object" if value else "an object without keys"
    return f"the {'list' if isinstance(value, list) else 'number'} {_cut(str(value))}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def shown(name: Hashable) -> str:
    """Return a column's name as it can be printed on one line.

    >>> shown("two" + chr(10) + "lines")
    'two?lines'
    """
    return printable(str(name)[:60])


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def ignored_columns(schema: Schema, chunk: Chunk) -> Sequence[str]:
    """Return the columns of a file that the model does not look at."""
    known = set(schema.found(chunk)) if chunk.columns else set()
    return [name for name in chunk.columns if name not in known]
