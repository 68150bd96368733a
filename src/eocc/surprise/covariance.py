"""The view that sees values that do not go together: the Mahalanobis distance of rows of numbers.

It is log((v - m)' C^-1 (v - m)) with the mean m and the covariance C of the training rows, in variance-equalised
columns. C = (1 - r) S + r t I is shrunk as Ledoit and Wolf (2004) do: S is the covariance, t its mean variance. A
training row is compared with the mean and the covariance of four fifths of the rows, without it and its copies.

With more columns d than rows n, all of it is computed from the products of pairs of rows, and no matrix of size (d, d).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.kernels.gaussian import squared_projections
from eocc.measures.protocol import ComparesRows
from eocc.space.prototypes.content import Words
from eocc.surprise.comparison import Comparison, Reference

# The number of folds in which training rows are left out.
N_FOLDS = 5
# The number of rows, chosen by content, about whose median products are computed.
N_CENTRAL = 101
# Keeps the logarithm finite.
LEAST = 1e-12
# The least share of the identity: it keeps the covariance of columns that copy each other invertible.
LEAST_SHRINKAGE = 1e-9
# Coordinates are clipped to this many times the largest of a training row, so that squares stay finite.
FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class CovarianceView:
    """The squared Mahalanobis distance is a |x|^2 + b |B x|^2, x = v - m, with `mean` m (d,), `basis` B^T (d, r).

    a and b are `whole` and `inside`. They are 0 and 1, and B is triangular; or, with more columns than rows, 1 / (r t)
    and -1 / (r t).
    """

    mean: Matrix
    basis: Matrix
    whole: float
    inside: float

    def of(self, rows: Comparison) -> Matrix:
        """Return the view of new rows."""
        return self.of_columns(columns_of(rows.reference, rows.coordinates))

    def of_columns(self, columns: Matrix) -> Matrix:
        """Return the view of rows in equalised columns."""
        squares = np.empty((len(columns), 2))
        apart = np.clip(columns - self.mean, -FARTHEST, FARTHEST)
        squared_projections(apart, self.basis, self.whole == 0, squares)
        return np.log(np.maximum(self.whole * squares[:, 0] + self.inside * squares[:, 1], LEAST))


def columns_of(reference: Reference, coordinates: Matrix) -> Matrix:
    """Return rows of numbers in equalised columns, without those of weight 0."""
    weights = reference.weightings[-1]
    active = np.flatnonzero(weights)
    return np.ascontiguousarray(coordinates[:, active] * np.sqrt(weights[active]))


def fit_covariance(among: Comparison, keys: Words) -> tuple[CovarianceView, Matrix] | None:
    """Return the view, and that of the prototypes, each left out; None unless they are rows of numbers that vary.

    `keys` (n,) are equal for equal rows.
    """
    if not isinstance(among.reference.measure, ComparesRows):
        return None
    columns = columns_of(among.reference, among.coordinates)
    folds = folds_of(keys)
    if folds.max() == 0 or not np.ptp(columns, axis=0).any():
        return None
    fit = _fit_products if columns.shape[1] > len(columns) else _fit_columns
    some = columns[np.argsort(keys, kind="stable")[:N_CENTRAL]]
    with one_blas_thread():
        return fit(columns, np.median(some, axis=0), folds)


def folds_of(keys: Words) -> Indices:
    """Return the fold of each row: equal rows share one, and different rows are spread evenly."""
    _, places = np.unique(keys, return_inverse=True)
    return np.asarray(places.ravel() % N_FOLDS)


def _fit_columns(columns: Matrix, centre: Matrix, folds: Indices) -> tuple[CovarianceView, Matrix]:
    """Fit by the (d, d) products of columns; those without a fold are the sum of those of the other folds.

    The centre is near most rows, so that products about it lose no digits to one row that is far away.
    """
    rows, found = columns - centre, np.empty(len(columns))
    held = [np.flatnonzero(folds == fold) for fold in range(folds.max() + 1)]
    products = [rows[own].T @ rows[own] for own in held]
    for fold, own in enumerate(held):
        others = sum(one for number, one in enumerate(products) if number != fold)
        mean, lower = _lower_of_columns(rows[folds != fold], np.asarray(others))
        found[own] = (scipy.linalg.solve_triangular(lower, (rows[own] - mean).T, lower=True) ** 2).sum(axis=0)
    mean, lower = _lower_of_columns(rows, np.asarray(sum(products)))
    basis = np.ascontiguousarray(scipy.linalg.solve_triangular(lower, np.eye(len(lower)), lower=True).T)
    return CovarianceView(centre + mean, basis, 0.0, 1.0), np.log(np.maximum(found, LEAST))


def _lower_of_columns(rows: Matrix, products: Matrix) -> tuple[Matrix, Matrix]:
    """Return the mean of rows, and the Cholesky factor of their shrunk covariance; `products` are X^T X."""
    (n, d), mean = rows.shape, rows.mean(axis=0)
    products = products - n * np.outer(mean, mean)
    lengths = np.einsum("ij,ij->i", rows, rows) - 2 * (rows @ mean) + mean @ mean
    shrinkage, variance = _shrinkage(products, lengths, n, d)
    return mean, np.linalg.cholesky((1 - shrinkage) * products / n + shrinkage * variance * np.eye(d))


def _fit_products(columns: Matrix, centre: Matrix, folds: Indices) -> tuple[CovarianceView, Matrix]:
    """Fit by the (n, n) products of rows, with Woodbury's formula for the inverse."""
    rows, found = columns - centre, np.empty(len(columns))
    products = rows @ rows.T
    for fold in range(folds.max() + 1):
        held = folds == fold
        inner, cross, own = _centred(products, ~held, held)
        lower, ridge = _lower_of_rows(inner, columns.shape[1])
        found[held] = (own - (scipy.linalg.solve_triangular(lower, cross, lower=True) ** 2).sum(axis=0)) / ridge
    mean = columns.mean(axis=0)
    everywhere = np.ones(len(rows), bool)
    lower, ridge = _lower_of_rows(_centred(products, everywhere, ~everywhere)[0], columns.shape[1])
    basis = np.ascontiguousarray(scipy.linalg.solve_triangular(lower, columns - mean, lower=True).T)
    return CovarianceView(mean, basis, 1 / ridge, -1 / ridge), np.log(np.maximum(found, LEAST))


