"""P-values of many rows -> discoveries, of which a share of at most `rate` is expected to be normal."""

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eocc.base.checks import number
from eocc.base.types import ROUNDING, Flags, Matrix
from eocc.base.wording import counted
from eocc.calibration.conformal import Calibration

# The share of discoveries that may be normal rows, unless the user gives one.
DEFAULT_FALSE_DISCOVERIES = 0.1


def check_discovery_rate(name: str, rate: float) -> None:
    """Raise a ValueError unless a rate lies between 0 and 1."""
    number("(0, 1)")(name, rate)


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
        """What limits the discoveries: too few training rows to find one row alone; "" if they are enough."""
        if self.fewest <= 1:
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


class DiscoveryCounts:
    """Counts the p-values of new rows, part by part, in memory that does not grow with the rows.

    p-values are ranks among the held-out rows, so their counts are all that Benjamini-Hochberg needs.
    scipy.stats.false_discovery_control, with which the tests compare, takes all p-values at once.
    """

    def __init__(self, calibration: Calibration) -> None:
        self._n = len(calibration.margins)
        self._counts = np.zeros(self._n + 2, np.int64)

    def add(self, p_values: Matrix) -> Self:
        """Count these rows too; return self."""
        self._counts += np.bincount(np.rint(p_values * (self._n + 1)).astype(np.int64), minlength=self._n + 2)
        return self

    def result(self, rate: float) -> Discoveries:
        """Return the discoveries among all rows counted: the largest p_(k) with p_(k) <= rate k / rows is the limit."""
        total, up_to = int(self._counts.sum()), np.cumsum(self._counts)
        ranks = np.arange(self._n + 2)
        is_within = (self._counts > 0) & (ranks * total <= rate * up_to * (self._n + 1) + ROUNDING)
        last = int(ranks[is_within].max(initial=0))
        return Discoveries(rate, total, int(up_to[last]), last / (self._n + 1), self._n)


def discoveries_among(calibration: Calibration, p_values: Any, rate: float = DEFAULT_FALSE_DISCOVERIES) -> Discoveries:
    """Return the discoveries among rows, given all their p-values.

    >>> held_out = Calibration(np.arange(99.0), 0.05)
    >>> discoveries_among(held_out, np.array([0.01, 0.01, 0.3, 0.9])).count
    2
    """
    check_discovery_rate("rate", rate)
    return DiscoveryCounts(calibration).add(np.asarray(p_values)).result(rate)
