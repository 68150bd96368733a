"""The base classes of all rivals: parameters, threshold, sign of the scores, atomic fit."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Self, dataclass_transform, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils.validation import check_is_fitted, validate_data
from threadpoolctl import ThreadpoolController

from eocc.base.arguments import fitting, generator
from eocc.base.checks import Check, integer, number, or_word
from eocc.base.registry import choice
from eocc.base.threads import one_blas_thread
from eocc.base.types import Matrix
from eocc.measures import MEASURES

# Rows are scored in blocks of about this many distances, 32 MiB.
DISTANCES_PER_BLOCK = 2**22
# Squares of numbers up to this size, and sums of them over any data that fit in memory, do not overflow.
LARGEST_SQUARED = 1e100


COUNT, WIDTH = integer(1), or_word(number("(0, inf)", " or 'auto'"), "auto")


@cache
def _thread_pools() -> ThreadpoolController:
    # Finding the thread pools takes longer than many fits.
    return ThreadpoolController()


def threshold(training_scores: Matrix, rejection_rate: float) -> float:
    """Return the score below which a row is rejected: at most a share `rejection_rate` of the training scores.

    >>> threshold(np.array([3.0, 1.0, 2.0, 4.0]), 0.25)
    2.0
    """
    n = len(training_scores)
    # 1e-9 keeps 0.29 * 100 at 29, where floating point gives 28.999999999999996. A rate near 1 must not reject all.
    n_rejected = min(int(rejection_rate * n + 1e-9), n - 1)
    return float(np.sort(training_scores)[n_rejected])


def check_size(what: str, largest: float) -> None:
    """Raise a ValueError if the `largest` absolute value cannot be squared."""
    if largest > LARGEST_SQUARED:
        remedy = f"scale the features to at most {LARGEST_SQUARED:g}"
        raise ValueError(f"{what} holds values of size {largest:.3g}, whose squares overflow; {remedy}")


def seed_of(random_state: Any) -> int:
    """Return the seed of a library's random numbers."""
    return int(generator(random_state).integers(2**31))


@dataclass_transform(kw_only_default=True, eq_default=False)
@dataclass(kw_only=True, eq=False, repr=False)
class Rival(ABC, OutlierMixin, BaseEstimator):  # type: ignore[misc]
    """A one-class classifier of rows of numbers: a score (higher = more normal) and a threshold.

    A subclass lists its parameters as dataclass fields, each with its check, and implements `_learn` and `_score`.
    `rejection_rate` is the share of training targets that the threshold may reject; `random_state`, where a rival has
    it, is the random seed. `offset_` is the threshold, a quantile of the `training_scores_` as in dd_tools.
    docs/reference/api/rivals.md says which rivals score training rows left out.
    """

    rejection_rate: Annotated[float, number("[0, 1)")] = 0.05

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        dataclass(kw_only=True, eq=False, repr=False)(cls)

    @abstractmethod
    def _learn(self, X: Matrix) -> Matrix | None:
        """Fit to the targets X and return their scores, each left out; None if the model itself scores them."""

    @abstractmethod
    def _score(self, X: Matrix) -> Matrix:
        """Return the score of each row, independent of the other rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from targets X; y is ignored. A fit that fails leaves the estimator as it was."""
        for name, hint in get_type_hints(type(self), include_extras=True).items():
            for check in (part for part in get_args(hint) if isinstance(part, Check)):
                check(name, getattr(self, name))
        # With one thread, sums are added in the same order on every machine.
        with fitting(self) as draft, one_blas_thread(), _thread_pools().limit(limits=1, user_api="openmp"):
            targets = draft._read_targets(X)
            left_out = draft._learn(targets)
            draft.training_scores_ = draft._score(targets) if left_out is None else left_out
            draft.offset_ = threshold(draft.training_scores_, self.rejection_rate)
        return self

    def score_samples(self, X: Any) -> Matrix:
        """Return finite scores, higher = more normal."""
        check_is_fitted(self)
        return self._score(self._read(X, reset=False))

    def decision_function(self, X: Any) -> Matrix:
        """Return score_samples - offset_: >= 0 for targets."""
        return np.asarray(self.score_samples(X) - self.offset_)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for targets, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _read_targets(self, X: Any) -> Matrix:
        """Return what `_learn` takes."""
        return self._read(X, reset=True)

    def _read(self, X: Any, *, reset: bool) -> Matrix:
        # A copy: the model keeps its targets, which the caller may change.
        rows: Matrix = validate_data(self, X, dtype=np.float64, order="C", copy=reset, reset=reset)
        if reset:
            check_size("X", float(np.abs(rows).max()))
        return np.asarray(np.clip(rows, -LARGEST_SQUARED, LARGEST_SQUARED))


