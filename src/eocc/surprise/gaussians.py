"""Columns of numbers -> what a Gaussian of the normal rows and one of the outliers say of a row.

Columns are standardised by the normal rows. The outliers' mean m is shrunk to 0, their variances to 1, so that few
outliers say little. From these come three numbers for every row z, and 2 d more:

- the *column ratio*: the sum over columns of log N(z_k; m_k, v_k) - log N(z_k; 0, 1), as in naive Bayes;
- the *direction*: the projection on C^-1 m, Fisher's discriminant, where C is the shrunk covariance of the normal rows;
- the *covariance*: log(1 + z' C^-1 z), in which a row is strange that breaks a correlation; a training row is left out;
- every z_k and z_k^2, each within a limit.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.kernels.gaussian import gaussian_columns
from eocc.measures.protocol import ComparesRows, FittedMeasure

# The limits, in standard deviations: of a column, of a column by itself, of its log ratio, and along the direction.
LARGEST, LARGEST_SINGLE, LARGEST_RATIO, LARGEST_ALONG = 10.0, 3.0, 3.0, 3.0
# The outliers' mean is that of the outliers and one row at 0, their variance that with three more of variance 1.
ROWS_AT_MEAN, ROWS_OF_VARIANCE, LEAST_VARIANCE = 1.0, 3.0, 0.05
# The share of the identity in the covariance: at least this, and half the number of columns over that of rows.
LEAST_IDENTITY = 0.1
# With more columns than this, the covariance is the identity.
MOST_CORRELATED = 256
# A training row is left out of the covariance, which changes its square by this factor at most.
MOST_LEFT_OUT = 10.0
# A column that spreads less than this share of the largest spread varies by rounding: divided by NO_SCALE, it is 0.
UNINFORMATIVE, NO_SCALE = 1e-9, 1e300
# Outliers are left out of their own Gaussian in at most so many groups.
GROUPS = 20


def columns_of(measure: FittedMeasure, patterns: Any, active: Flags) -> tuple[Matrix, Indices]:
    """Return patterns as columns of numbers (m, d), and the weight (d,) that each belongs to; d = 0 if there are none.

    Weights that are not `active` have no columns. A category has one column of 0 and 1.
    """
    if isinstance(measure, ComparesRows):
        weights = np.flatnonzero(active)
        return np.ascontiguousarray(measure.coordinates(patterns)[:, weights]), weights
    if measure.indicator_columns is not None:
        columns, weights = measure.indicator_columns(patterns)
        kept = active[weights]
        return np.ascontiguousarray(columns[:, kept]), weights[kept]
    return np.empty((len(patterns), 0)), np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Gaussians:
    """The normal rows' `centre` and `scale` (d,) and `precision` (d, d), (0, 0) for the identity; of `n_normal` rows.

    `mean` and `variance` (d,) are those of the outliers, standardised; `direction` (d,) is C^-1 m.
    """

    centre: Matrix
    scale: Matrix
    precision: Matrix
    n_normal: int
    mean: Matrix
    variance: Matrix
    direction: Matrix

    def standardised(self, columns: Matrix) -> Matrix:
        """Return z."""
        with np.errstate(over="ignore"):
            return np.clip((columns - self.centre) / self.scale, -LARGEST, LARGEST)

    def columns(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the column ratio, the direction, the covariance, then all z_k and all z_k^2: (m, 3 + 2 d)."""
        found = np.empty((len(z), 3))
        logs = -np.log(self.variance) / 2
        gaussian_columns(z, self.mean, self.variance, logs, self.direction, self.precision, LARGEST_RATIO, found)
        ratio, along, square = found.T
        left_out = square / np.maximum(1 - square / self.n_normal, 1 / MOST_LEFT_OUT)
        square = np.log1p(np.where(is_training, left_out, square))
        single = np.clip(z, -LARGEST_SINGLE, LARGEST_SINGLE)
        return np.column_stack([ratio, np.clip(along, -LARGEST_ALONG, LARGEST_ALONG), square, single, single**2])

    def of_outliers(self, z: Matrix) -> "Gaussians":
        """Return the same with the Gaussian of other outliers."""
        mean = z.sum(axis=0) / (len(z) + ROWS_AT_MEAN)
        squares = ((z - mean) ** 2).sum(axis=0)
        variance = np.maximum((squares + ROWS_OF_VARIANCE) / (len(z) + ROWS_OF_VARIANCE), LEAST_VARIANCE)
        with one_blas_thread():
            direction = self.precision @ mean if len(self.precision) else mean
        length = np.sqrt(max(float(direction @ mean), 0.0))  # the standard deviation of normal rows along it
        return replace(self, mean=mean, variance=variance, direction=direction / length if length else direction)

    def columns_left_out(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the columns of the outliers, each left out of their Gaussian."""
        found = np.empty((len(z), 3 + 2 * z.shape[1]))
        for kept, held in _groups(len(z)):
            found[held] = self.of_outliers(z[kept]).columns(z[held], is_training[held])
        return found


def _groups(n: int) -> Iterator[tuple[Indices, Indices]]:
    """Yield (kept, held out) for groups of n rows; every GROUPS-th row is in one group."""
    numbers = np.arange(n)
    for group in range(min(n, GROUPS)):
        is_held = numbers % GROUPS == group
        yield np.flatnonzero(~is_held), np.flatnonzero(is_held)


def fit_gaussians(normal: Matrix, outliers: Matrix) -> Gaussians:
    """Return the Gaussians of columns of normal rows (n, d) and of outliers; columns that do not vary count 0."""
    n, d = normal.shape
    centre, spread = normal.mean(axis=0), normal.std(axis=0)
    varies = spread > UNINFORMATIVE * spread.max()
    scale = np.where(varies, spread, NO_SCALE)
    empty = np.zeros(0)
    known = Gaussians(centre, scale, np.empty((0, 0)), n, empty, empty, empty)
    identity = max(LEAST_IDENTITY, d / (2 * n))
    if d <= MOST_CORRELATED and identity < 1:
        z = known.standardised(normal)
        with one_blas_thread():
            covariance = (1 - identity) * (z.T @ z) / n + identity * np.eye(d)
            known = replace(known, precision=np.linalg.inv(covariance))
    return known.of_outliers(known.standardised(outliers))
