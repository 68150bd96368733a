"""Held-out targets -> p-values and a threshold: how rare a pattern would be if it were a target."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """The margins of targets, each from a model that has not seen it, sorted; and the `rate` of them to reject."""

    margins: Matrix
    rate: float

    def p_values(self, margins: Matrix) -> Matrix:
        """Return (1 + number of held-out targets no more normal) / (n + 1): near 0 for what no target is like.

        >>> Calibration(np.array([-1.0, 0.0, 1.0]), 0.25).p_values(np.array([-2.0, 0.0, 5.0]))
        array([0.25, 0.75, 1.  ])
        """
        return np.asarray((1 + np.searchsorted(self.margins, margins, side="right")) / (len(self.margins) + 1))

    @property
    def threshold(self) -> float:
        """The margin at and above which the p-value exceeds the rate.

        >>> Calibration(np.array([-1.0, 0.0, 1.0]), 0.5).threshold
        0.0
        """
        check_rate(self.rate, len(self.margins))
        # The slack keeps 0.29 * 100 at 29, where floating point says 28.999999999999996.
        rank = int(self.rate * (len(self.margins) + 1) + 1e-9)
        return float(self.margins[min(rank, len(self.margins)) - 1])


def check_rate(false_alarm_rate: float, n: int) -> None:
    """Raise a ValueError where n targets are too few for the rate: even the least of them is not that rare."""
    if false_alarm_rate * (n + 1) + 1e-9 < 1:
        raise ValueError(
            f"a rate of false alarms of {false_alarm_rate:g} needs at least {int(np.ceil(1 / false_alarm_rate)) - 1} "
            f"training targets; there are {n}, enough for {1.001 / (n + 1):.4g}"  # rounded up
        )


def folds(n: int, rng: np.random.Generator) -> Iterator[tuple[Indices, Indices]]:
    """Yield (kept, held out) for each of at most ten random folds of n patterns."""
    for held_out in np.array_split(rng.permutation(n), min(N_FOLDS, n)):
        yield np.setdiff1d(np.arange(n), held_out), np.sort(held_out)


def cross_calibrate(
    patterns: Any,
    margins_without: Callable[[Any, Any, np.random.Generator], Matrix],
    rate: float,
    rng: np.random.Generator,
) -> Calibration:
    """Return the margins of all patterns, each from a model fitted, search and all, on the folds it is not in.

    Cross-conformal calibration (Vovk 2015) with the folds' margins pooled, and the model of all patterns in the place
    of the folds' models: `margins_without(kept, held_out, rng)` fits on some patterns and judges others. Those models
    know fewer patterns than the last, so that new targets look, if anything, a little more normal than held-out ones.
    No theorem gives a bound for this form: the tests check by simulation that the rate is kept, on the average over
    training sets. A single model of few targets may lie at twice the rate.
    """
    parts = [margins_without(patterns[kept], patterns[held], rng) for kept, held in folds(len(patterns), rng)]
    return Calibration(np.sort(np.concatenate(parts)), rate)
