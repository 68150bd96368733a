"""scikit-learn's robust covariance."""

import warnings
from typing import Any

import numpy as np
from sklearn.covariance import MinCovDet

from eocc.foundation.arguments import check_number, generator
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival
from eocc.rivals.covariance import covariance_of, is_singular, n_directions, regularised


class RobustCovariance(Rival):
    """A Gaussian fitted to the tightest part of the targets: score_samples is minus the squared Mahalanobis distance.

    Mean and covariance of the half of the targets whose covariance has the smallest determinant, then of all targets
    near them: scikit-learn's MinCovDet, and the score of its EllipticEnvelope. Directions in which no target differs
    are left out of the search. With fewer than two rows per direction, or if the half spans fewer directions than all
    rows, `is_robust_` is False, and mean and covariance are those of all rows. A singular covariance becomes
    (1 - r) S + r tr(S)/d I with r = `regularisation`.
    Paper: Rousseeuw, Van Driessen, A fast algorithm for the minimum covariance determinant estimator (1999).
    Good at: one elongated cloud with outliers among its rows, correlated features. Bad at: several clusters, bent
    data, categories, fewer than about five rows per feature.
    Automatic: nothing to choose; r = 0.01 as in `Gauss`.
    """

    regularisation: float = 0.01
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        check_number("regularisation", self.regularisation, "in (0, 1]", lambda value: 0 < value <= 1)
        found = _tightest_half(X, int(generator(self.random_state).integers(2**31)))
        self.is_robust_ = found is not None
        location, covariance = found if found is not None else (X.mean(axis=0), covariance_of(X))
        self.location_: Matrix = location
        is_usable = not is_singular(np.linalg.eigvalsh(covariance))
        self.covariance_ = covariance if is_usable else regularised(covariance, self.regularisation)
        values, vectors = np.linalg.eigh(self.covariance_)
        self.whitening_ = vectors / np.sqrt(values)
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        whitened = np.einsum("ij,jk->ik", X - self.location_, self.whitening_)
        return np.asarray(-np.einsum("ij,ij->i", whitened, whitened))


def _tightest_half(X: Matrix, seed: int) -> tuple[Matrix, Matrix] | None:
    """Return the robust mean and covariance, or None if the rows are too few or too similar."""
    directions = _directions(X)
    rank = directions.shape[1]
    if rank == 0 or len(X) < 2 * rank:
        return None
    centre = X.mean(axis=0)
    try:
        with warnings.catch_warnings():
            # It warns of singular halves, which are dealt with below, and of determinants that grow by rounding.
            warnings.filterwarnings("ignore", "The covariance matrix associated|Determinant has increased")
            warnings.simplefilter("ignore", RuntimeWarning)
            estimate = MinCovDet(random_state=seed).fit((X - centre) @ directions)
    except ValueError as error:
        if "covariance matrix of the support data is equal to 0" not in str(error):
            raise
        return None  # half the rows are equal in all directions
    covariance = estimate.covariance_
    if not np.isfinite(covariance).all() or is_singular(np.linalg.eigvalsh(covariance)):
        return None
    return centre + directions @ estimate.location_, directions @ covariance @ directions.T


def _directions(X: Matrix) -> Matrix:
    """Return, as columns, the principal directions in which rows differ; the axes themselves if that is all of them."""
    if len(X) == 1:
        return np.empty((X.shape[1], 0))
    _, lengths, directions = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    rank = n_directions(X, lengths)
    return np.eye(rank) if rank == X.shape[1] else directions[:rank].T
