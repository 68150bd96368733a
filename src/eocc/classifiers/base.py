"""What every one-class classifier does: read rows, score them in blocks, decide, explain, save."""

import os
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from eocc.base.checks import Parameter, integer, number, text
from eocc.base.compiling import say_when_compiling
from eocc.base.estimator import check_is_fitted, estimator_class
from eocc.base.progress import track
from eocc.base.registry import choose
from eocc.base.threads import in_order, n_threads, threads
from eocc.base.types import Flags, Indices, Matrix
from eocc.calibration.conformal import Calibration, Tally
from eocc.classifiers import answers
from eocc.classifiers.reading import ReadsPatterns
from eocc.classifiers.state import restore_state, shared_state
from eocc.classifiers.summary import Summarises
from eocc.classifiers.updating import Batch, day_of, updated
from eocc.entropic.rules import Scores
from eocc.explain.explanation import Explanation, explanations_frame
from eocc.explain.facts import in_groups, with_facts
from eocc.formats import model_file
from eocc.measures.auto import is_pairwise
from eocc.measures.protocol import FittedMeasure
from eocc.scale.memory import MARGIN, SMALL_FIT, check_memory
from eocc.scale.passes import Part, Passes, dask_lazy
from eocc.tables.windows import Windowing

if TYPE_CHECKING:  # slow to import
    from eocc.entropic.regions import FuzzyModel, Region
    from eocc.explain.rules import Rule

Result = TypeVar("Result")

# Rows are scored in blocks of about this many dissimilarities, 4 MiB, which stay in the processor's cache.
BLOCK_SIZE = 2**19

say_when_compiling()


