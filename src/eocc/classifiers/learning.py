"""How SurpriseClassifier and RegionClassifier learn: from rows in memory, or read part by part.

Both keep some rows, chosen by content, learn from these, and calibrate on all rows.
"""

from abc import abstractmethod
from typing import Any, Self

import numpy as np

from eocc.base.arguments import fitting
from eocc.base.types import Indices, Matrix
from eocc.calibration.conformal import Tally, rate_for
from eocc.classifiers.base import OneClassClassifier
from eocc.classifiers.labels import dask_rows, split_outliers
from eocc.measures.auto import resolve_measure
from eocc.measures.base import n_columns_of
from eocc.scale.passes import Passes, are_dask_numbers, plug_in
from eocc.space.prototypes.content import choose_rows, chosen_by_content, take_census

# Rows of numbers are scored in blocks of this many: the time of starting one is lost in that of scoring it.
BLOCK_ROWS = 2048


class LearnsRows(OneClassClassifier):
    """A classifier that learns from normal rows and from known outliers, without a search."""

    n_rows_: int
    outliers_: Any  # the known outliers of the fit, if the model compares with them, without those of `answers_`

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X.

        Rows with y = -1 (or False) are known outliers: a handful of them makes detection much better. All other rows
        are normal. A fit that fails or is interrupted leaves the estimator as it was.
        """
        with fitting(self) as draft:
            are_numbers = self.baseline_by is None and not isinstance(X, np.ndarray) and are_dask_numbers(X)
            if are_numbers and resolve_measure(self.measure, kind="numbers").read is None:
                passes, outliers = dask_rows(plug_in().DaskPasses(draft._without_naming(X)), y)
                draft._fit_passes(passes, None, outliers)
            else:
                draft._fit_patterns(draft._read(X, reset=True), y)
        return self

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
        n, pair_bytes = len(patterns), self.resolved_measure_.pair_bytes(patterns)
        n_columns = patterns.shape[1] if isinstance(patterns, np.ndarray) else n_columns_of(patterns)
        count = self._check_memory(n, n_columns, pair_bytes, 0 if outliers is None else len(outliers))
        self.n_rows_, self.outliers_ = n, outliers
        if count >= n:
            self._calibrate_on(Tally(self._learn(patterns, training, outliers)))
            return
        chosen = chosen_by_content(patterns, count)
        values = self._learn(patterns[chosen], training[chosen], outliers)
        others, step = np.delete(np.arange(n), chosen), self._rows_scored_at_a_time
        if isinstance(patterns, np.ndarray):  # one block after the other is copied
            more = self._by_block(others, lambda places: self._calibration_values(patterns[places]), step)
        else:
            more = self._by_block(patterns[others], self._calibration_values, step)
        self._calibrate_on(Tally(np.concatenate([values, *more])))

    def _fit_passes(self, passes: Passes, sample: int | None, outliers: Matrix | None) -> None:
        """Choose the rows to learn from, learn from these, and calibrate on all rows."""
        if sample is not None:
            has_prototypes = "prototypes" in self.get_params()
            instead = f"pass {type(self).__name__}(prototypes=...) instead" if has_prototypes else "leave it out"
            raise ValueError(f"sample is for EntropicOneClassClassifier; {instead}")
        self._check_passes(passes.n_rows, passes.n_columns, outliers)
        census = take_census(passes)
        n = census.n_rows
        kept = choose_rows(passes, census, self._check_passes(n, passes.n_columns or 1, outliers))
        self.n_rows_, self.outliers_, self.n_features_in_ = n, outliers, kept.values.shape[1]
        tally = Tally(self._learn(kept.values, kept.numbers, outliers))
        if len(kept.numbers) < n:
            tally = self._tally_others(passes, kept.numbers, self._calibration_values).merge(tally)
        self._calibrate_on(tally)

    def _check_passes(self, n: int | None, n_columns: int | None, outliers: Any) -> int:
        """Refuse a fit that needs too much memory or more rows, as soon as their number is known.

        Return from how many rows the model is learned.
        """
        row = np.zeros((1, n_columns or 1))
        self.resolved_measure_ = measure = resolve_measure(self.measure, row)
        if n is None or n_columns is None:
            return 0
        n_outliers = 0 if outliers is None else len(outliers)
        count = self._check_memory(n, n_columns, measure.pair_bytes(row), n_outliers, holds_rows=False)
        rate_for(self.false_alarm_rate, n)
        return count

    @property
    def _rows_scored_at_a_time(self) -> int:  # type: ignore[override]
        """The step of the blocks: large for rows of numbers, which are not compared with all prototypes."""
        are_rows = self.measure_.coordinates or self.measure_.encoded
        return BLOCK_ROWS if are_rows else super()._rows_scored_at_a_time
