"""scikit-learn's isolation forest."""

from typing import Any

import numpy as np
from sklearn.ensemble import IsolationForest

from eocc.foundation.arguments import check_count, generator
from eocc.foundation.types import Matrix
from eocc.rivals.base import Rival


class IsolationForestRival(Rival):
    """The isolation forest: score_samples is minus 2^(-mean depth / expected depth), in [-1, 0).

    Trees that split a sample of the targets at random features and values; a pattern that ends near the root is easily
    set apart. scikit-learn's IsolationForest with its defaults: 100 trees of at most 256 targets each. It holds rows in
    single precision, so each feature is counted from its mean in units of its range. Training scores are those of the
    fitted targets.
    Paper: Liu, Ting, Zhou, Isolation forest (2008).
    Good at: many rows, any shift or scale of a feature, features that say nothing. Bad at: clusters that hide each
    other along the axes; few rows; patterns beyond the range of the targets, which all fall in the outermost leaf.
    Automatic: nothing to choose; the defaults are the paper's.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> IsolationForestRival(random_state=0).fit(X[y == 0]).predict(X[[0, 75, 149]])
    array([ 1, -1, -1])
    """

    def __init__(self, *, n_trees: int = 100, rejection_rate: float = 0.05, random_state: Any = None) -> None:
        self.n_trees = n_trees
        self.rejection_rate = rejection_rate
        self.random_state = random_state

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
