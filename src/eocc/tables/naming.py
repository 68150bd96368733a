"""Columns that name the rows instead of describing them: ids, near-ids, row counters, dates that run on."""

from collections.abc import Hashable, Mapping

import numpy as np

from eocc.foundation.printing import quoted
from eocc.foundation.types import Matrix
from eocc.tables.table import DATE, NUMBER, TEXT, Column

# A column with fewer values never names the rows.
FEWEST = 20
# Text names the rows if at least this share of its values occur only once. A value that occurs once is unseen when its
# row is left out, so the share estimates how often a normal row has a value that no other row has (Good and Turing).
# benchmarks/planted_faults.py, three repetitions, false alarms 0.05: of 30 faults 26.0 are found with a share of 0.2 or
# 0.3, 25.6 with 0.5, and 25.2 if no column is left out.
ONLY_ONCE = 0.3
# The share of different values from which integers may count.
DIFFERENT = 0.9
# Integers that all differ are a counter if they fill this share of their range; if some repeat, a share of DIFFERENT.
FILLED = 0.5
# Why a column without values is not compared either.
NO_VALUES = "holds no values"
RUNS_ON = "runs on from row to row"
# In microseconds.
DAY = 24 * 3600 * 10**6
# What a date is compared by.
MOMENT, CLOCK, WEEKDAY = "moment", "time of day", "weekday"


def why_naming(column: Column) -> str:
    """Return why a column of a kind names the rows, "" if it does not.

    >>> why_naming(Column("n", NUMBER, np.arange(30.0))), why_naming(Column("n", NUMBER, np.arange(30.0) % 2))
    ('counts the rows', '')
    """
    values = column.values[~np.isnan(column.values)]
    if not len(values):
        return NO_VALUES
    if len(values) < FEWEST or column.levels:  # ordered levels are ranks
        return ""
    if column.kind == TEXT:
        return _why_near_id(values)
    if column.kind == NUMBER:
        return _why_counting(values)
    return RUNS_ON if column.kind == DATE and not parts_of_dates(column) else ""


def _why_near_id(codes: Matrix) -> str:
    _, counts = np.unique(codes, return_counts=True)
    share = float((counts == 1).sum()) / len(codes)
    if len(counts) >= DIFFERENT * len(codes):
        return "has a different text in nearly every row"
    return f"{share:.0%} of its values occur only once" if share >= ONLY_ONCE else ""


def _why_counting(numbers: Matrix) -> str:
    """Return why integers number the rows: they fill their range in any order, or only rise or only fall."""
    if not are_integers(numbers):
        return ""
    n_different = len(np.unique(numbers))
    if n_different < DIFFERENT * len(numbers):
        return ""
    filled = FILLED if n_different == len(numbers) else DIFFERENT
    if n_different >= filled * (numbers.max() - numbers.min() + 1):
        return "counts the rows"
    return RUNS_ON if is_sorted(numbers) else ""


def may_name(column: Column) -> bool:
    """Return whether a column that does not name the rows may do so: it has a different integer in every row."""
    values = column.values[~np.isnan(column.values)]
    if column.kind != NUMBER or len(values) < FEWEST:
        return False
    return are_integers(values) and len(np.unique(values)) == len(values)


def are_integers(numbers: Matrix) -> bool:
    """Return whether all numbers are integers, or gaps; the first ones mostly show it."""
    return all(bool(((some == np.rint(some)) | np.isnan(some)).all()) for some in (numbers[:FEWEST], numbers))


def is_sorted(values: Matrix) -> bool:
    """Return whether values only rise or only fall, and are not all the same."""
    for some in (values[:FEWEST], values):
        steps = np.diff(some)
        if (steps > 0).any() and (steps < 0).any():
            return False
    return bool(steps.any())


def parts_of_dates(column: Column) -> tuple[str, ...]:
    """Return what dates are compared by: the moment, unless it runs on from row to row; the time of day and weekday.

    The time of day counts if there are several hours, the weekday too if these lie in a week or more.
    """
    values = column.values[~np.isnan(column.values)]
    runs_on = len(values) >= FEWEST and is_sorted(values)
    hours = np.unique(values % DAY // (DAY // 24))
    has_clock = len(hours) > 1
    has_weeks = has_clock and bool(values.max() - values.min() >= 7 * DAY)
    used = {MOMENT: not runs_on, CLOCK: has_clock, WEEKDAY: has_weeks}
    return tuple(part for part, is_used in used.items() if is_used)


def listed_reasons(reasons: Mapping[Hashable, str]) -> str:
    """Return the columns that are not compared, each with the reason, for a message."""
    names = [quoted(name) if isinstance(name, str) else repr(name) for name in reasons]
    return ", ".join(f"{name} ({why})" for name, why in zip(names, reasons.values(), strict=True))
