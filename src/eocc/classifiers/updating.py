"""A fitted SurpriseClassifier and new rows -> the model of all rows that are kept: the oldest first, the new ones last.

It equals a fresh fit on these rows, bit for bit, if the fit reads the columns as the model does. Gaps of new rows of
numbers are filled as they are for scores.
"""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from itertools import accumulate
from typing import Any

import numpy as np

from eocc.base.arguments import unfitted_copy
from eocc.base.checks import demand, is_integer
from eocc.base.stored import check_keys
from eocc.base.types import Flags
from eocc.base.wording import counted
from eocc.classifiers.answers import add_answers, n_removed, put_on, rows_of_fit, taught, without_gaps
from eocc.measures.precomputed import joined

# What the rows that a model was first fitted to are called.
FIRST = "first fit"


@dataclass(frozen=True)
class Batch:
    """So many training rows that came from a `source` at a `date`; None if that is not known."""

    source: str
    date: date | None
    n_rows: int


def history_of(classifier: Any, first: date | None = None) -> tuple[Batch, ...]:
    """Return what came when; of a model that was never updated, one batch with the date `first`."""
    n_rows = len(classifier.prototypes_) + n_removed(classifier.answers_)
    return classifier.batches_ or (Batch(FIRST, first, n_rows),)


def day_of(given: Any) -> date:
    """Return a date, or the date of a datetime."""
    if not isinstance(given, date):
        raise ValueError(f"date must be a datetime.date such as date(2026, 1, 31), not {given!r}")
    return given.date() if isinstance(given, datetime) else given


def kept_rows(history: tuple[Batch, ...], forget: Any, today: date) -> Flags:
    """Return which training rows are kept, in the order of the history.

    `forget` is None, a number of rows, an age (a timedelta or "90d"), a date (or "2026-01-31"), before which rows came,
    or the source of rows. Rows without a date have no age.
    """
    counts = [batch.n_rows for batch in history]
    n = sum(counts)
    if forget is None:
        return np.ones(n, bool)
    if is_integer(forget) and forget >= 0:
        if forget > n:
            held = f"forget must be at most the {counted(n, 'training row')} of the model, not {forget}"
            raise ValueError(f"{held}; write a date as 2026-01-31")
        return np.arange(n) >= int(forget)
    if (first := _first_day(forget, today)) is None:
        sources = sorted({batch.source for batch in history})
        if forget not in sources:
            known = ", ".join(map(repr, sources[:5]))
            raise ValueError(
                f"forget must be a number of rows, an age such as 90d, a date or a source ({known}), not {forget!r}"
            )
        return np.repeat([batch.source != forget for batch in history], counts)
    for batch in history:
        if batch.date is None:
            rows = f"the {counted(batch.n_rows, 'row')} of {batch.source!r} have no date"
            raise ValueError(f"{rows}; forget them by number or source, and pass date= with each update")
    return np.repeat([batch.date is not None and batch.date >= first for batch in history], counts)


def _first_day(forget: Any, today: date) -> date | None:
    """Return the first day of the rows that are kept, from an age or a date; None if it is neither."""
    written = str(forget)
    if isinstance(forget, timedelta) or re.fullmatch(r"\d+d", written):
        try:
            return today - (forget if isinstance(forget, timedelta) else timedelta(days=int(written[:-1])))
        except OverflowError:
            raise ValueError(f"forget must be an age that goes back to the year 1 at most, not {written}") from None
    if isinstance(forget, date):
        return day_of(forget)
    return date.fromisoformat(written) if re.fullmatch(r"\d{4}-\d\d-\d\d", written) else None


def updated(classifier: Any, new: Any, batch: Batch, history: tuple[Batch, ...], kept: Flags, names: Any = None) -> Any:
    """Return the model of the kept rows and of new patterns; `names` are ids of the new rows, or None.

    It learns the answers of the model again.
    """
    known, new = rows_of_fit(classifier).some(np.flatnonzero(kept)), without_gaps(classifier.measure_, new)
    rows = new if not kept.any() else joined(known.rows, new)
    y, outliers = None, classifier.outliers_
    found = unfitted_copy(classifier)
    fitted = "resolved_measure_", "reading_", "n_features_in_", "feature_names_in_", "_windowing_"
    for name in (*fitted, "surprise_model_"):  # its neighbours save time
        if hasattr(classifier, name):
            setattr(found, name, getattr(classifier, name))
    if outliers is not None:
        y = np.repeat([1, -1], [len(rows), len(outliers)])
        rows = joined(rows, outliers)
    found._fit_patterns(rows, y)
    if known.names is not None or names is not None:
        first = known.names or list(map(str, known.indices.tolist()))
        found._row_names_ = [*first, *(names or (f"{batch.source}:{row}" for row in range(len(new))))]
    ends = list(accumulate(one.n_rows for one in history))
    counts = [int(part.sum()) for part in np.split(kept, ends[:-1])]
    left = [replace(one, n_rows=count) for one, count in zip(history, counts, strict=True) if count]
    found.batches_ = (*left, replace(batch, n_rows=len(new)))
    answers = put_on(found.baseline_, classifier.answers_)  # new rows change the levels of groups
    if answers is None:
        return found
    return taught(found, add_answers(found, answers.rows, answers.y, answers.names))


def history_state(history: tuple[Batch, ...]) -> dict[str, Any]:
    """Return the history as the model file stores it."""
    dates = ["" if batch.date is None else batch.date.isoformat() for batch in history]
    counts = np.array([batch.n_rows for batch in history], np.int64)
    return {"sources": [batch.source for batch in history], "dates": dates, "counts": counts}


def restored_history(state: Any, n: int) -> tuple[Batch, ...]:
    """Return the history of n training rows that a model file describes."""
    check_keys("batches", state, ("sources", "dates", "counts"))
    sources, dates, counts = state["sources"], state["dates"], state["counts"]
    is_right = all(type(part) is list and all(type(one) is str for one in part) for part in (sources, dates))
    is_right &= type(counts) is np.ndarray and counts.dtype == np.int64 and counts.ndim == 1
    demand(is_right and len(sources) == len(dates) == len(counts), "batches must name a source and a date per batch")
    demand(bool((counts > 0).all()) and sum(counts.tolist()) == n, f"batches must count {n} training rows")
    return tuple(
        Batch(source, date.fromisoformat(day) if day else None, count)
        for source, day, count in zip(sources, dates, counts.tolist(), strict=True)
    )
