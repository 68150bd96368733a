"""A part of a file: some rows of a table, or some objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import complaint

# A chunk ends at this many rows, or once its rows took this many bytes in the file: so wide rows fill no memory.
CHUNK_ROWS = 4096
CHUNK_BYTES = 2**23
# A chunk of a wide table has fewer rows likewise.
CHUNK_CELLS = 2**20


def rows_a_chunk(n_columns: int) -> int:
    """Return how many rows of so many columns a chunk may have.

    >>> rows_a_chunk(10), rows_a_chunk(2**18)
    (4096, 4)
    """
    return max(1, min(CHUNK_ROWS, CHUNK_CELLS // max(1, n_columns)))


@dataclass(frozen=True, eq=False)
class Chunk:
    """Patterns `first`, `first` + 1, ... of the file `where`: `columns` by name if it is a table, else `objects`.

    `lines` are those the patterns begin in, `names` those of their files, `labels` their classes; each may be empty.
    Where `is_text`, cells are text that must be read to tell what it is; else a cell's type tells. Columns that are not
    `is_named` have their numbers, from 0, for names.
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

    def __len__(self) -> int:
        if self.columns:
            return len(next(iter(self.columns.values())))
        return len(self.objects)

    def some(self, kept: NDArray[np.bool_]) -> "Chunk":
        """Return some of the patterns, which keep the names or numbers they have in the file.

        >>> Chunk("a.csv", 10, {"x": ["1", "", "3"]}).some(np.array([True, False, True])).names
        ['10', '12']
        """
        if kept.all():
            return self
        names = self.names or [str(self.first + row) for row in range(len(self))]
        objects, names, labels, lines = (_taken(each, kept) for each in (self.objects, names, self.labels, self.lines))
        columns = {name: _taken(cells, kept) for name, cells in self.columns.items()}
        return replace(self, columns=columns, objects=objects, names=names, labels=labels, lines=lines)

    def place(self, index: int) -> str:
        """Return where in its file a pattern is.

        >>> Chunk("a.csv", 0, lines=[2, 5]).place(1), Chunk("a.parquet", 10, {"x": [1.0, 2.0]}).place(1)
        ('line 5', 'row 12')
        """
        if self.lines:
            return f"line {self.lines[index]}"
        if self.names:  # rows of a table have none but their numbers, where some were left out
            return f"row {int(self.names[index]) + 1}" if self.columns else self.names[index]
        return f"{'row' if self.columns else 'pattern'} {self.first + index + 1}"

    def fault(self, index: int, message: str) -> ValueError:
        """Return an error about one pattern, on one line.

        >>> Chunk("a.csv", 0, lines=[2, 5]).fault(1, "is odd; mend it")
        ValueError('a.csv:5: is odd; mend it')
        """
        if self.lines:
            return complaint(self.where, self.lines[index], message)
        return complaint(self.where, None, f"{self.place(index)}: {message}")


def _taken(values: Any, kept: NDArray[np.bool_]) -> Any:
    return values[kept] if isinstance(values, np.ndarray) else list(compress(values, kept))
