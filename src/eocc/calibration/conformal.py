"""Held-out normal rows -> p-values and a limit: how rare a row would be if it were normal; p-values -> discoveries.

A `Tally` of many rows keeps their order statistics in memory that does not grow with the rows.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from eocc.base.checks import FITTED, Sizes, demand, number, numbers, real
from eocc.base.types import ROUNDING, Flags, Indices, Matrix
from eocc.base.wording import counted

N_FOLDS = 10
# The share of new normal rows to reject, if the user gives none.
DEFAULT_RATE = 0.05
# The smallest scale of a threshold, in units of the surprise: with ties the median row lies on the threshold.
LEAST_SCALE = 0.5


@dataclass(frozen=True, eq=False)
class Calibration:
    """The sorted `margins` of training rows, each from a model that has not seen it, and the promised `rate`.

    A share `rate` of new normal rows may be rejected. The limit rejects a share `foreign` of the training rows more, as
    these are not normal.
    """

    margins: Annotated[Matrix, numbers("m")]
    rate: Annotated[float, real("(0, 1)")]
    foreign: Annotated[float, real("(-1e-9, 1)")] = 0.0

    def check_parts(self, sizes: Sizes) -> None:
        """Demand margins in order, and rows that are accepted."""
        demand((np.diff(self.margins) >= 0).all(), "calibration.margins must not fall")
        demand(self.limit < 1, "calibration.rate must lie below 1")

    def p_values(self, margins: Matrix) -> Matrix:
        """Return (1 + number of held-out rows no more normal) / (n + 1): small for what no normal row looks like.

        >>> Calibration(np.array([-1.0, 0.0, 1.0]), 0.25).p_values(np.array([-2.0, 0.0, 5.0]))
        array([0.25, 0.75, 1.  ])
        """
        return np.asarray((1 + np.searchsorted(self.margins, margins, side="right")) / (len(self.margins) + 1))

    @property
    def unsure_rate(self) -> float:
        """The p-value up to which rows are unsure, unless the user gives another: four times the rate, at most 1."""
        return min(1.0, 4 * self.rate + self.foreign)

    @property
    def limit(self) -> float:
        """The p-value up to which rows are rejected."""
        return self.rate + self.foreign

    @property
    def threshold(self) -> float:
        """The smallest margin whose p-value exceeds the limit.

        >>> Calibration(np.array([-1.0, 0.0, 1.0]), 0.5).threshold
        0.0
        """
        return float(self.margins[rank_of(self.limit, len(self.margins)) - 1])


@dataclass(frozen=True, eq=False)
class Threshold:
    """The surprise above which a row is rejected, and the `scale` in which distances from it are measured.

    >>> Threshold(2.0, scale=1.0).ratios(np.array([1.0, 2.0, 12.0])).round(3)
    array([0.672, 1.   , 3.798])
    """

    value: Annotated[float, real(FITTED)]
    scale: Annotated[float, real("(0, 1e300]")]

    @classmethod
    def fit(cls, surprises: Matrix, rate: float) -> "Threshold":
        """Reject at most a share `rate` of the left-out training rows; half their distance from the median is 1."""
        value = float(np.sort(surprises)[-rank_of(rate, len(surprises))])
        return cls(value, max((value - float(np.median(surprises))) / 2, LEAST_SCALE))

    def ratios(self, surprises: Matrix) -> Matrix:
        """Return sqrt(log2(1 + exp((s - value) / scale))): 1 at the threshold, finite; like the paper's d / tau."""
        with np.errstate(over="ignore"):
            return np.asarray(np.sqrt(np.logaddexp(0.0, (surprises - self.value) / self.scale) / np.log(2.0)))


def rate_for(rate: float | None, n: int) -> float:
    """Return the false-alarm rate for n training rows: by default 0.05, or 1 / (n + 1) if they are too few for it.

    >>> rate_for(None, 100), rate_for(None, 4), rate_for(0.2, 100)
    (0.05, 0.2, 0.2)
    """
    if rate is None:
        return max(DEFAULT_RATE, 1 / (n + 1))
    rank_of(rate, n)
    return rate


def rank_of(rate: float, n: int) -> int:
    """Return the rank, from 1, of the limit among n training rows; raise a ValueError if they are too few for the rate.

    No p-value would be that small.
    """
    if rate * (n + 1) + ROUNDING < 1:
        raise ValueError(
            f"a false_alarm_rate of {rate:g} needs at least {math.ceil(1 / rate) - 1} training rows; "
            f"there are {n}, enough for {1.001 / (n + 1):.4g}"  # rounded up
        )
    return min(int(rate * (n + 1) + ROUNDING), n)  # 0.29 * 100 is 29


