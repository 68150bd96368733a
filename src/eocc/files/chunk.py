"""A part of a file: some rows of a table, or some objects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

# Rows in memory at a time when a file is streamed.
CHUNK_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Chunk:
    """Patterns `first`, `first` + 1, ... of a file: `columns` by name if it is a table, else `objects`.

    Objects may have `names` (of files, say) and `labels` (classes of an index).
    """

    first: int
    columns: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    objects: Sequence[Any] = ()
    names: Sequence[str] = ()
    labels: Sequence[str] = ()

    def __len__(self) -> int:
        if self.columns:
            return len(next(iter(self.columns.values())))
        return len(self.objects)
