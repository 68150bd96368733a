"""A Gaussian at every target: of whole rows, and feature by feature."""

from typing import Annotated

import numpy as np
from scipy.optimize import minimize_scalar

from eocc.base.types import Matrix
from eocc.rivals.base import WIDTH, DistanceRival, Rival
from eocc.rivals.distances import intrinsic_dimension


class Parzen(DistanceRival):
    """A Gaussian of one width at every target: score_samples is the log of their mean.

    log (1/n) sum_j exp(-D_ij^2 / 2h^2) - d log(h sqrt(2 pi)), h = `width`. For Euclidean rows d, `dimension_`, is the
    number of features, so this is a log-density; for other metrics it is the intrinsic dimension of the distances.
    width = "auto", dd_tools' default, gives left-out targets the largest likelihood.

    >>> Parzen(width=1.0).fit([[0.0], [1.0], [3.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([ -1.463, -20.018])
    """

    width: Annotated[float | str, WIDTH] = "auto"

    def _learn(self, D: Matrix) -> Matrix:
        self.dimension_ = float(self.prototypes_.shape[1]) if self._has_rows else intrinsic_dimension(D)
        self.width_ = likeliest_width(D, self.dimension_) if self.width == "auto" else float(self.width)
        if len(D) == 1:
            return self._score(D)
        return left_out_log_density(D, self.width_, self.dimension_)

    def _score(self, D: Matrix) -> Matrix:
        logs = log_sum(-0.5 * (D / self.width_) ** 2) - np.log(D.shape[1])
        return np.asarray(logs - self.dimension_ * np.log(self.width_ * np.sqrt(2 * np.pi)))


def left_out_log_density(D: Matrix, width: float, dimension: float) -> Matrix:
    """Return the log-density of each pattern under the Gaussians at all others.

    >>> left_out_log_density(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0, 1.0).round(3)
    array([-2.919, -2.919])
    """
    logs = -0.5 * (D / width) ** 2
    np.fill_diagonal(logs, -np.inf)
    return np.asarray(log_sum(logs) - np.log(len(D) - 1) - dimension * np.log(width * np.sqrt(2 * np.pi)))


def log_sum(logs: Matrix) -> Matrix:
    """Return log sum_j exp(logs_ij) of each row; finite, because the largest term is taken out first.

    scipy's logsumexp does the same, but its checks cost more than the sum on small blocks.
    """
    largest = logs.max(axis=1)
    return np.asarray(largest + np.log(np.exp(logs - largest[:, None]).sum(axis=1)))


def likeliest_width(D: Matrix, dimension: float) -> float:
    """Return the width that gives left-out patterns the largest likelihood; 1 if all are equal.

    Copies would make the likelihood grow without bound as the width h goes to 0. They are treated as rounded values: h
    stays above r / sqrt(12 d), the standard deviation of rounding to steps of r / sqrt(d), where r is the median
    distance to the nearest other pattern that is not a copy.

    >>> likeliest_width(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0).__round__(3)
    2.0
    """
    if not D.any():
        return 1.0

    def loss(log_width: float) -> float:
        return -float(left_out_log_density(D, np.exp(log_width), dimension).mean())

    low, high = np.log(_width_interval(D, dimension))
    grid = np.linspace(low, high, 2 + int((high - low) / np.log(np.sqrt(2))))
    best = int(np.argmin([loss(point) for point in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    # A part in 1000 of the width: the likelihood is flat at its top.
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x if found.fun < loss(grid[best]) else grid[best]))


def _width_interval(D: Matrix, dimension: float) -> Matrix:
    """Return the smallest and the largest width worth trying.

    Where the likelihood is stationary, d h^2 is a mean of squared distances: between that of the nearest and that of
    the farthest.
    """
    different = np.where(D > 0, D, np.inf).min(axis=1)
    nearest = (D + np.diag(np.full(len(D), np.inf))).min(axis=1)
    squares = np.mean([nearest**2, D.max(axis=1) ** 2], axis=1)
    # If the measure is not a metric, one pattern may be at distance 0 from all others, which differ.
    rounding = np.median(different[different < np.inf]) / np.sqrt(12 * dimension)
    return np.asarray(np.maximum(np.sqrt(squares / dimension), rounding))


class NaiveParzen(Rival):
    """A one-dimensional Parzen density per feature: score_samples is the sum of their logs.

    sum_f log (1/n) sum_j exp(-(x_f - t_jf)^2 / 2 h_f^2) / (h_f sqrt(2 pi)), t_j the targets: features are treated as
    independent, each with its own width, so their units do not matter. width = "auto", dd_tools' default, gives
    left-out targets the largest likelihood, feature by feature. Copies are treated as rounded values: h_f is at least
    1 / sqrt(12) of the typical step between values. A feature with the same value in every training row gets h_f = 1.

    >>> NaiveParzen(width=1.0).fit([[0.0, 5.0], [1.0, 5.0]]).score_samples([[0.0, 5.0], [1.0, 9.0]]).round(3)
    array([ -2.057, -10.057])
    """

    width: Annotated[float | str, WIDTH] = "auto"

    def _learn(self, X: Matrix) -> Matrix:
        self.columns_ = [Parzen(width=self.width).fit(column[:, None]) for column in X.T]
        self.widths_ = np.array([column.width_ for column in self.columns_])
        # sum adds the columns one by one; the order in which numpy adds depends on the shape.
        return np.asarray(sum(column.training_scores_ for column in self.columns_))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(sum(column.score_samples(x[:, None]) for column, x in zip(self.columns_, X.T, strict=True)))
