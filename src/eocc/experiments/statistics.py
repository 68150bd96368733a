"""Results of many runs -> means, tests against the best, ranks."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import stats

from eocc.foundation.types import Matrix

SIGNIFICANCE = 0.05
N_BOOTSTRAPS = 10_000


class Summary(NamedTuple):
    """The mean over runs; the standard deviations over repetitions (of their means) and over the folds of one.

    `is_best` where no system is significantly better.
    """

    mean: float
    std_repetitions: float
    std_folds: float
    n_runs: int
    is_best: bool


def summarise_runs(
    runs_by_system: Mapping[str, Matrix], n_folds: int = 1, apart: Container[str] = ()
) -> dict[str, Summary]:
    """Summarise the runs of each system on one data set, `n_folds` per repetition; higher is better.

    The best mean is marked, and all that do not differ significantly from it by a paired t-test over the runs: all
    systems have the same folds (departure: t test). Systems in `apart` are not compared. With a single run nothing can
    be tested, and none is marked.
    """
    full = {name: runs for name, runs in runs_by_system.items() if len(runs) and not np.isnan(runs).any()}
    compared = {name: runs for name, runs in full.items() if name not in apart and len(runs) > 1}
    best = max(compared.values(), key=lambda runs: float(runs.mean()), default=np.empty(0))
    return {
        name: Summary(
            float(runs.mean()),
            *deviations(runs, n_folds),
            len(runs),
            name in compared and not differs(best, runs),
        )
        for name, runs in full.items()
    }


def deviations(runs: Matrix, n_folds: int) -> tuple[float, float]:
    """Return the standard deviation of the means of the repetitions, and that over the folds within a repetition.

    >>> deviations(np.array([0.0, 2.0, 2.0, 4.0]), n_folds=2)
    (1.4142135623730951, 1.4142135623730951)
    """
    whole = runs[: len(runs) // n_folds * n_folds].reshape(-1, n_folds)
    over_repetitions = float(whole.mean(axis=1).std(ddof=1)) if len(whole) > 1 else np.nan
    over_folds = float(np.sqrt(whole.var(axis=1, ddof=1).mean())) if n_folds > 1 and len(whole) else np.nan
    return over_repetitions, over_folds


def differs(one: Matrix, other: Matrix) -> bool:
    """Return whether the runs differ by a paired t-test at 5 %."""
    n = min(len(one), len(other))
    difference = one[:n] - other[:n]
    # Runs that differ by rounding, or all by the same amount, have no variance to test with.
    if n < 2 or np.ptp(difference) <= 1e-12:
        return bool(abs(difference.mean()) > 1e-12)
    return bool(stats.ttest_1samp(difference, 0.0).pvalue < SIGNIFICANCE)


@dataclass(frozen=True)
class Ranking:
    """Average ranks, 1 = best; the Friedman test's p; and the Nemenyi test's critical difference.

    `intervals` are 95 % bootstrap intervals of the average ranks over the data cells: how much the choice of the data
    sets matters.
    """

    average_ranks: dict[str, float]
    intervals: dict[str, tuple[float, float]]
    friedman_p: float
    critical_difference: float
    n_cells: int

    @property
    def is_significant(self) -> bool:
        """Whether the Friedman test finds a difference; only then does the Nemenyi test apply."""
        return self.friedman_p < SIGNIFICANCE


def rank_systems(names: Sequence[str], scores: Matrix) -> Ranking | None:
    """Rank systems by their scores, of shape (data cells, systems); a missing score ranks last.

    None with fewer than three systems or two cells: too few for the Friedman test.
    """
    n_cells, n_systems = scores.shape
    if n_cells < 2 or n_systems < 3:
        return None
    # Means that differ only in the ninth digit are equal.
    ranks = stats.rankdata(-np.where(np.isnan(scores), -np.inf, scores.round(9)), axis=1)
    friedman = stats.friedmanchisquare(*ranks.T).pvalue if np.ptp(ranks) > 0 else 1.0
    # Nemenyi (Demšar 2006): q is the studentised range over sqrt(2).
    q = stats.studentized_range.ppf(1 - SIGNIFICANCE, n_systems, np.inf) / np.sqrt(2)
    critical = float(q * np.sqrt(n_systems * (n_systems + 1) / (6 * n_cells)))
    averages = dict(zip(names, map(float, ranks.mean(axis=0)), strict=True))
    intervals = dict(zip(names, map(tuple, bootstrap_intervals(ranks).tolist()), strict=True))
    return Ranking(averages, intervals, float(friedman), critical, n_cells)


def bootstrap_intervals(values: Matrix) -> Matrix:
    """Return the 95 % bootstrap interval (low, high) of each column's mean over the rows."""
    n = len(values)
    drawn = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=N_BOOTSTRAPS)
    tails = [SIGNIFICANCE / 2, 1 - SIGNIFICANCE / 2]
    return np.asarray(np.quantile(drawn @ values / n, tails, axis=0).T)
