"""How SurpriseClassifier and RegionClassifier learn: from rows in memory, or read part by part.

Both keep some rows, chosen by content, learn from these, and calibrate on all rows.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from eocc.base.arguments import checked, commit_fit, unfitted_copy
from eocc.base.types import Indices, Matrix
from eocc.calibration.conformal import rate_for
from eocc.calibration.tally import Tally
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import dask_rows, split_outliers
from eocc.measures.auto import resolve_measure
from eocc.measures.base import n_columns_of
from eocc.scale.collections import are_dask_numbers, dask_passes, is_dask
from eocc.scale.memory import MARGIN, check_memory
from eocc.scale.passes import Part, Passes
from eocc.space.prototypes.by_content import choose_rows, chosen_by_content, take_census

# Rows of numbers are scored in blocks of this many: the time of starting one is lost in that of scoring it.
BLOCK_ROWS = 2048


class LearnsRows(OneClassClassifier):
    """A classifier that learns from normal rows and from known outliers, without a search."""

    n_rows_: int
    outliers_: Any  # the known outliers of the fit; the model has those of `answers_` too

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X.

        Rows with y = -1 (or False) are known outliers: a handful of them makes detection much better. All other rows
        are normal. A fit that fails or is interrupted leaves the estimator as it was.
        """
        checked(self)
        draft = unfitted_copy(self)
        are_numbers = is_dask(X) and self.baseline_by is None and are_dask_numbers(X)
        if are_numbers and resolve_measure(self.measure, np.zeros((1, 1))).read is None:
            draft._learn_passes(*dask_rows(dask_passes(draft._without_naming(X)), y))
        else:
            draft._fit_patterns(draft._read(X, reset=True), y)
        return commit_fit(self, draft)

    @abstractmethod
    def _count_kept(self, n: int, n_columns: int, pair_bytes: float) -> int:
        """Return from how many of n rows the model is learned."""

    @abstractmethod
    def _learn(self, patterns: Any, numbers: Indices, outliers: Any) -> Matrix:
        """Learn from patterns, the rows `numbers` of X; return how unusual each is, left out."""

    @abstractmethod
    def _calibration_values(self, patterns: Any) -> Matrix:
        """Return how unusual patterns are, as the measure reads them: the surprise, or the distance from regions."""

    @abstractmethod
    def _calibrate_on(self, tally: Tally) -> None:
        """Set the limit and the p-values from how unusual all training rows are."""

    def _fit_patterns(self, data: Any, y: Any) -> None:
        training, patterns, outliers = (np.arange(len(data)), data, None) if y is None else split_outliers(data, y)
        if self.baseline_by is not None:
            patterns, outliers = self._relative_to_groups(patterns, outliers)
        if self.reading_ is not None:
            self._having_seen(patterns)
        n, n_columns, pair_bytes = len(patterns), n_columns_of(patterns), self.resolved_measure_.pair_bytes(patterns)
        count = self._count_kept(n, n_columns, pair_bytes)
        self._check_memory(n, n_columns, pair_bytes, 0 if outliers is None else len(outliers))
        if count >= n:
            self._calibrate_on(Tally(self._learn_from(patterns, training, outliers, n)))
            return
        chosen = chosen_by_content(patterns, count)
        values = self._learn_from(patterns[chosen], training[chosen], outliers, n)
        others, step = np.delete(np.arange(n), chosen), self._rows_scored_at_a_time
        if isinstance(patterns, np.ndarray):  # one block after the other is copied
            more = self._by_block(others, lambda places: self._calibration_values(patterns[places]), step)
        else:
            more = self._by_block(patterns[others], self._calibration_values, step)
        self._calibrate_on(Tally(np.concatenate([values, *more])))

    def _fit_passes(self, passes: Passes, sample: int | None, outliers: Matrix | None) -> None:
        """Learn from rows of numbers that are read part by part."""
        if sample is not None:
            has_prototypes = "prototypes" in self.get_params()
            instead = f"pass {type(self).__name__}(prototypes=...) instead" if has_prototypes else "leave it out"
            raise ValueError(f"sample is for EntropicOneClassClassifier; {instead}")
        self._learn_passes(passes, outliers)

    def _learn_passes(self, passes: Passes, outliers: Any) -> None:
        """Choose the rows to learn from, learn from these, and calibrate on all rows."""
        self._check_passes(passes.n_rows, passes.n_columns, outliers)
        census = take_census(passes)
        n, n_columns = census.n_rows, passes.n_columns or 1
        pair_bytes = self._check_passes(n, n_columns, outliers)
        kept = choose_rows(passes, census, self._count_kept(n, n_columns, pair_bytes))
        self.n_features_in_ = kept.values.shape[1]
        tally = Tally(self._learn_from(kept.values, kept.numbers, outliers, n))

        def others(part: Part) -> Tally:
            rows = part.values[~np.isin(part.numbers, kept.numbers)]
            blocks = self._blocks_of(rows, self._rows_scored_at_a_time)
            return Tally(np.concatenate([np.empty(0), *map(self._calibration_values, blocks)]))

        if len(kept.numbers) < n:
            tally = passes.fold(others, Tally.merge, "scoring rows").merge(tally)
        self._calibrate_on(tally)

    def _learn_from(self, patterns: Any, numbers: Indices, outliers: Any, n: int) -> Matrix:
        """Learn from patterns, some of n training rows; return how unusual each is, left out."""
        self.n_rows_ = n
        if "outliers" in self._state_keys:  # the model keeps them
            self.outliers_ = outliers
        return self._learn(patterns, numbers, outliers)

    def _check_passes(self, n: int | None, n_columns: int | None, outliers: Any) -> float:
        """Refuse a fit that needs too much memory or more rows, as soon as their number is known.

        Return the bytes that the measure holds per pair of rows.
        """
        row = np.zeros((1, n_columns or 1))
        self.resolved_measure_ = resolve_measure(self.measure, row)
        pair_bytes = self.resolved_measure_.pair_bytes(row)
        if n is not None and n_columns is not None:
            needed, remedy = self._memory_needed(n, n_columns, pair_bytes, 0 if outliers is None else len(outliers))
            check_memory(needed - MARGIN * 8 * n * n_columns, self.max_memory, remedy)  # the rows are not in memory
            rate_for(self.false_alarm_rate, n)
        return pair_bytes

    @property
    def _n_training(self) -> int:
        """The number of training rows; `training_indices_` are those of them that are kept."""
        return self.n_rows_
