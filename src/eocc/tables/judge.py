"""What a column holds, and its cells as values of one kind. Each different text is judged once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from eocc.foundation.printing import quoted
from eocc.foundation.types import Matrix
from eocc.tables.naming import are_integers
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

DIGITS = re.compile(r"\d+", re.ASCII)
LEADING_ZERO = r"^\s*0\d"
NOT_FINITE = "is not a finite number"
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
        super().__init__(f"{fault}; {remedy}")
        self.fault, self.remedy = fault, remedy

    def placed(self, text: object) -> "BadCellError":
        """Return an error of the same class with another text, that says where the cell is."""
        made = type(self)(self.fault, self.remedy)
        made.args = (str(text),)
        return made


@dataclass(frozen=True)
class Judgement:
    """What a column holds: its kind, and the different signs of its numbers, such as % or €, if there are any.

    If text could nearly be something else, `fault` says why it is not, `odd` is the cell to blame, if it is a single
    one, and `wanted` the kind that it should have been.
    """

    kind: str
    signs: tuple[str, ...] = ()
    fault: str = ""
    odd: str = ""
    wanted: str = ""


def holds_text(column: Column) -> bool:
    """Return whether a column holds text that is still to be read, alone or among other values, and no categories."""
    return column.levels is None and TEXT in column.kind


def judge(column: Column, spelling: Spelling, meanings: Sequence[Meaning]) -> Judgement:
    """Return what a column with labels holds, given the meaning of each label.

    A column in which half of the cells or more are numbers, or dates, is meant to hold these. Cells that are missing do
    not count.
    """
    counts = np.bincount(column.codes + 1, minlength=len(meanings) + 1)[1:].tolist()
    found, first = dict[str, int](), dict[str, str]()
    for label, meaning, count in zip(column.labels or (), meanings, counts, strict=True):
        if meaning.kind != ABSENT and count:
            found[meaning.kind] = found.get(meaning.kind, 0) + count
            first.setdefault(meaning.kind, str(label).strip())
    if found.keys() == {NUMBER, INFINITE}:
        return Judgement(NUMBER)  # the infinite ones are faults
    if found.keys() == {NUMBER} and (code := _code_in(column)):
        return Judgement(TEXT, fault="begins with 0", odd=code)
    if len(found) <= 1 and not {TEXT, INFINITE} & found.keys():
        signs = tuple(sorted({meaning.sign for meaning in meanings if meaning.kind == NUMBER}))
        return Judgement(next(iter(found), EMPTY), signs if any(signs) else ())
    return _judge_text(found, first)


def _judge_text(found: dict[str, int], first: dict[str, str]) -> Judgement:
    for wanted in (NUMBER, DATE, TIME):
        if 2 * found.get(wanted, 0) >= sum(found.values()):
            odd = first[next(kind for kind in found if kind != wanted)]
            return Judgement(TEXT, (), f"is not a {wanted}", odd, wanted)
    odd = first.get(TEXT, "")
    return Judgement(TEXT, (), "can be read as two dates", odd, DATE) if is_two_dates(odd) else Judgement(TEXT)


def _code_in(column: Column) -> str:
    """Return the first text such as 01067 in a column of digits only: a name, no number; "" if there is none."""
    labels = [str(label).strip() for label in column.labels or () if isinstance(label, str)]
    if not any(map(CODE.fullmatch, labels)):
        return ""
    present = [label for label in labels if meaning_of(label).kind != ABSENT]
    return next(filter(CODE.fullmatch, labels)) if all(map(DIGITS.fullmatch, present)) else ""


def plain_numbers(column: Column, spelling: Spelling) -> Matrix | None:
    """Return the numbers of a column of text that holds no more than numerals, read at once; None for any other."""
    numbers = column.plain
    if numbers is None or (spelling.decimal == "," and len(list(column.texts_with(r"\.")))):
        return None
    return None if are_integers(numbers) and list(column.texts_with(LEADING_ZERO)) else numbers


def meanings_of(column: Column, spelling: Spelling, keeps_words: bool = False) -> list[Meaning]:
    """Return what each label of a column means; with `keeps_words`, text such as NA is a value."""
    found = []
    for label in column.labels or ():
        if isinstance(label, str):
            text = label.strip()
            meaning = Meaning(TEXT) if keeps_words and text else meaning_of(text, spelling)
        else:
            kind, value = value_of_label(label)
            meaning = Meaning(INFINITE if np.isinf(value) else kind, value)
        found.append(meaning)
    return found


def converted(
    column: Column, kind: str, spelling: Spelling, meanings: Sequence[Meaning] | None, faults: list[Fault]
) -> Column:
    """Return the column with values of this kind; cells that are of another kind become gaps and `faults`."""
    if column.kind == NESTED:
        row = int(np.flatnonzero(~np.isnan(column.values))[0])
        why = "is not a single value; drop the column, or split it into several"
        raise BadCellError(Fault(row, column.name, str(column[row]), why), "it cannot be compared")
    if EMPTY in (column.kind, kind):
        return Column(column.name, kind, np.full(len(column), np.nan))
    if column.labels is None:
        return _of_values(column, kind, faults)
    if column.levels:
        return Column(column.name, TEXT, np.array(column.values), column.labels, column.levels)
    meanings = meanings_of(column, spelling) if meanings is None else meanings
    if kind == TEXT:
        return _as_text(column, [meaning.kind == ABSENT for meaning in meanings])
    if kind == BOOLEAN:
        return _as_truths(column, meanings)
    is_right = [meaning.kind in (kind, ABSENT) for meaning in meanings]
    numbers = np.array([*(meaning.value for meaning in meanings), np.nan])
    numbers[:-1][~np.array(is_right, bool)] = np.nan
    codes = column.codes
    if not all(is_right):
        is_bad = np.array([*(not right for right in is_right), False])
        for row in np.flatnonzero(is_bad[codes]).tolist():
            cell = str((column.labels or ())[codes[row]]).strip()
            is_infinite = meanings[codes[row]].kind == INFINITE and kind == NUMBER
            faults.append(Fault(row, column.name, cell, NOT_FINITE if is_infinite else _why_not(cell, kind)))
    return Column(column.name, kind, numbers[codes])


def _why_not(cell: str, kind: str) -> str:
    if kind == DATE and is_two_dates(cell):
        return "can be read as two dates"
    return f"is not {EXAMPLES[kind]}"


def _of_values(column: Column, kind: str, faults: list[Fault]) -> Column:
    """Return a column of typed values, which must be of the kind already, or can be text."""
    if kind == TEXT:
        labelled = column.labelled()
        labels = tuple(_as_word(column.given(one)) for one in labelled.labels or ())
        return _as_text(replace(labelled, labels=labels), [False] * len(labels))
    if column.kind == kind or {kind, column.kind} == {BOOLEAN, NUMBER}:
        infinite = np.flatnonzero(np.isinf(column.values)).tolist()
        for row in infinite:
            faults.append(Fault(row, column.name, str(column.values[row]), NOT_FINITE))
        values = np.where(np.isinf(column.values), np.nan, column.values) if infinite else column.values
        return Column(column.name, kind, np.array(values, np.float64), None, column.levels)
    holds, held = names_of_kinds(column.kind), names_of_kinds(kind)
    raise ValueError(f"column {column.name!r} holds {holds}, but held {held} in training")


def _as_word(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else str(value)


def _as_text(column: Column, is_gap: Sequence[bool]) -> Column:
    """Return the texts without blanks around them, each label once, in alphabetical order: rows may be in any order."""
    words = [None if gap else _word(label) for label, gap in zip(column.labels or (), is_gap, strict=True)]
    used = np.bincount(column.codes + 1, minlength=len(words) + 1)[1:] > 0
    labels = sorted({word for word, is_used in zip(words, used, strict=True) if is_used and word is not None})
    code = {word: number for number, word in enumerate(labels)}
    places = np.array([*(np.nan if word is None else code.get(word, np.nan) for word in words), np.nan])
    values = places[column.codes]
    return Column(column.name, EMPTY if np.isnan(values).all() else TEXT, values, tuple(labels))


def _word(label: Any) -> str:
    return label.strip() if isinstance(label, str) else _as_word(label)


def _as_truths(column: Column, meanings: Sequence[Meaning]) -> Column:
    """Return truth values; text that is none is one more category."""
    if all(meaning.kind in (BOOLEAN, ABSENT) for meaning in meanings):
        return Column(column.name, BOOLEAN, np.array([*(meaning.value for meaning in meanings), np.nan])[column.codes])
    labels: list[Any] = [False, True]
    places = []
    for label, meaning in zip(column.labels or (), meanings, strict=True):
        if meaning.kind in (BOOLEAN, ABSENT):
            places.append(meaning.value)
        else:
            labels.append(_word(label))
            places.append(float(len(labels) - 1))
    return Column(column.name, BOOLEAN, np.array([*places, np.nan])[column.codes], tuple(labels))


def remedy_for(fault: Fault, spelling: Spelling) -> str:
    """Return the option that would make a cell of a file readable; "" if none would."""
    other = COMMA if spelling.decimal == "." else PLAIN
    if "not a number" in fault.why and number_of(fault.cell, other) is not None:
        return f"if its decimal mark is {other.decimal!r}, pass --decimal {other.decimal}"
    return "pass --dates day-first or --dates month-first" if "two dates" in fault.why else ""
