"""Cells of a table: which are missing, what kind of value a cell holds, and the value itself."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date, time, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import quoted
from eocc.foundation.types import Flags
from eocc.io.files.chunk import Chunk
from eocc.measures.columns import CELLS, LABELS, NUMBERS, content_of
from eocc.measures.objects import is_missing as is_absent
from eocc.measures.schema import BOOLEAN, DATE, DURATION, TEXT, TIME
from eocc.measures.schema import NUMBER as NUMBER
from eocc.measures.spelling import (
    CODE,
    CURRENCIES,
    MISSING,
    Spelling,
    date_of,
    is_two_dates,
    kind_of_stored_text,
    kind_of_text,
    number_of,
    truth_of,
    unit_of,
)
from eocc.measures.spelling import PLAIN as PLAIN_SPELLING

# No column can hold these: a number that is too large for a float, and a list or an object.
INFINITE, NESTED = "infinite", "nested"
SIGN = re.compile(f"[%{CURRENCIES}]")
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
# Cells of only these characters are numerals, or float() refuses them.
PLAIN = re.compile(r"[0-9+\-.eE\n ]*", re.ASCII)
LEADING_ZERO = re.compile(r"^\s*0\d", re.ASCII | re.MULTILINE)
DIGITS = re.compile(r"\d+", re.ASCII)


def is_missing(cell: Any, is_text: bool) -> bool:
    """Say whether a cell has no value. In a typed table only None and NaN are missing, and NA among numbers or dates.

    >>> is_missing("NA", True), is_missing("NA", False), is_missing(float("nan"), False)
    (True, False, True)
    """
    return is_text and cell.strip().lower() in MISSING if isinstance(cell, str) else is_absent(cell)


def are_missing(cells: Sequence[Any] | NDArray[Any], is_text: bool) -> Flags:
    """Return, for each cell of a column, whether it has no value."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return np.asarray(np.isnan(cells))
    return np.array([is_missing(cell, is_text) for cell in cells], bool)


def complete_rows(chunk: Chunk, names: Iterable[str]) -> Flags:
    """Return, for each row of a chunk, whether it has a value in all of these columns."""
    missing = np.zeros(len(chunk), bool)
    for name in names:
        missing |= are_missing(chunk.columns[name], chunk.is_text)
    return ~missing


def empty_columns(chunks: Sequence[Chunk]) -> list[str]:
    """Return the columns without any value in these chunks."""
    names = chunks[0].columns if chunks else ()
    return [name for name in names if all(are_missing(one.columns[name], one.is_text).all() for one in chunks)]


def is_same(cell: Any, target: str) -> bool:
    """Say whether a label is the one given on the command line: the same text, number or truth value.

    >>> is_same(" good ", "good"), is_same(1.0, "1"), is_same(True, "true"), is_same("1.0", "1")
    (True, True, True, False)
    """
    text, wanted = str(cell).strip(), target.strip()
    if text == wanted:
        return True
    if isinstance(cell, bool | np.bool_):
        return text.lower() == wanted.lower()
    try:
        return not isinstance(cell, str) and float(cell) == float(wanted)
    except (TypeError, ValueError, OverflowError):
        return False


def kind_of_cell(cell: Any, is_text: bool, spelling: Spelling = PLAIN_SPELLING) -> str:
    """Return the kind of value in a cell that is not missing. In a typed table text may hold a number or date too."""
    if isinstance(cell, str):
        text = cell.strip()
        if not is_text:
            return kind_of_stored_text(text, spelling)
        return INFINITE if _is_infinite(text, spelling) else kind_of_text(text, spelling)
    content = content_of(type(cell))
    if content != NUMBERS:
        return NESTED if content == LABELS else CELLS[content]
    try:
        return NUMBER if math.isfinite(float(cell)) else INFINITE
    except (OverflowError, ValueError):
        return INFINITE


def _is_infinite(text: str, spelling: Spelling) -> bool:
    number = number_of(text, spelling)
    return INFINITY.fullmatch(text) is not None if number is None else math.isinf(number)


def kinds_in(chunk: Chunk, name: str) -> Sequence[str | None]:
    """Return the kind of every cell of a column, None for missing ones."""
    cells, is_text = chunk.columns[name], chunk.is_text
    if (is_text or isinstance(cells, np.ndarray)) and _plain_numbers(cells, chunk.spelling) is not None:
        return [NUMBER] * len(cells)
    if isinstance(cells, np.ndarray):
        return np.where(np.isnan(cells), None, np.where(np.isinf(cells), INFINITE, NUMBER)).tolist()
    return [None if is_missing(cell, is_text) else kind_of_cell(cell, is_text, chunk.spelling) for cell in cells]


