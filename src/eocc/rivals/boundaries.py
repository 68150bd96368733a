"""Boundaries around the targets: in the space of a kernel, of dissimilarities, or by random splits."""

from typing import Annotated, Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog
from scipy.special import expit
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from eocc.base.checks import number, optional, or_word
from eocc.base.types import Matrix
from eocc.rivals.base import COUNT, WIDTH, DistanceRival, Rival, intrinsic_dimension, seed_of
from eocc.rivals.densities import likeliest_width

SHARE = optional(number("[0, 1]", ", or None"))


def gaussian_kernel(D: Matrix, width: float) -> Matrix:
    """Return exp(-d^2 / width^2)."""
    return np.asarray(np.exp(-((D / width) ** 2)))


def weighted_rows(rows: Matrix, weights: Matrix) -> Matrix:
    """Return sum_j rows_ij weights_j, each row by itself: a matrix product would round differently in other batches."""
    # Columns picked from one row and from many are laid out differently, and would be summed in another order.
    return np.asarray((np.ascontiguousarray(rows) * weights).sum(axis=1))


def outside_fraction(nu: float | None, rejection_rate: float, n: int) -> float:
    """Return nu, or the rejection rate if nu is None, but at least 1/n: below that, weights have no bound.

    >>> outside_fraction(None, 0.0, 20)
    0.05
    """
    return max(rejection_rate if nu is None else float(nu), 1 / n)


def likely_width(D: Matrix) -> float:
    """Return the width of exp(-d^2 / width^2), a Gaussian at every pattern, that makes left-out patterns likeliest.

    At least a third of the median distance to the nearest other pattern that is not a copy: the likeliest width falls
    with the root of the intrinsic dimension, and the kernel of neighbours would be lost in rounding.

    >>> likely_width(np.array([[0.0, 2.0], [2.0, 0.0]])).__round__(3)
    2.828
    """
    likeliest = float(np.sqrt(2) * likeliest_width(D, intrinsic_dimension(D)))
    nearest = np.where(D > 0, D, np.inf).min(axis=1)
    return max(likeliest, float(np.median(nearest[nearest < np.inf])) / 3) if D.any() else likeliest


class SupportVectorDescription(DistanceRival):
    """SVDD, the smallest ball: score_samples falls with the squared distance to its centre in the kernel's space.

    The centre is a mean of targets, sum_i a_i phi(x_i), whose weights maximise 1 - sum_ij a_i a_j K_ij,
    0 <= a_i <= 1/(nu n) and sum a = 1; few are not zero, and only those targets are needed to score. The kernel is
    exp(-d^2 / width^2) of any distance d. The score is the varying part of minus the squared distance, 2 sum_i a_i K:
    adding the constant would round away the differences between far patterns.

    >>> ball = SupportVectorDescription(width=2.0, nu=0.01).fit([[0.0], [1.0], [4.0]])
    >>> ball.score_samples([[2.0], [5.0]]).round(3)
    array([0.876, 0.745])
    """

    width: Annotated[float | str, WIDTH] = "auto"
    nu: Annotated[float | None, SHARE] = None

    def _learn(self, D: Matrix) -> None:
        nu = outside_fraction(self.nu, self.rejection_rate, len(D))
        self.width_ = likely_width(D) if self.width == "auto" else float(self.width)
        weights = smallest_ball(gaussian_kernel(D, self.width_), nu)
        self.support_ = np.flatnonzero(weights)
        self.weights_ = weights[self.support_]

    def _score(self, D: Matrix) -> Matrix:
        return 2 * weighted_rows(gaussian_kernel(D[:, self.support_], self.width_), self.weights_)


def smallest_ball(kernel: Matrix, nu: float) -> Matrix:
    """Return the weights of the ball for a kernel of constant diagonal, whose dual is the one-class SVM's."""
    n = len(kernel)
    if nu >= 1:  # every weight at its bound: libsvm would look for a support vector below it
        return np.full(n, 1 / n)
    # libsvm's own 1e-3 leaves the support vectors of the boundary that far apart.
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-6).fit(kernel)
    weights = np.zeros(n)
    weights[machine.support_] = machine.dual_coef_[0]
    return np.asarray(weights / weights.sum())


