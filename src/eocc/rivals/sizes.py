"""Limits within which squares and their quotients stay finite."""

import numpy as np

from eocc.foundation.types import Matrix

# Squares of numbers between 1e-100 and 1e100, and sums of them over any data that fit in memory, neither overflow nor
# vanish; nor do the quotients of two such squares.
LARGEST = 1e100
# New patterns farther than this many times the spread of the targets are all equally far. A width or a variance of a
# model may be far below that spread; a square of their quotient still stays finite.
FARTHEST = 1e50


def check_size(what: str, largest: float, spread: float) -> None:
    """Raise a ValueError if the `largest` absolute value, or a `spread` other than 0, cannot be squared."""
    if largest > LARGEST:
        raise ValueError(
            f"{what} holds values of size {largest:.3g}, whose squares overflow; "
            f"scale the features to at most {LARGEST:g}"
        )
    if 0 < spread < 1 / LARGEST:
        raise ValueError(
            f"{what} holds values that differ by {spread:.3g} at most, whose squares vanish; "
            f"scale the features to at least {1 / LARGEST:g}"
        )


def bounds(rows: Matrix) -> tuple[Matrix, Matrix]:
    """Return the range, per column, to which new rows are clipped before they are scored.

    If all rows are equal, their spread counts as 1.

    >>> [bound.tolist() for bound in bounds(np.array([[0.0, 3.0], [2.0, 3.0]]))]
    [[-2e+50, -2e+50], [2e+50, 2e+50]]
    """
    low, high = rows.min(axis=0), rows.max(axis=0)
    check_size("X", float(np.maximum(-low, high).max()), 2 * float((high / 2 - low / 2).max()))
    reach = FARTHEST * (float((high - low).max()) or 1.0)
    return low - reach, high + reach
