"""The k-th nearest neighbour."""

import numpy as np
from scipy.special import logsumexp

from eocc.foundation.types import Matrix
from eocc.rivals.base import DistanceRival, is_automatic
from eocc.rivals.distances import distances_to_others, intrinsic_dimension


class KNearestNeighbours(DistanceRival):
    """Distance to the k-th nearest target: score_samples is minus that distance.

    Training scores leave out the pattern itself, so a copy of a row is a neighbour at distance 0.
    Paper: Ramaswamy, Rastogi, Shim, Efficient algorithms for mining outliers (2000); Tax, One-class classification
    (2001), section 3.4.2; dd_tools' knndd.
    Good at: any shape, any dissimilarity, small samples. Bad at: targets of uneven density; noise in the training set
    when k is small.
    Automatic: k = "auto" takes the k of 1, 2, 3, 5, 8, ... whose density, a Gaussian at each target as wide as its
    distance to its k-th neighbour, gives left-out targets the largest likelihood.

    >>> KNearestNeighbours(k=1).fit([[0.0], [1.0], [3.0]]).score_samples([[5.0]])
    array([-2.])
    """

    k: int | str = "auto"

    def _learn(self, D: Matrix) -> Matrix:
        n_others = len(D) - 1
        is_open = is_automatic("k", self.k)
        if n_others == 0:
            self.k_ = 1
            return np.zeros(1)
        others = distances_to_others(D)
        self.k_ = _likeliest_k(D, others) if is_open else min(int(self.k), n_others)
        return -others[:, self.k_ - 1]

    def _score(self, D: Matrix) -> Matrix:
        return -np.partition(D, self.k_ - 1, axis=1)[:, self.k_ - 1]


def _likeliest_k(D: Matrix, others: Matrix) -> int:
    """Return the k whose density gives left-out patterns the largest likelihood.

    The density has a Gaussian at each target, as wide as the distance to its k-th neighbour (Breiman, Meisel, Purcell
    1977), in the intrinsic dimension of the data. Without pattern j, a target that had j among its k nearest is as
    wide as its next distance. Widths are at least 10^-6 of the median distance (of the median positive one if most
    rows are copies): otherwise copies would be infinitely dense. They are at least 10^-150 of the largest distance, so
    that no square overflows.
    """
    candidates = [k for k in (1, 2, 3, 5, 8, 13, 21, 34, 55) if k < len(D) - 1] or [1]
    if len(candidates) == 1:
        return candidates[0]
    d = intrinsic_dimension(D)
    positive = others[others > 0]
    floor = 1e-6 * float(np.median(others) or (np.median(positive) if len(positive) else 1.0))
    floor = max(floor, 1e-150 * float(others.max()))
    D, likelihoods = D.astype(np.float64), []
    for k in candidates:
        width = np.where(others[:, [k - 1]] >= D, others[:, [k]], others[:, [k - 1]]).clip(floor)
        logs = -0.5 * (D / width) ** 2 - d * np.log(width)
        np.fill_diagonal(logs, -np.inf)
        likelihoods.append(logsumexp(logs, axis=0).mean())
    return candidates[int(np.argmax(likelihoods))]
