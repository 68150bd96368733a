"""Columns of numbers -> what a Gaussian of the normal rows and one of the outliers say of a row.

Columns are standardised by the normal rows. The outliers' mean m is shrunk to 0, their variances to 1, so that few
outliers say little. From these come three numbers for every row z, and 2 d more:

- the *column ratio*: the sum over columns of log N(z_k; m_k, v_k) - log N(z_k; 0, 1), as in naive Bayes;
- the *direction*: the projection on C^-1 m, Fisher's discriminant, where C is the shrunk covariance of the normal rows;
- the *covariance*: log(1 + z' C^-1 z), in which a row is strange that breaks a correlation; a training row is left out;
- every z_k and z_k^2, each within a limit.
"""

from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import Sizes, demand, numbers
from eocc.base.stored import Unstored
from eocc.base.threads import one_blas_thread
from eocc.base.types import HUGE, ROUNDING, TINY, Flags, Matrix
from eocc.kernels.gaussian import gaussian_columns
from eocc.surprise.comparison import Reference
from eocc.surprise.covariance import N_FOLDS

# The limit, in standard deviations, of a column by itself, of its log ratio and along the direction.
LARGEST_TERM = 3.0
# The outliers' mean and variance are those of the outliers and of this many more, at 0 and of variance 1.
MORE_OUTLIERS = 3.0
# The share of the identity in the covariance: at least this, and half the number of columns over that of rows.
LEAST_IDENTITY = 0.1
# With more columns than this, the covariance is the identity.
MOST_CORRELATED = 256
# A training row is left out of the covariance, which changes its square by this factor at most.
MOST_LEFT_OUT = 10.0


def numbers_of(reference: Reference, patterns: Any) -> Matrix:
    """Return patterns as columns of numbers (m, d), without those of weight 0; d = 0 if the measure has no columns.

    A category has one column of 0 and 1.
    """
    measure, active = reference.measure, reference.active
    if measure.coordinates is not None:
        return np.ascontiguousarray(measure.coordinates(patterns)[:, active])
    if measure.indicator_columns is None:
        return np.empty((len(patterns), 0))
    columns, weights = measure.indicator_columns(patterns)
    return np.ascontiguousarray(columns[:, active[weights]])


@dataclass(frozen=True, eq=False)
class Gaussians:
    """The normal rows' `centre` and `scale` (d,) and `precision` (d, d), (0, 0) for the identity; of `n_normal` rows.

    `mean` and `variance` (d,) are those of the outliers, standardised; `direction` (d,) is C^-1 m.
    """

    centre: Annotated[Matrix, numbers("l")]
    scale: Annotated[Matrix, numbers("l", "(0, inf)")]
    precision: Annotated[Matrix, numbers("p p")]
    n_normal: Unstored[int]
    mean: Annotated[Matrix, numbers("l")]
    variance: Annotated[Matrix, numbers("l", "(0, inf)")]
    direction: Annotated[Matrix, numbers("l")]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand a precision of all columns or of none."""
        demand(sizes["p"] in (0, sizes["l"]), "gaussians.precision must be a matrix of all columns")

    def standardised(self, columns: Matrix) -> Matrix:
        """Return z."""
        with np.errstate(over="ignore"):
            return np.clip((columns - self.centre) / self.scale, -(HUGE**0.5), HUGE**0.5)

    def columns(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the column ratio, the direction, the covariance, then all z_k and all z_k^2: (m, 3 + 2 d)."""
        found = np.empty((len(z), 3))
        logs = -np.log(self.variance) / 2
        gaussian_columns(z, self.mean, self.variance, logs, self.direction, self.precision, LARGEST_TERM, found)
        ratio, along, square = found.T
        left_out = square / np.maximum(1 - square / self.n_normal, 1 / MOST_LEFT_OUT)
        square = np.log1p(np.where(is_training, left_out, square))
        along, single = (np.clip(part, -LARGEST_TERM, LARGEST_TERM) for part in (along, z))
        return np.column_stack([ratio, along, square, single, single**2])

    def of_outliers(self, z: Matrix) -> "Gaussians":
        """Return the same with the Gaussian of other outliers."""
        mean = z.sum(axis=0) / (len(z) + MORE_OUTLIERS)
        variance = (((z - mean) ** 2).sum(axis=0) + MORE_OUTLIERS) / (len(z) + MORE_OUTLIERS)
        with one_blas_thread():
            direction = self.precision @ mean if len(self.precision) else mean
        length = np.sqrt(max(float(direction @ mean), 0.0))  # the standard deviation of normal rows along it
        return replace(self, mean=mean, variance=variance, direction=direction / length if length else direction)

    def columns_left_out(self, z: Matrix, is_training: Flags) -> Matrix:
        """Return the columns of the outliers, each left out of their Gaussian."""
        found = np.empty((len(z), 3 + 2 * z.shape[1]))
        folds = np.arange(len(z)) % N_FOLDS
        for fold in range(min(len(z), N_FOLDS)):
            held = folds == fold
            found[held] = self.of_outliers(z[~held]).columns(z[held], is_training[held])
        return found


def fit_gaussians(normal: Matrix, outliers: Matrix) -> Gaussians:
    """Return the Gaussians of columns of normal rows (n, d) and of outliers; columns that do not vary count 0."""
    n, d = normal.shape
    centre, spread = normal.mean(axis=0), normal.std(axis=0)
    scale = np.where(spread > ROUNDING * spread.max(), spread, 1 / TINY)
    empty = np.zeros(0)
    known = Gaussians(centre, scale, np.empty((0, 0)), n, empty, empty, empty)
    identity = max(LEAST_IDENTITY, d / (2 * n))
    if d <= MOST_CORRELATED and identity < 1:
        z = known.standardised(normal)
        with one_blas_thread():
            covariance = (1 - identity) * (z.T @ z) / n + identity * np.eye(d)
            known = replace(known, precision=np.linalg.inv(covariance))
    return known.of_outliers(known.standardised(outliers))
