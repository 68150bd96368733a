"""One Gaussian."""

import numpy as np

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival
from eocc.rivals.covariance import covariance_of, is_singular, regularised


class Gauss(Rival):
    """A single Gaussian: score_samples is its log-density.

    Mean and covariance of the targets, S' = (1 - r) S + r tr(S)/d I with r = `regularisation`, so that the covariance
    can be inverted even with more features than rows.
    Paper: Bishop, Pattern Recognition and Machine Learning (2006), section 2.3; dd_tools' gauss_dd.
    Good at: one elongated cloud, few rows, correlated features. Bad at: several clusters, bent or heavy-tailed data.
    Automatic: nothing to choose; r = 0.01 is dd_tools' default.
    """

    regularisation: float = 0.01

    def _learn(self, X: Matrix) -> Matrix:
        check_number("regularisation", self.regularisation, "in [0, 1]", lambda value: 0 <= value <= 1)
        self.mean_ = X.mean(axis=0)
        self.covariance_ = regularised(covariance_of(X), self.regularisation)
        values, vectors = np.linalg.eigh(self.covariance_)
        if is_singular(values):
            raise ValueError(
                f"the covariance has no inverse with regularisation={self.regularisation:g}; "
                "take a larger one, or drop features that depend on others"
            )
        self.whitening_ = vectors / np.sqrt(values)
        self.log_normaliser_ = -0.5 * (len(values) * np.log(2 * np.pi) + np.log(values).sum())
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        whitened = np.einsum("ij,jk->ik", X - self.mean_, self.whitening_)
        return np.asarray(self.log_normaliser_ - 0.5 * (whitened**2).sum(axis=1))