class OneClassClassifier(ReadsPatterns, Summarises, estimator_class()):  # type: ignore[misc]
    """The interface of all one-class classifiers.

    A subclass lists its `parameters`, fits, and says how it scores, explains and stores a model. Scores and decisions
    of a Dask collection are lazy Dask arrays, computed one partition at a time: see docs/guides/many_rows.md.
    """

    _parameters: ClassVar[tuple[Parameter, ...]]
    _state_keys: ClassVar[tuple[str, ...]]  # the names in `_fitted_state` that only this class has
    _how_far_out_name: ClassVar[str]  # what the `ratios` of `_score_all` measure
    _space_name: ClassVar[str] = "Dissimilarity space"  # what `_embed` gives
    _unit: ClassVar[str] = "extents"  # the unit of distances from regions
    # What some classes find by a fit. `regions_` may be computed when first asked for; the prototypes may be centres.
    _has_regions: bool = True
    _keeps_training_rows: bool = True
    _rows_scored_at_a_time: int = 0  # as many as `_blocks_of` chooses
    _region_reaches: Matrix | None = None  # in the space of `_embed`; None if regions are no balls there
    _search_history: NDArray[Any] | None = None  # one record per generation, if there was a search
    _updated = updated  # returns the model of the rows that `_kept_rows` keeps and of new ones
    _scores_left_out: ClassVar[bool]  # whether a training row scores as if it were left out of the training rows

    false_alarm_rate: float | None
    max_memory: int | str | None
    n_jobs: int | None
    measure_: FittedMeasure
    prototypes_: Any
    training_indices_: Indices
    _row_names_: Sequence[str] | None = None  # ids of the rows in training_indices_; None if they are named by number
    answers_: answers.Answers | None = None  # what `teach` was given so far
    batches_: tuple[Batch, ...] = ()  # what `update` was given so far, and the rows of the fit before
    _windowing_: Windowing | None = None  # how the command line cut a series into the rows of the fit
    weights_: Matrix
    calibration_: Calibration | None
    threshold_: float
    offset_: float
    regions_: "list[Region]"
    labels_: Indices
    fuzzy_model_: "FuzzyModel"
    modularity_curve_: Matrix = np.empty(0)  # of the partitions into 1, 2, ... clusters; none if not by modularity

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_pairwise(self.measure)
        tags.input_tags.allow_nan = self.measure == "auto"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from normal rows."""

    @abstractmethod
    def _score_patterns(self, patterns: Any) -> Scores:
        """Return the scores of patterns as the measure reads them; `_score_all` reads, and works in blocks."""

    @abstractmethod
    def _plan_fit(self, n: int, n_columns: int, pair_bytes: float = 0, n_outliers: int = 0) -> tuple[float, str, int]:
        """Return the bytes that a fit to n rows needs, the remedy if they are too many, and how many rows it keeps."""

    def _check_memory(self, n: int, n_columns: int, *more: Any, holds_rows: bool = True) -> int:
        """Refuse a fit that needs too much memory, for the rows too if it `holds_rows`; return how many it keeps."""
        needed, remedy, count = self._plan_fit(n, n_columns, *more)
        needed -= 0 if holds_rows else MARGIN * 8 * n * n_columns
        # Without a limit, a small fit is not worth a look at the free memory.
        if self.max_memory is not None or needed >= SMALL_FIT:
            check_memory(needed, self.max_memory, remedy)
        return count

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """Return the facts of the fitted model by name, as numbers and words."""

    @abstractmethod
    def _describe(self) -> str:
        """Return how the fitted model decides, in two or three sentences."""

    @property
    def _weightings(self) -> dict[str, Matrix]:
        """The weights of the dissimilarity under which rows are compared, by name."""
        return {"weight": self.weights_}

    @property
    def _n_training(self) -> int:
        return int(getattr(self, "n_rows_", len(self.training_indices_)))  # indices may be those of kept rows

    @property
    def _is_whole(self) -> bool:
        """Whether every training row is a prototype: new rows are compared with all of them."""
        return len(self.prototypes_) == self._n_training

    @property
    def _prototypes_in_words(self) -> str:
        """What new rows are compared with, for example "2 of 3 training rows"; "" if these are all training rows."""
        return "" if self._is_whole else f"{len(self.prototypes_):,} of {self._n_training:,} training rows"

    @property
    def _reference_rows(self) -> Any:
        """Patterns whose columns show what is normal."""
        return self.prototypes_

    @property
    def _region_centres(self) -> Matrix:
        return self.fuzzy_model_.centres  # in the space of `_embed`

    def _map_rows(self, columns: Indices) -> Matrix:
        """Return rows of the space of `_embed`, some columns of it, whose plane of largest variance a map shows."""
        return self.measure_.prepare(self.prototypes_[columns]).evaluate(self.weights_)

    def _map_points(self, patterns: Any, columns: Indices) -> Matrix:
        """Return some columns of the space of `_embed` for patterns, as the measure reads them."""
        return self.measure_.prepare(patterns, self.prototypes_[columns]).evaluate(self.weights_)

    def _map_in_words(self, row_name: str) -> str:
        """Return what it means that rows lie close together on a map."""
        return f"Rows that lie close together have similar dissimilarities to all {row_name}s."

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)  # columns of the space of `_embed`

    def fit_predict(self, X: Any, y: Any = None, **fit_params: Any) -> NDArray[np.int64]:
        """Return the decisions on the training rows."""
        return np.asarray(self.fit(X, y, **fit_params).predict(X))

    def _score_all(self, X: Any) -> Scores:
        """Return `ratios` (above the limit: rejected), `log_memberships` and `margins` from one pass over X."""
        check_is_fitted(self)
        return self._score_read(self._read(X))

    def _score_read(self, patterns: Any) -> Scores:
        """Return the scores of many patterns as the measure reads them, block by block."""
        blocks = self._by_block(patterns, self._score_patterns, self._rows_scored_at_a_time)
        parts = [(part.ratios, part.log_memberships) for part in blocks]
        return Scores(*map(np.concatenate, zip(*parts, strict=True)))

    @abstractmethod
    def _fit_passes(self, passes: Passes, sample: int | None, outliers: Matrix | None) -> None:
        """Learn from rows of numbers that are read part by part; `sample` may say how many to fit to."""

    def _tally_others(self, passes: Passes, kept: Indices, values: Callable[[Any], Matrix]) -> Tally:
        """Return the values of the rows that are read part by part, but those with the numbers `kept`."""

        def of_part(part: Part) -> Tally:
            blocks = self._blocks_of(part.values[~np.isin(part.numbers, kept)], self._rows_scored_at_a_time)
            return Tally(np.concatenate([np.empty(0), *map(values, blocks)]))

        return passes.fold(of_part, Tally.merge, "scoring rows")

    def _without_small_regions(self, share: float) -> Self:
        """Return a classifier without regions that may be clusters of outliers, if a `share` of the rows are some."""
        return self

    @dask_lazy(np.float64)
    def how_far_out(self, X: Any) -> Matrix:
        """Return how far out every row lies; the limit is 1, or sqrt(1 - 2 threshold_) if it was set by calibration."""
        return self._score_all(X).ratios

    @dask_lazy(np.float64)
    def membership(self, X: Any) -> Matrix:
        """Return the grade of membership in the normal class, in [0, 1]."""
        return np.exp(self.score_samples(X))

    @dask_lazy(np.float64)
    def score_samples(self, X: Any) -> Matrix:
        """Return the logarithm of the membership: higher = more normal. It is finite even if the membership is 0."""
        return self._score_all(X).log_memberships

    @dask_lazy(np.float64)
    def decision_function(self, X: Any) -> Matrix:
        """Return the margin of every row: >= 0 where `predict` is +1.

        The margin is (1 - ratio^2) / 2, less the threshold of a calibrated model. With the Gaussian membership and the
        maximum it equals score_samples - offset_.
        """
        return self._score_all(X).margins - self.threshold_

    @dask_lazy(np.int64)
    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return +1 for normal rows, -1 for all else."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @dask_lazy(np.float64)
    def p_values(self, X: Any) -> Matrix:
        """Return, for each row, the share of held-out normal rows that look at least as unusual.

        About a share a of new normal rows has a p-value of at most a.
        """
        return self._calibrated().p_values(self._score_all(X).margins)

    @dask_lazy(np.int64)
    def predict_or_abstain(self, X: Any, unsure_rate: float | None = None) -> NDArray[np.int64]:
        """Return +1 for normal rows, -1 for rejected ones, and 0 for those in between.

        -1 where `predict` is -1, 0 where the p-value is at most `unsure_rate` (by default four times the
        `false_alarm_rate`, at most 1), +1 above.
        """
        alarm = self._calibrated().limit
        unsure = self._calibrated().unsure_rate if unsure_rate is None else unsure_rate
        number(f"[{alarm!r}, 1]", ", false_alarm_rate or more")("unsure_rate", unsure)
        p = self.p_values(X)
        return np.where(p <= alarm, -1, np.where(p <= unsure, 0, 1))

    def queries(self, X: Any, n: int = 10, goal: str = "learn") -> list[answers.Query]:
        """Return the rows of X, at most n, to ask a person about.

        goal="learn" returns those whose labels would help `teach` most, the most helpful first. goal="find" returns the
        strangest rows that have no answer yet, to find outliers: also among the training rows, which score as if they
        were left out.
        """
        check_is_fitted(self)
        integer(1)("n", n)
        find, patterns = choose("goal", answers.GOALS, goal), self._read(X)
        return find(self, patterns, self._score_read(patterns), n)

    def teach(self, X: Any, y: Any, names: Sequence[Any] | None = None) -> Self:
        """Return a new model that has also learned the answers y to the rows of X: +1 or True means normal, -1 not.

        Rows that are not normal become known outliers, and rows similar to an answered one follow its answer. The limit
        and the p-values still come from the training rows alone: see docs/guides/asking.md. An answer to a row that was
        answered before replaces that answer. `answers_` keeps the `names` of the rows. The old model stays as it is.
        """
        check_is_fitted(self)
        answers.check_teachable(self)
        return cast(Self, answers.taught(self, answers.add_answers(self, self._read(X), y, names)))

    def withdraw(self, indices: Any) -> Self:
        """Return a new model that has forgotten some of `answers_`, by their index."""
        check_is_fitted(self)
        return cast(Self, answers.taught(self, answers.remaining_answers(self.answers_, indices)))

    def update(self, X: Any, forget: Any = None, *, source: str = "update", date: Any = None) -> Self:
        """Return a new model of the training rows and the rows of X, without the rows to `forget`.

        The rows of X are normal rows, read as the model reads them. The new model is bit for bit that of a fit to all
        rows kept, taught the same answers. `forget` is a number of rows, the oldest, an age (a timedelta, or "90d"), a
        date ("2026-01-31") before which rows came, or their `source`. `batches_` says what came when: `source` names
        the rows of X, and `date` is a datetime.date, today by default. See docs/guides/updating.md. The old model stays
        as it is.

        A `RegionClassifier` keeps its regions, and no rows that it could `forget`: the rows of X, which its fit has not
        seen, add to its limit and p-values. It records neither `source` nor `date`.
        """
        check_is_fitted(self)
        text("source", source)
        day = datetime.now(UTC).date() if date is None else day_of(date)
        history, kept = self._kept_rows(forget, day)
        return cast(Self, self._updated(self._read(X), Batch(source, day, 0), history, kept))

    def _kept_rows(self, forget: Any, day: Any, first: Any = None) -> tuple[tuple[Batch, ...], Flags]:
        """Return what came when, and which prototypes an update keeps; see `update` and `updating.history_of`."""
        raise ValueError(f"a {type(self).__name__} keeps no training rows to update; fit it again to all rows")

    def explain(self, X: Any) -> Sequence[Explanation]:
        """Return, for each row, why it was accepted or rejected; see docs/guides/explanations.md."""
        check_is_fitted(self)
        patterns = self._read(X)
        blocks = track("explaining rows", self._blocks_of(patterns))
        explained = [one for block in blocks for one in self._explain_patterns(block)]
        return with_facts(self, patterns, explained)

    def explain_frame(self, X: Any) -> Any:
        """Return the explanations of X as a frame, one row each: polars if X is, else pandas, with the index of X."""
        return explanations_frame(self.explain(X), X)

    def _explain_patterns(self, patterns: Any) -> Sequence[Explanation]:
        """Return the explanations of patterns as the measure reads them."""
        with threads(self.n_jobs):
            return in_groups(self, patterns, self._explain_rows(patterns))

    @abstractmethod
    def _explain_rows(self, patterns: Any) -> Sequence[Explanation]:
        """Return why each pattern was accepted or rejected, in columns that are relative to groups if there are any."""

    @abstractmethod
    def rules(self) -> "list[Rule]":
        """Return the regions as fuzzy rules for people to read, one per region."""

    def plot(self, X: Any = None, axes: Any = None) -> Any:
        """Draw which rows of X are unusual and why, or without X the regions, and return the matplotlib axes.

        Needs the extra ``plot``. eocc.plots has more pictures: see docs/reference/api/plots.md.
        """
        check_is_fitted(self)
        return import_module("eocc.plots").plot(self, X, axes)  # a later room, so it is looked up by name

    @dask_lazy(np.float64)
    def transform(self, X: Any) -> Matrix:
        """Return X in the dissimilarity space: row i holds the dissimilarities of X[i] to every prototype."""
        check_is_fitted(self)
        return np.concatenate(list(self._by_block(self._read(X), self._embed)))

    def _embed(self, patterns: Any) -> Matrix:
        """Return patterns, as the measure reads them, in the dissimilarity space."""
        return self.measure_.prepare(patterns, self.prototypes_).evaluate(self.weights_)

    @property
    def _feature_names(self) -> tuple[str, ...] | None:
        return tuple(map(str, self.feature_names_in_)) if hasattr(self, "feature_names_in_") else None

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file; `eocc.load` reads it."""
        model_file.save(self, path)

    def _fitted_state(self) -> dict[str, Any]:
        """Return what the fit found, by name, as numbers, arrays, patterns, and the objects that scoring calls."""
        check_is_fitted(self)
        return {**shared_state(self), **self._own_state()}

    _restore_state = restore_state  # takes what `_fitted_state` returned, and the format of the file

    @abstractmethod
    def _own_state(self) -> dict[str, Any]:
        """Return the values of `_state_keys`."""

    @abstractmethod
    def _restore_own(self, state: dict[str, Any]) -> float:
        """Take the values of `_state_keys`, if they fit together; those that all share are there. Return the offset."""

    def _calibrated(self) -> Calibration:
        check_is_fitted(self)
        if self.calibration_ is None:
            raise ValueError("this model is not calibrated: fit it with a false_alarm_rate, for example 0.05")
        return self.calibration_

    def _blocks_of(self, patterns: Any, step: int = 0) -> list[Any]:
        """Return the patterns in blocks of `step`; 0 means as many as can be compared with all prototypes at once."""
        step = step or max(1, BLOCK_SIZE // len(self.prototypes_))
        return [patterns[start : start + step] for start in range(0, len(patterns), step)]

    def _by_block(self, patterns: Any, function: Callable[[Any], Result], step: int = 0) -> Iterator[Result]:
        """Return `function` of blocks: blocks of numbers take one thread each, of other patterns all threads."""
        blocks, count = self._blocks_of(patterns, step), n_threads(self.n_jobs)
        if isinstance(patterns, np.ndarray):
            return in_order(function, iter(blocks), max(1, min(count, len(blocks))))
        with threads(count):
            return iter([function(block) for block in track("scoring rows", blocks)])
