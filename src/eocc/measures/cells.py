"""The cells of tables as numbers, to compare them with those of a column, and to fill gaps from near training rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.types import Flags, Matrix
from eocc.kernels.filling import fill_gaps

# A gap is filled from this many of the nearest training rows that have a value there.
N_NEAREST = 8


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


def some_rows(n: int, most: int) -> slice:
    """Return which of n training rows are kept to fill gaps: at most `most`, evenly spaced."""
    return slice(None, None, -(-n // most))


def filled(rows: Matrix, donors: Matrix, is_code: Flags) -> Matrix:
    """Return rows (m, u) with every NaN filled from the `donors` (n, u) that are nearest in the columns both have.

    Columns of codes get the most frequent code of the nearest, columns of numbers, all in one unit, the lower median.
    What no donor has stays NaN.
    """
    if not np.isnan(rows).any():
        return rows
    found = rows.copy()
    fill_gaps(rows, donors, is_code, min(N_NEAREST, len(donors)), found)
    return found
