"""Held-out normal rows -> p-values and a limit: how rare a row would be if it were normal."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import FITTED, Sizes, demand, numbers, real
from eocc.base.types import ROUNDING, Indices, Matrix

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
            f"a false_alarm_rate of {rate:g} needs at least {int(np.ceil(1 / rate)) - 1} training rows; "
            f"there are {n}, enough for {1.001 / (n + 1):.4g}"  # rounded up
        )
    return min(int(rate * (n + 1) + ROUNDING), n)  # 0.29 * 100 is 29


def folds(n: int, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
    """Yield (kept, held out) for each of at most ten random folds of n rows."""
    for held_out in np.array_split(rng.permutation(n), min(N_FOLDS, n)):
        yield np.setdiff1d(np.arange(n), held_out), np.sort(held_out)


def cross_calibrate(
    patterns: Any,
    margins_without: Callable[[Any, Any, np.random.Generator], Matrix],
    rate: float,
    rng: np.random.Generator,
) -> Calibration:
    """Return the margins of all patterns, each from a model fitted, including its search, on the other folds.

    `margins_without(kept, held_out, rng)` fits on some patterns and returns the margins of others. This is
    cross-conformal calibration (Vovk 2015) with pooled margins, applied to the model of all patterns. The models of
    the folds know fewer patterns, so new normal rows look slightly more normal than held-out ones. No theorem bounds
    the rate of this form; the tests check by simulation that it holds on average over training sets.
    """
    if len(patterns) < 2:
        raise ValueError("one training row cannot be held out; pass more rows, or false_alarm_rate=None")
    parts = [margins_without(patterns[kept], patterns[held], rng) for kept, held in folds(len(patterns), rng)]
    return Calibration(np.sort(np.concatenate(parts)), rate)
