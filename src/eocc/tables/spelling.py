"""Text -> the number, date, time of day or truth value that it means, as people write them in tables."""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, NamedTuple

from eocc.base.checks import one_of
from eocc.base.printing import quoted
from eocc.tables import DAY_FIRST
from eocc.tables.table import BOOLEAN, COMMA_MARK, DATE, DATE_MARK, MISSING, NUMBER, TEXT, TIME, Column

TRUTHS = {"true": True, "false": False, "yes": True, "no": False}
# What a text may be that no column can hold: missing, and a number that is too large for a float.
ABSENT, INFINITE = "absent", "infinite"
INFINITY = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
# Python's float() accepts more: 1_000, digits of other scripts, "infinity".
NUMERAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# In a column of digits only, a numeral that begins with 0 is a name: a postal code, a part number.
CODE = re.compile(r"0\d+", re.ASCII)
_PATTERN = (
    r"(?P<sign>[+-]?)(?:[{currencies}] ?)?"
    r"(?P<whole>[1-9]\d{{0,2}}(?P<group>[{groups}])\d{{3}}(?:(?P=group)\d{{3}})*|\d+)"
    r"(?:{decimal}(?P<part>\d*))?(?P<exponent>e[+-]?\d+)?(?: ?[%{currencies}])?"
)
# decimal mark -> numbers with groups of thousands, a currency or a percent sign
WRITTEN = {
    mark: re.compile(
        _PATTERN.format(currencies="€$£¥₹", groups=rf"{other}'\u2019 \u00a0\u202f", decimal=re.escape(mark)),
        re.ASCII | re.IGNORECASE,
    )
    for mark, other in {".": ",", ",": "."}.items()
}
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?", re.ASCII)
# Dots always go with day.month.year; other marks with the year first, or in an order that the spelling says.
WRITTEN_DATE = re.compile(r"(\d{1,4})([./-])(\d{1,2})\2(\d{1,4})(?:[ T,]+(.+))?", re.ASCII)
TIME_OF_DAY = re.compile(r"(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,6})\d*)?)? ?([ap]m)?", re.ASCII | re.IGNORECASE)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Spelling:
    """How text writes numbers and dates: the decimal mark, and whether 3/4/2031 is in April (None if not known)."""

    decimal: Annotated[str, one_of(".", ",")] = "."
    day_first: bool | None = None


PLAIN, COMMA = Spelling(), Spelling(",")


class Meaning(NamedTuple):
    """What a text means: its kind, and its value as a number (dates and times in microseconds)."""

    kind: str
    value: float = math.nan


