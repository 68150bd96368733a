"""Cells of a table: which are missing, what a cell holds, and a cell as a value of what its column holds."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import quoted
from eocc.io.files.chunk import Chunk

NUMBER, BOOLEAN, TEXT, DATE, DURATION, TIME = "number", "boolean", "text", "date", "duration", "time of day"
# What a column cannot hold: a number beyond floats, and what is not one value.
INFINITE, NESTED = "infinite", "nested"
# What a cell of text may say instead of a value, in upper or lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?"})
TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
# Python's float() takes more: 1_000, digits of other scripts, "infinity".
NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", re.ASCII)
# Cells of these characters alone are numerals, or float() refuses them.
PLAIN = re.compile(r"[0-9+\-.eE\n ]*", re.ASCII)
CLASSES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, BOOLEAN), (date, DATE), (timedelta, DURATION), (time, TIME), (str, TEXT),
)  # fmt: skip


def is_numeral(text: str) -> bool:
    """Say whether text is a decimal number as everybody writes it.

    >>> [is_numeral(text) for text in ("1", "-.5e3", "1_000", "1,000", "inf", "0x1")]
    [True, True, False, False, False, False]
    """
    return NUMERAL.fullmatch(text) is not None


def is_whole_numeral(text: str) -> bool:
    """Say whether text is a whole number."""
    return WHOLE.fullmatch(text) is not None


def is_missing(cell: Any, is_text: bool) -> bool:
    """Say whether a cell holds no value; of cells with types only None and NaN do not.

    >>> is_missing("NA", True), is_missing("NA", False), is_missing(float("nan"), False)
    (True, False, True)
    """
    if isinstance(cell, str):
        return is_text and cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float | Decimal | np.floating) and bool(cell != cell))


def are_missing(cells: Sequence[Any] | NDArray[Any], is_text: bool) -> NDArray[np.bool_]:
    """Say of every cell of a column whether it holds no value.

    >>> are_missing(["1", "NA"], True).tolist(), are_missing(np.array([1.0, np.nan]), False).tolist()
    ([False, True], [False, True])
    """
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
        return np.asarray(np.isnan(cells))
    return np.array([is_missing(cell, is_text) for cell in cells], bool)


def complete_rows(chunk: Chunk, names: Iterable[str]) -> NDArray[np.bool_]:
    """Say of every row of a chunk whether it misses no value in these columns.

    >>> complete_rows(Chunk("a.csv", 0, {"x": ["1", "", "3"], "y": ["", "", ""]}, is_text=True), ["x"])
    array([ True, False,  True])
    """
    absent = np.zeros(len(chunk), bool)
    for name in names:
        absent |= are_missing(chunk.columns[name], chunk.is_text)
    return ~absent


def is_same(cell: Any, target: str) -> bool:
    """Say whether a label is the one asked for: the same text, number or truth value.

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


def kind_of(cell: Any, is_text: bool) -> str:
    """Return what a cell that is not missing holds.

    >>> kind_of("7", True), kind_of("7", False), kind_of("1e400", True), kind_of([7], False)
    ('number', 'text', 'infinite', 'nested')
    """
    if isinstance(cell, str) and is_text:
        return _kind_of_text(cell.strip())
    found = next((kind for classes, kind in CLASSES if isinstance(cell, classes)), None)
    if found is not None:
        return found
    if not isinstance(cell, int | float | Decimal | np.number):
        return NESTED
    return NUMBER if _is_finite(cell) else INFINITE


def _kind_of_text(text: str) -> str:
    if is_numeral(text):
        return NUMBER if math.isfinite(float(text)) else INFINITE
    if INFINITY.fullmatch(text):
        return INFINITE
    if text.lower() in TRUTHS:
        return BOOLEAN
    return TEXT if _iso_date(text) is None else DATE


def _is_finite(number: Any) -> bool:
    try:
        return math.isfinite(float(number))
    except (OverflowError, ValueError):
        return False


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if ISO_DATE.fullmatch(text) else None
    except ValueError:
        return None


def kinds_in(chunk: Chunk, name: str) -> Iterator[str | None]:
    """Yield what the cells of a column hold, None where one is missing."""
    cells, is_text = chunk.columns[name], chunk.is_text
    if isinstance(cells, np.ndarray):
        absent, infinite = np.isnan(cells), np.isinf(cells)
        yield from np.where(absent, None, np.where(infinite, INFINITE, NUMBER)).tolist()
    else:
        yield from (None if is_missing(cell, is_text) else kind_of(cell, is_text) for cell in cells)


def values_in(chunk: Chunk, name: str, kind: str) -> Sequence[Any]:
    """Return a column's cells as values of that kind, None where missing, or say which is not of it."""
    cells = chunk.columns[name]
    known = _plain_numbers(cells) if kind == NUMBER else None
    if known is not None:
        return known
    change, is_text = CHANGES[kind], chunk.is_text
    values = list[Any]()
    for index, cell in enumerate(cells):
        try:
            values.append(None if is_missing(cell, is_text) else change(cell))
        except (AttributeError, TypeError, ValueError, KeyError, OverflowError):
            what = f"column {quoted(name)} holds {quoted(str(cell))}, which is no {WANTED[kind]}"
            raise chunk.fault(index, f"{what}; correct it, or drop the row or the column") from None
    return values


def _plain_numbers(cells: Sequence[Any]) -> Sequence[float] | None:
    """Return a column of finite numbers without gaps at once; None if it is anything else."""
    if isinstance(cells, np.ndarray):
        numbers: NDArray[np.float64] = cells.astype(np.float64)
        return numbers.tolist() if np.isfinite(numbers).all() else None
    try:
        if not PLAIN.fullmatch("\n".join(cells)):
            return None
        values = list(map(float, cells))
    except (TypeError, ValueError):
        return None
    return values if all(map(math.isfinite, values)) else None


def _number(cell: Any) -> float:
    if isinstance(cell, str) and not is_numeral(cell.strip()):
        raise ValueError
    number = math.nan if isinstance(cell, bool) else float(cell)
    if not math.isfinite(number):
        raise ValueError
    return number


def _truth(cell: Any) -> bool:
    return bool(cell) if isinstance(cell, bool | np.bool_) else TRUTHS[cell.strip().lower()]


def _text(cell: Any) -> str:
    if kind_of(cell, False) == NESTED:
        raise TypeError
    return str(cell).strip()


def _date(cell: Any) -> date:
    found = cell if isinstance(cell, date) else _iso_date(cell.strip())
    if found is None:
        raise ValueError
    return found


def _duration(cell: Any) -> timedelta:
    if not isinstance(cell, timedelta):
        raise TypeError
    return cell


def _time(cell: Any) -> time:
    return cell if isinstance(cell, time) else time.fromisoformat(cell.strip())


CHANGES: dict[str, Callable[[Any], Any]] = {
    NUMBER: _number, BOOLEAN: _truth, TEXT: _text, DATE: _date, DURATION: _duration, TIME: _time,
}  # fmt: skip
WANTED = {
    NUMBER: "finite number, 0.5 or 1e3 say", BOOLEAN: "boolean, true or false", TEXT: "text", DATE: "date, 2031-12-01",
    DURATION: "duration", TIME: "time of day, 12:30",
}  # fmt: skip
