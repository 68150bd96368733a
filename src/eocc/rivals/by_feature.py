"""Rivals that look at one feature at a time."""

from typing import Annotated, Any

import numpy as np
from sklearn.ensemble import IsolationForest

from eocc.base.types import Indices, Matrix
from eocc.rivals.base import COUNT, Rival, seed_of


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
    """ECOD: score_samples is the sum over features of the log-probability of the rarer tail beyond the value.

    For each feature, the log of the smaller of two fractions: of targets, the pattern included, at or below its value,
    and at or above it. Each row is scored as PyOD's ECOD scores it alone, where its score does not depend on other
    rows. PyOD adds both tails if the skewness is exactly 0, an accident of rounding that is left out.

    >>> PyodECOD().fit([[0.0], [1.0], [2.0]]).score_samples([[1.0], [9.0]]).round(3)
    array([-0.288, -1.386])
    """

    def _learn(self, X: Matrix) -> Matrix:
        self.sorted_targets_ = np.sort(X, axis=0)
        return np.asarray(np.log(self._rarer_tails(X) / len(X)).sum(axis=1))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(np.log((1 + self._rarer_tails(X)) / (len(self.sorted_targets_) + 1)).sum(axis=1))

    def _rarer_tails(self, X: Matrix) -> Indices:
        """Return how many targets lie at or beyond each value, on the side with fewer."""
        columns = list(zip(self.sorted_targets_.T, X.T, strict=True))
        below = np.column_stack([np.searchsorted(targets, values, side="right") for targets, values in columns])
        less = np.column_stack([np.searchsorted(targets, values, side="left") for targets, values in columns])
        return np.asarray(np.minimum(below, len(self.sorted_targets_) - less))
