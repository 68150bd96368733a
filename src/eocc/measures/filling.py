"""Missing values of a table, filled from the nearest training rows."""

import numpy as np

from eocc.foundation.types import Flags, Matrix
from eocc.kernels.filling import fill_gaps

# A gap is filled from this many of the nearest training rows that have a value there.
N_NEAREST = 8


def some_rows(n: int, most: int) -> slice:
    """Return which of n training rows are kept to fill gaps: at most so many, evenly spaced."""
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
