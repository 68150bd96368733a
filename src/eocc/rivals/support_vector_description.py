"""The smallest ball around the targets, in the space of a kernel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import OneClassSVM

from eocc.foundation.arguments import check_count
from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import DistanceRival, needed
from eocc.rivals.consistency import most_complex_consistent
from eocc.rivals.distances import EuclideanRows, resolve_metric
from eocc.rivals.gaussian_kernel import gaussian_kernel, given_or_likely_width, outside_fraction, weighted_rows

KERNELS = ("gaussian", "linear", "polynomial")


class SupportVectorDescription(DistanceRival):
    """SVDD, the smallest ball: score_samples falls with the squared distance to its centre in the kernel's space.

    The centre is a mean of targets, sum_i a_i phi(x_i), whose weights maximise sum_i a_i K_ii - sum_ij a_i a_j K_ij,
    0 <= a_i <= 1/(nu n) and sum a = 1; few are not zero, and only those targets are needed to score. `kernel` is
    "gaussian", exp(-d^2 / width^2) of any distance d; "linear", the ball in the distances' own space; or "polynomial",
    (1 + x.y / s^2)^degree of rows, s the length of the longest target. Kernels of constant diagonal are solved by
    libsvm, the others by clarabel. The score is minus the squared distance; for the Gaussian kernel only its varying
    part, 2 sum_i a_i K, because adding the constant would round away the differences between far patterns.
    Paper: Tax, Duin, Support vector data description (2004); dd_tools' svdd.
    Good at: a sharp boundary with few support vectors, outliers among the targets. Bad at: clusters of uneven density;
    the polynomial kernel measures mostly the length of a row.
    Automatic: width = "auto" as described in `DistanceRival`; "consistent" takes the narrowest consistent width (see
    `Rival`), or the widest one, which ranks patterns badly, if no width is consistent, as with few rows of many
    features. dd_tools' default is width 5, in the data's unit.

    >>> ball = SupportVectorDescription(kernel="linear", nu=0.01).fit([[0.0], [1.0], [4.0]])
    >>> ball.score_samples([[2.0], [5.0]]).round(6) + 0.0
    array([ 0., -9.])
    """

    kernel: str = "gaussian"
    width: float | str = "auto"
    degree: int = 2
    nu: float | None = None

    def _learn(self, D: Matrix) -> Matrix:
        self._check_arguments()
        self.nu_ = outside_fraction(self.nu, self.rejection_rate, len(D))
        self.width_ = self._choose_width(D) if self.kernel == "gaussian" else None
        if self.kernel == "polynomial":
            longest = float(np.sqrt((self.prototypes_**2).sum(axis=1).max()))
            self.metric_ = PolynomialRows(degree=self.degree, unit=longest or 1.0)
            self.farthest_ = np.inf
            D = self.metric_.distances(self.prototypes_, self.prototypes_)
        if self.width_ is None:
            weights = ball_by_clarabel(D**2, self.nu_)
        else:
            weights = ball_by_libsvm(gaussian_kernel(D, self.width_), self.nu_)
        self.support_ = np.flatnonzero(weights)
        self.weights_ = weights[self.support_]
        if self.width_ is None:
            squares = D[np.ix_(self.support_, self.support_)] ** 2
            self.half_spread_ = 0.5 * float(self.weights_ @ squares @ self.weights_)
        return self._score(D)

    def _choose_width(self, D: Matrix) -> float:
        if not (isinstance(self.width, str) and self.width == "consistent"):
            return given_or_likely_width(self.width, D, "> 0, 'auto' or 'consistent'")

        def scores_of(width: float, kept: Indices) -> Matrix:
            kernel = gaussian_kernel(D[:, kept], width)
            return kernel @ ball_by_libsvm(kernel[kept], max(self.nu_, 1 / len(kept)))

        return most_complex_consistent(candidate_widths(D), scores_of, len(D), self.rejection_rate)

    def _score(self, D: Matrix) -> Matrix:
        columns = D[:, self.support_]
        if self.width_ is not None:
            return 2 * weighted_rows(gaussian_kernel(columns, self.width_), self.weights_)
        # ||phi(x) - c||^2 = sum_i a_i s(x, x_i) - 1/2 sum_ij a_i a_j s(x_i, x_j), s the squared distances there.
        return self.half_spread_ - weighted_rows(columns**2, self.weights_)

    def _check_arguments(self) -> None:
        if self.kernel not in KERNELS:
            raise ValueError(f"unknown kernel {self.kernel!r}; take one of {', '.join(KERNELS)}")
        check_count("degree", self.degree)
        if self.kernel == "polynomial" and not isinstance(resolve_metric(self.metric), EuclideanRows):
            raise ValueError("the polynomial kernel needs rows of numbers: take metric='euclidean' or another kernel")


@dataclass
class PolynomialRows(EuclideanRows):
    """The distance of rows in the space of K(x, y) = (1 + x.y / unit^2)^degree: sqrt(K_xx + K_yy - 2 K_xy).

    `unit` is the size of the data: otherwise the 1 would hide the products of small rows, or be hidden by large ones.

    >>> PolynomialRows(degree=2).distances(np.array([[1.0]]), np.array([[0.0], [2.0]])) ** 2
    array([[ 3., 11.]])
    """

    degree: int = 2
    unit: float = 1.0

    def distances(self, patterns: Matrix, prototypes: Matrix) -> Matrix:
        """Return the distances; squares that rounding makes negative count as 0."""
        rows, others = self._scaled(patterns), self._scaled(prototypes)
        products = (1 + np.einsum("ik,jk->ij", rows, others)) ** self.degree
        own = (1 + np.einsum("ik,ik->i", rows, rows)) ** self.degree
        theirs = (1 + np.einsum("jk,jk->j", others, others)) ** self.degree
        return np.asarray(np.sqrt(np.maximum(own[:, None] + theirs - 2 * products, 0)))

    def _scaled(self, rows: Matrix) -> Matrix:
        # The power of a squared length must stay below the largest float, 1e308.
        farthest = 10 ** (120 / self.degree) / np.sqrt(rows.shape[1])
        return np.clip(rows / self.unit, -farthest, farthest)


def candidate_widths(D: Matrix) -> list[float]:
    """Return widths from the largest distance down to the median one to a nearest neighbour, each sqrt(2) narrower.

    Copies do not count as neighbours; if all patterns are equal, the width is 1.
    """
    largest = float(D.max())
    if largest == 0:
        return [1.0]
    nearest = np.where(D > 0, D, np.inf).min(axis=1)
    # At least 10^-6 of it: one row far from copies must not give endless candidates.
    narrowest = max(float(np.median(nearest)), 1e-6 * largest)
    # The slack keeps a ratio of exactly 2 at two steps.
    n_steps = int(2 * np.log2(largest / narrowest) + 1e-9) if np.isfinite(narrowest) else 0
    return [largest / 2 ** (step / 2) for step in range(n_steps + 1)]


def ball_by_libsvm(kernel: Matrix, nu: float) -> Matrix:
    """Return the weights of the ball for a kernel of constant diagonal, whose dual is the one-class SVM's."""
    n = len(kernel)
    if nu >= 1:  # every weight at its bound: libsvm would look for a support vector below it
        return np.full(n, 1 / n)
    # libsvm's own 1e-3 leaves the support vectors of the boundary that far apart.
    machine = OneClassSVM(kernel="precomputed", nu=nu, tol=1e-6).fit(kernel)
    weights = np.zeros(n)
    weights[machine.support_] = machine.dual_coef_[0]
    return np.asarray(weights / weights.sum())


