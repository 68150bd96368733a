"""The smallest weighted mean of distances to a few targets."""

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import expit

from eocc.foundation.types import Matrix
from eocc.rivals.base import DistanceRival
from eocc.rivals.gaussian_kernel import given_or_likely_width, outside_fraction, weighted_rows


class LinearProgrammingDescription(DistanceRival):
    """LPDD, a hyperplane in dissimilarity space: score_samples falls with a weighted mean of distances to few targets.

    The weights w minimise rho + 1/(nu n) sum_i xi_i with w'd(x_i, R) <= rho + xi_i, sum w = 1, and w, rho, xi >= 0: the
    targets lie as near the origin of the dissimilarity space as they can. d is any distance, passed through dd_tools'
    sigmoid, 2 / (1 + exp(-d^2 / width^2)) - 1, so that far patterns do not dominate; the score is 1 - w'd, computed
    without rounding to 0 for far patterns. width = None leaves the distances as they are, and the score is -w'd. Only
    the few targets of positive weight are needed to score.
    Paper: Pekalska, Tax, Duin, One-class LP classifiers for dissimilarity representations (2003); dd_tools' lpdd.
    Good at: any dissimilarity, metric or not; few distances to compute. Bad at: rings without the sigmoid, whose empty
    middle is nearest to all.
    Automatic: width = "auto" as described in `DistanceRival`; dd_tools' default is width 1, in the data's unit.

    >>> plain = LinearProgrammingDescription(width=None, nu=0.01).fit([[0.0], [1.0], [4.0]])
    >>> plain.score_samples([[0.0], [5.0]])
    array([-2., -3.])
    """

    width: float | str | None = "auto"
    nu: float | None = None

    def _learn(self, D: Matrix) -> Matrix:
        self.nu_ = outside_fraction(self.nu, self.rejection_rate, len(D))
        has_width = self.width is not None
        self.width_ = given_or_likely_width(self.width, D, wanted="> 0, 'auto' or None") if has_width else None
        weights = lightest_plane(saturate(D, self.width_), self.nu_)
        self.support_ = np.flatnonzero(weights)
        self.weights_ = weights[self.support_]
        return self._score(D)

    def _score(self, D: Matrix) -> Matrix:
        columns = D[:, self.support_]
        if self.width_ is None:
            return -weighted_rows(columns, self.weights_)
        return weighted_rows(unsaturated(columns, self.width_), self.weights_)


def saturate(D: Matrix, width: float | None) -> Matrix:
    """Return 2 / (1 + exp(-d^2 / width^2)) - 1, which is tanh(d^2 / (2 width^2)); d itself if width is None."""
    return D if width is None else np.tanh(0.5 * (D / width) ** 2)


def unsaturated(D: Matrix, width: float) -> Matrix:
    """Return 1 - saturate(d), as 2 / (1 + exp(d^2 / width^2)): the difference itself would round to 0."""
    return np.asarray(2 * expit(-((D / width) ** 2)))


def lightest_plane(D: Matrix, nu: float) -> Matrix:
    """Return the w >= 0, sum w = 1, that minimises rho + 1/(nu n) sum_i max(0, w'd_i - rho)."""
    n = len(D)
    # The solver's tolerances are absolute: distances are divided by their mean.
    scale = D.mean() or 1.0
    blocks = [sparse.csc_matrix(D / scale), -np.ones((n, 1)), -sparse.identity(n)]
    result = linprog(
        np.r_[np.zeros(n), 1.0, np.full(n, 1 / (nu * n))],
        A_ub=sparse.hstack(blocks).tocsc(),
        b_ub=np.zeros(n),
        A_eq=np.r_[np.ones(n), 0.0, np.zeros(n)][None, :],
        b_eq=[1.0],
        method="highs-ds",  # on these dense programs about five times as fast as the interior-point method
    )
    if not result.success:
        raise ValueError(f"HiGHS found no plane ({result.message}); look for distances of wildly different sizes")
    # The solver holds w >= 0 to 1e-7.
    weights = np.where(result.x[:n] > 1e-7, result.x[:n], 0.0)
    return np.asarray(weights / weights.sum())
