"""What all rivals share: one threshold rule, one sign, one way to fail."""

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from eocc.foundation.arguments import check_number, commit_fit, unfitted_copy
from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Matrix
from eocc.rivals.distances import Metric, resolve_metric
from eocc.rivals.sizes import FARTHEST, bounds, check_size

# Rows are scored in blocks of about this many distances, 32 MiB.
BLOCK = 2**22


@cache
def _thread_pools() -> ThreadpoolController:
    # To look for them takes longer than many a fit.
    return ThreadpoolController()


def threshold(training_scores: Matrix, rejection_rate: float) -> float:
    """Return the score below which a pattern is rejected: at most `rejection_rate` of the training scores are.

    >>> threshold(np.array([3.0, 1.0, 2.0, 4.0]), 0.25)
    2.0
    """
    n = len(training_scores)
    # The slack keeps 0.29 * 100 at 29, where floating point says 28.999999999999996; a rate a hair below 1 must not
    # reject all.
    n_rejected = min(int(rejection_rate * n + 1e-9), n - 1)
    return float(np.sort(training_scores)[n_rejected])


class Rival(ABC, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """A one-class classifier of rows of numbers: a score, higher = more normal, and a threshold on it.

    A subclass names its arguments in `__init__`, `rejection_rate` among them, and writes `_learn` and `_score`.
    `offset_` is the threshold; `training_scores_` are the scores it was taken from, as dd_tools takes them. Where the
    method makes it cheap they are those of targets left out, each as of a pattern the model has not seen: Naive
    Parzen, Parzen, k-means, 1-NN, k-NN, MST_CD, k-centres (for the centres), MPM, LOF and both of PyOD's. New targets
    are then rejected about as often as `rejection_rate` says. The others, Gauss, MoG, auto-encoder, PCA, SOM, SVDD,
    LPDD, CHAMELEON, one-class SVM, isolation forest and robust covariance, give the scores of the targets they were
    fitted to, which lie closer to the model than new ones: these are rejected more often than the rate, and very much
    so with few rows and many features.

    New rows farther from the targets than 1e50 times their spread are all scored as equally far.
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
        draft = unfitted_copy(self)
        # Threads would add their parts of a sum in another order: one gives the same bits on every machine.
        with one_blas_thread(), _thread_pools().limit(limits=1, user_api="openmp"):
            draft._take(draft._learn(draft._read_targets(X)))
        return commit_fit(self, draft)

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

    def _read_targets(self, X: Any) -> Any:
        """Return what `_learn` takes."""
        return self._read(X, reset=True)

    def _read(self, X: Any, *, reset: bool) -> Any:
        # A model keeps its targets, or views of them: its own, which the caller cannot change.
        rows = validate_data(self, X, dtype=np.float64, order="C", copy=reset, reset=reset)
        if reset:
            self.bounds_ = bounds(rows)
            return rows
        return np.clip(rows, *self.bounds_)

    def _take(self, training_scores: Matrix) -> None:
        self.training_scores_ = training_scores
        self.offset_ = threshold(training_scores, self.rejection_rate)


class DistanceRival(Rival):
    """A rival that sees distances alone: `_learn` gets those of the training set, `_score` those to it.

    Its argument `metric` is "euclidean", "precomputed", the name of a measure of `eocc.measures`, or a measure (taken
    with all weights at 1). So graphs, strings and series have rivals too. `metric_` is that metric with its scale
    fixed, `prototypes_` are the training patterns, `farthest_` is the distance that all greater ones are scored as.
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

    def score_samples(self, X: Any) -> Matrix:
        """Return finite scores, higher = more normal."""
        check_is_fitted(self)
        patterns = self._read(X, reset=False)
        step = max(1, BLOCK // len(self.prototypes_))
        blocks = [patterns[start : start + step] for start in range(0, len(patterns), step)]
        return np.concatenate([self._score_block(block) for block in blocks])

    def _score_block(self, patterns: Any) -> Matrix:
        return self._score(self._distances(patterns))

    def _distances(self, patterns: Any) -> Matrix:
        """Return the distances to the training patterns, none above `farthest_`."""
        return np.minimum(self.metric_.distances(patterns, self.prototypes_), self.farthest_)

    def _read_targets(self, X: Any) -> Matrix:
        patterns = self._read(X, reset=True)
        self.metric_ = resolve_metric(self.metric).fit(patterns)
        self.prototypes_ = patterns
        D = self.metric_.distances(patterns, patterns)
        largest = float(D.max())
        check_size("the block of distances", largest, largest)
        self.farthest_ = FARTHEST * (largest or 1.0)
        return D

    def _read(self, X: Any, *, reset: bool) -> Any:
        metric = resolve_metric(self.metric)
        return super()._read(X, reset=reset) if metric.takes_rows else metric.read(X)