def cross_calibrate(
    patterns: Any, margins_without: Callable[..., Matrix], rate: float, rng: np.random.Generator
) -> Calibration:
    """Return the margins of all patterns, each from a model fitted, including its search, on nine of ten random folds.

    `margins_without(kept, held_out, rng)` fits on some patterns and returns the margins of others. This is
    cross-conformal calibration (Vovk 2015) with pooled margins, applied to the model of all patterns. The models of
    the folds know fewer patterns, so new normal rows look slightly more normal than held-out ones. No theorem bounds
    the rate of this form; the tests check by simulation that it holds on average over training sets.
    """
    if (n := len(patterns)) < 2:
        raise ValueError("one training row cannot be held out; pass more rows, or false_alarm_rate=None")
    folds = [np.sort(held) for held in np.array_split(rng.permutation(n), min(N_FOLDS, n))]
    parts = [margins_without(patterns[np.delete(np.arange(n), held)], patterns[held], rng) for held in folds]
    return Calibration(np.sort(np.concatenate(parts)), rate)


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


# The share of discoveries that may be normal rows, unless the user gives one.
DEFAULT_FALSE_DISCOVERIES = 0.1


@dataclass(frozen=True)
class Discoveries:
    """`count` of `n_rows` rows are discoveries: those with a p-value of at most `limit`, 0 if there are none.

    On average at most a share `rate` of them are normal rows (Benjamini and Hochberg 1995; for p-values that are ranks
    among the same held-out rows: Bates, Candès, Lei, Romano and Sesia 2023). `n_held_out` rows gave the p-values.
    `str` gives the sentence.
    """

    rate: float
    n_rows: int
    count: int
    limit: float
    n_held_out: int

    def among(self, p_values: Matrix) -> Flags:
        """Return which of the rows are discoveries, given their p-values."""
        return np.asarray(p_values <= self.limit * (1 + ROUNDING))

    @property
    def fewest(self) -> int:
        """How many rows must have the smallest possible p-value, 1 / (n_held_out + 1), to be discoveries."""
        return max(1, math.ceil(self.n_rows / (self.rate * (self.n_held_out + 1)) - ROUNDING))

    @property
    def remark(self) -> str:
        """Why there are no discoveries: too few training rows to find one row alone; "" if there are, or these do."""
        if self.count or self.fewest <= 1:
            return ""
        wanted = f"{math.ceil(self.n_rows / self.rate - ROUNDING) - 1:,} are enough for one"
        few = f"{counted(self.n_held_out, 'calibration row')} {'is' if self.n_held_out == 1 else 'are'} too few to find"
        where = f"of {counted(self.n_rows, 'row')} at a rate of {self.rate:g}"
        if self.fewest > self.n_rows:
            return f"{few} any {where}; {wanted}"
        return f"{few} a single one {where}: at least {self.fewest:,} must be stranger than all of them; {wanted}"

    def __str__(self) -> str:
        found = f"{counted(self.count, 'discovery', 'discoveries')} in {counted(self.n_rows, 'row')}"
        return f"{found}; at most {100 * self.rate:g} % of discoveries are normal rows, on average."


@dataclass
class DiscoveryCounts:
    """Counts the p-values of new rows, part by part, in memory that does not grow with the rows.

    p-values are ranks among the held-out rows, so their counts are all that Benjamini-Hochberg needs.
    scipy.stats.false_discovery_control, with which the tests compare, takes all p-values at once.

    >>> held_out = Calibration(np.arange(99.0), 0.05)
    >>> DiscoveryCounts(held_out).add(np.array([0.01, 0.01, 0.3, 0.9])).result().count
    2
    """

    calibration: Calibration
    counts: Any = 0  # of every rank, from 0 on

    def add(self, p_values: Matrix) -> Self:
        """Count these rows too; return self."""
        n = len(self.calibration.margins)
        self.counts = self.counts + np.bincount(np.rint(p_values * (n + 1)).astype(np.int64), minlength=n + 2)
        return self

    def result(self, rate: float = DEFAULT_FALSE_DISCOVERIES) -> Discoveries:
        """Return the discoveries among all rows counted: the largest p_(k) with p_(k) <= rate k / rows is the limit."""
        number("(0, 1)")("rate", rate)
        n = len(self.calibration.margins)
        counts, ranks = np.broadcast_to(self.counts, n + 2), np.arange(n + 2)
        total, up_to = int(counts.sum()), np.cumsum(counts)
        is_within = (counts > 0) & (ranks * total <= rate * up_to * (n + 1) + ROUNDING)
        last = int(ranks[is_within].max(initial=0))
        return Discoveries(rate, total, int(up_to[last]), last / (n + 1), n)
