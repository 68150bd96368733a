"""Text -> the number, date or truth value that it means, as people write them in tables."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from eocc.foundation.printing import quoted
from eocc.measures.schema import BOOLEAN, DATE, NUMBER, TEXT

TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
# Text that means a missing value, in upper or lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?"})
ABSENT = "absent"
# Python's float() accepts more: 1_000, digits of other scripts, "infinity".
NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# A numeral that begins with 0 names something, if a program stored it as text: a postal code, a part number.
CODE = re.compile(r"0\d+", re.ASCII)
CURRENCIES = "€$£¥₹"
_PATTERN = (
    r"(?P<sign>[+-]?)(?P<before>[{currencies}] ?)?"
    r"(?P<whole>[1-9]\d{{0,2}}(?P<group>[{groups}])\d{{3}}(?:(?P=group)\d{{3}})*|\d+)"
    r"(?:{decimal}(?P<part>\d*))?(?P<exponent>e[+-]?\d+)?(?P<after> ?[%{currencies}])?"
)
# decimal mark -> numbers with groups of thousands, a currency or a percent sign
WRITTEN = {
    mark: re.compile(
        _PATTERN.format(currencies=CURRENCIES, groups=rf"{other}'\u2019 \u00a0\u202f", decimal=re.escape(mark)),
        re.ASCII | re.IGNORECASE,
    )
    for mark, other in {".": ",", ",": "."}.items()
}
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", re.ASCII)
# Dots always go with day.month.year; other marks with the year first, or in an order that the spelling says.
WRITTEN_DATE = re.compile(
    r"(?P<first>\d{1,4})(?P<mark>[./-])(?P<second>\d{1,2})(?P=mark)(?P<third>\d{1,4})"
    r"(?:[ T,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second_of_minute>\d\d)(?:[.,]\d+)?)? ?(?P<half>[ap]m)?)?",
    re.ASCII | re.IGNORECASE,
)


@dataclass(frozen=True)
class Spelling:
    """How text writes numbers and dates: the decimal mark, and whether 3/4/2031 is in April (None if not known)."""

    decimal: str = "."
    day_first: bool | None = None


PLAIN, COMMA = Spelling(), Spelling(",")


def number_of(text: str, spelling: Spelling = PLAIN) -> float | None:
    """Return the number that a text means, without its currency or percent sign; None if it is no number.

    >>> number_of("1,234.5"), number_of("€5"), number_of("12 %"), number_of("1.234,5", Spelling(",")), number_of("1,5")
    (1234.5, 5.0, 12.0, 1234.5, None)
    """
    if NUMERAL.fullmatch(text) and (spelling.decimal == "." or "." not in text):
        return float(text)
    found = WRITTEN[spelling.decimal].fullmatch(text)
    if found is None:
        return None
    whole = "".join(letter for letter in found["whole"] if letter.isdigit())
    return float(f"{found['sign']}{whole}.{found['part'] or 0}{found['exponent'] or ''}")


def unit_of(text: str, spelling: Spelling = PLAIN) -> str:
    """Return the currency or percent sign of a number."""
    found = WRITTEN[spelling.decimal].fullmatch(text)
    return "" if found is None else f"{found['before'] or ''}{found['after'] or ''}".strip()


def truth_of(text: str) -> bool | None:
    """Return what yes, no, true or false means; None for any other text."""
    return TRUTHS.get(text.strip().lower())


def date_of(text: str, spelling: Spelling = PLAIN) -> datetime | None:
    """Return the date and time that a text means; None if it means none, or could mean two.

    >>> date_of("31.1.2031 14:30"), date_of("3/4/2031"), date_of("3/4/2031", Spelling(day_first=True))
    (datetime.datetime(2031, 1, 31, 14, 30), None, datetime.datetime(2031, 4, 3, 0, 0))
    """
    try:
        if ISO_DATE.fullmatch(text):
            return datetime.fromisoformat(text)
        found = WRITTEN_DATE.fullmatch(text)
        return None if found is None else _written_date(found, spelling.day_first)
    except (ValueError, OverflowError):
        return None


def _written_date(found: re.Match[str], day_first: bool | None) -> datetime | None:
    first, second, third = int(found["first"]), int(found["second"]), int(found["third"])
    if len(found["first"]) == 4 and len(found["third"]) <= 2:
        year, month, day = first, second, third
    elif len(found["third"]) == 4 and (found["mark"] == "." or day_first is not None):
        is_day_first = found["mark"] == "." or day_first
        year, month, day = (third, second, first) if is_day_first else (third, first, second)
    else:
        return None
    hour, minute, seconds = (int(found[name] or 0) for name in ("hour", "minute", "second_of_minute"))
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"].lower() == "pm" else 0)
    return datetime(year, month, day, hour, minute, seconds)


def order_of_date(text: str) -> bool | None:
    """Return whether a date such as 31/1/2031 begins with its day; None if it is no such date.

    >>> order_of_date("31/1/2031"), order_of_date("1/31/2031"), order_of_date("31.1.2031")
    (True, False, None)
    """
    is_date = {is_first: date_of(text, Spelling(day_first=is_first)) is not None for is_first in (True, False)}
    return None if is_date[True] == is_date[False] else is_date[True]


def is_two_dates(text: str) -> bool:
    """Say whether a text is one date if its day stands first, and another if its month does.

    >>> is_two_dates("3/4/2031"), is_two_dates("4/4/2031"), is_two_dates("31/1/2031")
    (True, False, False)
    """
    one, other = (date_of(text, Spelling(day_first=is_first)) for is_first in (True, False))
    return one is not None and other is not None and one != other


def kind_of_text(text: str, spelling: Spelling = PLAIN) -> str:
    """Return the kind of value that a text means: a number, a truth value, a date or just text."""
    if number_of(text, spelling) is not None:
        return NUMBER
    if truth_of(text) is not None:
        return BOOLEAN
    return TEXT if date_of(text, spelling) is None else DATE


def kind_of_stored_text(text: str, spelling: Spelling = PLAIN) -> str:
    """Return the same of text that a program stored as text: a numeral that begins with 0 is a name.

    Text such as NA is ABSENT: it is missing in a column of numbers or dates, and text in any other.
    """
    if text.lower() in MISSING:
        return ABSENT
    return TEXT if CODE.fullmatch(text) else kind_of_text(text, spelling)


class Judgement(NamedTuple):
    """What a column holds: its kind, and the currency or percent sign of its numbers.

    If text could nearly be read as something else, `fault` says why it cannot, `odd` is the cell to blame, if it is a
    single one, and `wanted` the kind that it should have been.
    """

    kind: str
    unit: str = ""
    fault: str = ""
    odd: str = ""
    wanted: str = ""

    def why(self, place: str = "") -> str:
        """Return why the column counts as text, with the place of the odd cell; "" if nothing is odd."""
        return f"{quoted(self.odd)}{place} {self.fault}" if self.odd else self.fault


def judge(counts: Mapping[str, int], first: Mapping[str, str], units: Iterable[str]) -> Judgement:
    """Return what a column holds: `counts` says how many cells are of each kind, at least one; `first` has one of each.

    A column in which half of the cells or more are numbers, or dates, is meant to hold these; cells that are ABSENT do
    not count, unless all are. `units` are the signs of its numbers.

    >>> judge({"number": 2, "text": 1}, {"number": "1", "text": "x"}, [""]).why()
    "'x' is not a number"
    """
    if set(counts) == {BOOLEAN, ABSENT}:
        return Judgement(TEXT)
    counts = {kind: count for kind, count in counts.items() if kind != ABSENT} or counts
    signs = sorted(set(units)) if set(counts) == {NUMBER} else [""]
    if len(signs) > 1:
        mix = " and ".join(f"with {sign}" if sign else "without a sign" for sign in signs)
        return Judgement(TEXT, fault=f"it holds numbers {mix}")
    if len(counts) == 1 and TEXT not in counts:
        return Judgement(next(iter(counts)), signs[0])
    for wanted in (NUMBER, DATE):
        if 2 * counts.get(wanted, 0) >= sum(counts.values()):
            odd = first[next(kind for kind in counts if kind != wanted)]
            return Judgement(TEXT) if CODE.fullmatch(odd) else Judgement(TEXT, "", f"is not a {wanted}", odd, wanted)
    odd = first.get(TEXT, "")
    return Judgement(TEXT, "", "can be read as two dates", odd, DATE) if is_two_dates(odd.strip()) else Judgement(TEXT)


def microseconds(moment: date) -> float:
    """Return the microseconds since 1970; a time without a zone counts as UTC."""
    if not isinstance(moment, datetime):
        moment = datetime(moment.year, moment.month, moment.day, tzinfo=UTC)
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return float((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))


def spelling_of(
    columns: Sequence[Sequence[str]], decimal: str = "", usual: Spelling = PLAIN, may_divide: bool = True
) -> Spelling:
    """Return how the cells of columns write numbers and dates; what they do not show is as `usual`.

    Numbers such as 1,234 have groups of thousands if these `may_divide`, else a ValueError says that they are doubtful.
    """
    day_first = _day_first(columns)
    decimal = decimal or _decimal(columns, usual, may_divide)
    return Spelling(decimal, usual.day_first if day_first is None else day_first)


def _decimal(columns: Sequence[Sequence[str]], usual: Spelling, may_divide: bool) -> str:
    """Return the decimal mark: a comma if numbers such as 1,5 occur, and none such as 1.5."""
    doubtful = ""
    has_comma = False
    for cell in _with(",", columns):
        if number_of(cell, COMMA) is not None:
            if number_of(cell, PLAIN) is None:
                has_comma = True
                break
            doubtful = doubtful or cell
    if any(number_of(cell, COMMA) is None and number_of(cell, PLAIN) is not None for cell in _with(".", columns)):
        return "."
    if has_comma or not doubtful or usual.decimal == "," or may_divide:
        return "," if has_comma else usual.decimal
    remedy = "pass --decimal , for 1.234 or --decimal . for 1234" if doubtful == "1,234" else (
        "pass --decimal , if the comma is the decimal mark, --decimal . if it divides thousands"
    )  # fmt: skip
    raise ValueError(f"the number {quoted(doubtful)} can be read in two ways; {remedy}")


def _day_first(columns: Sequence[Sequence[str]]) -> bool | None:
    """Return whether dates such as 31/1/2031 begin with their day; None if no date says so, or some say otherwise."""
    found = {order_of_date(cell) for mark in "/-" for cell in _with(mark, columns) if cell[0].isdigit()} - {None}
    return found.pop() if len(found) == 1 else None


def _with(mark: str, columns: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the cells that hold a mark."""
    return (cell.strip() for cells in columns for cell in cells if mark in cell)
