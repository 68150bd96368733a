"""The Gaussian kernel of distances: its width, and sums of it."""

from typing import Any

import numpy as np

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.dimension import distances_to_others, intrinsic_dimension
from eocc.rivals.parzen import likeliest_width

# Of the median distance to the nearest neighbour: narrower, and the kernel of neighbours is lost in rounding.
LEAST_WIDTH = 1 / 3


def gaussian_kernel(D: Matrix, width: float) -> Matrix:
    """Return exp(-d^2 / width^2).

    >>> gaussian_kernel(np.array([0.0, 2.0]), 2.0).round(3)
    array([1.   , 0.368])
    """
    return np.asarray(np.exp(-((D / width) ** 2)))


def weighted_rows(rows: Matrix, weights: Matrix) -> Matrix:
    """Return sum_j rows_ij weights_j, each row by itself: a matrix product would round differently in other batches.

    >>> weighted_rows(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([0.5, 0.5]))
    array([1.5, 3.5])
    """
    # Columns picked from one row and from many lie differently in memory, and would be summed in another order.
    return np.asarray((np.ascontiguousarray(rows) * weights).sum(axis=1))


def outside_fraction(nu: float | None, rejection_rate: float, n: int) -> float:
    """Return nu, the rejection rate if None, but at least 1/n: there the bound on the weights is 1 and says nothing.

    >>> outside_fraction(None, 0.0, 20)
    0.05
    """
    if nu is not None:
        check_number("nu", nu, "in [0, 1], or None", lambda value: 0 <= value <= 1)
    return max(rejection_rate if nu is None else float(nu), 1 / n)


def given_or_likely_width(width: Any, D: Matrix, wanted: str = "> 0, or 'auto'") -> float:
    """Return the width given, or the likeliest for "auto"; `wanted` is what the error asks for.

    >>> given_or_likely_width(3, np.zeros((1, 1)))
    3.0
    """
    if isinstance(width, str) and width == "auto":
        return likely_width(D)
    check_number("width", width, wanted, lambda value: 0 < value < np.inf)
    return float(width)


def likely_width(D: Matrix) -> float:
    """Return the width of exp(-d^2 / width^2), a Gaussian at every pattern, that makes left-out patterns likeliest.

    The Gaussians have as many dimensions as the data fill, not as many as there are features. The likeliest width
    still falls, against the distance to the nearest neighbour, as the root of that dimension: the width is at least a
    third of the median distance to the nearest other pattern that is no copy, so that the kernel of neighbours, e^-9
    there, does not vanish where data fill many dimensions.

    >>> likely_width(np.array([[0.0, 2.0], [2.0, 0.0]])).__round__(3)
    2.828
    """
    dimension = intrinsic_dimension(distances_to_others(D)) if len(D) > 2 else 1.0
    likeliest = float(np.sqrt(2) * likeliest_width(D, dimension, np.ones(len(D))))
    nearest = np.where(D > 0, D, np.inf).min(axis=1)
    return max(likeliest, LEAST_WIDTH * float(np.median(nearest[nearest < np.inf]))) if D.any() else likeliest
