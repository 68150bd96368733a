"""Part of a file: some rows of a table, or some objects."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any, TypeVar

import numpy as np

from eocc.foundation.printing import complaint
from eocc.foundation.types import Flags
from eocc.io.files.source import Lines
from eocc.measures.spelling import PLAIN, Spelling

# A chunk ends at this many rows, or when its rows took this many bytes in the file.
CHUNK_ROWS = 4096
CHUNK_BYTES = 2**23
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
    """Rows `first`, `first` + 1, ... of the file `where`: `columns` by name for a table, else `objects`.

    `lines` are the lines that the rows begin in, `names` their files, `labels` their classes; each may be empty. If
    `is_text`, every cell is text that is still to be read as a number or date, by the `spelling`. Columns without names
    (`is_named` is False) have their numbers from 0 as keys. `layout` says how the file is written, if not as usual.
    """

    where: str
    first: int
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    objects: Sequence[Any] = ()
    names: Sequence[str] = ()
    labels: Sequence[str] = ()
    lines: Sequence[int] = ()
    is_text: bool = False
    is_named: bool = True
    spelling: Spelling = PLAIN
    layout: str = ""

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()))) if self.columns else len(self.objects)

    @property
    def row_names(self) -> list[str]:
        """The names of the rows: their files, or their numbers from 0."""
        return list(self.names) or [str(self.first + row) for row in range(len(self))]

    def some(self, kept: Flags) -> "Chunk":
        """Return some of the rows, with the names or numbers that they have in the file.

        >>> Chunk("a.csv", 10, {"x": ["1", "", "3"]}).some(np.array([True, False, True])).names
        ['10', '12']
        """
        if kept.all():
            return self

        def taken(values: Any) -> Any:
            return values[kept] if isinstance(values, np.ndarray) else list(compress(values, kept))

        columns = {name: taken(cells) for name, cells in self.columns.items()}
        parts = {name: taken(getattr(self, name)) for name in ("objects", "labels", "lines")}
        return replace(self, columns=columns, names=taken(self.row_names), **parts)

    def place(self, index: int) -> str:
        """Return where in its file a row is."""
        if self.lines:
            return f"line {self.lines[index]}"
        if self.names and not self.columns:
            return self.names[index]
        return f"row {int(self.row_names[index]) + 1}"

    def fault(self, index: int, message: str) -> ValueError:
        """Return an error about one row, on one line."""
        if self.lines:
            return complaint(self.where, self.lines[index], message)
        return complaint(self.where, None, f"{self.place(index)}: {message}")
