"""Rivals that look at one feature at a time."""

import warnings
from typing import Annotated, Any

import numpy as np
from sklearn.ensemble import IsolationForest

from eocc.base.types import Matrix
from eocc.rivals.base import COUNT, Rival, needed, seed_of


class IsolationForestRival(Rival):
    """The isolation forest: score_samples is minus 2^(-mean depth / expected depth), in [-1, 0).

    Each tree splits a sample of the targets at random features and values; outliers end near the root.
    scikit-learn's IsolationForest: `n_trees` trees of at most 256 targets each, as in the paper. It works in
    single precision, so each feature is centred and divided by its range first.
    """

    n_trees: Annotated[int, COUNT] = 100
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        seed = seed_of(self.random_state)
        self.mean_ = X.mean(axis=0)
        spread = np.ptp(X, axis=0)
        self.spread_ = np.where(spread > 0, spread, 1.0)
        self.forest_ = IsolationForest(n_estimators=int(self.n_trees), random_state=seed).fit(self._scaled(X))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(self.forest_.score_samples(self._scaled(X)))

    def _scaled(self, X: Matrix) -> Matrix:
        # All splits lie within 1 of the mean; single precision ends at 3e38.
        return np.asarray(np.clip((X - self.mean_) / self.spread_, -1e30, 1e30))


class PyodECOD(Rival):
    """PyOD's ECOD: score_samples is the sum over features of the log-probability of the rarer tail beyond the value.

    For each feature, the log of the smaller of two fractions: of targets, the pattern included, at or below its value,
    and at or above it. Each row is scored as PyOD scores it alone, where its score does not depend on other rows. PyOD
    adds both tails if the skewness is exactly 0, an accident of rounding that is left out.

    >>> PyodECOD().fit([[0.0], [1.0], [2.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([-0.288, -1.386])
    """

    def _learn(self, X: Matrix) -> Matrix:
        with warnings.catch_warnings():
            # Few or equal values have no skewness; PyOD then takes 0.
            warnings.simplefilter("ignore", RuntimeWarning)
            detector = needed("pyod.models.ecod", "pyod", by="PyodECOD").ECOD().fit(X)
        self.sorted_targets_ = np.sort(detector.X_train, axis=0)
        return -np.asarray(np.maximum(detector.U_l, detector.U_r).sum(axis=1))

    def _score(self, X: Matrix) -> Matrix:
        n = len(self.sorted_targets_)
        columns = list(zip(self.sorted_targets_.T, X.T, strict=True))
        left = np.column_stack([np.searchsorted(targets, values, side="right") for targets, values in columns])
        right = n - np.column_stack([np.searchsorted(targets, values, side="left") for targets, values in columns])
        return np.asarray(np.log((1 + np.minimum(left, right)) / (n + 1)).sum(axis=1))
