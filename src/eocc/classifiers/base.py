"""A fitted model -> scores, decisions and reasons for new patterns."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from eocc.calibration.conformal import Calibration
from eocc.explain import Explanation, Rule, explain, rules
from eocc.foundation.arguments import check_no_dates, check_no_mask, check_number, n_threads, saying_remedy
from eocc.foundation.threads import in_order, threads
from eocc.measures.protocol import FittedMeasure, Prepared
from eocc.measures.resolve import resolve_measure
from eocc.regions.fuzzy import FuzzyModel
from eocc.scale.cluster import dask_lazy, materialised
from eocc.surprise.model import Scores, SurpriseModel, by_regions, by_surprise

Matrix = NDArray[np.float64]
Result = TypeVar("Result")

# Rows are scored in blocks of about this many dissimilarities, 4 MiB, whatever the batch: they stay near the processor.
BLOCK = 2**19


def blocks_of(patterns: Any, n_compared: int) -> list[Any]:
    """Return the patterns in blocks; each is compared with so many prototypes and known others.

    >>> [len(block) for block in blocks_of(range(5000), 256)]
    [2048, 2048, 904]
    """
    step = max(1, BLOCK // n_compared)
    return [patterns[start : start + step] for start in range(0, len(patterns), step)]


class Scoring:
    """What a fitted classifier does with patterns; it asks for nothing but what a fit leaves.

    Scores and decisions of a dask collection are lazy dask arrays, computed a partition at a time: see docs/cluster.md.
    """

    measure: Any
    n_jobs: int | None
    measure_: FittedMeasure
    prototypes_: Any
    weights_: Matrix
    fuzzy_model_: FuzzyModel
    surprise_model_: SurpriseModel
    calibration_: Calibration
    threshold_: float

    @dask_lazy(np.float64)
    def membership(self, X: Any) -> Matrix:
        """Return the soft decision: grades of membership in the target class, in [0, 1]."""
        return np.exp(self.score_samples(X))

    @dask_lazy(np.float64)
    def score_samples(self, X: Any) -> Matrix:
        """Return the logarithm of the membership: finite, higher = more normal.

        It ranks patterns also where the membership itself is too small to be told from 0.
        """
        return self.judge(X).log_memberships

    @dask_lazy(np.float64)
    def decision_function(self, X: Any) -> Matrix:
        """Return (1 - (d / tau)^2) / 2, d / tau that in the best region or what stands for it: >= 0 for targets.

        With the Gaussian and the maximum that is score_samples less offset_. With resolution="single" and a
        `false_alarm_rate` its threshold is taken off.
        """
        return self.judge(X).margins - self.threshold_

    def judge(self, X: Any) -> Scores:
        """Return `ratios` (d / tau, 1 at the border), `log_memberships` and `margins` from one pass over X."""
        parts = list(self._by_block(X, self._verdicts))
        return Scores(*(np.concatenate([getattr(part, name) for part in parts])
                          for name in ("ratios", "log_memberships")))  # fmt: skip

    def left_out(self) -> Scores:
        """Return the verdicts on the training patterns, each left out of its own neighbours, in their order.

        Only with resolution="multi", and at no cost.
        """
        check_is_fitted(self)
        if not hasattr(self, "surprise_model_"):
            raise ValueError("left-out verdicts need resolution='multi'; judge(X) gives those of a model that knows X")
        return by_surprise(self.surprise_model_.left_out_ratios, self.fuzzy_model_.membership_function)

    @dask_lazy(np.int64)
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return the hard decision: +1 for targets, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @dask_lazy(np.float64)
    def p_values(self, X: Any) -> Matrix:
        """Return, for each pattern, the share of held-out targets that were no more normal than it.

        Of new targets at most about a share of a has a p-value of a or less. With resolution="single" this needs a fit
        with a `false_alarm_rate`.
        """
        return self._calibration().p_values(self.judge(X).margins)

    @dask_lazy(np.int64)
    def predict_with_reject(self, X: Any, unsure_rate: float | None = None) -> NDArray[np.int64]:
        """Return +1 for targets, -1 for what is rejected, and 0 for what is unsure.

        -1 where the p-value is at most `false_alarm_rate`, 0 where it is at most `unsure_rate` (by default four times
        that, at most 1), +1 above: of new targets at most about those shares are rejected, or not accepted.
        """
        calibration = self._calibration()
        alarm = calibration.rate
        unsure = min(1.0, 4 * alarm) if unsure_rate is None else unsure_rate
        check_number("unsure_rate", unsure, f"in [{alarm:g}, 1], false_alarm_rate or more", lambda r: alarm <= r <= 1)
        p = calibration.p_values(self.judge(X).margins)
        return np.where(p <= alarm, -1, np.where(p <= unsure, 0, 1))

    def explain(self, X: Any) -> list[Explanation]:
        """Return, for each pattern, why it is a target or not: its region, exemplars, and what makes the difference.

        `str()` of one is the explanation in words, `to_dict()` the same as plain data: see docs/explanations.md.
        """
        check_is_fitted(self)
        return explain(self, X)

    def rules(self) -> list[Rule]:
        """Return the model as fuzzy rules, one a region, for people to read."""
        check_is_fitted(self)
        return rules(self)

    @dask_lazy(np.float64)
    def transform(self, X: Any) -> Matrix:
        """Return X in the dissimilarity space: row i = dissimilarities of pattern i to every prototype."""
        return np.concatenate(list(self._by_block(X, self._embed)))

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)

    def _verdicts(self, patterns: Any, prepared: Prepared | None = None) -> Scores:
        """Judge patterns that the measure has read, and perhaps `prepared` against the prototypes."""
        prepared = self.measure_.prepare(patterns, self.prototypes_) if prepared is None else prepared
        if not hasattr(self, "surprise_model_"):
            return by_regions(self.fuzzy_model_, prepared.evaluate(self.weights_))
        ratios = self.surprise_model_.ratios(self.measure_, patterns, prepared)
        return by_surprise(ratios, self.fuzzy_model_.membership_function)

    def _calibration(self) -> Calibration:
        check_is_fitted(self)
        if not hasattr(self, "calibration_"):
            raise ValueError("this model is not calibrated: fit it with a false_alarm_rate, 0.05 say")
        return self.calibration_

    def _by_block(self, X: Any, function: Callable[[Any], Result]) -> Iterator[Result]:
        """Yield what `function` makes of X, a block of patterns at a time.

        Rows of numbers take a thread a block; of other patterns a block takes all threads.
        """
        check_is_fitted(self)
        patterns = self._read(X, reset=False)
        n_others = self.surprise_model_.n_others if hasattr(self, "surprise_model_") else 0
        blocks, count = blocks_of(patterns, len(self.prototypes_) + n_others), n_threads(self.n_jobs)
        if isinstance(patterns, np.ndarray):
            yield from in_order(function, iter(blocks), max(1, min(count, len(blocks))))
            return
        for block in blocks:
            with threads(count):
                result = function(block)
            yield result

    def _read(self, X: Any, *, reset: bool) -> Any:
        """Return X as patterns: rows of numbers, or whatever the measure reads."""
        X, measure = materialised(X), resolve_measure(self.measure)
        check_no_mask(X)
        if hasattr(measure, "read"):
            return measure.read(X)
        check_no_dates(X)
        with saying_remedy():
            return validate_data(self, X, dtype=np.float64, order="C", copy=reset, reset=reset)

    def _embed(self, patterns: Any) -> Matrix:
        prepared = self.measure_.prepare(patterns, self.prototypes_)
        return prepared.evaluate(self.weights_)
