"""A source -> a model of rows chosen by content; all rows -> its threshold and p-values."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from eocc.base.arguments import checked, commit_fit, unfitted_copy
from eocc.base.checks import integer
from eocc.base.registry import choose
from eocc.base.threads import n_threads
from eocc.classifiers.base import OneClassClassifier
from eocc.measures import measures_of
from eocc.measures.auto import is_pairwise
from eocc.streaming.source import REFUSE, Source, check_classifier, say_left_out, source_of
from eocc.tables.reading import ANY, DECLARED, Reading
from eocc.tables.spelling import Dialect
from eocc.tables.table import NUMBER, rows_with

Classifier = TypeVar("Classifier", bound=OneClassClassifier)


def fit_stream(
    classifier: Classifier, source: Any, *, sample: int | None = None, where: tuple[Any, Any] | None = None,
    outliers: Any = None, incomplete: str = REFUSE, dialect: Dialect | None = None, drop: Sequence[Any] = (),
    keeps_all: bool = False, kinds: Mapping[Any, str] | None = None, unreadable: str = REFUSE,
) -> Classifier:  # fmt: skip
    """Fit the classifier to all rows of a source, in memory for the rows it keeps and a few chunks; return it.

    The source is read three times, its first chunk once more. The first two passes choose rows by their content, to
    which the classifier is fitted: see `eocc.space.prototypes.by_content`. The third pass scores every row and
    calibrates: at most a share `false_alarm_rate` of all rows lies beyond the threshold. SurpriseClassifier gives the
    model of `fit` on the same rows, bit for bit; its parameter `prototypes` says how many rows it keeps.
    EntropicOneClassClassifier is fitted to `sample` rows. It is calibrated only if it has a rate, on the rows that it
    was not fitted to; if these are fewer than the others, the fit itself calibrates.

    A table with other columns than numbers, as its first chunk shows, is read into memory at once, and fitted as by
    `fit`. The model does not depend on the chunks. A fit that needs more than `max_memory` is refused after
    the first pass.

    The classifier gets two more attributes, which a model file does not keep: `n_rows_seen_`, the number of rows used,
    and `training_indices_`, the numbers of the rows that it was fitted to.

    >>> from eocc import SurpriseClassifier
    >>> rows = np.random.default_rng(0).normal(size=(1000, 2))
    >>> clf = fit_stream(SurpriseClassifier(prototypes=200), [rows[:700], rows[700:]])
    >>> clf.n_rows_seen_, len(clf.training_indices_)
    (1000, 200)
    >>> clf.predict([[0.0, 0.0], [9.0, 9.0]])
    array([ 1, -1])
    """
    check_classifier("fit_stream", classifier)
    if sample is not None:
        integer(1)("sample", sample)
    checked(classifier)
    if is_pairwise(classifier.measure):
        raise ValueError("a stream holds rows, not dissimilarities; choose a measure of rows of numbers")
    if isinstance(source, Iterator):
        raise ValueError("an iterator can be read only once; pass a list, or an object whose __iter__ starts again")
    draft, known = unfitted_copy(classifier), None
    for kind in (kinds or {}).values():
        choose("kind", DECLARED, kind)
    named = isinstance(classifier.measure, str)
    stream = source_of(
        source, incomplete, unreadable, dialect, where=where, kinds=kinds or {},
        apart=(*drop, *(where or ())[:1]), usual=ANY if keeps_all else "", keeps_all=not named,
    )  # fmt: skip
    if outliers is not None and where is None:
        raise ValueError("outliers needs where, the rows that are normal, for example where=('state', 'good')")
    reading = stream.first_reading()
    is_numbers = all(column.kind in (NUMBER, "") for column in reading.columns)
    if not is_numbers or classifier.baseline_by is not None or (named and classifier.measure in measures_of("records")):
        return _fit_whole(classifier, stream, outliers, sample, reading)
    reading = reading.for_numbers(True, str(classifier.measure))
    stream.reading, stream.count = reading, n_threads(classifier.n_jobs)
    if outliers is not None and where is not None:
        others = replace(stream, choices=replace(stream.choices, where=(where[0], outliers)), n_rows=None)
        known = others.fold(lambda part: part.values, lambda *two: np.concatenate(two))
    draft._fit_passes(stream, sample, known)
    draft._take_reading(reading)
    draft._having_seen(stream.ends)
    draft.n_rows_seen_ = stream.n_rows
    return commit_fit(classifier, draft)


def _fit_whole(
    classifier: Classifier, stream: Source, outliers: Any, sample: int | None, reading: Reading
) -> Classifier:
    """Fit to a table that holds other columns than numbers, which is read into memory at once."""
    if sample is not None:
        raise ValueError("sample is for tables of numbers; leave it out")
    groups = classifier._kinds_of_groups([*reading.names, *reading.left_out])
    choices = replace(stream.choices, kinds={**groups, **stream.choices.kinds})
    column, normal = choices.where or ("", None)
    if outliers is not None:
        both = [one for some in (normal, outliers) for one in (some if isinstance(some, list) else [some])]
        choices = replace(choices, where=(column, both))
    learnt, y = replace(stream, choices=choices).whole(), None
    chunk = learnt.chunk
    if outliers is not None:
        y = np.where(rows_with(chunk.columns[chunk.named(column)].cells(), normal), 1, -1)[learnt.good]
    for remark in learnt.known.remarks:
        remark.warn()
    say_left_out(list(learnt.faults.values()))
    fitted = classifier.fit(learnt.X, y)
    fitted._name_rows(chunk.numbers[learnt.good])
    fitted.n_rows_seen_ = len(learnt.X)
    return fitted
