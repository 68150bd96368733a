"""Densities: one Gaussian, several, one of the tightest half, one at every target; and the tails of each feature."""

import warnings
from typing import Annotated, Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from sklearn.covariance import MinCovDet, shrunk_covariance
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from eocc.base.checks import number
from eocc.base.types import Indices, Matrix
from eocc.rivals.base import COUNT, WIDTH, DistanceRival, Rival, intrinsic_dimension, seed_of


def regularised(covariance: Matrix, regularisation: float) -> Matrix:
    """Return (1 - r) S + r tr(S)/d I; the identity if S is 0.

    >>> regularised(np.diag([1.0, 0.0]), 0.5)
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    varying = covariance if covariance.any() else np.eye(len(covariance))
    return np.asarray(shrunk_covariance(varying, shrinkage=regularisation))


def whitened_squares(rows: Matrix, whitening: Matrix) -> Matrix:
    """Return the squared length of each row times a matrix."""
    # einsum sums each row by itself: a matrix product would round differently in other batches.
    return np.asarray((np.einsum("ij,jk->ik", rows, whitening) ** 2).sum(axis=1))


def is_singular(eigenvalues: Any) -> bool:
    """Return whether the smallest of ascending eigenvalues is 0 up to the rounding error of the largest."""
    return bool(eigenvalues[0] <= eigenvalues[-1] * len(eigenvalues) * np.finfo(float).eps)


def n_directions(X: Matrix, singular_values: Matrix) -> int:
    """Return in how many directions the rows differ by more than rounding, from the values of the centred rows.

    >>> n_directions(np.array([[1.0, 0.1], [3.0, 0.1]]), np.array([1.4, 1e-17]))
    1
    """
    rounding = max(X.shape) * np.finfo(float).eps * max(float(singular_values[0]), float(np.abs(X).max()))
    return int((singular_values > rounding).sum())


class Gauss(Rival):
    """A single Gaussian: score_samples is its log-density.

    Mean and covariance of the targets, S' = (1 - r) S + r tr(S)/d I with r = `regularisation`, so that the covariance
    can be inverted even with more features than rows. r = 0.01 is dd_tools' default.
    """

    regularisation: Annotated[float, number("[0, 1]")] = 0.01

    def _learn(self, X: Matrix) -> None:
        self.mean_ = X.mean(axis=0)
        self.covariance_ = regularised(np.atleast_2d(np.cov(X.T, bias=True)), self.regularisation)
        values, vectors = np.linalg.eigh(self.covariance_)
        if is_singular(values):
            raise ValueError(
                f"the covariance has no inverse with regularisation={self.regularisation:g}; "
                "take a larger one, or drop features that depend on others"
            )
        self.whitening_ = vectors / np.sqrt(values)
        self.log_normaliser_ = -0.5 * (len(values) * np.log(2 * np.pi) + np.log(values).sum())

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.log_normaliser_ - 0.5 * whitened_squares(X - self.mean_, self.whitening_))


class MixtureOfGaussians(Rival):
    """A mixture of `n_components` Gaussians with full covariances: score_samples is its log-density.

    Fitted by expectation maximisation (scikit-learn's). r tr(S)/d I is added to every covariance, where S is the
    covariance of all targets and r = `regularisation`, so that it can always be inverted. There are at most as many
    Gaussians as distinct rows. Both defaults, 5 and r = 0.01, are dd_tools'.
    """

    n_components: Annotated[int, COUNT] = 5
    # Below 1e-10 a covariance's condition number passes what floating point can invert.
    regularisation: Annotated[float, number("[1e-10, inf)")] = 0.01
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        centre = X.mean(axis=0)
        # One unit for all features: tr(S)/d becomes 1, and the regularisation relative to it.
        unit = float(np.sqrt(X.var(axis=0).mean())) or 1.0
        mixture = self._mixture((X - centre) / unit)
        self.weights_, self.means_ = mixture.weights_, mixture.means_ * unit + centre
        self.whitenings_ = mixture.precisions_cholesky_ / unit
        self.n_components_ = len(self.weights_)
        log_determinants = np.log(np.diagonal(self.whitenings_, axis1=1, axis2=2)).sum(axis=1)
        self.log_normalisers_ = np.log(self.weights_) + log_determinants - 0.5 * X.shape[1] * np.log(2 * np.pi)

    def _mixture(self, Z: Matrix) -> GaussianMixture:
        n = min(int(self.n_components), len(np.unique(Z, axis=0)))
        mixture = GaussianMixture(n, reg_covar=self.regularisation, random_state=seed_of(self.random_state))
        rows = np.repeat(Z, 2, axis=0) if len(Z) == 1 else Z  # scikit-learn needs two rows; a copy changes no density
        with warnings.catch_warnings():
            # A hundred iterations, as in dd_tools: every one raises the likelihood, so the last is good enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            return mixture.fit(rows)

    def _score(self, X: Matrix) -> Matrix:
        parts = zip(self.log_normalisers_, self.means_, self.whitenings_, strict=True)
        logs = [log - 0.5 * whitened_squares(X - mean, whitening) for log, mean, whitening in parts]
        return np.asarray(logsumexp(np.column_stack(logs), axis=1))


class RobustCovariance(Rival):
    """A Gaussian fitted to the tightest part of the targets: score_samples is minus the squared Mahalanobis distance.

    Mean and covariance of the half of the targets whose covariance has the smallest determinant, then of all targets
    near them: scikit-learn's MinCovDet. With fewer than two rows per direction in which they differ, or if the half
    spans fewer directions than all rows, `is_robust_` is False, and mean and covariance are those of all rows. A
    singular covariance becomes (1 - r) S + r tr(S)/d I with r = `regularisation`.
    """

    regularisation: Annotated[float, number("(0, 1]")] = 0.01
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        found = _tightest_half(X, seed_of(self.random_state))
        self.is_robust_ = found is not None
        location, covariance = found or (X.mean(axis=0), np.atleast_2d(np.cov(X.T, bias=True)))
        self.location_: Matrix = location
        is_usable = not is_singular(np.linalg.eigvalsh(covariance))
        self.covariance_ = covariance if is_usable else regularised(covariance, self.regularisation)
        values, vectors = np.linalg.eigh(self.covariance_)
        self.whitening_ = vectors / np.sqrt(values)

    def _score(self, X: Matrix) -> Matrix:
        return -whitened_squares(X - self.location_, self.whitening_)


def _tightest_half(X: Matrix, seed: int) -> tuple[Matrix, Matrix] | None:
    """Return the robust mean and covariance, or None if the rows are too few or too similar."""
    centre = X.mean(axis=0)
    _, lengths, directions = np.linalg.svd(X - centre, full_matrices=False)
    rank = n_directions(X, lengths)
    if rank == 0 or len(X) < 2 * rank:
        return None
    directions = np.eye(rank) if rank == X.shape[1] else directions[:rank].T
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


class Parzen(DistanceRival):
    """A Gaussian of one width at every target: score_samples is the log of their mean.

    log (1/n) sum_j exp(-D_ij^2 / 2h^2) - d log(h sqrt(2 pi)), h = `width`. For Euclidean rows d, `dimension_`, is the
    number of features, so this is a log-density; for other metrics it is the intrinsic dimension of the distances.
    width = "auto", dd_tools' default, gives left-out targets the largest likelihood.

    >>> Parzen(width=1.0).fit([[0.0], [1.0], [3.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([ -1.463, -20.018])
    """

    width: Annotated[float | str, WIDTH] = "auto"

    def _learn(self, D: Matrix) -> Matrix:
        self.dimension_ = float(self.prototypes_.shape[1]) if self._has_rows else intrinsic_dimension(D)
        self.width_ = likeliest_width(D, self.dimension_) if self.width == "auto" else float(self.width)
        if len(D) == 1:
            return self._score(D)
        return left_out_log_density(D, self.width_, self.dimension_)

    def _score(self, D: Matrix) -> Matrix:
        logs = log_sum(-0.5 * (D / self.width_) ** 2) - np.log(D.shape[1])
        return np.asarray(logs - self.dimension_ * np.log(self.width_ * np.sqrt(2 * np.pi)))


def left_out_log_density(D: Matrix, width: float, dimension: float) -> Matrix:
    """Return the log-density of each pattern under the Gaussians at all others.

    >>> left_out_log_density(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0, 1.0).round(3)
    array([-2.919, -2.919])
    """
    logs = -0.5 * (D / width) ** 2
    np.fill_diagonal(logs, -np.inf)
    return np.asarray(log_sum(logs) - np.log(len(D) - 1) - dimension * np.log(width * np.sqrt(2 * np.pi)))


def log_sum(logs: Matrix) -> Matrix:
    """Return log sum_j exp(logs_ij) of each row; finite, because the largest term is taken out first.

    scipy's logsumexp does the same, but its checks cost more than the sum on small blocks.
    """
    largest = logs.max(axis=1)
    return np.asarray(largest + np.log(np.exp(logs - largest[:, None]).sum(axis=1)))


def likeliest_width(D: Matrix, dimension: float) -> float:
    """Return the width that gives left-out patterns the largest likelihood; 1 if all are equal.

    Copies would make the likelihood grow without bound as the width h goes to 0. They are treated as rounded values: h
    stays above r / sqrt(12 d), the standard deviation of rounding to steps of r / sqrt(d), where r is the median
    distance to the nearest other pattern that is not a copy.

    >>> likeliest_width(np.array([[0.0, 2.0], [2.0, 0.0]]), 1.0).__round__(3)
    2.0
    """
    if not D.any():
        return 1.0

    def loss(log_width: float) -> float:
        return -float(left_out_log_density(D, np.exp(log_width), dimension).mean())

    low, high = np.log(_width_interval(D, dimension))
    grid = np.linspace(low, high, 2 + int((high - low) / np.log(np.sqrt(2))))
    best = int(np.argmin([loss(point) for point in grid]))
    around = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    # A part in 1000 of the width: the likelihood is flat at its top.
    found = minimize_scalar(loss, bounds=around, method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x if found.fun < loss(grid[best]) else grid[best]))


def _width_interval(D: Matrix, dimension: float) -> Matrix:
    """Return the smallest and the largest width worth trying.

    Where the likelihood is stationary, d h^2 is a mean of squared distances: between that of the nearest and that of
    the farthest.
    """
    different = np.where(D > 0, D, np.inf).min(axis=1)
    nearest = (D + np.diag(np.full(len(D), np.inf))).min(axis=1)
    squares = np.mean([nearest**2, D.max(axis=1) ** 2], axis=1)
    # If the measure is not a metric, one pattern may be at distance 0 from all others, which differ.
    rounding = np.median(different[different < np.inf]) / np.sqrt(12 * dimension)
    return np.asarray(np.maximum(np.sqrt(squares / dimension), rounding))


class NaiveParzen(Rival):
    """A one-dimensional Parzen density per feature: score_samples is the sum of their logs.

    sum_f log (1/n) sum_j exp(-(x_f - t_jf)^2 / 2 h_f^2) / (h_f sqrt(2 pi)), t_j the targets: features are treated as
    independent, each with its own width, so their units do not matter. width = "auto", dd_tools' default, gives
    left-out targets the largest likelihood, feature by feature. Copies are treated as rounded values: h_f is at least
    1 / sqrt(12) of the typical step between values. A feature with the same value in every training row gets h_f = 1.

    >>> NaiveParzen(width=1.0).fit([[0.0, 5.0], [1.0, 5.0]]).score_samples([[0.0, 5.0], [1.0, 9.0]]).round(3)
    array([ -2.057, -10.057])
    """

    width: Annotated[float | str, WIDTH] = "auto"

    def _learn(self, X: Matrix) -> Matrix:
        self.columns_ = [Parzen(width=self.width).fit(column[:, None]) for column in X.T]
        self.widths_ = np.array([column.width_ for column in self.columns_])
        # sum adds the columns one by one; the order in which numpy adds depends on the shape.
        return np.asarray(sum(column.training_scores_ for column in self.columns_))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(sum(column.score_samples(x[:, None]) for column, x in zip(self.columns_, X.T, strict=True)))


class PyodECOD(Rival):
    """ECOD: score_samples is the sum over features of the log-probability of the rarer tail beyond the value.

    For each feature, the log of the smaller of two fractions: of targets, the pattern included, at or below its value,
    and at or above it. Each row is scored as PyOD's ECOD scores it alone, where its score does not depend on other
    rows. PyOD adds both tails if the skewness is exactly 0, an accident of rounding that is left out.

    >>> PyodECOD().fit([[0.0], [1.0], [2.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([-0.288, -1.386])
    """

    def _learn(self, X: Matrix) -> Matrix:
        self.sorted_targets_ = np.sort(X, axis=0)
        return np.asarray(np.log(self._rarer_tails(X) / len(X)).sum(axis=1))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(np.log((1 + self._rarer_tails(X)) / (len(self.sorted_targets_) + 1)).sum(axis=1))

    def _rarer_tails(self, X: Matrix) -> Indices:
        """Return how many targets lie at or beyond each value, on the side with fewer."""
        columns = list(zip(self.sorted_targets_.T, X.T, strict=True))
        below = np.column_stack([np.searchsorted(targets, values, side="right") for targets, values in columns])
        less = np.column_stack([np.searchsorted(targets, values, side="left") for targets, values in columns])
        return np.asarray(np.minimum(below, len(self.sorted_targets_) - less))
