"""Cells of a table: which are missing, what kind of value a cell holds, and the value itself."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import quoted
from eocc.foundation.types import Flags
from eocc.io.files.chunk import Chunk
from eocc.measures.schema import BOOLEAN, DATE, DURATION, TEXT, TIME
from eocc.measures.schema import NUMBER as NUMBER

# No column can hold these: a number that is too large for a float, and a list or an object.
INFINITE, NESTED = "infinite", "nested"
# Text that means a missing value, in upper or lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?"})
TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
# Python's float() accepts more: 1_000, digits of other scripts, "infinity".
NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", re.ASCII)
# Cells of only these characters are numerals, or float() refuses them.
PLAIN = re.compile(r"[0-9+\-.eE\n ]*", re.ASCII)
TYPES: tuple[tuple[type, str], ...] = ((bool, BOOLEAN), (date, DATE), (timedelta, DURATION), (time, TIME), (str, TEXT))


def is_numeral(text: str) -> bool:
    """Say whether a text is a plain decimal number."""
    return NUMERAL.fullmatch(text) is not None


def is_missing(cell: Any, is_text: bool) -> bool:
    """Say whether a cell has no value. In a typed table only None and NaN are missing.

    >>> is_missing("NA", True), is_missing("NA", False), is_missing(float("nan"), False)
    (True, False, True)
    """
    if isinstance(cell, str):
        return is_text and cell.strip().lower() in MISSING
    return cell is None or (isinstance(cell, float | Decimal | np.floating) and bool(cell != cell))


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


def kind_of_cell(cell: Any, is_text: bool) -> str:
    """Return the kind of value in a cell that is not missing."""
    if isinstance(cell, str) and is_text:
        return _kind_of_text(cell.strip())
    known = next((kind for cls, kind in TYPES if isinstance(cell, cls)), None)
    if known is not None or not isinstance(cell, int | float | Decimal | np.number):
        return known or NESTED
    try:
        return NUMBER if math.isfinite(float(cell)) else INFINITE
    except (OverflowError, ValueError):
        return INFINITE


def _kind_of_text(text: str) -> str:
    if is_numeral(text):
        return NUMBER if math.isfinite(float(text)) else INFINITE
    if INFINITY.fullmatch(text):
        return INFINITE
    if text.lower() in TRUTHS:
        return BOOLEAN
    return TEXT if _iso_date(text) is None else DATE


def _iso_date(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text) if ISO_DATE.fullmatch(text) else None
    except ValueError:
        return None


def kinds_in(chunk: Chunk, name: str) -> Iterator[str | None]:
    """Yield the kind of every cell of a column, None for missing ones."""
    cells, is_text = chunk.columns[name], chunk.is_text
    if isinstance(cells, np.ndarray):
        yield from np.where(np.isnan(cells), None, np.where(np.isinf(cells), INFINITE, NUMBER)).tolist()
    else:
        yield from (None if is_missing(cell, is_text) else kind_of_cell(cell, is_text) for cell in cells)


def values_in(chunk: Chunk, name: str, kind: str) -> Sequence[Any]:
    """Return the cells of a column as values of that kind, None where missing; raise if one is of another kind."""
    cells = chunk.columns[name]
    plain: Sequence[Any] | None = _plain_numbers(cells) if kind == NUMBER else None
    if plain is not None:
        return plain
    (convert, wanted), is_text = KINDS[kind], chunk.is_text
    values = list[Any]()
    for index, cell in enumerate(cells):
        try:
            values.append(None if is_missing(cell, is_text) else convert(cell))
        except (AttributeError, TypeError, ValueError, KeyError, OverflowError):
            found = f"column {quoted(name)} holds {quoted(str(cell))}, which is not a {wanted}"
            raise chunk.fault(index, f"{found}; correct it, or drop the row or the column") from None
    return values


def _plain_numbers(cells: Sequence[Any]) -> Any:
    """Return a column of finite numbers without gaps as an array, read at once; None if it is anything else."""
    try:
        if not isinstance(cells, np.ndarray) and not PLAIN.fullmatch("\n".join(cells)):
            return None
        numbers = np.array(cells if isinstance(cells, np.ndarray) else list(map(float, cells)), np.float64)
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _number(cell: Any) -> float:
    if isinstance(cell, bool) or (isinstance(cell, str) and not is_numeral(cell.strip())):
        raise ValueError
    number = float(cell)
    if not math.isfinite(number):
        raise ValueError
    return number


def _truth(cell: Any) -> bool:
    return bool(cell) if isinstance(cell, bool | np.bool_) else TRUTHS[cell.strip().lower()]


def _text(cell: Any) -> str:
    if kind_of_cell(cell, False) == NESTED:
        raise TypeError
    return str(cell).strip()


def _as(kind: type, read: Callable[[str], Any] | None = None) -> Callable[[Any], Any]:
    """Return a function that returns objects of that class as they are, and text as `read` reads it."""

    def convert(cell: Any) -> Any:
        found = cell if isinstance(cell, kind) or read is None else read(cell.strip())
        if not isinstance(found, kind):
            raise TypeError
        return found

    return convert


# kind -> how a cell is converted, and what it should have been
KINDS: dict[str, tuple[Callable[[Any], Any], str]] = {
    NUMBER: (_number, "finite number, for example 0.5 or 1e3"),
    BOOLEAN: (_truth, "boolean, true or false"),
    TEXT: (_text, "text"),
    DATE: (_as(date, _iso_date), "date, for example 2031-12-01"),
    DURATION: (_as(timedelta), "duration"),
    TIME: (_as(time, time.fromisoformat), "time of day, for example 12:30"),
}
