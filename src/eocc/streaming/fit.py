"""A sample of a source -> a model; all rows -> its threshold, p-values and statistics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from sklearn.utils import get_tags

from eocc.calibration.conformal import check_rate
from eocc.classifiers.base import OneClassClassifier, blocks_of
from eocc.foundation.arguments import check_count, commit_fit, generator, n_threads, unfitted_copy
from eocc.foundation.parameters import checked
from eocc.foundation.threads import in_order
from eocc.foundation.types import Matrix
from eocc.streaming.sample import PROPORTIONAL, Sample, changed, draw_sample
from eocc.streaming.source import CHUNK_ROWS, REFUSE, Rows, Source, check_classifier, source_of
from eocc.streaming.tally import Tally, ranks_of

Classifier = TypeVar("Classifier", bound=OneClassClassifier)


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """`minimum`, `maximum`, `mean` and standard deviation (`spread`) of every column over `n_rows` rows."""

    n_rows: int
    minimum: Matrix
    maximum: Matrix
    mean: Matrix
    spread: Matrix


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
    if classifier.false_alarm_rate is not None:
        check_rate(classifier.false_alarm_rate, sample)
    if get_tags(classifier).input_tags.pairwise:
        raise ValueError("a stream holds rows, not dissimilarities; choose a measure of rows of numbers")
    if isinstance(source, Iterator):
        raise ValueError("an iterator can be read only once; pass a list, or an object whose __iter__ starts again")
    stream = source_of(source, chunk_rows, where, incomplete, columns=columns, stratify=stratify)
    # A separate seed, as the fit draws from the same random_state.
    rng = np.random.default_rng(int(generator(classifier.random_state).integers(2**63)))
    drawn = draw_sample(stream, sample, shares, rng, classifier.check_memory)
    draft, rate = _fitted(classifier, drawn)
    _take_all(draft, stream, drawn, rate)
    if drawn.names is not None and hasattr(draft, "n_features_in_"):
        draft.feature_names_in_ = np.array(drawn.names, dtype=object)
    return commit_fit(classifier, draft)


def _fitted(classifier: OneClassClassifier, drawn: Sample) -> tuple[Any, float | None]:
    """Return a copy fitted to the sample, and the rate to calibrate it at on the stream (None: it keeps its own)."""
    n = len(drawn.indices)
    rate, draft = classifier.stream_rate(n, drawn.n_rows), unfitted_copy(classifier)
    if rate is not None:
        check_rate(rate, n)  # a model keeps as many margins as it has training rows
        draft.false_alarm_rate = None
    draft.fit(drawn.values)
    draft.false_alarm_rate = classifier.false_alarm_rate
    return draft, rate


def _take_all(draft: Any, stream: Source, drawn: Sample, rate: float | None) -> None:
    """Calibrate the model on all rows, and give it their statistics; check that the source gives the same rows."""

    def scored(part: Rows) -> tuple[Rows, Matrix]:
        if rate is None:
            return part, np.empty(0)
        blocks = blocks_of(part.values, draft.n_compared)
        return part, np.concatenate([draft.calibration_values(draft.read(block)) for block in blocks])

    tally, n_rows = Tally(), 0
    lowest, highest = drawn.values.min(axis=0), drawn.values.max(axis=0)
    with np.errstate(over="ignore", invalid="ignore"):
        middle = drawn.values.mean(axis=0)
    sums, squares = np.zeros((2, len(middle)))  # of the differences from this mean
    draft.training_indices_ = drawn.indices.copy()
    for part, values in in_order(scored, stream.rows(), n_threads(draft.n_jobs)):
        n_rows = part.first + len(part.values)
        start, stop = np.searchsorted(drawn.indices, [part.first, n_rows])
        sampled = drawn.indices[start:stop] - part.first
        draft.training_indices_[start:stop] = part.numbers[sampled]
        if not np.array_equal(part.values[sampled], drawn.values[start:stop]):
            raise changed(f"rows {part.first} to {n_rows - 1} have other values")
        if rate is not None:
            tally.add(values if draft.scores_left_out else np.delete(values, sampled))
        lowest, highest = np.minimum(lowest, part.values.min(axis=0)), np.maximum(highest, part.values.max(axis=0))
        with np.errstate(over="ignore", invalid="ignore"):
            sums += (part.values - middle).sum(axis=0)
            squares += ((part.values - middle) ** 2).sum(axis=0)
    if n_rows != drawn.n_rows:
        raise changed(f"it had {drawn.n_rows} rows, then {n_rows}")
    if rate is not None:
        draft.calibrate(tally.largest(ranks_of(len(drawn.indices), tally.total, rate)), rate)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = sums / n_rows
        spread = np.sqrt(np.maximum(squares / n_rows - apart**2, 0.0))
        draft.column_statistics_ = ColumnStatistics(n_rows, lowest, highest, middle + apart, spread)
    draft.n_rows_seen_ = n_rows
