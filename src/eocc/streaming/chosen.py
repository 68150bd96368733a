"""Which rows of a source are used: those of one kind, and those without missing values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.registry import choose
from eocc.foundation.types import Flags
from eocc.io.files.cells import is_same

REFUSE, SKIP = "refuse", "skip"


@dataclass(frozen=True)
class Chosen:
    """The rows whose column `where[0]` holds `where[1]` (None: all); rows with a missing value are an error or skipped.

    >>> chosen = Chosen(("state", "good"))
    >>> chosen.of_kind(["good", "bad", " good "]).tolist()
    [True, False, True]
    """

    where: tuple[Any, Any] | None = None
    incomplete: str = REFUSE

    def __post_init__(self) -> None:
        choose("value of incomplete", dict.fromkeys((REFUSE, SKIP)), self.incomplete)
        if self.where is not None and not (isinstance(self.where, tuple) and len(self.where) == 2):
            raise ValueError(f"where must be a column and its value, for example ('state', 'good'), not {self.where!r}")

    @property
    def are_all(self) -> bool:
        """Whether every row is used."""
        return self.where is None and self.incomplete == REFUSE

    @property
    def skips(self) -> bool:
        """Whether rows with a missing value are skipped."""
        return self.incomplete == SKIP

    def of_kind(self, cells: Sequence[Any] | NDArray[Any]) -> Flags:
        """Return which cells hold the value: the same text, number or truth value."""
        assert self.where is not None
        values, wanted = cells.tolist() if isinstance(cells, np.ndarray) else cells, str(self.where[1])
        try:
            known = {(type(cell), cell): is_same(cell, wanted) for cell in set(values)}
            return np.array([known[type(cell), cell] for cell in values], bool)
        except (TypeError, KeyError):  # lists in cells; or 1, 1.0 and True, which are equal in a set
            return np.array([is_same(cell, wanted) for cell in values], bool)

    def in_words(self) -> str:
        """Return which rows are used, as it follows their number in a sentence."""
        kind = "" if self.where is None else f" with {self.where[0]} = {str(self.where[1])!r}"
        return kind + (" without missing values" if self.skips else "")


EVERY_ROW = Chosen()
