"""The smallest ball around the targets, in the space of a kernel."""

import numpy as np
from sklearn.svm import OneClassSVM

from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import DistanceRival
from eocc.rivals.consistency import most_complex_consistent
from eocc.rivals.gaussian_kernel import gaussian_kernel, given_or_likely_width, outside_fraction, weighted_rows


class SupportVectorDescription(DistanceRival):
    """SVDD, the smallest ball: score_samples falls with the squared distance to its centre in the kernel's space.

    The centre is a mean of targets, sum_i a_i phi(x_i), whose weights maximise 1 - sum_ij a_i a_j K_ij,
    0 <= a_i <= 1/(nu n) and sum a = 1; few are not zero, and only those targets are needed to score. The kernel is
    exp(-d^2 / width^2) of any distance d. The score is the varying part of minus the squared distance, 2 sum_i a_i K:
    adding the constant would round away the differences between far patterns.
    Paper: Tax, Duin, Support vector data description (2004); dd_tools' svdd.
    Good at: a sharp boundary with few support vectors, outliers among the targets. Bad at: clusters of uneven density.
    Automatic: width = "auto" as described in `DistanceRival`; "consistent" takes the narrowest consistent width (see
    `Rival`), or the widest one, which ranks patterns badly, if no width is consistent, as with few rows of many
    features. dd_tools' default is width 5, in the data's unit.

    >>> ball = SupportVectorDescription(width=2.0, nu=0.01).fit([[0.0], [1.0], [4.0]])
    >>> ball.score_samples([[2.0], [5.0]]).round(3)
    array([0.876, 0.745])
    """

    width: float | str = "auto"
    nu: float | None = None

    def _learn(self, D: Matrix) -> Matrix:
        self.nu_ = outside_fraction(self.nu, self.rejection_rate, len(D))
        self.width_ = self._choose_width(D)
        weights = smallest_ball(gaussian_kernel(D, self.width_), self.nu_)
        self.support_ = np.flatnonzero(weights)
        self.weights_ = weights[self.support_]
        return self._score(D)

    def _choose_width(self, D: Matrix) -> float:
        if not (isinstance(self.width, str) and self.width == "consistent"):
            return given_or_likely_width(self.width, D, "> 0, 'auto' or 'consistent'")

        def scores_of(width: float, kept: Indices) -> Matrix:
            kernel = gaussian_kernel(D[:, kept], width)
            return kernel @ smallest_ball(kernel[kept], max(self.nu_, 1 / len(kept)))

        return most_complex_consistent(candidate_widths(D), scores_of, len(D), self.rejection_rate)

    def _score(self, D: Matrix) -> Matrix:
        return 2 * weighted_rows(gaussian_kernel(D[:, self.support_], self.width_), self.weights_)


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
