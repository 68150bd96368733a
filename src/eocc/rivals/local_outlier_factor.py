"""scikit-learn's local outlier factor."""

import numpy as np
from sklearn.neighbors import LocalOutlierFactor

from eocc.foundation.arguments import check_count
from eocc.foundation.types import Matrix
from eocc.rivals.base import DistanceRival


class LocalOutlierFactorRival(DistanceRival):
    """The local outlier factor: score_samples is minus the neighbours' density over the pattern's own, about -1 inside.

    The density is one over the mean reachability distance to the k nearest targets, k = `n_neighbors`, or all others if
    there are fewer; scikit-learn's LocalOutlierFactor for new patterns. Distances are divided by their mean, because
    scikit-learn adds 1e-10 to them. With a single target, the score is minus the distance to it.
    Paper: Breunig, Kriegel, Ng, Sander, LOF: identifying density-based local outliers (2000).
    Good at: targets of uneven density, any dissimilarity. Bad at: copies, whose density has no bound; clusters of
    fewer than k targets.
    Automatic: nothing is chosen from the data; 20 neighbours are scikit-learn's default.

    >>> LocalOutlierFactorRival(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).score_samples([[7.0]]).round(6)
    array([-2.])
    """

    n_neighbors: int = 20

    def _learn(self, D: Matrix) -> Matrix:
        check_count("n_neighbors", self.n_neighbors)
        self.n_neighbors_ = min(int(self.n_neighbors), len(D) - 1)
        self.scale_ = float(D.mean()) or 1.0
        if self.n_neighbors_ == 0:
            return np.zeros(1)
        self.factor_ = LocalOutlierFactor(n_neighbors=self.n_neighbors_, metric="precomputed", novelty=True)
        self.factor_.fit(D / self.scale_)
        return np.asarray(self.factor_.negative_outlier_factor_)

    def _score(self, D: Matrix) -> Matrix:
        if self.n_neighbors_ == 0:
            return -D[:, 0]
        return np.asarray(self.factor_.score_samples(D / self.scale_))
