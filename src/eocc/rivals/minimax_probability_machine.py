"""The half-space that holds the targets whatever their distribution, given its mean and covariance."""

import numpy as np

from eocc.foundation.arguments import check_number
from eocc.foundation.types import Matrix
from eocc.rivals.base import DistanceRival
from eocc.rivals.gaussian_kernel import gaussian_kernel, given_or_likely_width, weighted_rows


class MinimaxProbabilityMachine(DistanceRival):
    """Single-class MPM: score_samples is a'phi(x), the position of x along the direction that sets the targets apart.

    Of all half-spaces {a'phi >= b} away from the origin, the tightest that holds a given share of every distribution
    with the targets' mean m and covariance S has a ~ (S + rho I)^-1 m, rho = `regularisation`. By Sherman and Morrison
    that is the direction (S + mm' + rho I)^-1 m, so with K = exp(-d^2 / width^2) the score is sum_i g_i K(x_i, x) with
    (K + n rho I) g = 1: the ridge regression of the constant 1. d is any distance; negative eigenvalues, of distances
    that are not Euclidean, count as 0. Training scores are left out in closed form.
    Paper: Lanckriet, El Ghaoui, Jordan, Robust novelty detection with single-class MPM (2002); dd_tools' mpm_dd.
    Good at: any shape, no optimiser, exact left-out scores. Bad at: large sets, n^3; all far patterns score 0 alike.
    Automatic: width = "auto" as described in `DistanceRival`. dd_tools' default is width 1, in the data's unit; with
    that and a regularisation of 1e-6 most of the published figures come out, but they are worse on Abalone.

    >>> machine = MinimaxProbabilityMachine(width=1.0, regularisation=0.5).fit([[0.0], [0.0]])
    >>> machine.score_samples([[0.0], [1.0]]).round(3)
    array([0.667, 0.245])
    """

    width: float | str = "auto"
    regularisation: float = 0.01

    def _learn(self, D: Matrix) -> Matrix:
        # Below 1e-10 the system's condition number passes what floating point can solve.
        check_number("regularisation", self.regularisation, ">= 1e-10", lambda value: 1e-10 <= value < np.inf)
        self.width_ = given_or_likely_width(self.width, D)
        self.weights_, left_out_scores = regress_one(gaussian_kernel(D, self.width_), self.regularisation)
        return left_out_scores

    def _score(self, D: Matrix) -> Matrix:
        return weighted_rows(gaussian_kernel(D, self.width_), self.weights_)


def regress_one(kernel: Matrix, rho: float) -> tuple[Matrix, Matrix]:
    """Return g of (K + n rho I) g = 1, and the scores each pattern has from the others alone.

    A pattern of score f_i and leverage h_i = [K (K + n rho I)^-1]_ii scores 1 - (1 - f_i) / (1 - h_i) when left out,
    with the same ridge n rho.

    >>> weights, left_out_scores = regress_one(np.ones((2, 2)), 0.5)
    >>> weights.round(3), left_out_scores.round(3)
    (array([0.333, 0.333]), array([0.5, 0.5]))
    """
    n = len(kernel)
    values, vectors = np.linalg.eigh(kernel)
    # An eigenvalue within the rounding of the largest is 0 or below: its direction must not count.
    kept = values > values[-1] * n * np.finfo(float).eps
    values, vectors = values[kept], vectors[:, kept]
    weights = vectors @ (vectors.sum(axis=0) / (values + n * rho))
    leverage = vectors**2 @ (values / (values + n * rho))
    return weights, 1 - (1 - vectors @ (values * (vectors.T @ weights))) / (1 - leverage)
