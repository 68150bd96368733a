"""Rows and their regions -> the one shape that all regions share."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Indices, Matrix

# Variances below this share of the largest, or of the total, are rounding errors.
ROUNDING = 1e-9
# The least shrinkage: without any, a direction in which the regions do not vary would have the variance 0.
LEAST_SHRINKAGE = 1e-4
# A covariance this close to a multiple of the identity, relative to its squares, is one.
ROUND = 1e-12


@dataclass(frozen=True, eq=False)
class Shape:
    """The pooled covariance within regions, shrunk: `axes` (r, r), the `variances` along them, `outside` of the span.

    `shrinkage` is rho in Sigma = (1 - rho) S + rho mu I, where S is the pooled covariance and mu its mean variance.
    """

    axes: Matrix
    variances: Matrix
    outside: float
    shrinkage: float

    @property
    def whitening(self) -> Matrix:
        """The matrix (r, r) that turns the shape into a unit ball."""
        return np.asarray(self.axes * self.variances**-0.5)


def pooled_shape(rows: Matrix, labels: Indices, n_regions: int) -> Shape:
    """Return the covariance of rows (n, r) around the means of their regions, shrunk as Ledoit and Wolf say.

    If every row is a region of its own, or all regions are copies of a row, it is the covariance of all rows.
    """
    n, r = rows.shape
    if n_regions >= n:
        labels, n_regions = np.zeros(n, np.int64), 1
    if r == 0 or n < 2:
        return Shape(np.eye(r), np.ones(r), 1.0, 1.0)
    with one_blas_thread():
        residuals = (rows - means_of(rows, labels, n_regions)[labels]) * np.sqrt(n / (n - n_regions))
        if not (residuals**2).sum() > ROUNDING * (rows**2).sum():
            residuals = rows - rows.mean(axis=0)
        return _shrunk(residuals)


def _shrunk(residuals: Matrix) -> Shape:
    n, r = residuals.shape
    covariance = residuals.T @ residuals / n
    mean, squares = float(np.trace(covariance)) / r, float((covariance**2).sum())
    spread = squares - mean**2 * r
    noise = float(((residuals**2).sum(axis=1) ** 2).sum()) / n**2 - squares / n
    is_round = spread <= ROUND * squares
    shrinkage = 1.0 if is_round else float(np.clip(noise / spread, LEAST_SHRINKAGE, 1.0))
    values, axes = np.linalg.eigh(covariance)
    variances = (1 - shrinkage) * np.maximum(values, 0) + shrinkage * mean
    return Shape(axes, np.maximum(variances, ROUNDING * mean * r), shrinkage * mean, shrinkage)


def means_of(rows: Matrix, labels: Indices, n_regions: int) -> Matrix:
    """Return the mean of the rows of each region (k, r)."""
    counts = np.bincount(labels, minlength=n_regions)
    sums = [np.bincount(labels, column, n_regions) for column in rows.T]
    return np.stack(sums, axis=1) / counts[:, None] if sums else np.empty((n_regions, 0))
