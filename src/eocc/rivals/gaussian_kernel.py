"""The Gaussian kernel of distances: its width, and weighted sums of it."""

from typing import Any

import numpy as np

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.distances import intrinsic_dimension
from eocc.rivals.parzen import likeliest_width

# Relative to the median distance to the nearest neighbour: if narrower, the kernel of neighbours is lost in rounding.
LEAST_WIDTH = 1 / 3


def gaussian_kernel(D: Matrix, width: float) -> Matrix:
    """Return exp(-d^2 / width^2)."""
    return np.asarray(np.exp(-((D / width) ** 2)))


def weighted_rows(rows: Matrix, weights: Matrix) -> Matrix:
    """Return sum_j rows_ij weights_j, each row by itself: a matrix product would round differently in other batches."""
    # Columns picked from one row and from many are laid out differently, and would be summed in another order.
    return np.asarray((np.ascontiguousarray(rows) * weights).sum(axis=1))


def outside_fraction(nu: float | None, rejection_rate: float, n: int) -> float:
    """Return nu, or the rejection rate if nu is None, but at least 1/n: below that, weights have no bound.

    >>> outside_fraction(None, 0.0, 20)
    0.05
    """
    if nu is not None:
        check_number("nu", nu, "in [0, 1], or None", lambda value: 0 <= value <= 1)
    return max(rejection_rate if nu is None else float(nu), 1 / n)


def given_or_likely_width(width: Any, D: Matrix, wanted: str = "> 0, or 'auto'") -> float:
    """Return the width given, or the likeliest for "auto"; `wanted` is what the error asks for."""
    if isinstance(width, str) and width == "auto":
        return likely_width(D)
    check_number("width", width, wanted, lambda value: 0 < value < np.inf)
    return float(width)


def likely_width(D: Matrix) -> float:
    """Return the width of exp(-d^2 / width^2), a Gaussian at every pattern, that makes left-out patterns likeliest.

    The Gaussians have the intrinsic dimension of the data. The likeliest width, relative to the distance to the nearest
    neighbour, falls with the root of that dimension. It is therefore at least a third of the median distance to the
    nearest other pattern that is not a copy: the kernel of neighbours is then at least e^-9.

    >>> likely_width(np.array([[0.0, 2.0], [2.0, 0.0]])).__round__(3)
    2.828
    """
    likeliest = float(np.sqrt(2) * likeliest_width(D, intrinsic_dimension(D), np.ones(len(D))))
    nearest = np.where(D > 0, D, np.inf).min(axis=1)
    return max(likeliest, LEAST_WIDTH * float(np.median(nearest[nearest < np.inf]))) if D.any() else likeliest
