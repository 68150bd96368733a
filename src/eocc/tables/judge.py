"""What a column holds, its cells as values of one kind, and whether it only names the rows.

Each different text is judged once. Columns that name the rows are ids, near-ids, row counters, and dates that run on.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from eocc.base.printing import quoted
from eocc.base.types import Matrix
from eocc.tables.sources import value_of_label
from eocc.tables.spelling import (
    ABSENT,
    CODE,
    COMMA,
    INFINITE,
    PLAIN,
    Meaning,
    Spelling,
    is_two_dates,
    meaning_of,
    number_of,
)
from eocc.tables.table import BOOLEAN, DATE, DURATION, EMPTY, NESTED, NUMBER, TEXT, TIME, Column, names_of_kinds

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
# A column runs on if the rank correlation of its values with the number of the row is at least this share of that of
# the sorted values. A log of 336,776 flights in order of departure holds the planned hour: its 12 months reach 0.9999,
# its weeks at least 0.967; of its days, in which delays weigh most, 68 % reach 0.95 and 9 % reach 0.99. The
# measurements of iris, sorted by class, reach 0.88.
IN_ORDER = 0.95
# The correlation itself lies above chance by this many standard deviations, which 20 different values in order exceed
# with 4.1; a single odd value at the end of any number of equal ones has 1.7.
ABOVE_CHANCE = 3.5
RUNS_ON = "runs on from row to row"
# In microseconds.
DAY = 24 * 3600 * 10**6
# What a date is compared by.
MOMENT, CLOCK, WEEKDAY = "moment", "time of day", "weekday"
NOT_FINITE = "is not a finite number"
TWO_DATES = "can be read as two dates"
# What a cell of a kind should have been.
EXAMPLES = {
    NUMBER: "a number (0.5 and 1e3 are)", DATE: "a date (2031-12-01 is)", TIME: "a time of day (12:30 is)",
    DURATION: "a duration",
}  # fmt: skip


class Fault(NamedTuple):
    """A cell that cannot be read: its row and column, its text, and why."""

    row: int
    name: Any
    cell: str
    why: str

    def __str__(self) -> str:
        cell = f": {quoted(self.cell)}" if self.cell else ""
        return f"column {quoted(str(self.name))}{cell} {self.why}"


class BadCellError(ValueError):
    """A cell of a table cannot be read; `fault` says which."""

    def __init__(self, fault: Fault, remedy: str = "correct it, empty the cell, or remove the row") -> None:
        super().__init__(f"row {fault.row}: {fault}; {remedy}")
        self.fault, self.remedy = fault, remedy


class Judgement(NamedTuple):
    """What a column holds. If text could nearly be something else, `fault` says why it is not.

    Then `odd` is the cell to blame, if it is a single one, and `wanted` the kind that it should have been.
    """

    kind: str
    fault: str = ""
    odd: str = ""
    wanted: str = ""


def holds_text(column: Column) -> bool:
    """Return whether a column holds text that is still to be read, alone or among other values, and no categories."""
    return column.levels is None and TEXT in column.kind


def judge(column: Column, spelling: Spelling, keeps_words: bool = False) -> Judgement:
    """Return what a column of text holds.

    A column in which half of the cells or more are numbers, or dates, is meant to hold these. Cells that are missing do
    not count.
    """
    if plain_numbers(column, spelling) is not None:
        return Judgement(NUMBER)
    meanings = meanings_of(column, spelling, keeps_words)
    counts = np.bincount(column.codes + 1, minlength=len(meanings) + 1)[1:].tolist()
    found, first = dict[str, int](), dict[str, str]()
    for label, meaning, count in zip(column.labels or (), meanings, counts, strict=True):
        if meaning.kind != ABSENT and count:
            found[meaning.kind] = found.get(meaning.kind, 0) + count
            first.setdefault(meaning.kind, str(label).strip())
    if found.keys() == {NUMBER, INFINITE}:
        return Judgement(NUMBER)  # the infinite ones are faults
    if found.keys() == {NUMBER}:
        given = zip(column.labels or (), meanings, strict=True)
        texts = [label.strip() for label, meaning in given if isinstance(label, str) and meaning.kind != ABSENT]
        if (codes := list(filter(CODE.fullmatch, texts))) and all(text.isascii() and text.isdigit() for text in texts):
            return Judgement(TEXT, "begins with 0", codes[0])
    if len(found) <= 1 and not {TEXT, INFINITE} & found.keys():
        return Judgement(next(iter(found), EMPTY))
    for wanted in (NUMBER, DATE, TIME):
        if 2 * found.get(wanted, 0) >= sum(found.values()):
            odd = first[next(kind for kind in found if kind != wanted)]
            return Judgement(TEXT, f"is not a {wanted}", odd, wanted)
    odd = first.get(TEXT, "")
    return Judgement(TEXT, TWO_DATES, odd, DATE) if is_two_dates(odd) else Judgement(TEXT)


def plain_numbers(column: Column, spelling: Spelling) -> Matrix | None:
    """Return the numbers of a column of text that holds no more than numerals, read at once; None for any other."""
    numbers = column.plain
    if numbers is None or (spelling.decimal == "," and column.texts_with(r"\.")):
        return None
    return None if are_integers(numbers) and column.texts_with(r"^\s*0\d") else numbers


def meanings_of(column: Column, spelling: Spelling, keeps_words: bool = False) -> list[Meaning]:
    """Return what each label of a column means; with `keeps_words`, text such as NA is a value.

    The column remembers it: its labels are judged, and then converted.
    """

    def meaning(label: Any) -> Meaning:
        if isinstance(label, str):
            text = label.strip()
            return Meaning(TEXT) if keeps_words and text else meaning_of(text, spelling)
        kind, value = value_of_label(label)
        return Meaning(INFINITE if np.isinf(value) else kind, value)

    known: dict[Any, list[Meaning]] = vars(column).setdefault("meanings", {})
    if (spelling, keeps_words) not in known:
        known[spelling, keeps_words] = list(map(meaning, column.labels or ()))
    return known[spelling, keeps_words]


def converted(column: Column, kind: str, spelling: Spelling, faults: list[Fault], keeps_words: bool = False) -> Column:
    """Return the column with values of this kind; cells that are of another kind become gaps and `faults`."""
    if column.kind == NESTED:
        row = int(np.flatnonzero(~np.isnan(column.values))[0])
        why = "is not a single value; drop the column, or split it into several"
        raise BadCellError(Fault(row, column.name, str(column[row]), why), "it cannot be compared")
    if kind == NUMBER and (numbers := plain_numbers(column, spelling)) is not None:
        return Column(column.name, NUMBER, numbers)
    if EMPTY in (column.kind, kind):
        return Column(column.name, kind, np.full(len(column), np.nan))
    if column.labels is None:
        return _of_values(column, kind, faults)
    if column.levels:
        return Column(column.name, TEXT, np.array(column.values), column.labels, column.levels)
    meanings = meanings_of(column, spelling, keeps_words)
    if kind == TEXT:
        return _as_text(column, [meaning.kind == ABSENT for meaning in meanings])
    is_right = np.array([meaning.kind in (kind, ABSENT) for meaning in meanings], bool)
    codes, values = column.codes, np.array([*(meaning.value for meaning in meanings), np.nan])
    if is_right.all():
        return Column(column.name, kind, values[codes])
    odd = np.flatnonzero(~is_right)
    if kind == BOOLEAN:  # text that is no truth value is one more category
        values[odd] = 2 + np.arange(len(odd))
        labels = (False, True, *(_word(column.labels[place]) for place in odd))
        return Column(column.name, BOOLEAN, values[codes], labels)
    values[odd] = np.nan
    for row in np.flatnonzero(np.append(~is_right, False)[codes]).tolist():
        cell = str(column.labels[codes[row]]).strip()
        why = TWO_DATES if kind == DATE and is_two_dates(cell) else f"is not {EXAMPLES[kind]}"
        is_infinite = meanings[codes[row]].kind == INFINITE and kind == NUMBER
        faults.append(Fault(row, column.name, cell, NOT_FINITE if is_infinite else why))
    return Column(column.name, kind, values[codes])


def _of_values(column: Column, kind: str, faults: list[Fault]) -> Column:
    """Return a column of typed values, which must be of the kind already, or can be text."""
    if kind == TEXT:
        labelled = column.labelled()
        labels = tuple(_word(column.given(one)) for one in labelled.labels or ())
        return _as_text(replace(labelled, labels=labels), [False] * len(labels))
    if column.kind == kind or {kind, column.kind} == {BOOLEAN, NUMBER}:
        is_infinite, values = np.isinf(column.values), np.array(column.values, np.float64)
        infinite = np.flatnonzero(is_infinite).tolist()
        faults += [Fault(row, column.name, str(values[row]), NOT_FINITE) for row in infinite]
        values[is_infinite] = np.nan
        return Column(column.name, kind, values, None, column.levels)
    holds, held = names_of_kinds(column.kind), names_of_kinds(kind)
    raise ValueError(f"column {column.name!r} holds {holds}, but held {held} in training")


def _as_text(column: Column, is_gap: Sequence[bool]) -> Column:
    """Return the texts without blanks around them, each label once, in alphabetical order: rows may be in any order."""
    codes, places, given = column.codes, np.full(len(is_gap) + 1, np.nan), column.labels or ()
    used = [code for code in np.flatnonzero(np.bincount(codes + 1)[1:]).tolist() if not is_gap[code]]
    words = np.array([_word(given[code]) for code in used], object)
    labels, places[used] = np.unique(words, return_inverse=True)
    return Column(column.name, TEXT if used else EMPTY, places[codes], tuple(labels.tolist()))


def _word(label: Any) -> str:
    if isinstance(label, float) and label.is_integer() and abs(label) < 2**53:
        return str(int(label))
    return str(label).strip()


def remedy_for(fault: Fault, spelling: Spelling) -> str:
    """Return the option that would make a cell of a file readable; "" if none would."""
    other = COMMA if spelling.decimal == "." else PLAIN
    if "not a number" in fault.why and number_of(fault.cell, other) is not None:
        return f"if its decimal mark is {other.decimal!r}, pass --decimal {other.decimal}"
    return "pass --dates day-first or --dates month-first" if TWO_DATES in fault.why else ""


def why_naming(column: Column) -> str:
    """Return why a column of a kind names the rows, or holds no values; "" if it does neither.

    >>> why_naming(Column("n", NUMBER, np.arange(30.0))), why_naming(Column("n", NUMBER, np.arange(30.0) % 2))
    ('counts the rows', '')
    """
    values = column.values[~np.isnan(column.values)]
    n = len(values)
    if not n:
        return "holds no values"
    if n < FEWEST or column.levels:  # ordered levels are ranks
        return ""
    if column.kind == DATE:
        return "" if parts_of_dates(column) else RUNS_ON
    if column.kind == TEXT:
        _, counts = np.unique(values, return_counts=True)
        if len(counts) >= DIFFERENT * n:
            return "has a different text in nearly every row"
        share = float((counts == 1).sum()) / n
        return f"{share:.0%} of its values occur only once" if share >= ONLY_ONCE else ""
    if column.kind != NUMBER or not are_integers(values) or (n_different := len(np.unique(values))) < DIFFERENT * n:
        return ""
    if n_different >= (FILLED if n_different == n else DIFFERENT) * (values.max() - values.min() + 1):
        return "counts the rows"
    return RUNS_ON if runs_on(values) else ""


def may_name(column: Column) -> bool:
    """Return whether a column that does not name the rows may do so: it has a different integer in every row."""
    values = column.values[~np.isnan(column.values)]
    may = column.kind == NUMBER and len(values) >= FEWEST and are_integers(values)
    return may and len(np.unique(values)) == len(values)


def may_count(column: Column) -> bool:
    """Return whether a column that does not name the rows may be a time or a count: many numbers that run on."""
    values = column.values[~np.isnan(column.values)]
    return column.kind == NUMBER and len(np.unique(values)) >= FEWEST and runs_on(values)


def are_integers(numbers: Matrix) -> bool:
    """Return whether all numbers are integers, or gaps; the first ones mostly show it."""
    return all(bool(((some == np.rint(some)) | np.isnan(some)).all()) for some in (numbers[:FEWEST], numbers))


def runs_on(values: Matrix) -> bool:
    """Return whether values rise, or fall, from row to row, with few out of order, and not by chance.

    >>> runs_on(np.arange(30.0) + 3 * (np.arange(30) % 2)), runs_on(np.arange(30.0) % 15), runs_on(np.ones(30))
    (True, False, False)
    """
    different, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    n = len(values)
    if n < FEWEST or len(different) == 1:
        return False
    ranks = (np.cumsum(counts) - (counts + n) / 2)[which]  # around 0; the same for equal values
    rows = np.arange(n) - (n - 1) / 2
    # Sums, not products of vectors, whose threads take more processor time than the rest of a column.
    found, in_order = abs((rows * ranks).sum()), (rows * np.sort(ranks)).sum()
    chance = np.sqrt(n * (n + 1) / 12 * (ranks**2).sum())
    return bool(found >= IN_ORDER * in_order and found >= ABOVE_CHANCE * chance)


def parts_of_dates(column: Column) -> tuple[str, ...]:
    """Return what dates are compared by: the moment, unless it runs on from row to row; the time of day and weekday.

    The time of day counts if there are several hours, the weekday too if these lie in a week or more.
    """
    values = column.values[~np.isnan(column.values)]
    has_clock = len(np.unique(values % DAY // (DAY // 24))) > 1
    has_weeks = has_clock and bool(values.max() - values.min() >= 7 * DAY)
    used = {MOMENT: not runs_on(values), CLOCK: has_clock, WEEKDAY: has_weeks}
    return tuple(part for part, is_used in used.items() if is_used)
