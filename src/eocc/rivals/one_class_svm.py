"""scikit-learn's one-class support vector machine."""

import numpy as np
from sklearn.svm import OneClassSVM

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival


class OneClassSupportVectorMachine(Rival):
    """The one-class support vector machine: score_samples is the sum of its kernels, sum a_i exp(-gamma ||x - x_i||²).

    The hyperplane in the space of a Gaussian kernel that separates all but a fraction `nu` of the targets from the
    origin with the widest margin; scikit-learn's OneClassSVM. nu = None takes the rejection rate, but at least 1 / 2n,
    as nu must not be 0. The threshold is a quantile of the training scores, not the hyperplane's offset.
    Paper: Schölkopf, Platt, Shawe-Taylor, Smola, Williamson, Estimating the support of a high-dimensional
    distribution (2001).
    Good at: one smooth region, a small model, fast scores. Bad at: features in different units; far from all targets
    the kernels vanish and all scores are equal; the wrong gamma.
    Automatic: gamma = "scale" is scikit-learn's, 1 / (d times the variance of all entries of X).
    """

    gamma: float | str = "scale"
    nu: float | None = None

    def _learn(self, X: Matrix) -> Matrix:
        if not (isinstance(self.gamma, str) and self.gamma in ("scale", "auto")):
            check_number("gamma", self.gamma, "> 0, or 'scale' or 'auto'", lambda value: 0 < value < np.inf)
        if self.nu is not None:
            check_number("nu", self.nu, "in (0, 1) or None", lambda value: 0 < value < 1)
        nu = max(self.rejection_rate, 0.5 / len(X)) if self.nu is None else self.nu
        self.machine_ = OneClassSVM(gamma=self.gamma, nu=nu).fit(X)
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.machine_.score_samples(X))
