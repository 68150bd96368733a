"""Geometric entropy minimisation with nearest neighbours."""

from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.foundation.arguments import check_count, check_number
from eocc.foundation.types import Matrix
from eocc.rivals.base import DistanceRival
from eocc.rivals.distances import distances_to_others


class GeometricEntropyMinimisation(DistanceRival):
    """GEM: score_samples is minus the sum of distance^gamma to the k nearest targets.

    The total of this sum over the rows of a set is the length of its k-nearest-neighbour graph, which estimates the
    Rényi entropy of order (d - gamma) / d, d the dimension. GEM looks for the subset of targets of least entropy; a
    row is as normal as the length that it adds is short. `p_values` compares that length with the lengths of the
    training rows, each left out of its own neighbours. Sums are taken in the unit of the largest training distance, so
    that powers neither overflow nor vanish.
    Paper: Hero, Geometric entropy minimization (GEM) for anomaly detection and localization (2006); Sricharan, Hero,
    Efficient anomaly detection using bipartite k-NN graphs (2011), who compare with a second part of the targets
    instead of leaving rows out.
    Good at: any shape, any dissimilarity, p-values at no extra cost. Bad at: targets of uneven density.
    Automatic: nothing; k = 5 and gamma = 1 by default.

    >>> gem = GeometricEntropyMinimisation(k=2).fit([[0.0], [1.0], [4.0]])
    >>> gem.score_samples([[2.0], [8.0]]) * gem.unit_
    array([ -3., -11.])
    >>> gem.p_values([[2.0], [8.0]])
    array([1.  , 0.25])
    """

    k: int = 5
    gamma: float = 1.0

    def _learn(self, D: Matrix) -> Matrix:
        check_count("k", self.k)
        check_number("gamma", self.gamma, "in (0, 5]", lambda value: 0 < value <= 5)
        self.unit_ = float(D.max()) or 1.0
        self.k_ = max(1, min(int(self.k), len(D) - 1))
        scores = self._minus_length(distances_to_others(D)[:, : self.k_])
        self.calibration_ = Calibration(np.sort(scores), self.rejection_rate)
        return scores

    def _score(self, D: Matrix) -> Matrix:
        nearest = np.partition(D, self.k_ - 1, axis=1)[:, : self.k_]
        return self._minus_length(np.sort(nearest, axis=1))

    def _minus_length(self, nearest: Matrix) -> Matrix:
        """Return minus the sum over sorted distances, in the unit of the training distances."""
        return np.asarray(-((nearest / self.unit_) ** self.gamma).sum(axis=1))

    def p_values(self, X: Any) -> Matrix:
        """Return the share of left-out training rows, the row counted among them, that are no more normal."""
        return self.calibration_.p_values(self.score_samples(X))