def ball_by_clarabel(squares: Matrix, nu: float) -> Matrix:
    """Return the weights of the ball from squared distances in the kernel's space, whatever the kernel's diagonal.

    With K = -1/2 H S H = F F', H the centring matrix (negative eigenvalues, of distances that are not Euclidean, count
    as 0), the dual is: minimise ||y||^2 - diag(K).a, y = F' a. So its cost grows with the rank of K.

    >>> ball_by_clarabel(np.array([[0.0, 1.0, 16.0], [1.0, 0.0, 9.0], [16.0, 9.0, 0.0]]), 0.01).round(6)
    array([0.5, 0. , 0.5])
    """
    n, scale = len(squares), squares.max()
    if scale == 0:
        return np.full(n, 1 / n)
    factor = _factor(squares / scale)
    rank = factor.shape[1]
    quadratic = sparse.diags(np.r_[np.zeros(n), np.full(rank, 2.0)]).tocsc()
    linear = np.r_[-(factor**2).sum(axis=1), np.zeros(rank)]
    identity = sparse.identity(n)
    blocks = [[factor.T, -sparse.identity(rank)], [np.ones((1, n)), None], [-identity, None], [identity, None]]
    constraints = sparse.bmat(blocks).tocsc()
    right = np.r_[np.zeros(rank), 1.0, np.zeros(n), np.full(n, 1 / (nu * n))]
    weights = _clarabel(quadratic, linear, constraints, right, n_equalities=rank + 1)[:n]
    # An interior-point method leaves weights that should be 0 a little above it.
    weights = np.where(weights > 1e-6 * weights.max(), weights, 0.0)
    return np.asarray(weights / weights.sum())


def _factor(squares: Matrix) -> Matrix:
    centred = squares - squares.mean(axis=0)
    values, vectors = np.linalg.eigh(-0.5 * (centred - centred.mean(axis=1, keepdims=True)))
    # Smaller eigenvalues move a score by less than a part in 10^9, and a high-degree polynomial has hundreds of them.
    kept = values > 1e-9 * values.max()
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _clarabel(quadratic: Any, linear: Matrix, constraints: Any, right: Matrix, n_equalities: int) -> Matrix:
    """Return the x that minimises 1/2 x'Px + q'x with Ax = b in the first rows, Ax <= b in the others."""
    clarabel = needed("clarabel", "clarabel", by="SupportVectorDescription with a linear or polynomial kernel")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Its own 1e-8 leaves weights that should be 0, or at their bound, a thousandth away from it.
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    # Rounding may prevent that: "AlmostSolved" then means solved to clarabel's own tolerances.
    settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = 1e-8
    cones = [clarabel.ZeroConeT(n_equalities), clarabel.NonnegativeConeT(len(right) - n_equalities)]
    solution = clarabel.DefaultSolver(quadratic, linear, constraints, right, cones, settings).solve()
    if str(solution.status) not in ("Solved", "AlmostSolved"):
        raise ValueError(f"clarabel found no ball ({solution.status}); scale the features, or take kernel='gaussian'")
    return np.asarray(solution.x)