def meaning_of(text: str, spelling: Spelling = PLAIN) -> Meaning:
    """Return what a text without blanks around it means; signs of percent and currencies are left out.

    >>> meaning_of("12 %"), meaning_of("NA").kind, meaning_of("12:30").kind, meaning_of("oak").kind
    (Meaning(kind='number', value=12.0), 'absent', 'time of day', 'text')
    """
    if text.lower() in MISSING:
        return Meaning(ABSENT)
    if (number := number_of(text, spelling)) is not None:
        return Meaning(NUMBER, number) if math.isfinite(number) else Meaning(INFINITE)
    if (truth := TRUTHS.get(text.lower())) is not None:
        return Meaning(BOOLEAN, float(truth))
    if text[0].isdigit():
        if (moment := date_of(text, spelling)) is not None:
            since = moment.replace(tzinfo=moment.tzinfo or UTC) - EPOCH
            return Meaning(DATE, float(since // timedelta(microseconds=1)))
        if (clock := time_of(text)) is not None:
            return Meaning(TIME, clock)
    return Meaning(INFINITE if INFINITY.fullmatch(text) else TEXT)


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


def date_of(text: str, spelling: Spelling = PLAIN) -> datetime | None:
    """Return the date and time that a text means; None if it means none, or could mean two.

    >>> date_of("31.1.2031 14:30"), date_of("3/4/2031"), date_of("3/4/2031", Spelling(day_first=True))
    (datetime.datetime(2031, 1, 31, 14, 30), None, datetime.datetime(2031, 4, 3, 0, 0))
    """
    try:
        if ISO_DATE.fullmatch(text):
            return datetime.fromisoformat(text)
        found = WRITTEN_DATE.fullmatch(text)
        clock = time_of(found[5]) if found and found[5] else 0
        if found is None or clock is None:
            return None
        day_first = True if found[2] == "." else spelling.day_first
        year, month, day = int(found[1]), int(found[3]), int(found[4])
        if len(found[4]) == 4 and day_first is not None:
            year, month, day = (day, month, year) if day_first else (day, year, month)
        elif len(found[1]) < 4 or len(found[4]) > 2:
            return None
        return datetime(year, month, day) + timedelta(microseconds=clock)
    except (ValueError, OverflowError):
        return None


def time_of(text: str) -> float | None:
    """Return the microseconds since midnight that a time of day means; None for any other text.

    >>> time_of("0:01"), time_of("2:30 pm") == time_of("14:30:00"), time_of("25:00")
    (60000000.0, True, None)
    """
    found = TIME_OF_DAY.fullmatch(text)
    if found is None:
        return None
    hour, minute, seconds = (int(found[k] or 0) for k in (1, 2, 3))
    if hour > 23 or minute > 59 or seconds > 59 or (found[5] and not 1 <= hour <= 12):
        return None
    if found[5]:
        hour = hour % 12 + (12 if found[5].lower() == "pm" else 0)
    return float(((hour * 60 + minute) * 60 + seconds) * 10**6 + int((found[4] or "0").ljust(6, "0")))


def is_two_dates(text: str) -> bool:
    """Say whether a text is one date if its day stands first, and another if its month does.

    >>> is_two_dates("3/4/2031"), is_two_dates("4/4/2031"), is_two_dates("31/1/2031")
    (True, False, False)
    """
    one, other = (date_of(text, Spelling(day_first=is_first)) for is_first in (True, False))
    return one is not None and other is not None and one != other


@dataclass(frozen=True)
class Dialect:
    """The delimiter, the decimal mark and the order of dates that the user gave; "" for what is to be found.

    What cannot be found is as `usual`: as in the training table. Numbers such as 1,234 have groups of thousands if
    these `may_divide`.
    """

    delimiter: str = ""
    decimal: str = ""
    dates: str = ""
    usual: Spelling = PLAIN
    may_divide: bool = True

    def spelling(self, columns: Sequence[Column]) -> Spelling:
        """Return how columns of text write numbers and dates; raise if they can be read in two ways.

        The decimal mark is a comma if numbers such as 1,5 occur, and none such as 1.5. Dates begin with their day if
        there are some such as 31/1/2031, and none says otherwise.
        """

        def texts_with(pattern: str) -> Iterator[str]:
            return (text.strip() for column in columns for text in column.texts_with(pattern))

        def is_only(text: str, decimal: str) -> bool:
            """Say whether a text is a number with this decimal mark, and none with the other."""
            one, other = (COMMA, PLAIN) if decimal == "," else (PLAIN, COMMA)
            return number_of(text, one) is not None and number_of(text, other) is None

        decimal, usual = self.decimal, self.usual.decimal
        if not decimal:
            decimal = "," if any(is_only(text, ",") for text in texts_with(COMMA_MARK)) else usual
            doubtful = next((text for text in texts_with(COMMA_MARK) if number_of(text, COMMA) is not None), "")
            if (doubtful or decimal == ",") and any(is_only(text, ".") for text in texts_with(r"\.")):
                decimal = "."
            elif doubtful and decimal == "." and not self.may_divide:
                remedy = "pass --decimal , if the comma is the decimal mark, --decimal . if it divides thousands"
                raise ValueError(f"the number {quoted(doubtful)} can be read in two ways; {remedy}")
        orders = {self.dates == DAY_FIRST} if self.dates else set[bool]()
        for text in () if self.dates else texts_with(DATE_MARK):
            is_date = [date_of(text, Spelling(day_first=is_first)) is not None for is_first in (True, False)]
            orders |= {is_date[0]} if is_date[0] != is_date[1] else set()
        return Spelling(decimal, orders.pop() if len(orders) == 1 else self.usual.day_first)
