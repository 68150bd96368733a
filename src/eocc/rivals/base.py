"""What all rivals share: one threshold rule, one sign, one way to fail."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from eocc.arguments import adopt, check_number, draft_of
from eocc.rivals.distances import Metric, resolve_metric

Matrix = NDArray[np.float64]

# Rows are scored in blocks of about this many distances, 32 MiB.
BLOCK = 2**22


def threshold(training_scores: Matrix, rejection_rate: float) -> float:
    """Return the score below which a pattern is rejected: at most `rejection_rate` of the training scores are.

    >>> threshold(np.array([3.0, 1.0, 2.0, 4.0]), 0.25)
    2.0
    """
    # The slack keeps 0.29 * 100 at 29, where floating point says 28.999999999999996.
    n_rejected = int(rejection_rate * len(training_scores) + 1e-9)
    return float(np.sort(training_scores)[n_rejected])


class Rival(ABC, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """A one-class classifier of rows of numbers: a score, higher = more normal, and a threshold on it.

    A subclass names its arguments in `__init__`, `rejection_rate` among them, and writes `_learn` and `_score`.
    `offset_` is the threshold; `training_scores_` are the scores it was taken from, each as of a pattern the model has
    not seen wherever the method makes that cheap.
    """

    rejection_rate: float
    training_scores_: Matrix
    offset_: float

    @abstractmethod
    def _learn(self, X: Matrix) -> Matrix:
        """Fit to the targets X and return their scores."""

    @abstractmethod
    def _score(self, X: Matrix) -> Matrix:
        """Return the scores of X, each row's by itself."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from targets X; y is ignored. A fit that fails leaves the estimator as it was."""
        check_number("rejection_rate", self.rejection_rate, "in [0, 1)", lambda value: 0 <= value < 1)
        draft = draft_of(self)
        draft._take(draft._learn(draft._read(X, reset=True)))
        return adopt(self, draft)

    def score_samples(self, X: Any) -> Matrix:
        """Return finite scores, higher = more normal."""
        check_is_fitted(self)
        return self._score(self._read(X, reset=False))

    def decision_function(self, X: Any) -> Matrix:
        """Return score_samples less offset_: >= 0 for targets."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for targets, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _read(self, X: Any, *, reset: bool) -> Any:
        return validate_data(self, X, dtype=np.float64, order="C", reset=reset)

    def _take(self, training_scores: Matrix) -> None:
        self.training_scores_ = training_scores
        self.offset_ = threshold(training_scores, self.rejection_rate)


class DistanceRival(Rival):
    """A rival that sees distances alone: `_learn` gets those of the training set, `_score` those to it.

    Its argument `metric` is "euclidean", "precomputed", the name of a measure of `eocc.measures`, or a measure (taken
    with all weights at 1). So graphs, strings and series have rivals too. `metric_` is that metric with its scale
    fixed, `prototypes_` are the training patterns.
    """

    metric: Any
    metric_: Metric

    @abstractmethod
    def _learn(self, D: Matrix) -> Matrix:
        """Fit to the distances of the targets among themselves and return the targets' scores."""

    @abstractmethod
    def _score(self, D: Matrix) -> Matrix:
        """Return scores from rows of distances to the training patterns."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = resolve_metric(self.metric).is_pairwise
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from targets X; y is ignored. A fit that fails leaves the estimator as it was."""
        check_number("rejection_rate", self.rejection_rate, "in [0, 1)", lambda value: 0 <= value < 1)
        draft = draft_of(self)
        patterns = draft._read(X, reset=True)
        draft.metric_ = resolve_metric(draft.metric).freeze(patterns)
        draft.prototypes_ = patterns
        draft._take(draft._learn(draft.metric_.distances(patterns, patterns)))
        return adopt(self, draft)

    def score_samples(self, X: Any) -> Matrix:
        """Return finite scores, higher = more normal."""
        return self._by_block(X, lambda block: self._score(self.metric_.distances(block, self.prototypes_)))

    def _by_block(self, X: Any, score: Callable[[Any], Matrix]) -> Matrix:
        check_is_fitted(self)
        patterns = self._read(X, reset=False)
        step = max(1, BLOCK // len(self.prototypes_))
        blocks = [patterns[start : start + step] for start in range(0, len(patterns), step)]
        return np.concatenate([score(block) for block in blocks])

    def _read(self, X: Any, *, reset: bool) -> Any:
        metric = resolve_metric(self.metric)
        return super()._read(X, reset=reset) if metric.takes_rows else metric.read(X)