class DistanceRival(Rival):
    """A rival that needs distances only: `_learn` gets those between the targets, `_score` rows of distances to them.

    `metric` is "euclidean", for rows of numbers, or "precomputed": then `fit` takes the square block of the distances
    between the targets, and the other methods take rows of distances to them. `prototypes_` are the targets, or their
    numbers.

    `width` = "auto" of SVDD, LPDD and MPM is the width of the Parzen density that makes left-out targets likeliest, but
    at least a third of the median distance to the nearest target that is not a copy. `nu` is the share of targets that
    may stay outside the boundary; the default is `rejection_rate`.
    """

    metric: Annotated[str, choice(("euclidean", "precomputed"))] = "euclidean"

    @property
    def _has_rows(self) -> bool:
        return self.metric == "euclidean"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = not self._has_rows
        return tags

    def score_samples(self, X: Any) -> Matrix:
        """Return finite scores, higher = more normal."""
        check_is_fitted(self)
        patterns, n = self._read(X, reset=False), len(self.prototypes_)
        if not self._has_rows and patterns.shape[1] != n:
            raise ValueError(f"this block has {patterns.shape[1]} columns; it needs {n}, one per row of the fit")
        step = max(1, DISTANCES_PER_BLOCK // n)
        scores = []
        for start in range(0, len(patterns), step):
            block = patterns[start : start + step]
            # cdist takes differences: a matrix product would round differently in other batches.
            D = cdist(block, self.prototypes_) if self._has_rows else block
            scores.append(self._score_block(np.minimum(D, self.farthest_), block))
        return np.concatenate(scores)

    def _score_block(self, D: Matrix, patterns: Matrix) -> Matrix:
        return self._score(D)

    def _read_targets(self, X: Any) -> Matrix:
        targets = self._read(X, reset=True)
        self.prototypes_ = targets if self._has_rows else np.arange(len(targets))
        D = np.asarray(cdist(targets, targets)) if self._has_rows else targets
        largest = float(D.max())
        check_size("the block of distances", largest)
        # Farther patterns are all equally far: powers of quotients with a width far below the largest stay finite.
        self.farthest_ = 1e50 * (largest or 1.0)
        return D

    def _read(self, X: Any, *, reset: bool) -> Matrix:
        if self._has_rows:
            return super()._read(X, reset=reset)
        precomputed = MEASURES["precomputed"]()
        rows = precomputed.read(X)
        if reset:
            precomputed.fit(rows)  # the checks of a square block
        block: Matrix = rows.block
        return block


def distances_to_others(D: Matrix) -> Matrix:
    """Return each row of a square block without its diagonal, sorted.

    >>> distances_to_others(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).tolist()
    [[1.0, 3.0], [2.0, 3.0], [1.0, 2.0]]
    """
    n = len(D)
    return np.asarray(np.sort(D[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1))


def intrinsic_dimension(D: Matrix, k: int = 10) -> float:
    """Return Levina and Bickel's maximum-likelihood dimension (2004), averaged as MacKay and Ghahramani advise.

    1 / dimension is the mean of log(r_k / r_j) over patterns and j < k, where r_j is the distance to the j-th nearest
    of the other patterns. Copies are left out; without two different distances the dimension is 1.

    >>> intrinsic_dimension(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).__round__(3)
    1.443
    """
    nearest = distances_to_others(D)[:, :k]
    inside = (nearest > 0) & (nearest < nearest[:, -1:])
    if not inside.any():
        return 1.0
    logs = np.log(np.broadcast_to(nearest[:, -1:], nearest.shape)[inside] / nearest[inside])
    return float(1 / logs.mean())
