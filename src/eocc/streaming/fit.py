"""A sample of a source -> a model; all rows once more -> its border, its p-values and what they count."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eocc.calibration.conformal import Calibration, check_rate
from eocc.classifiers.base import blocks_of
from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.fitting import MULTI, check_arguments, check_memory
from eocc.explain.regions import prototype_labels
from eocc.foundation.arguments import check_count, commit_fit, generator, n_threads, unfitted_copy
from eocc.foundation.threads import in_order
from eocc.foundation.types import Indices, Matrix
from eocc.measures.precomputed import Precomputed
from eocc.regions.scores import decision_margin
from eocc.streaming.arrays import Rows
from eocc.streaming.chosen import REFUSE, Chosen
from eocc.streaming.sample import PROPORTIONAL, Sample, changed, draw_sample
from eocc.streaming.source import CHUNK_ROWS, Source, check_classifier, source_of
from eocc.streaming.tally import Tally, ranks_of
from eocc.surprise.score import Border


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Of every column: `minimum`, `maximum`, `mean`, and `spread`, the standard deviation; of `n_rows`.

    >>> ColumnStatistics.of(np.array([[0.0], [4.0]])).joined(ColumnStatistics.of(np.array([[5.0]])))
    ColumnStatistics(n_rows=3, minimum=array([0.]), maximum=array([5.]), mean=array([3.]), squares=array([14.]))
    """

    n_rows: int
    minimum: Matrix
    maximum: Matrix
    mean: Matrix
    squares: Matrix  # the sum of squares about the mean

    @property
    def spread(self) -> Matrix:
        """The standard deviation, as numpy's."""
        return np.sqrt(self.squares / self.n_rows)

    @classmethod
    def of(cls, rows: Matrix) -> "ColumnStatistics":
        """Return those of some rows; infinite where the numbers are too large to be added."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = rows.mean(axis=0)
            return cls(len(rows), rows.min(axis=0), rows.max(axis=0), mean, ((rows - mean) ** 2).sum(axis=0))

    def joined(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return those of both together (Chan, Golub and LeVeque)."""
        n_rows = self.n_rows + other.n_rows
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            mean = self.mean + apart * (other.n_rows / n_rows)
            squares = self.squares + other.squares + apart**2 * (self.n_rows * other.n_rows / n_rows)
        lowest, highest = np.minimum(self.minimum, other.minimum), np.maximum(self.maximum, other.maximum)
        return ColumnStatistics(n_rows, lowest, highest, mean, squares)