def code_in(chunks: Sequence[Chunk], name: str) -> tuple[Chunk, int] | None:
    """Return the first cell such as 01067 in a column of numbers; None if there is none.

    Codes have digits only: a column that has a sign, a decimal mark or an exponent anywhere holds no codes.
    """
    texts = [(chunk, chunk.columns[name]) for chunk in chunks if not isinstance(chunk.columns[name], np.ndarray)]
    if not any(LEADING_ZERO.search("\n".join(map(str, cells))) for _, cells in texts):
        return None
    present = (cell for _, cells in texts for cell in cells if not is_missing(cell, True))
    if not all(DIGITS.fullmatch(str(cell).strip()) for cell in present):
        return None
    return next(
        (chunk, k) for chunk, cells in texts for k, cell in enumerate(cells) if CODE.fullmatch(str(cell).strip())
    )


def units_in(chunk: Chunk, name: str) -> set[str]:
    """Return the currency and percent signs of a column of numbers, "" for numbers without one."""
    cells = chunk.columns[name]
    texts = [] if isinstance(cells, np.ndarray) else [cell for cell in cells if isinstance(cell, str)]
    if not SIGN.search("".join(texts)):
        return {""}
    present = {cell for cell in cells if not is_missing(cell, True)}
    return {unit_of(cell.strip(), chunk.spelling) if isinstance(cell, str) else "" for cell in present}


def values_in(chunk: Chunk, name: str, kind: str) -> Sequence[Any]:
    """Return the cells of a column as values of that kind, None where missing; raise if one is of another kind."""
    cells = chunk.columns[name]
    plain: Sequence[Any] | None = _plain_numbers(cells, chunk.spelling) if kind == NUMBER else None
    if plain is not None:
        return plain
    (convert, wanted), spelling, is_text = KINDS[kind], chunk.spelling, chunk.is_text or kind in (NUMBER, DATE)
    values = list[Any]()
    for index, cell in enumerate(cells):
        try:
            values.append(None if is_missing(cell, is_text) else convert(cell, spelling))
        except (AttributeError, TypeError, ValueError, KeyError, OverflowError):
            is_two = kind == DATE and is_two_dates(str(cell).strip())
            why = "can be read as two dates" if is_two else f"is not {wanted}"
            found = f"column {quoted(name)}: {quoted(str(cell))} {why}"
            raise chunk.fault(index, f"{found}; {remedy_for(cell, kind, chunk)}") from None
    return values


def remedy_for(cell: Any, kind: str, chunk: Chunk) -> str:
    """Return what to do about a cell that is not of this kind: an option, if that would make it one."""
    text, other = str(cell).strip(), "," if chunk.spelling.decimal == "." else "."
    if chunk.is_text and kind == NUMBER and number_of(text, Spelling(other)) is not None:
        return f"if its decimal mark is {other!r}, pass --decimal {other}"
    if chunk.is_text and kind == DATE and is_two_dates(text):
        return "pass --dates day-first or --dates month-first"
    return "correct it, empty the cell, or remove the row"


def _plain_numbers(cells: Sequence[Any], spelling: Spelling) -> Any:
    """Return a column of finite numbers without gaps as an array, read at once; None if it is anything else."""
    try:
        if not isinstance(cells, np.ndarray):
            text = "\n".join(cells)
            if spelling.decimal == ",":
                text = text.replace(".", "?").replace(",", ".")  # a point would divide thousands
                cells = text.split("\n")
            if not PLAIN.fullmatch(text):
                return None
        numbers = np.array(cells if isinstance(cells, np.ndarray) else list(map(float, cells)), np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _number(cell: Any, spelling: Spelling) -> float:
    number = number_of(cell.strip(), spelling) if isinstance(cell, str) else float(cell)
    if isinstance(cell, bool) or number is None or not math.isfinite(number):
        raise ValueError
    return number


def _truth(cell: Any, spelling: Spelling) -> bool | str:
    """Return a truth value, or text that is none: it counts as one more category."""
    if isinstance(cell, bool | np.bool_):
        return bool(cell)
    truth = truth_of(cell)
    return str(cell.strip()) if truth is None else truth


def _text(cell: Any, spelling: Spelling) -> str:
    if kind_of_cell(cell, False) == NESTED:
        raise TypeError
    return str(cell).strip()


def _as(kind: type, read: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """Return a function that returns objects of that class as they are, and text as `read` reads it."""

    def convert(cell: Any, spelling: Spelling) -> Any:
        found = cell if isinstance(cell, kind) or read is None else read(cell.strip(), spelling)
        if not isinstance(found, kind):
            raise TypeError
        return found

    return convert


# kind -> how a cell is converted, and what it should have been
KINDS: dict[str, tuple[Callable[[Any, Spelling], Any], str]] = {
    NUMBER: (_number, "a number (0.5 and 1e3 are)"),
    BOOLEAN: (_truth, "true or false"),
    TEXT: (_text, "text"),
    DATE: (_as(date, date_of), "a date (2031-12-01 is)"),
    DURATION: (_as(timedelta), "a duration"),
    TIME: (_as(time, lambda text, _: time.fromisoformat(text)), "a time of day (12:30 is)"),
}
