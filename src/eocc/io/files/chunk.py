"""Part of a file: some rows of a table, or some objects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, TypeVar

import numpy as np

from eocc.foundation.printing import complaint, has_instead
from eocc.foundation.types import Flags
from eocc.io.files.source import Lines
from eocc.tables.table import Column, Table

# A chunk ends at this many rows, or when its rows took this many bytes in the file.
CHUNK_ROWS = 2**13
CHUNK_BYTES = 2**20
# A chunk of a wide table has fewer rows.
CHUNK_CELLS = 2**20

Item = TypeVar("Item")


def rows_per_chunk(n_columns: int) -> int:
    """Return how many rows of a table with so many columns make a chunk."""
    return max(1, min(CHUNK_ROWS, CHUNK_CELLS // max(1, n_columns)))


def portions(items: Iterator[Item], lines: Lines) -> Iterator[tuple[int, list[Item]]]:
    """Yield (number of the first item, items) in portions of the size of a chunk."""
    first, part, begin = 0, list[Item](), lines.size
    for item in items:
        part.append(item)
        if len(part) == CHUNK_ROWS or lines.size - begin > CHUNK_BYTES:
            yield first, part
            first, part, begin = first + len(part), [], lines.size
    if part:
        yield first, part


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows `first`, `first` + 1, ... of the file `where`: a raw table, else `objects`.

    `lines` are the lines that the rows begin in, `names` their files or numbers, `labels` their classes; each may be
    empty. Columns without names (`is_named` is False) have their numbers from 0 as keys. `layout` says how the file is
    written, if not as usual.
    """

    where: str
    first: int
    table: Table | None = None
    objects: Sequence[Any] = ()
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    lines: Sequence[int] = ()
    is_named: bool = True
    layout: str = ""

    def __len__(self) -> int:
        return len(self.objects if self.table is None else self.table)

    @property
    def columns(self) -> dict[Any, Column]:
        """The columns of the table by name; none if the chunk holds objects."""
        return {} if self.table is None else {column.name: column for column in self.table.columns}

    @property
    def row_names(self) -> list[str]:
        """The names of the rows: their files, or their numbers from 0."""
        return list(self.names) or [str(self.first + row) for row in range(len(self))]

    def column(self, name: str, option: str) -> Column:
        """Return a column of a table that an option names."""
        columns = self.columns
        if not columns:
            raise ValueError(f"{self.where} has no columns; leave {option} out")
        if name not in columns:
            raise ValueError(f"{self.where} has no column {name!r}; {has_instead(name, columns)}")
        return columns[name]

    def some(self, kept: Flags) -> "Chunk":
        """Return some of the rows, with the names or numbers that they have in the file."""
        if kept.all():
            return self
        rows = np.flatnonzero(kept)
        parts: Any = {name: list(compress(getattr(self, name), kept)) for name in ("objects", "labels", "lines")}
        table = None if self.table is None else self.table[rows]
        return replace(self, table=table, names=list(compress(self.row_names, kept)), **parts)

    def place(self, index: int) -> str:
        """Return where in its file a row is."""
        if self.lines:
            return f"line {self.lines[index]}"
        if self.names and self.table is None:
            return self.names[index]
        return f"row {int(self.row_names[index]) + 1}"

    def fault(self, index: int, message: str) -> ValueError:
        """Return an error about one row, on one line."""
        if self.lines:
            return complaint(self.where, self.lines[index], message)
        return complaint(self.where, None, f"{self.place(index)}: {message}")
