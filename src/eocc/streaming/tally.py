"""Numbers, one a row -> their order statistics, in memory that does not grow with the rows."""

import numpy as np

from eocc.foundation.types import Indices, Matrix

# Numbers are told apart exactly up to so many, 1 MiB with their counts; more share bins, each some 1/4000 wide.
MOST_BINS = 2**16


class Tally:
    """Numbers counted in bins, each known by its largest number; there are never more than MOST_BINS.

    A bin holds the numbers whose bits, in the order of the numbers, differ in the last few only. Their count is the
    least that leaves no more than MOST_BINS bins: so neither the chunks nor the order of the numbers matter, and up to
    MOST_BINS different numbers all is exact.

    >>> tally = Tally()
    >>> tally.add(np.array([3.0, -1.0]))
    >>> tally.add(np.array([7.0, 3.0]))
    >>> tally.total, tally.largest(np.array([1, 2, 3, 4]))
    (4, array([ 7.,  3.,  3., -1.]))
    """

    def __init__(self) -> None:
        self.total = 0
        self._values = np.empty(0)
        self._counts = np.empty(0, np.int64)
        self._spare_bits = 0
        self._pending: list[Matrix] = []
        self._n_pending = 0

    def add(self, values: Matrix) -> None:
        """Count these as well."""
        self.total += len(values)
        self._pending.append(values)
        self._n_pending += len(values)
        if self._n_pending >= MOST_BINS:
            self._merge()

    def largest(self, ranks: Indices) -> Matrix:
        """Return the numbers of these ranks, 1 the largest; of a bin its largest."""
        self._merge()
        reached = np.cumsum(self._counts[::-1])
        return np.asarray(self._values[::-1][np.searchsorted(reached, ranks)])

    def _merge(self) -> None:
        values = np.concatenate([self._values, *self._pending]) + 0.0  # no -0.0, whose bits are not those of 0
        counts = np.concatenate([self._counts, np.ones(self._n_pending, np.int64)])
        self._pending, self._n_pending = [], 0
        if not len(values):
            return
        order = np.argsort(values, kind="stable")
        values, counts = values[order], counts[order]
        bits = ordered_bits(values)
        while len(last := _last_of_each(bits >> self._spare_bits)) > MOST_BINS:
            self._spare_bits += 1
        self._values, self._counts = values[last], np.diff(np.cumsum(counts)[last], prepend=0)


def ordered_bits(values: Matrix) -> Indices:
    """Return integers in the order of the numbers: their bits, those of negative ones turned round.

    >>> (np.diff(ordered_bits(np.array([-np.inf, -2.0, -1e-300, 0.0, 0.5, 3.0]))) > 0).all()
    np.True_
    """
    bits = np.ascontiguousarray(values, np.float64).view(np.int64)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _last_of_each(rising: Indices) -> Indices:
    return np.append(np.flatnonzero(np.diff(rising)), len(rising) - 1)


def ranks_of(n: int, total: int, rate: float) -> Indices:
    """Return n ranks among `total` >= n numbers, evenly spaced, that keep their place at the rate.

    The rank k = floor(rate (n + 1)) of the n is the rank K = floor(rate (total + 1)) of all: what lies beyond it is the
    same share of both. Below and above, ranks are evenly spaced: p-values change by about 1 / (n + 1) at most.

    >>> ranks_of(4, 99, 0.2), ranks_of(4, 4, 0.2)
    (array([20, 40, 60, 80]), array([1, 2, 3, 4]))
    """
    kept, whole = (int(rate * (count + 1) + 1e-9) for count in (n, total))  # the slack is that of a Calibration
    places = np.arange(1, n + 1)
    above = whole + (places - kept) * (total + 1 - whole) // (n + 1 - kept)
    return np.where(places <= kept, places * whole // max(1, kept), above)