class LinearProgrammingDescription(DistanceRival):
    """LPDD, a hyperplane in dissimilarity space: score_samples falls with a weighted mean of distances to few targets.

    The weights w minimise rho + 1/(nu n) sum_i xi_i with w'd(x_i, R) <= rho + xi_i, sum w = 1, and w, rho, xi >= 0: the
    targets lie as near the origin of the dissimilarity space as they can. d is any distance, passed through dd_tools'
    sigmoid, 2 / (1 + exp(-d^2 / width^2)) - 1, so that far patterns do not dominate; the score is 1 - w'd. width = None
    leaves the distances as they are, and the score is -w'd. Only targets of positive weight are needed to score.

    >>> plain = LinearProgrammingDescription(width=None, nu=0.01).fit([[0.0], [1.0], [4.0]])
    >>> plain.score_samples([[0.0], [5.0]])
    array([-2., -3.])
    """

    width: Annotated[float | str | None, optional(or_word(number("(0, inf)", ", 'auto' or None"), "auto"))] = "auto"
    nu: Annotated[float | None, SHARE] = None

    def _learn(self, D: Matrix) -> None:
        nu = outside_fraction(self.nu, self.rejection_rate, len(D))
        is_open = self.width == "auto"
        self.width_ = likely_width(D) if is_open else None if self.width is None else float(self.width)
        weights = lightest_plane(saturate(D, self.width_), nu)
        self.support_ = np.flatnonzero(weights)
        self.weights_ = weights[self.support_]

    def _score(self, D: Matrix) -> Matrix:
        columns = D[:, self.support_]
        if self.width_ is None:
            return -weighted_rows(columns, self.weights_)
        # 1 - saturate(d) itself would round to 0.
        return weighted_rows(2 * expit(-((columns / self.width_) ** 2)), self.weights_)


def saturate(D: Matrix, width: float | None) -> Matrix:
    """Return 2 / (1 + exp(-d^2 / width^2)) - 1, which is tanh(d^2 / (2 width^2)); d itself if width is None."""
    return D if width is None else np.tanh(0.5 * (D / width) ** 2)


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


class MinimaxProbabilityMachine(DistanceRival):
    """Single-class MPM: score_samples is a'phi(x), the position of x along the direction that sets the targets apart.

    Of all half-spaces {a'phi >= b} away from the origin, the tightest that holds a given share of every distribution
    with the targets' mean m and covariance S has a ~ (S + rho I)^-1 m, rho = `regularisation`. By Sherman and Morrison
    that is the ridge regression of the constant 1: with K = exp(-d^2 / width^2) of any distance d, the score is
    sum_i g_i K(x_i, x) with (K + n rho I) g = 1. Negative eigenvalues, of distances that are not Euclidean, count as 0.

    >>> machine = MinimaxProbabilityMachine(width=1.0, regularisation=0.5).fit([[0.0], [0.0]])
    >>> machine.score_samples([[0.0], [1.0]]).round(3)
    array([0.667, 0.245])
    """

    width: Annotated[float | str, WIDTH] = "auto"
    # Below 1e-10 the system's condition number passes what floating point can solve.
    regularisation: Annotated[float, number("[1e-10, inf)")] = 0.01

    def _learn(self, D: Matrix) -> Matrix:
        self.width_ = likely_width(D) if self.width == "auto" else float(self.width)
        self.weights_, left_out_scores = regress_one(gaussian_kernel(D, self.width_), self.regularisation)
        return left_out_scores

    def _score(self, D: Matrix) -> Matrix:
        return weighted_rows(gaussian_kernel(D, self.width_), self.weights_)


def regress_one(kernel: Matrix, rho: float) -> tuple[Matrix, Matrix]:
    """Return g of (K + n rho I) g = 1, and the scores each pattern has from the others alone.

    A pattern of score f_i and leverage h_i = [K (K + n rho I)^-1]_ii scores 1 - (1 - f_i) / (1 - h_i) when left out.

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


class OneClassSupportVectorMachine(Rival):
    """The one-class support vector machine: score_samples is the sum of its kernels, sum a_i exp(-gamma ||x - x_i||²).

    The hyperplane in the space of a Gaussian kernel that separates all but a fraction `nu` of the targets from the
    origin with the widest margin; scikit-learn's OneClassSVM. nu = None takes the rejection rate, but at least 1 / 2n,
    as nu must not be 0. The threshold is a quantile of the training scores, not the hyperplane's offset.
    gamma = "scale" is 1 / (d times the variance of all entries of X).
    """

    gamma: Annotated[float | str, or_word(number("(0, inf)", ", or 'scale' or 'auto'"), "scale", "auto")] = "scale"
    nu: Annotated[float | None, optional(number("(0, 1)", " or None"))] = None

    def _learn(self, X: Matrix) -> None:
        nu = max(self.rejection_rate, 0.5 / len(X)) if self.nu is None else self.nu
        self.machine_ = OneClassSVM(gamma=self.gamma, nu=nu).fit(X)

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.machine_.score_samples(X))


class IsolationForestRival(Rival):
    """The isolation forest: score_samples is minus 2^(-mean depth / expected depth), in [-1, 0).

    Each tree splits a sample of the targets at random features and values; outliers end near the root.
    scikit-learn's IsolationForest: `n_trees` trees of at most 256 targets each, as in the paper. It works in
    single precision, so each feature is centred and divided by its range first.
    """

    n_trees: Annotated[int, COUNT] = 100
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        seed = seed_of(self.random_state)
        self.mean_ = X.mean(axis=0)
        spread = np.ptp(X, axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.forest_ = IsolationForest(n_estimators=int(self.n_trees), random_state=seed).fit(self._scaled(X))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.forest_.score_samples(self._scaled(X)))

    def _scaled(self, X: Matrix) -> Matrix:
        # All splits lie within 1 of the mean; single precision ends at 3e38.
        return np.asarray(np.clip((X - self.mean_) / self.spread_, -1e30, 1e30))
