"""Numbers along one axis -> the sum of Gaussian kernels at any point, at a cost that does not grow with their number.

A fast Gauss transform: the axis is cut into boxes of one kernel width, and in every box the sum is a polynomial. Let
g(x) = exp(-x^2 / 2). Values t_i widths from the centre of one box add, at z widths from a centre D widths higher,

    sum_i g(D + z - t_i) = sum_m z^m / m! sum_n M_n g^(m + n)(D),    M_n = sum_i (-t_i)^n / n!

Greengard and Strain, "The fast Gauss transform" (1991). D is an integer, so the derivatives of g are constants.
"""

import math
from functools import cache

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.kernels.density import polynomial_at

# Terms of every series. The remainder is below 0.5^TERMS / sqrt(TERMS!) = 1e-15 of a kernel.
TERMS = 20
# Boxes between a value and the last box that it reaches: beyond, a kernel is below exp(-40) = 4e-18.
REACH = 9
# Values farther apart than this, in widths, share no box.
FAR = 2 * REACH + 2.0


class KernelSums:
    """The sums of exp(-((x - v) / width)^2 / 2) over some values v (r,) >= 1, for a width > 0.

    The error is below 1e-14 r. A box within reach of a value takes 160 bytes. The order of the values does not matter.
    """

    def __init__(self, values: Matrix, width: float) -> None:
        values = np.sort(values)
        with np.errstate(over="ignore"):
            starts = np.append(0, np.flatnonzero(np.diff(values) > FAR * width) + 1)
        # Runs of values without large gaps. Boxes count from a run's first value, so that far runs are as exact.
        sizes = np.diff(np.append(starts, len(values)))
        self._width, self._origins = float(width), values[starts]
        places = (values - np.repeat(self._origins, sizes)) / width
        boxes = places.astype(np.int64)
        offsets = places - boxes - 0.5
        # The first box of each run, and the end: a run has REACH empty boxes on either side.
        self._first = np.append(0, np.cumsum(boxes[starts + sizes - 1] + 1 + 2 * REACH))
        boxes += np.repeat(self._first[:-1] + REACH, sizes)
        moments = _moments(offsets, boxes, int(self._first[-1]))
        self._polynomials = _polynomials(moments)

    def at(self, points: Matrix) -> Matrix:
        """Return the sums at some points: (m,)."""
        sums = np.empty(len(points))
        points = np.ascontiguousarray(points, dtype=np.float64)
        polynomial_at(points, self._origins, self._first, self._width, REACH, self._polynomials, sums)
        return sums


def _moments(offsets: Matrix, boxes: Indices, n_boxes: int) -> Matrix:
    """Return sum (-t)^n / n! over the offsets t of each box: (n_boxes, TERMS)."""
    moments, term = np.empty((n_boxes, TERMS)), np.ones(len(offsets))
    for n in range(TERMS):
        moments[:, n] = np.bincount(boxes, term, n_boxes)
        term *= -offsets / (n + 1)
    return moments


def _polynomials(moments: Matrix) -> Matrix:
    """Return the coefficients of the sum in every box, of the highest power last: (n_boxes, TERMS)."""
    n_boxes, found = len(moments), np.zeros(moments.shape)
    padded = np.pad(moments, ((REACH, REACH), (0, 0)))
    for shift, matrix in zip(range(-REACH, REACH + 1), _translations(), strict=True):
        # Not a matrix product: the bits of BLAS may depend on its threads.
        found += np.einsum("bn,nm->bm", padded[REACH - shift : REACH - shift + n_boxes], matrix)
    return found


@cache
def _translations() -> Matrix:
    """Return g^(m + n)(D) / m! for each D in -REACH ... REACH: (2 REACH + 1, TERMS of n, TERMS of m)."""
    D = np.arange(-REACH, REACH + 1.0)
    derivatives = [np.exp(-D * D / 2)]
    derivatives.append(-D * derivatives[0])
    for n in range(1, 2 * TERMS - 2):
        derivatives.append(-D * derivatives[n] - n * derivatives[n - 1])
    factorials = [float(math.factorial(m)) for m in range(TERMS)]
    table = [[derivatives[m + n] / factorials[m] for m in range(TERMS)] for n in range(TERMS)]
    return np.array(table).transpose(2, 0, 1)


def spread(values: Matrix) -> float:
    """Return the root of half the mean squared difference of two values: their standard deviation, with r - 1.

    It is 0 for a single value. The order of the values does not matter.
    """
    # Halves, so that no difference overflows; divided by the largest, so that no square does or vanishes.
    halves = np.sort(values) / 2
    differences = halves - halves[0]
    largest = float(differences[-1])
    if largest == 0:
        return 0.0
    return largest * (2 * float(np.std(differences / largest, ddof=1)))
