"""A sample of a source -> a model; all rows -> its threshold, p-values and statistics."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import get_tags

from eocc.calibration.conformal import check_rate
from eocc.classifiers.base import OneClassClassifier, blocks_of
from eocc.foundation.arguments import check_count, commit_fit, generator, n_threads, unfitted_copy
from eocc.foundation.parameters import checked
from eocc.foundation.threads import in_order
from eocc.foundation.types import Matrix
from eocc.scale.memory import check_memory
from eocc.streaming.arrays import Rows
from eocc.streaming.chosen import REFUSE, Chosen
from eocc.streaming.sample import PROPORTIONAL, Sample, changed, draw_sample
from eocc.streaming.source import CHUNK_ROWS, Source, check_classifier, source_of
from eocc.streaming.tally import Tally, ranks_of

Classifier = TypeVar("Classifier", bound=OneClassClassifier)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """`minimum`, `maximum`, `mean` and standard deviation (`spread`) of every column over `n_rows` rows.

    >>> ColumnStatistics.of(np.array([[0.0], [4.0]])).joined(ColumnStatistics.of(np.array([[5.0]])))
    ColumnStatistics(n_rows=3, minimum=array([0.]), maximum=array([5.]), mean=array([3.]), squares=array([14.]))
    """

    n_rows: int
    minimum: Matrix
    maximum: Matrix
    mean: Matrix
    squares: Matrix  # the sum of squared differences from the mean

    @property
    def spread(self) -> Matrix:
        """The standard deviation, with n in the denominator."""
        return np.sqrt(self.squares / self.n_rows)

    @classmethod
    def of(cls, rows: Matrix) -> "ColumnStatistics":
        """Return the statistics of some rows; infinite where sums overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean = rows.mean(axis=0)
            return cls(len(rows), rows.min(axis=0), rows.max(axis=0), mean, ((rows - mean) ** 2).sum(axis=0))

    def joined(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the statistics of both together (Chan, Golub and LeVeque)."""
        n_rows = self.n_rows + other.n_rows
        with np.errstate(over="ignore", invalid="ignore"):
            apart = other.mean - self.mean
            mean = self.mean + apart * (other.n_rows / n_rows)
            squares = self.squares + other.squares + apart**2 * (self.n_rows * other.n_rows / n_rows)
        lowest, highest = np.minimum(self.minimum, other.minimum), np.maximum(self.maximum, other.maximum)
        return ColumnStatistics(n_rows, lowest, highest, mean, squares)


def fit_stream(
    classifier: Classifier,
    source: Any,
    *,
    sample: int = 20_000,
    stratify: Any = None,
    shares: str = PROPORTIONAL,
    chunk_rows: int = CHUNK_ROWS,
    columns: Sequence[Any] | None = None,
    where: tuple[Any, Any] | None = None,
    incomplete: str = REFUSE,
) -> Classifier:
    """Fit the classifier to all rows of a source, in memory for a sample and a few chunks; return it.

    The first pass draws `sample` rows at random, and the classifier is fitted to these. The second pass scores every
    row and calibrates: at most a share `false_alarm_rate` of all rows lies beyond the threshold. SurpriseClassifier
    counts each sampled row as left out. EntropicOneClassClassifier is calibrated only if it has a rate, on the rows
    that were not sampled; if these are fewer than the sampled ones, the fit to the sample calibrates. For a source of
    at most `sample` rows the model is that of `fit`.

    Rows are numbers. The sample depends on `random_state` and on the order of the rows, not on the chunks. A fit that
    needs more than `max_memory` is refused at the first chunk if the source knows its length (arrays, .npy, Parquet),
    else after `sample` rows.

    Parameters
    ----------
    classifier : SurpriseClassifier or EntropicOneClassClassifier
        Not with synthesis="validation". If the fit fails or is interrupted, it stays as it was.
    source : path, array or re-iterable of chunks
        A table (Parquet, Arrow, CSV, ...) or .npy file, or a folder of such files; an array that can be sliced by rows,
        such as a memory map or an HDF5 data set; or an object that can be iterated over again and gives 2-d chunks.
        Arrays and chunks may be frames: columns are found by the names in the first, and the model keeps the names.
    sample : int, default=20_000
        Number of rows that the classifier is fitted to.
    stratify : column, default=None
        A column name, or the number of an array's column: rows are drawn from each of its values. Rows without a value
        are a stratum of their own. This takes another pass.
    shares : {"proportional", "equal"}, default="proportional"
        How the sample is divided among the strata.
    chunk_rows : int, default=8192
        Number of rows to read from an array at a time.
    columns : sequence of columns, default=None
        The columns to compare. None means all but those of `stratify` and `where`.
    where : (column, value), default=None
        Use only rows whose column holds that value, for example ("state", "good").
    incomplete : {"refuse", "skip"}, default="refuse"
        A row with a missing value is an error, or is skipped.

    The classifier gets three more attributes, which a model file does not keep:

    n_rows_seen_ : int
        The number of rows used.
    column_statistics_ : ColumnStatistics
        Over all rows used; the last digits may depend on the chunks.
    training_indices_ : array
        The numbers of the sampled rows in the source.

    >>> from eocc import SurpriseClassifier
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> clf = fit_stream(SurpriseClassifier(random_state=0), [rows[:700], rows[700:]], sample=200)
    >>> clf.n_rows_seen_, len(clf.training_indices_)
    (1000, 200)
    >>> clf.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    check_classifier("fit_stream", classifier)
    check_count("sample", sample)
    checked(classifier.parameters, classifier)
    classifier.stream_rate(sample, sample)  # refuses a classifier that needs labels
    if get_tags(classifier).input_tags.pairwise:
        raise ValueError("a stream holds rows, not dissimilarities; choose a measure of rows of numbers")
    chosen = Chosen(where, incomplete)
    stream = source_of(source, columns, stratify, chunk_rows, chosen=chosen)
    # A separate seed, as the fit draws from the same random_state.
    rng = np.random.default_rng(int(generator(classifier.random_state).integers(2**63)))
    watched = _Watched(stream, sample, partial(_check_size, classifier))
    drawn = draw_sample(watched, sample, shares, rng, chosen.in_words())
    draft, rate = _fitted(classifier, drawn)
    second_pass = _SecondPass(draft, drawn, rate)
    for part, values in in_order(second_pass.scored, stream.rows(), n_threads(classifier.n_jobs)):
        second_pass.add(part, values)
    second_pass.finish()
    if drawn.names is not None and hasattr(draft, "n_features_in_"):
        draft.feature_names_in_ = np.array(drawn.names, dtype=object)
    return commit_fit(classifier, draft)


def _check_size(classifier: OneClassClassifier, n: int, n_columns: int) -> None:
    """Refuse a fit to n rows that needs too much memory, or more rows for its rate."""
    if classifier.false_alarm_rate is not None:
        check_rate(classifier.false_alarm_rate, n)
    needed, remedy = classifier.memory_needed(n, n_columns, 0.0)
    check_memory(needed, classifier.max_memory, remedy)


class _Watched:
    """A source for which `check(n, columns)` is called once, as soon as the size n of the sample is known."""

    def __init__(self, source: Source, sample: int, check: Callable[[int, int], None]) -> None:
        self._source, self._sample, self._check = source, sample, check
        self.n_rows, self.has_strata = source.n_rows, source.has_strata
        self._is_checked = False

    def rows(self) -> Iterator[Rows]:
        """Yield all rows; at most a sample and a chunk of them before the check."""
        n_seen = 0
        for part in self._source.rows():
            n_seen += len(part.values)
            n = min(self._sample, n_seen if self.n_rows is None else self.n_rows)
            if not self._is_checked and (n == self._sample or self.n_rows is not None):
                self._is_checked = True
                self._check(n, part.values.shape[1])
            yield part


def _fitted(classifier: OneClassClassifier, drawn: Sample) -> tuple[Any, float | None]:
    """Return a copy fitted to the sample, and the rate to calibrate it at on the stream (None: it keeps its own)."""
    n = len(drawn.indices)
    rate, draft = classifier.stream_rate(n, drawn.n_rows), unfitted_copy(classifier)
    if rate is not None:
        check_rate(rate, n)  # a model keeps as many margins as it has training rows
        draft.false_alarm_rate = None
    draft.fit(drawn.values)
    draft.false_alarm_rate = classifier.false_alarm_rate
    draft.training_indices_ = drawn.indices.copy()
    return draft, rate


class _SecondPass:
    """Checks that the source gives the same rows again, and collects scores and statistics of all rows."""

    def __init__(self, draft: Any, drawn: Sample, rate: float | None) -> None:
        self._draft, self._drawn, self._rate = draft, drawn, rate
        self._tally = Tally()
        self._columns: ColumnStatistics | None = None
        self._n_rows = 0

    def scored(self, part: Rows) -> tuple[Rows, Matrix]:
        """Return what ranks the rows of a part, higher = less normal; this may run on any thread."""
        if self._rate is None:
            return part, np.empty(0)
        blocks = blocks_of(part.values, self._draft.n_compared)
        return part, np.concatenate([self._draft.calibration_values(self._draft.read(block)) for block in blocks])

    def add(self, part: Rows, values: Matrix) -> None:
        """Count the rows of the next part."""
        start, stop = np.searchsorted(self._drawn.indices, [part.first, part.first + len(part.values)])
        sampled = self._drawn.indices[start:stop] - part.first
        self._draft.training_indices_[start:stop] = part.places[sampled]
        if not np.array_equal(part.values[sampled], self._drawn.values[start:stop]):
            raise changed(f"rows {part.first} to {part.first + len(part.values) - 1} have other values")
        if self._rate is not None:
            self._tally.add(values if self._draft.scores_left_out else np.delete(values, sampled))
        found = ColumnStatistics.of(part.values)
        self._columns = found if self._columns is None else self._columns.joined(found)
        self._n_rows += len(part.values)

    def finish(self) -> None:
        """Calibrate the model, and give it the statistics."""
        if self._n_rows != self._drawn.n_rows:
            raise changed(f"it had {self._drawn.n_rows} rows, then {self._n_rows}")
        if self._rate is not None:
            ranks = ranks_of(len(self._drawn.indices), self._tally.total, self._rate)
            self._draft.calibrate(self._tally.largest(ranks), self._rate)
        self._draft.n_rows_seen_, self._draft.column_statistics_ = self._n_rows, self._columns
