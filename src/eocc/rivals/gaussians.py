"""One Gaussian, several, and one of the tightest half."""

import warnings
from typing import Annotated, Any

import numpy as np
from scipy.special import logsumexp
from sklearn.covariance import MinCovDet
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from eocc.base.checks import number
from eocc.base.types import Matrix
from eocc.rivals.base import COUNT, Rival, seed_of


def covariance_of(X: Matrix) -> Matrix:
    """Return the covariance with n in the denominator."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred.T @ centred / len(X))


def regularised(covariance: Matrix, regularisation: float) -> Matrix:
    """Return (1 - r) S + r tr(S)/d I; the identity if S is 0.

    >>> regularised(np.diag([1.0, 0.0]), 0.5)
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    d = len(covariance)
    scale = np.trace(covariance) / d
    if scale == 0:
        return np.eye(d)
    return np.asarray((1 - regularisation) * covariance + regularisation * scale * np.eye(d))


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
        self.covariance_ = regularised(covariance_of(X), self.regularisation)
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
    regularisation: Annotated[float, number("(0, inf)")] = 0.01
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
            try:
                return mixture.fit(rows)
            except ValueError as error:
                if "ill-defined empirical covariance" not in str(error):
                    raise
                raise ValueError(
                    f"a covariance has no inverse with regularisation={self.regularisation:g}; "
                    "take a larger one, or a smaller n_components"
                ) from error

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
        location, covariance = found or (X.mean(axis=0), covariance_of(X))
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
