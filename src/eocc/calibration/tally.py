"""One number per row -> order statistics, in memory that does not grow with the rows."""

from typing import Self

import numpy as np

from eocc.base.types import ROUNDING, Indices, Matrix

# Up to this many different numbers are kept exactly, 1 MiB with their counts; more share bins, about 1/4000 wide.
MOST_BINS = 2**16


class Tally:
    """Numbers counted in at most MOST_BINS bins; each bin is represented by its largest number.

    The numbers of a bin differ in the last few of their ordered bits only, and no more bits are ignored than needed.
    So the result does not depend on chunks or order, and it is exact for up to MOST_BINS different numbers.

    >>> tally = Tally(np.array([3.0, -1.0])).merge(Tally(np.array([7.0, 3.0])))
    >>> tally.total, tally.largest(np.array([1, 2, 3, 4]))
    (4, array([ 7.,  3.,  3., -1.]))
    """

    def __init__(self, values: Matrix) -> None:
        # Adding 0 turns -0.0 into 0.0, whose bits differ.
        self._values, self._counts, self._spare_bits = values + 0.0, np.ones(len(values), np.int64), 0
        self.total = len(values)

    def merge(self, other: "Tally") -> Self:
        """Count the numbers of another tally too; return self."""
        self._values = np.concatenate([self._values, other._values])
        self._counts = np.concatenate([self._counts, other._counts])
        self._spare_bits, self.total = max(self._spare_bits, other._spare_bits), self.total + other.total
        if len(self._values) > 2 * MOST_BINS:
            self._fill_bins()
        return self

    def largest(self, ranks: Indices) -> Matrix:
        """Return the numbers of these ranks, where rank 1 is the largest number."""
        self._fill_bins()
        return np.asarray(self._values[::-1][np.searchsorted(np.cumsum(self._counts[::-1]), ranks)])

    def _fill_bins(self) -> None:
        """Put the numbers in order, and the largest number and the count of each bin in place of its numbers."""
        order = np.argsort(self._values, kind="stable")
        values, counts = self._values[order], self._counts[order]
        bits = values.view(np.int64)
        bits = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)  # in the order of the numbers
        while len(last := np.flatnonzero(np.diff(bits >> self._spare_bits, append=-(2**63)))) > MOST_BINS:
            self._spare_bits += 1
        self._values, self._counts = values[last], np.diff(np.cumsum(counts)[last], prepend=0)


def ranks_of(n: int, total: int, rate: float) -> Indices:
    """Return n evenly spaced ranks among `total` >= n numbers that give the same threshold at the rate.

    Rank floor(rate (n + 1)) of the n numbers is rank floor(rate (total + 1)) of all, so the threshold is that of all
    numbers. On both sides of it the ranks are evenly spaced: p-values differ by about 1 / (n + 1) at most.

    >>> ranks_of(4, 99, 0.2), ranks_of(4, 4, 0.2)
    (array([20, 40, 60, 80]), array([1, 2, 3, 4]))
    """
    kept, whole = (int(rate * (count + 1) + ROUNDING) for count in (n, total))
    places = np.arange(1, n + 1)
    above = whole + (places - kept) * (total + 1 - whole) // (n + 1 - kept)
    return np.where(places <= kept, places * whole // max(1, kept), above)


def joined(kept: Matrix, kept_ranks: Indices, total: int, new: Matrix, ranks: Indices) -> Matrix:
    """Return the numbers of these `ranks` among `total` numbers and `new` ones, where rank 1 is the largest.

    Of the `total` numbers only `kept` are known, the largest first, and their ranks. Between two of them, ranks are
    interpolated: a number that stood for all up to the next one would move the limit with every update.

    >>> joined(np.array([9.0, 5.0, 1.0]), np.array([10, 20, 30]), 39, np.array([7.0] * 10), np.array([10, 25, 40]))
    array([9., 7., 1.])
    """
    if len(kept) == total:
        return Tally(np.concatenate([kept, new])).largest(ranks)
    grid = np.sort(np.concatenate([kept, new]))[::-1]
    before = np.interp(-grid, -kept, kept_ranks, left=0, right=total)
    return np.asarray(np.interp(ranks, before + np.searchsorted(np.sort(-new), -grid, side="right"), grid))
