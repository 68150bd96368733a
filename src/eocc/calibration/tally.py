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

    >>> tally = Tally().add(np.array([3.0, -1.0])).merge(Tally().add(np.array([7.0, 3.0])))
    >>> tally.total, tally.largest(np.array([1, 2, 3, 4]))
    (4, array([ 7.,  3.,  3., -1.]))
    """

    def __init__(self) -> None:
        self._values, self._counts = np.empty(0), np.empty(0, np.int64)
        self._spare_bits = 0
        self._waiting: list[tuple[Matrix, Indices]] = []

    @property
    def total(self) -> int:
        """How many numbers were counted."""
        return int(self._counted()[1].sum())

    def add(self, values: Matrix) -> Self:
        """Count these numbers too; return self."""
        # Adding 0 turns -0.0 into 0.0, whose bits differ.
        return self._wait([(np.sort(values + 0.0), np.ones(len(values), np.int64))])

    def merge(self, other: "Tally") -> Self:
        """Count the numbers of another tally too; return self."""
        self._spare_bits = max(self._spare_bits, other._spare_bits)
        return self._wait([(other._values, other._counts), *other._waiting])

    def largest(self, ranks: Indices) -> Matrix:
        """Return the numbers of these ranks, where rank 1 is the largest number."""
        values, counts = self._counted()
        return np.asarray(values[::-1][np.searchsorted(np.cumsum(counts[::-1]), ranks)])

    def _wait(self, parts: list[tuple[Matrix, Indices]]) -> Self:
        self._waiting = self._waiting + parts
        if sum(len(values) for values, _ in self._waiting) > MOST_BINS:
            self._counted()
        return self

    def _counted(self) -> tuple[Matrix, Indices]:
        """Return the largest number and the count of each bin, with what waits."""
        if not self._waiting:
            return self._values, self._counts
        parts = zip((self._values, self._counts), *self._waiting, strict=True)
        values, counts = map(np.concatenate, parts)
        order = np.argsort(values, kind="stable")  # fast: the parts are sorted
        values, counts = values[order], counts[order]
        bits = values.view(np.int64)
        bits = np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)  # in the order of the numbers
        while len(last := np.flatnonzero(np.diff(bits >> self._spare_bits, append=-(2**63)))) > MOST_BINS:
            self._spare_bits += 1
        self._values, self._counts = values[last], np.diff(np.cumsum(counts)[last], prepend=0)
        self._waiting = []
        return self._values, self._counts


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
        return Tally().add(kept).add(new).largest(ranks)
    grid = np.sort(np.concatenate([kept, new]))[::-1]
    before = np.interp(-grid, -kept, kept_ranks, left=0, right=total)
    return np.asarray(np.interp(ranks, before + np.searchsorted(np.sort(-new), -grid, side="right"), grid))
