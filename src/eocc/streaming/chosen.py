"""Which rows of a source count: those of one kind, and those that miss no value."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.registry import choose
from eocc.io.files.cells import is_same

Mask = NDArray[np.bool_]

REFUSE, SKIP = "refuse", "skip"
INCOMPLETE = {REFUSE: REFUSE, SKIP: SKIP}


@dataclass(frozen=True)
class Chosen:
    """The rows where column `where[0]` holds `where[1]`, all if None; rows that miss a value are refused, or skipped.

    >>> chosen = Chosen(("state", "good"))
    >>> chosen.of_kind(["good", "bad", " good "]).tolist()
    [True, False, True]
    """

    where: tuple[Any, Any] | None = None
    incomplete: str = REFUSE

    def __post_init__(self) -> None:
        choose("way with incomplete rows", INCOMPLETE, self.incomplete)
        if self.where is not None and not (isinstance(self.where, tuple) and len(self.where) == 2):
            raise ValueError(f"where must be a column and its value, ('state', 'good') say, not {self.where!r}")

    @property
    def are_all(self) -> bool:
        """Whether every row counts."""
        return self.where is None and self.incomplete == REFUSE

    @property
    def skips(self) -> bool:
        """Whether rows that miss a value are skipped."""
        return self.incomplete == SKIP

    @property
    def apart(self) -> list[Any]:
        """The column that tells the kind, which is not compared."""
        return [] if self.where is None else [self.where[0]]

    def of_kind(self, cells: Sequence[Any] | NDArray[Any]) -> Mask:
        """Say of every cell whether it holds the value: the same text, number or truth value."""
        assert self.where is not None
        values, wanted = cells.tolist() if isinstance(cells, np.ndarray) else cells, str(self.where[1])
        try:
            known = {(type(cell), cell): is_same(cell, wanted) for cell in set(values)}
            return np.array([known[type(cell), cell] for cell in values], bool)
        except (TypeError, KeyError):  # lists in cells; or 1, 1.0 and True, which are one in a set
            return np.array([is_same(cell, wanted) for cell in values], bool)

    def in_words(self) -> str:
        """Return which rows count, after their number."""
        kind = "" if self.where is None else f" with {self.where[0]} = {str(self.where[1])!r}"
        return kind + (" that miss no value" if self.skips else "")


EVERY_ROW = Chosen()
