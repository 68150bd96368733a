"""Columns that name the rows instead of describing them: ids, row counters, timestamps that run on.

One rule for files and for frames. A column with fewer than FEWEST values is never such a column.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eocc.foundation.printing import quoted
from eocc.foundation.types import Matrix
from eocc.measures.schema import DATE, NUMBER, TEXT

FEWEST = 20
# The share of different values from which text is an id, integers may count, and a timestamp never returns.
DIFFERENT = 0.9
# Integers that all differ are a counter if they fill this share of their range; if some repeat, a share of DIFFERENT.
FILLED = 0.5
# Why a column without values is not compared either.
NO_VALUES = "holds no values"
# In microseconds.
DAY = 24 * 3600 * 10**6


def why_naming(kind: str, values: Sequence[Any] | Matrix) -> str:
    """Return why a column names the rows, "" if it does not; `values` are those that are not missing, in row order.

    Text may be given as numbers, one per different text. Dates are in microseconds.

    >>> why_naming("number", range(1, 31)), why_naming("number", [1, 2] * 15)
    ('counts the rows', '')
    """
    if len(values) < FEWEST:
        return ""
    if kind == TEXT:
        return "has a different text in nearly every row" if _nearly_all_different(values) else ""
    numbers = np.asarray(values, np.float64) if kind in (NUMBER, DATE) else np.empty(0)
    if kind == NUMBER:
        return _why_counting(numbers)
    return "runs on from row to row" if kind == DATE and _runs_on(numbers) else ""


def _nearly_all_different(values: Sequence[Any] | Matrix) -> bool:
    return len(set(values)) >= DIFFERENT * len(values)


def _why_counting(numbers: Matrix) -> str:
    """Return why integers number the rows: they fill their range in any order, or only rise or only fall."""
    if not _are_integers(numbers):
        return ""
    n_different = len(np.unique(numbers))
    if n_different < DIFFERENT * len(numbers):
        return ""
    filled = FILLED if n_different == len(numbers) else DIFFERENT
    if n_different >= filled * (numbers.max() - numbers.min() + 1):
        return "counts the rows"
    return "runs on from row to row" if _is_sorted(numbers) else ""


def may_name(kind: str, values: Sequence[Any] | Matrix) -> bool:
    """Return whether a column that `why_naming` lets pass may name the rows: it has a different integer in every row.

    >>> may_name("number", range(100, 3100, 100)), may_name("number", [1, 2] * 15)
    (True, False)
    """
    if kind != NUMBER or len(values) < FEWEST:
        return False
    numbers = np.asarray(values, np.float64)
    return _are_integers(numbers) and len(np.unique(numbers)) == len(numbers)


def _are_integers(numbers: Matrix) -> bool:
    return not ((numbers[:FEWEST] % 1).any() or (numbers % 1).any())


def _is_sorted(values: Matrix) -> bool:
    """Return whether values only rise or only fall, and are not all the same."""
    steps = np.diff(values)
    return bool(steps.any() and ((steps >= 0).all() or (steps <= 0).all()))


def _runs_on(moments: Matrix) -> bool:
    """Return whether dates only rise or only fall, or have a time of day and nearly all differ."""
    return _is_sorted(moments) or (bool((moments % DAY).any()) and _nearly_all_different(moments.tolist()))


def listed_reasons(reasons: Mapping[Any, str]) -> str:
    """Return the columns that name the rows, each with the reason, for a message."""
    names = [quoted(name) if isinstance(name, str) else repr(name) for name in reasons]
    return ", ".join(f"{name} ({why})" for name, why in zip(names, reasons.values(), strict=True))


def is_clock(moments: Matrix) -> bool:
    """Return whether the hour and weekday of dates may matter: several hours occur, over a week or more."""
    hours = np.unique(moments % DAY // (DAY // 24))
    return len(hours) > 1 and bool(moments.max() - moments.min() >= 7 * DAY)
