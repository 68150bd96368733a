"""Decisions and scores on a validation set -> one number, higher = better."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import scipy
from numpy.typing import NDArray

from eocc.foundation.estimator import Detector
from eocc.foundation.registry import choose
from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Counts:
    """How many of `n_targets` and `n_outliers` were accepted, for one partition or (as arrays) for many."""

    true_positives: Any
    false_positives: Any
    n_targets: int
    n_outliers: int


def accuracy(counts: Counts) -> Any:
    """Return the share of right decisions, as in the paper."""
    right = counts.true_positives + counts.n_outliers - counts.false_positives
    return right / (counts.n_targets + counts.n_outliers)


def balanced_accuracy(counts: Counts) -> Any:
    """Return the mean of the shares of right decisions among targets and among outliers."""
    return (counts.true_positives / counts.n_targets + 1 - counts.false_positives / counts.n_outliers) / 2


def f1(counts: Counts) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * counts.true_positives / (counts.true_positives + counts.false_positives + counts.n_targets)


CountPerformance = Callable[[Counts], Any]
COUNT_PERFORMANCES: dict[str, CountPerformance] = {
    "accuracy": accuracy, "balanced_accuracy": balanced_accuracy, "f1": f1,
}  # fmt: skip
ALIASES = {"auc": "roc_auc"}


class Replay(Detector):
    """An estimator that returns recorded decisions and scores, so that any scikit-learn scorer can evaluate them."""

    def __init__(self, decisions: Any, scores: Any) -> None:
        self.decisions = decisions
        self.scores = scores
        self.asked: set[str] = set()

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def predict(self, X: Any) -> Any:
        """Return the hard decisions, +1 or -1."""
        self.asked.add("decisions")
        return self.decisions

    def decision_function(self, X: Any) -> Any:
        """Return the soft decisions."""
        self.asked.add("scores")
        return self.scores


@dataclass(frozen=True)
class ScorerPerformance:
    """Any scikit-learn scorer of decisions or of scores; AUC is that of ``score_samples``.

    The scorer gets the validation labels, targets first, and no patterns. If a named scorer uses decisions alone, its
    results are cached by the counts of accepted patterns.
    """

    scorer: Callable[[Any, Any, Any], float]
    known: dict[tuple[int, int], float] | None = field(default=None, compare=False)

    def of(self, y: NDArray[np.int64], decisions: NDArray[np.int64], scores: Matrix) -> float:
        """Return the scorer's value for patterns of class y (+1 or -1)."""
        accepted = decisions == 1
        key = int((accepted & (y == 1)).sum()), int((accepted & (y == -1)).sum())
        if self.known is not None and key in self.known:
            return self.known[key]
        from sklearn.exceptions import UndefinedMetricWarning

        replay = Replay(decisions, scores)
        try:
            with warnings.catch_warnings():  # some partitions accept nothing
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                value = float(self.scorer(replay, np.zeros((len(y), 1)), y))
        except (AttributeError, TypeError) as error:
            raise ValueError(
                f"performance must be a scorer f(estimator, X, y) of decisions or scores (see sklearn's make_scorer); "
                f"{self.scorer!r} failed: {error}"
            ) from error
        if not np.isfinite(value):
            raise ValueError(f"performance must be a finite number; {self.scorer!r} gave {value}")
        if self.known is not None and replay.asked == {"decisions"}:
            self.known[key] = value
        return value


@dataclass(frozen=True)
class AreaUnderCurve(ScorerPerformance):
    """The area under the ROC curve: how often a target scores above an outlier, ties count half."""

    def of(self, y: NDArray[np.int64], decisions: NDArray[np.int64], scores: Matrix) -> float:
        """Return the area from the ranks, faster than the scorer."""
        n_targets = int((y == 1).sum())
        ranks = float(scipy.stats.rankdata(scores)[y == 1].sum()) - n_targets * (n_targets + 1) / 2
        return ranks / (n_targets * (len(y) - n_targets))


Performance = CountPerformance | ScorerPerformance


def resolve_performance(performance: Any) -> Performance:
    """Return a count performance by its name, or a scikit-learn scorer by its name or itself."""
    name = ALIASES.get(performance, performance) if isinstance(performance, str) else performance
    if isinstance(name, str) and name in COUNT_PERFORMANCES:
        return COUNT_PERFORMANCES[name]
    if name in COUNT_PERFORMANCES.values():
        return cast(CountPerformance, name)
    if callable(name):
        return ScorerPerformance(name)
    from sklearn.metrics import get_scorer, get_scorer_names

    names = {**dict.fromkeys(get_scorer_names()), **COUNT_PERFORMANCES, **ALIASES}
    choose("performance", names, name)
    kind = AreaUnderCurve if name == "roc_auc" else ScorerPerformance
    return kind(get_scorer(name), known={})
