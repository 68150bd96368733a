"""A Parzen density of every feature by itself."""

import numpy as np

from eocc.foundation.types import Matrix
from eocc.rivals.base import BLOCK, Rival
from eocc.rivals.parzen import check_width, left_out_log_density, likeliest_width, log_weighted_sum
from eocc.rivals.sizes import LARGEST


class NaiveParzen(Rival):
    """A one-dimensional Parzen density per feature: score_samples is the sum of their logs.

    sum_f log (1/n) sum_j exp(-(x_f - t_jf)^2 / 2 h_f^2) / (h_f sqrt(2 pi)), t_j the targets: features are taken as
    independent, each with a width of its own, so their units do not matter. Training scores leave the pattern out.
    Paper: Duin, On the choice of smoothing parameters for Parzen estimators (1976), for the widths; dd_tools'
    nparzen_dd.
    Good at: many features, few rows, unequal units, discrete features. Bad at: what only shows in features together.
    Automatic: width = "auto", dd_tools' default, gives left-out targets the largest likelihood, feature by feature.
    Copies count as rounding: h_f is at least 1 / sqrt(12) of the typical step between values; a feature that never
    varied in training has no unit of its own, and gets h_f = 1.

    >>> NaiveParzen(width=1.0).fit([[0.0, 5.0], [1.0, 5.0]]).score_samples([[0.0, 5.0], [1.0, 9.0]]).round(3)
    array([ -2.057, -10.057])
    """

    def __init__(self, *, width: float | str = "auto", rejection_rate: float = 0.05) -> None:
        self.width = width
        self.rejection_rate = rejection_rate

    def _learn(self, X: Matrix) -> Matrix:
        check_width("width", self.width)
        columns = [_Column(column, self.width) for column in X.T]
        self.columns_ = columns
        self.widths_ = np.array([column.width for column in columns])
        return _sum([column.left_out() for column in columns])

    def _score(self, X: Matrix) -> Matrix:
        return _sum([column.log_density(values) for column, values in zip(self.columns_, X.T, strict=True)])


class _Column:
    """One feature's density, from its distinct values and their counts: measured features repeat many."""

    def __init__(self, column: Matrix, width: float | str) -> None:
        self.values, self.index, counts = np.unique(column, return_inverse=True, return_counts=True)
        self.counts = counts.astype(float)
        self.width = likeliest_width(self._distances(), 1.0, self.counts) if isinstance(width, str) else float(width)

    def _distances(self) -> Matrix:
        return np.asarray(np.abs(self.values[:, None] - self.values))

    def left_out(self) -> Matrix:
        """Return the log-density of each training row, itself left out."""
        if self.counts.sum() == 1:  # no other value to be scored by
            return self.log_density(self.values)
        return left_out_log_density(self._distances(), self.width, 1.0, self.counts)[self.index]

    def log_density(self, values: Matrix) -> Matrix:
        """Return the log-density of each value."""
        step = max(1, BLOCK // len(self.values))
        blocks = [values[start : start + step, None] for start in range(0, len(values), step)]
        weights = self.counts / (self.counts.sum() * self.width * np.sqrt(2 * np.pi))
        logs = [log_weighted_sum(-0.5 * self._in_widths(block) ** 2, weights) for block in blocks]
        return np.asarray(np.concatenate(logs))

    def _in_widths(self, values: Matrix) -> Matrix:
        # A feature may vary far less than the others, whose spread says how far off a value may be: see `sizes`.
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((values - self.values) / self.width, -LARGEST, LARGEST))


def _sum(columns: list[Matrix]) -> Matrix:
    """Return the sum of the columns, first to last: numpy's own order of summation depends on the shape."""
    total = np.zeros(len(columns[0]))
    for column in columns:
        total += column
    return total
