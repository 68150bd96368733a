"""The cells of two tables as numbers, so that a value can be compared with the values of a column."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Flags, Matrix


@dataclass(frozen=True, eq=False)
class Cells:
    """Values as numbers or codes, NaN if missing: of patterns, `rows` (m, u), and of prototypes, `columns` (u, n).

    `is_code` (u,) says which columns hold codes. `value(i, k)` and `prototype_value(j, k)` return cells as they were
    given, None if missing.
    """

    names: tuple[str, ...]
    rows: Matrix
    columns: Matrix
    is_code: Flags
    value: Callable[[int, int], Any]
    prototype_value: Callable[[int, int], Any]

    def spreads(self) -> Matrix:
        """Return the standard deviation of each column of numbers, 0 of codes and where there is no value."""
        known = ~np.isnan(self.columns)
        counts = np.maximum(known.sum(axis=1), 1)
        columns = np.where(known, self.columns, 0.0)
        apart = np.where(known, self.columns - (columns.sum(axis=1) / counts)[:, None], 0.0)
        return np.where(self.is_code, 0.0, np.sqrt((apart**2).sum(axis=1) / counts))
