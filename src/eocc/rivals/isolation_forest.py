"""scikit-learn's isolation forest."""

from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest

from eocc.foundation.arguments import check_count, generator
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival


class IsolationForestRival(Rival):
    """The isolation forest: score_samples is minus 2^(-mean depth / expected depth), in [-1, 0).

    Each tree splits a sample of the targets at random features and values; outliers end near the root.
    scikit-learn's IsolationForest: `n_trees` trees of at most 256 targets each. It works in single precision, so each
    feature is centred and divided by its range first.
    Paper: Liu, Ting, Zhou, Isolation forest (2008).
    Good at: many rows, any shift or scale of a feature, uninformative features. Bad at: clusters that hide each other
    along the axes; few rows; patterns beyond the range of the targets, which all fall in the outermost leaf.
    Automatic: nothing to choose; the defaults are the paper's.
    """

    n_trees: int = 100
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        check_count("n_trees", self.n_trees)
        seed = int(generator(self.random_state).integers(2**31))
        self.mean_ = X.mean(axis=0)
        spread = np.ptp(X, axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.forest_ = IsolationForest(n_estimators=int(self.n_trees), random_state=seed).fit(self._scaled(X))
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.forest_.score_samples(self._scaled(X)))

    def _scaled(self, X: Matrix) -> Matrix:
        # All splits lie within 1 of the mean; single precision ends at 3e38.
        with np.errstate(over="ignore"):
            return np.asarray(np.clip((X - self.mean_) / self.spread_, -1e30, 1e30))