def _centred(products: Matrix, kept: Flags, held: Flags) -> tuple[Matrix, Matrix, Matrix]:
    """Return products about the mean of the kept rows: kept with kept, kept with held out, squares of held out."""
    inner, cross = products[np.ix_(kept, kept)], products[np.ix_(kept, held)]
    by_row, by_held, whole = inner.mean(axis=1), cross.mean(axis=0), inner.mean()
    own = np.diag(products)[held] - 2 * by_held + whole
    return inner - by_row[:, None] - by_row + whole, cross - by_row[:, None] - by_held + whole, own


def _lower_of_rows(products: Matrix, d: int) -> tuple[Matrix, float]:
    """Return the Cholesky factor of products of rows + n r t / (1 - r) I, and r t."""
    n = len(products)
    shrinkage, variance = _shrinkage(products, np.diag(products), n, d)
    ridge = shrinkage * variance
    return np.asarray(np.linalg.cholesky(products + n * ridge / max(1 - shrinkage, LEAST) * np.eye(n))), ridge


def _shrinkage(products: Matrix, lengths: Matrix, n: int, d: int) -> tuple[float, float]:
    """Return the share r of Ledoit and Wolf, and the mean variance t, of n centred rows with these squared lengths.

    `products` may be those of columns or of rows: both have the same sum of squares.
    """
    variance = float(lengths.sum()) / (n * d)
    if variance == 0:  # the rows that are kept are all equal
        return 1.0, 1.0
    square = float((products**2).sum()) / n**2
    apart = square / d - variance**2
    noise = (float((lengths**2).sum()) / n - square) / (n * d)
    share = min(max(noise, 0.0) / apart, 1.0) if apart > 0 else 1.0
    return max(share, LEAST_SHRINKAGE), variance
