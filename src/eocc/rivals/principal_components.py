"""The principal subspace."""

import numbers

import numpy as np
from sklearn.decomposition import PCA

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival
from eocc.rivals.covariance import n_directions


class PrincipalComponents(Rival):
    """Principal component analysis: score_samples is minus the squared distance to the principal subspace.

    The subspace passes through the mean of the targets, along the directions in which they vary most:
    -||(x - m) - V'V(x - m)||². `n_components` is their number, or the fraction of the variance that the fewest of them
    must keep. At least one direction in which the targets vary is always left out: otherwise all errors would be zero.
    Features keep their unit.
    Paper: Bishop, Pattern Recognition and Machine Learning (2006), section 12.1; dd_tools' pca_dd.
    Good at: targets near a flat sheet, many correlated features, outliers off that sheet. Bad at: outliers that lie in
    the subspace, however far; bent or clustered targets; features in different units.
    Automatic: the fraction sets the number of components; 0.9 is dd_tools' default.

    >>> rival = PrincipalComponents().fit([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> rival.score_samples([[9.0, 0.0], [0.0, 3.0]])
    array([-0., -9.])
    """

    n_components: float = 0.9

    def _learn(self, X: Matrix) -> Matrix:
        wanted = "in (0, 1), a fraction of the variance, or an integer >= 0"
        is_count = isinstance(self.n_components, numbers.Integral)
        check_number("n_components", self.n_components, wanted, lambda n: n >= 0 if is_count else 0 < n < 1)
        self.mean_ = X.mean(axis=0)
        self.components_ = np.empty((0, X.shape[1]))
        if np.ptp(X, axis=0).any():
            analysis = PCA(svd_solver="full").fit(X)
            variances = analysis.singular_values_**2
            n_kept = min(self._n_asked(variances), max(0, n_directions(X, analysis.singular_values_) - 1))
            self.components_ = np.ascontiguousarray(analysis.components_[:n_kept])
        self.n_components_ = len(self.components_)
        return self._score(X)

    def _n_asked(self, variances: Matrix) -> int:
        if isinstance(self.n_components, numbers.Integral):
            return int(self.n_components)
        kept = np.cumsum(variances)
        return int(np.searchsorted(kept, self.n_components * kept[-1])) + 1

    def _score(self, X: Matrix) -> Matrix:
        centred = X - self.mean_
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        coordinates = np.einsum("ij,kj->ik", centred, self.components_)
        residuals = centred - np.einsum("ik,kj->ij", coordinates, self.components_)
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))
