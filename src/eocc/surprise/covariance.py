"""The view that sees values that do not go together: the Mahalanobis distance of rows of numbers.

It is log((v - m)' C^-1 (v - m)) with the mean m and the covariance C of the training rows, in variance-equalised
columns. C = (1 - r) S + r t I is shrunk as Ledoit and Wolf (2004) do: S is the covariance, t its mean variance. A
training row is compared with the mean and the covariance of four fifths of the rows, without it and its copies.

With more columns d than rows n, all of it is computed in the columns that hold the rows, and no matrix of size (d, d).
"""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy

from eocc.base.checks import FITTED, Sizes, demand, numbers, real
from eocc.base.threads import one_blas_thread
from eocc.base.types import HUGE, ROUNDING, Indices, Matrix
from eocc.kernels.gaussian import squared_projections
from eocc.space.prototypes.content import Words
from eocc.surprise.comparison import Comparison, Reference

# The number of folds in which training rows are left out.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class CovarianceView:
    """The squared Mahalanobis distance is a |x|^2 + b |B x|^2, x = v - m, with `mean` m (d,), `basis` B^T (d, r).

    a and b are `whole` and `inside`. They are 0 and 1, and B is triangular; or, with more columns than rows, 1 / (r t)
    and -1 / (r t).
    """

    mean: Annotated[Matrix, numbers("d")]
    basis: Annotated[Matrix, numbers("d b")]
    whole: Annotated[float, real("(-1, 1e300]")]
    inside: Annotated[float, real(FITTED)]

    def check_parts(self, sizes: Sizes) -> None:
        """Demand a basis of at most as many columns as there are columns or rows."""
        demand(0 < sizes["b"] <= max(sizes["d"], sizes["r"]), "helpers.covariance.basis must be a matrix")

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        return self.of_columns(columns_of(rows.reference, rows.coordinates))

    def of_columns(self, columns: Matrix) -> Matrix:
        """Return the view of rows in equalised columns."""
        squares = np.empty((len(columns), 2))
        apart = np.clip(columns - self.mean, -(HUGE**0.5), HUGE**0.5)
        squared_projections(apart, self.basis, self.whole == 0, squares)
        return np.log(np.maximum(self.whole * squares[:, 0] + self.inside * squares[:, 1], ROUNDING))


def columns_of(reference: Reference, coordinates: Matrix) -> Matrix:
    """Return rows of numbers in equalised columns, without those of weight 0."""
    weights = reference.weightings[-1]
    active = np.flatnonzero(weights)
    return np.ascontiguousarray(coordinates[:, active] * np.sqrt(weights[active]))


def fit_covariance(among: Comparison, keys: Words) -> tuple[CovarianceView, Matrix] | None:
    """Return the view, and that of the prototypes, each left out; None unless they are rows of numbers that vary.

    `keys` (n,) are equal for equal rows.
    """
    if among.reference.measure.coordinates is None:
        return None
    columns, folds = columns_of(among.reference, among.coordinates), folds_of(keys)
    if folds.max() == 0 or not np.ptp(columns, axis=0).any():
        return None
    with one_blas_thread():
        return _fit(columns, folds)


def folds_of(keys: Words) -> Indices:
    """Return the fold of each row: equal rows share one, and different rows are spread evenly."""
    _, places = np.unique(keys, return_inverse=True)
    return np.asarray(places.ravel() % N_FOLDS)


def _fit(columns: Matrix, folds: Indices) -> tuple[CovarianceView, Matrix]:
    """Fit by the products of columns; those without a fold are the sum of those of the other folds.

    The median is near most rows, so that products about it lose no digits to one row that is far away. With more
    columns than rows, these are turned into the fewest columns that hold them.
    """
    (n, d), centre = columns.shape, np.median(columns, axis=0)
    rows, span, found = columns - centre, None, np.empty(len(columns))
    if d > n:
        lengths, turned = np.linalg.eigh(rows @ rows.T)
        kept = lengths > ROUNDING**2 * lengths[-1]
        rows = turned[:, kept] * np.sqrt(lengths[kept])
        span = (columns - centre).T @ (turned[:, kept] / np.sqrt(lengths[kept]))
    held = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
    products = [rows[own].T @ rows[own] for own in held]
    for fold, own in enumerate(held):
        others = np.asarray(sum(one for number, one in enumerate(products) if number != fold))
        mean, covariance, _ = _shrunk(rows[folds != fold], others, d)
        lower = np.linalg.cholesky(covariance)
        found[own] = (scipy.linalg.solve_triangular(lower, (rows[own] - mean).T, lower=True) ** 2).sum(axis=0)
    mean, covariance, ridge = _shrunk(rows, np.asarray(sum(products)), d)
    left_out = np.log(np.maximum(found, ROUNDING))
    if span is None:
        lower = np.linalg.cholesky(covariance)
        basis = np.ascontiguousarray(scipy.linalg.solve_triangular(lower, np.eye(d), lower=True).T)
        return CovarianceView(centre + mean, basis, 0.0, 1.0), left_out
    # Outside the span, the variance is the ridge.
    variances, axes = np.linalg.eigh(covariance)
    basis = span @ (axes * np.sqrt(np.maximum(1 - ridge / variances, 0.0)))
    return CovarianceView(centre + span @ mean, np.ascontiguousarray(basis), 1 / ridge, -1 / ridge), left_out


def _shrunk(rows: Matrix, products: Matrix, d: int) -> tuple[Matrix, Matrix, float]:
    """Return the mean of rows, their shrunk covariance, and the part r t of its diagonal; `products` are X^T X."""
    n, mean = len(rows), rows.mean(axis=0)
    products = products - n * np.outer(mean, mean)
    lengths = np.einsum("ij,ij->i", rows, rows) - 2 * (rows @ mean) + mean @ mean
    variance = float(lengths.sum()) / (n * d)
    square = float((products**2).sum()) / n**2
    apart = square / d - variance**2
    noise = (float((lengths**2).sum()) / n - square) / (n * d)
    share = min(max(noise, 0.0) / apart, 1.0) if apart > 0 else 1.0
    share = max(share, ROUNDING)  # columns that copy each other stay invertible
    ridge = share * variance or 1.0  # all rows may be equal
    return mean, (1 - share) * products / n + ridge * np.eye(len(mean)), ridge