def fit_stream(
    classifier: EntropicOneClassClassifier,
    source: Any,
    *,
    sample: int = 20_000,
    stratify: Any = None,
    shares: str = PROPORTIONAL,
    chunk_rows: int = CHUNK_ROWS,
    columns: Sequence[Any] | None = None,
    where: tuple[Any, Any] | None = None,
    incomplete: str = REFUSE,
) -> EntropicOneClassClassifier:
    """Fit the classifier to all rows of a source, in memory for the sample and a few chunks; return it.

    The first pass draws `sample` rows, all sets of so many equally likely, and the classifier is fitted to those. The
    second judges every row: of `false_alarm_rate` no more than that share of all rows lies beyond the border. With
    resolution="multi" the sampled rows count as left-out ones, all others are new to the prototypes. With "single" and
    a rate the rows not sampled set the threshold, if they are as many as the sampled ones at least; without a rate the
    extents decide, as ever. Up to `sample` rows, the model is that of `fit`.

    Rows are numbers. The sample depends on `random_state` and the rows in their order, not on the chunks. A fit that
    needs more memory than `max_memory` is refused with the first chunk of arrays, .npy and Parquet files, which tell
    their length, and else once `sample` rows are read.

    Parameters
    ----------
    classifier : EntropicOneClassClassifier
        With synthesis="entropy". If anything goes wrong, or is interrupted, it stays as it was.
    source : path, array or re-iterable of chunks
        A table (Parquet, Arrow, CSV and the like) or .npy file, or a folder of such files; an array that gives rows by
        slices, such as a memory map or an HDF5 data set; or any object that can be iterated over again, of 2-d chunks.
        Arrays and chunks may be frames: their columns are found by the names in the first, and the model keeps these.
    sample : int, default=20_000
        The rows that the classifier is fitted to. See its `prototypes` and `graph`, without which a fit takes
        sample^2 memory.
    stratify : column, default=None
        A name, or the number of an array's column: rows are drawn from each of its values; those without one (NaN,
        None, an empty cell of CSV) are a stratum of their own. It takes a pass more.
    shares : {"proportional", "equal"}, default="proportional"
        How many rows of each.
    chunk_rows : int, default=8192
        The rows that are read of an array at a time.
    columns : sequence of columns, default=None
        Those to compare; None means all but `stratify` and that of `where`.
    where : (column, value), default=None
        Learn from the rows whose column holds that value, ("state", "good") say; the others do not count. None means
        all rows.
    incomplete : {"refuse", "skip"}, default="refuse"
        What becomes of a row that misses a value: it ends the fit, or does not count.

    The classifier gets these attributes more; a model file does not keep them:

    n_rows_seen_ : int
        The rows of the source that count.
    rows_per_region_ : array of shape (n_regions,)
        All rows by their region: that of the nearest prototype, or with resolution="single" the nearest region.
    column_statistics_ : ColumnStatistics
        Of all rows; the last digits may depend on the chunks.

    `training_indices_` are the rows of the source that were sampled.

    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> clf = fit_stream(EntropicOneClassClassifier(random_state=0), [rows[:700], rows[700:]], sample=200)
    >>> clf.n_rows_seen_, len(clf.labels_), int(clf.rows_per_region_.sum())
    (1000, 200, 1000)
    >>> clf.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    _check(classifier, sample)
    chosen = Chosen(where, incomplete)
    stream = source_of(source, columns, stratify, chunk_rows, chosen=chosen)
    # A seed of its own: the fit draws from the same random_state.
    rng = np.random.default_rng(int(generator(classifier.random_state).integers(2**63)))
    drawn = draw_sample(
        _Watched(stream, sample, partial(_check_extent, classifier)), sample, shares, rng, chosen.in_words()
    )
    draft = _learnt(classifier, drawn)
    seen = _Seen(draft, drawn)
    for part, strangeness, regions in in_order(seen.judge, stream.rows(), n_threads(classifier.n_jobs)):
        seen.add(part, strangeness, regions)
    seen.finish()
    if drawn.names is not None and hasattr(draft, "n_features_in_"):
        draft.feature_names_in_ = np.array(drawn.names, dtype=object)
    return commit_fit(classifier, draft)


def _check(classifier: EntropicOneClassClassifier, sample: int) -> None:
    check_classifier("fit_stream", classifier)
    check_count("sample", sample)
    check_arguments(classifier)
    if classifier.synthesis != "entropy":
        raise ValueError("a stream holds targets alone: use synthesis='entropy', or fit(X, y) to a labelled sample")
    if classifier.measure == "precomputed" or isinstance(classifier.measure, Precomputed):
        raise ValueError("a stream holds patterns, not dissimilarities; name a measure of rows of numbers")


def _check_extent(classifier: EntropicOneClassClassifier, n: int, n_columns: int) -> None:
    """Refuse a fit to n rows that would be refused for their number, or for lack of memory."""
    if classifier.false_alarm_rate is not None:
        check_rate(classifier.false_alarm_rate, n)
    draft = unfitted_copy(classifier)
    draft.false_alarm_rate = None  # the rows not sampled calibrate; where they are too few, the fit itself decides
    check_memory(draft, n, n_columns)


class _Watched:
    """A source of which `check(n, columns)` is called once, as soon as it is known that a sample of it has n rows."""

    def __init__(self, source: Source, sample: int, check: Callable[[int, int], None]) -> None:
        self._source, self._sample, self._check = source, sample, check
        self.n_rows, self.has_strata = source.n_rows, source.has_strata
        self._is_checked = False

    def rows(self) -> Iterator[Rows]:
        """Yield all rows; those before the check are no more than a sample and a chunk."""
        n_seen = 0
        for part in self._source.rows():
            n_seen += len(part.values)
            n = min(self._sample, n_seen if self.n_rows is None else self.n_rows)
            if not self._is_checked and (n == self._sample or self.n_rows is not None):
                self._is_checked = True
                self._check(n, part.values.shape[1])
            yield part


def _learnt(classifier: EntropicOneClassClassifier, drawn: Sample) -> Any:
    """Return an unadopted classifier fitted to the sample, calibrated only if the other rows do not do that."""
    draft = unfitted_copy(classifier)
    if _is_calibrated_by_rest(classifier, drawn):
        check_rate(draft.false_alarm_rate, len(drawn.indices))  # a model holds as many margins as it has patterns
        draft.false_alarm_rate = None
    draft.fit(drawn.values)
    draft.training_indices_ = drawn.indices.copy()  # until the second pass tells their places in the source
    draft.false_alarm_rate = classifier.false_alarm_rate
    return draft


def _is_calibrated_by_rest(classifier: Any, drawn: Sample) -> bool:
    is_single = classifier.resolution != MULTI and classifier.false_alarm_rate is not None
    return is_single and drawn.n_rows >= 2 * len(drawn.indices)


class _Seen:
    """What the second pass makes of all rows."""

    def __init__(self, draft: Any, drawn: Sample) -> None:
        self._draft, self._drawn = draft, drawn
        self._is_multi = hasattr(draft, "surprise_model_")
        self._is_calibrated_by_rest = _is_calibrated_by_rest(draft, drawn)
        self._tally = Tally()
        self._per_region = np.zeros(len(draft.regions_), np.int64)
        self._columns: ColumnStatistics | None = None
        self._n_rows = 0

    def judge(self, part: Rows) -> tuple[Rows, Matrix, Indices]:
        """Return how strange every row is, and its region; this may run on any thread."""
        judged = [self._judged(rows) for rows in blocks_of(part.values, len(self._draft.prototypes_))]
        strangeness, regions = (np.concatenate(arrays) for arrays in zip(*judged, strict=True))
        return part, strangeness, regions

    def _judged(self, rows: Matrix) -> tuple[Matrix, Indices]:
        draft = self._draft
        prepared = draft.measure_.prepare(draft._read(rows, reset=False), draft.prototypes_)
        row = prepared.evaluate(draft.weights_)
        if self._is_multi:
            nearest = prototype_labels(draft)[row.argmin(axis=1)]
            return draft.surprise_model_.surprise.of(prepared), nearest
        ratios = draft.fuzzy_model_.ratios(row)
        return -decision_margin(ratios.min(axis=1)), ratios.argmin(axis=1)

    def add(self, part: Rows, strangeness: Matrix, regions: Indices) -> None:
        """Count the rows of the next part; those of the sample are as the fit found them."""
        start, stop = np.searchsorted(self._drawn.indices, [part.first, part.first + len(part.values)])
        own = self._drawn.indices[start:stop] - part.first
        self._draft.training_indices_[start:stop] = part.places[own]
        if not np.array_equal(part.values[own], self._drawn.values[start:stop]):
            raise changed(f"rows {part.first} to {part.first + len(part.values) - 1} are not what they were")
        regions[own] = self._draft.labels_[start:stop]
        if self._is_multi:
            strangeness[own] = self._draft.surprise_model_.left_out[start:stop]
            self._tally.add(strangeness)
        elif self._is_calibrated_by_rest:
            self._tally.add(np.delete(strangeness, own))
        self._per_region += np.bincount(regions, minlength=len(self._per_region))
        found = ColumnStatistics.of(part.values)
        self._columns = found if self._columns is None else self._columns.joined(found)
        self._n_rows += len(part.values)

    def finish(self) -> None:
        """Give the draft its border and its counts."""
        if self._n_rows != self._drawn.n_rows:
            raise changed(f"it had {self._drawn.n_rows} rows, then {self._n_rows}")
        draft = self._draft
        if self._is_multi:
            self._set_border(draft)
        elif self._is_calibrated_by_rest:
            margins = -self._summary(draft.false_alarm_rate)
            draft.calibration_ = Calibration(margins, draft.false_alarm_rate)
            draft.threshold_ = draft.calibration_.threshold
            draft.offset_ += draft.threshold_
        draft.n_rows_seen_ = self._n_rows
        draft.rows_per_region_ = self._per_region
        draft.column_statistics_ = self._columns

    def _set_border(self, draft: Any) -> None:
        rate = draft.calibration_.rate
        surprises = self._summary(rate)
        border = Border.of(surprises, rate)
        draft.surprise_model_ = replace(draft.surprise_model_, border=border)
        draft.calibration_ = Calibration(np.sort(decision_margin(border.ratios(surprises))), rate)

    def _summary(self, rate: float) -> Matrix:
        """Return as many order statistics of all rows as the sample has, the strangest first: a model holds so many."""
        return self._tally.largest(ranks_of(len(self._drawn.indices), self._tally.total, rate))
