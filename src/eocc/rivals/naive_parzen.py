"""A Parzen density per feature."""

import numpy as np

from eocc.foundation.types import Matrix
from eocc.rivals.base import DISTANCES_PER_BLOCK, LARGEST_SQUARED, Rival
from eocc.rivals.parzen import check_width, left_out_log_density, likeliest_width, log_weighted_sum


class NaiveParzen(Rival):
    """A one-dimensional Parzen density per feature: score_samples is the sum of their logs.

    sum_f log (1/n) sum_j exp(-(x_f - t_jf)^2 / 2 h_f^2) / (h_f sqrt(2 pi)), t_j the targets: features are treated as
    independent, each with its own width, so their units do not matter.
    Paper: Duin, On the choice of smoothing parameters for Parzen estimators (1976), for the widths; dd_tools'
    nparzen_dd.
    Good at: many features, few rows, unequal units, discrete features. Bad at: unusual combinations of features.
    Automatic: width = "auto", dd_tools' default, gives left-out targets the largest likelihood, feature by feature.
    Copies are treated as rounded values: h_f is at least 1 / sqrt(12) of the typical step between values. A feature
    with the same value in every training row gets h_f = 1.

    >>> NaiveParzen(width=1.0).fit([[0.0, 5.0], [1.0, 5.0]]).score_samples([[0.0, 5.0], [1.0, 9.0]]).round(3)
    array([ -2.057, -10.057])
    """

    width: float | str = "auto"

    def _learn(self, X: Matrix) -> Matrix:
        check_width(self.width)
        self.columns_ = [_Column(column, self.width) for column in X.T]
        self.widths_ = np.array([column.width for column in self.columns_])
        # sum adds the columns one by one; the order in which numpy adds depends on the shape.
        return np.asarray(sum(column.left_out() for column in self.columns_))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(sum(column.log_density(values) for column, values in zip(self.columns_, X.T, strict=True)))


class _Column:
    """One feature's density, from its distinct values and their counts."""

    def __init__(self, column: Matrix, width: float | str) -> None:
        self.values, self.index, counts = np.unique(column, return_inverse=True, return_counts=True)
        self.counts = counts.astype(float)
        self.width = likeliest_width(self._distances(), 1.0, self.counts) if isinstance(width, str) else float(width)

    def _distances(self) -> Matrix:
        return np.asarray(np.abs(self.values[:, None] - self.values))

    def left_out(self) -> Matrix:
        """Return the log-density of each training row, itself left out."""
        if self.counts.sum() == 1:
            return self.log_density(self.values)
        return left_out_log_density(self._distances(), self.width, 1.0, self.counts)[self.index]

    def log_density(self, values: Matrix) -> Matrix:
        """Return the log-density of each value."""
        step = max(1, DISTANCES_PER_BLOCK // len(self.values))
        blocks = [values[start : start + step, None] for start in range(0, len(values), step)]
        weights = self.counts / (self.counts.sum() * self.width * np.sqrt(2 * np.pi))
        logs = [log_weighted_sum(-0.5 * self._in_widths(block) ** 2, weights) for block in blocks]
        return np.asarray(np.concatenate(logs))

    def _in_widths(self, values: Matrix) -> Matrix:
        # A feature may vary far less than the others, whose spread decides where values are clipped.
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((values - self.values) / self.width, -LARGEST_SQUARED, LARGEST_SQUARED))
