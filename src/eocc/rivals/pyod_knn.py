"""PyOD's nearest neighbours."""

import numpy as np
from scipy.spatial.distance import cdist

from eocc.foundation.arguments import check_count
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival, needed

METHODS = ("largest", "mean", "median")


class PyodKNN(Rival):
    """PyOD's k nearest neighbours: score_samples is minus the distance to the k-th, or the mean or median of all k.

    pyod.models.knn.KNN with the sign reversed; `method` is its "largest" (the k-th), "mean" or "median", `n_neighbors`
    its k, or all others if there are fewer. With a single target, the score is minus the distance to it.
    `KNearestNeighbours` does the same for any dissimilarity.
    Paper: Ramaswamy, Rastogi, Shim, Efficient algorithms for mining outliers (2000); Angiulli, Pizzuti, Fast outlier
    detection in high dimensional spaces (2002).
    Good at: any shape, small samples. Bad at: targets of uneven density; features in different units.
    Automatic: nothing is chosen from the data; 5 neighbours and "largest" are PyOD's defaults.

    >>> PyodKNN(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).score_samples([[5.0]])
    array([-2.])
    """

    n_neighbors: int = 5
    method: str = "largest"

    def _learn(self, X: Matrix) -> Matrix:
        check_count("n_neighbors", self.n_neighbors)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {', '.join(METHODS)}, not {self.method!r}")
        self.n_neighbors_ = min(int(self.n_neighbors), len(X) - 1)
        if self.n_neighbors_ == 0:
            self.target_ = X
            return np.zeros(1)
        detector = needed("pyod.models.knn", "pyod", by="PyodKNN").KNN
        # The ball tree computes distances from differences, so that a row scores the same in any batch.
        self.detector_ = detector(n_neighbors=self.n_neighbors_, method=self.method, algorithm="ball_tree").fit(X)
        return -np.asarray(self.detector_.decision_scores_)

    def _score(self, X: Matrix) -> Matrix:
        if self.n_neighbors_ == 0:
            return -np.asarray(cdist(X, self.target_)[:, 0])
        return -np.asarray(self.detector_.decision_function(X))
