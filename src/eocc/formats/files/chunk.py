"""Part of a file: some rows of a table, or some objects."""

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any

import numpy as np

from eocc.base.printing import complaint, has_instead, printable, quoted
from eocc.base.types import Flags, Indices
from eocc.tables.table import Column, Table, join_tables

# A chunk ends at this many rows, or when its rows took this many bytes in the file, or are this many cells.
CHUNK_ROWS = 2**13
CHUNK_BYTES = 2**20


def rows_per_chunk(n_columns: int) -> int:
    """Return how many rows of a table with this number of columns make a chunk."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES // max(1, n_columns)))


def portions(items: Iterable[tuple[Any, ...]], size: Callable[[], int]) -> Iterator[tuple[int, Iterator[Any]]]:
    """Yield the number of the first item, and what all items hold at each place, in portions of the size of a chunk.

    `size` is in bytes, up to an item.
    """
    first, part, begin = 0, list[tuple[Any, ...]](), size()
    for item in items:
        part.append(item)
        if len(part) == CHUNK_ROWS or size() - begin > CHUNK_BYTES:
            yield first, zip(*part, strict=True)
            first, part, begin = first + len(part), [], size()
    if part:
        yield first, zip(*part, strict=True)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows `first`, `first` + 1, ... of the file `where`, or only some of them, `rows`: a raw table, else `objects`.

    `lines` are the lines that the rows from `first` begin in, `names` the files of objects; each may be empty. If
    chunks were joined, the `parts` know them. Columns without names (`is_named` is False) have numbers from 0 as keys.
    `layout` says how the file is written, if not as usual, and `file_rows` how many rows it has, if it says so.
    """

    where: str
    first: int
    table: Table | None = None
    objects: Sequence[Any] = ()
    names: Sequence[str] = ()
    lines: Sequence[int] | Indices = ()
    is_named: bool = True
    layout: str = ""
    file_rows: int = 0
    rows: Indices | None = None
    parts: Sequence["Chunk"] = ()

    def __len__(self) -> int:
        return len(self.objects if self.table is None else self.table)

    @property
    def columns(self) -> dict[Any, Column]:
        """The columns of the table by name; none if the chunk holds objects."""
        return {} if self.table is None else {column.name: column for column in self.table.columns}

    @property
    def numbers(self) -> Indices:
        """The numbers of the rows in the source, from 0."""
        return np.arange(self.first, self.first + len(self)) if self.rows is None else self.rows

    def named(self, column: Any) -> str:
        """Return the name of a column that the user gave by name or number."""
        names = list(map(str, self.columns))
        if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
            return names[int(column)]
        if column not in names:
            raise complaint(self.where, None, f"has no column {quoted(str(column))}; {has_instead(str(column), names)}")
        return str(column)

    def column(self, name: str, option: str) -> Column:
        """Return a column of a table that an option names."""
        if self.table is None:
            raise ValueError(f"{self.where} has no columns; leave {option} out")
        return self.columns[self.named(name)]

    def some(self, kept: Flags) -> "Chunk":
        """Return some of the rows, with the numbers that they have in the source."""
        if kept.all():
            return self
        table = None if self.table is None else self.table[np.flatnonzero(kept)]
        return replace(self, table=table, objects=list(compress(self.objects, kept)), rows=self.numbers[kept])

    def _origin(self, index: int) -> tuple["Chunk", int]:
        """Return the chunk as which a row was read, and its place there."""
        number = self.first + index if self.rows is None else int(self.rows[index])
        part = self.parts[bisect(self.parts, number, key=lambda one: one.first) - 1] if self.parts else self
        return part, number - part.first

    @property
    def row_names(self) -> list[str]:
        """The names of the files that the objects are from; none if no object has a name."""
        has_names = any(part.names for part in self.parts or [self])
        return list(map(self._name, range(len(self)))) if has_names else []

    def _name(self, index: int) -> str:
        part, place = self._origin(index)
        return part.names[place] if part.names else ""

    def place(self, index: int) -> str:
        """Return where in its file a row is."""
        part, place = self._origin(index)
        if len(part.lines):
            return f"line {part.lines[place]}"
        return printable(self._name(index) or f"row {part.first + place + 1}")

    def fault(self, index: int, message: str) -> ValueError:
        """Return an error about one row, on one line."""
        part, place = self._origin(index)
        if len(part.lines):
            return complaint(part.where, int(part.lines[place]), message)
        return complaint(part.where, None, f"{self.place(index)}: {message}")


def join_chunks(chunks: Sequence[Chunk]) -> Chunk:
    """Return the rows of all chunks as one; their columns are the same, in any order."""
    first = chunks[0]
    if len(chunks) == 1:
        return first
    columns, tables = list(first.columns), list[Table]()
    for chunk in chunks:
        known = chunk.columns
        for odd in (name for name in [*known, *columns] if (name in known) != (name in columns)):
            raise complaint(chunk.where, None, f"has other columns than {first.where}: {quoted(str(odd))}")
        if chunk.table is not None:
            tables.append(replace(chunk.table, columns=tuple(known[name] for name in columns)))
    n_files = len({chunk.where for chunk in chunks})
    return replace(
        first,
        where=first.where if n_files == 1 else f"{first.where} and {n_files - 1} more",
        table=join_tables(tables) if tables else None,
        objects=[one for chunk in chunks for one in chunk.objects],
        rows=np.concatenate([chunk.numbers for chunk in chunks]),
        parts=[replace(chunk, table=None, objects=()) for chunk in chunks],
    )
