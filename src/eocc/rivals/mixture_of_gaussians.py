"""Several Gaussians."""

import warnings
from typing import Any

import numpy as np
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from eocc.foundation.arguments import check_number, generator
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival, is_automatic
from eocc.rivals.consistency import folds


class MixtureOfGaussians(Rival):
    """A mixture of Gaussians with full covariances: score_samples is its log-density.

    Fitted by expectation maximisation (scikit-learn's). r tr(S)/d I is added to every covariance, where S is the
    covariance of all targets and r = `regularisation`, so that it can always be inverted. There are at most as many
    Gaussians as distinct rows.
    Paper: Bishop, Pattern Recognition and Machine Learning (2006), section 9.2; dd_tools' mog_dd.
    Good at: several elongated clusters, many rows. Bad at: few rows, many features: d(d + 3)/2 numbers per Gaussian.
    Automatic: n_components = "auto" takes the number, of 1 to 10 and with more rows than features for each Gaussian,
    that gives held-out targets the largest likelihood (ten folds). Both defaults, 5 and r = 0.01, are dd_tools'.
    """

    n_components: int | str = 5
    regularisation: float = 0.01
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        is_open = is_automatic("n_components", self.n_components)
        check_number("regularisation", self.regularisation, "> 0", lambda value: 0 < value < np.inf)
        seed = int(generator(self.random_state).integers(2**31))
        self.centre_ = X.mean(axis=0)
        # One unit for all features: tr(S)/d becomes 1, and the regularisation relative to it.
        self.unit_ = float(np.sqrt(X.var(axis=0).mean())) or 1.0
        Z = (X - self.centre_) / self.unit_
        n = _likeliest_number(Z, self.regularisation, seed) if is_open else int(self.n_components)
        mixture = _fitted(Z, n, self.regularisation, seed)
        self.weights_, self.means_ = mixture.weights_, mixture.means_ * self.unit_ + self.centre_
        self.whitenings_ = mixture.precisions_cholesky_ / self.unit_
        self.n_components_ = len(self.weights_)
        log_determinants = np.log(np.diagonal(self.whitenings_, axis1=1, axis2=2)).sum(axis=1)
        self.log_normalisers_ = np.log(self.weights_) + log_determinants - 0.5 * X.shape[1] * np.log(2 * np.pi)
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        logs = np.empty((len(X), self.n_components_))
        for index, (mean, whitening) in enumerate(zip(self.means_, self.whitenings_, strict=True)):
            # einsum sums each row by itself: a matrix product would round differently in other batches.
            whitened = np.einsum("ij,jk->ik", X - mean, whitening)
            logs[:, index] = self.log_normalisers_[index] - 0.5 * (whitened**2).sum(axis=1)
        return np.asarray(logsumexp(logs, axis=1))


def _fitted(Z: Matrix, n_components: int, regularisation: float, seed: int) -> GaussianMixture:
    n = min(n_components, len(np.unique(Z, axis=0)))
    mixture = GaussianMixture(n, reg_covar=regularisation, random_state=seed)
    rows = np.repeat(Z, 2, axis=0) if len(Z) == 1 else Z  # scikit-learn needs two rows; a copy changes no density
    with warnings.catch_warnings():
        # A hundred iterations, as in dd_tools: every one raises the likelihood, so the last is good enough.
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return mixture.fit(rows)
        except ValueError as error:
            if "ill-defined empirical covariance" not in str(error):
                raise
            raise ValueError(
                f"a covariance has no inverse with regularisation={regularisation:g}; "
                "take a larger one, or a smaller n_components"
            ) from error


def _likeliest_number(Z: Matrix, regularisation: float, seed: int) -> int:
    """Return the number of Gaussians with the largest mean log-density of held-out rows, the smaller of equals."""
    n, d = Z.shape
    candidates = [number for number in range(1, 11) if number * (d + 1) <= n]
    if len(candidates) < 2:
        return 1

    def likelihood(number: int) -> float:
        return sum(
            float(_fitted(Z[kept], number, regularisation, seed).score_samples(Z[held_out]).sum())
            for kept, held_out in folds(n)
        )

    return candidates[int(np.argmax([likelihood(number) for number in candidates]))]
