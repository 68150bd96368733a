"""Numbers, dates and truth values as people write them."""

from datetime import datetime

import pytest

from eocc.tables.spelling import Spelling, date_of, is_two_dates, meaning_of, number_of

POINT, COMMA = Spelling("."), Spelling(",")
DAY, MONTH = Spelling(day_first=True), Spelling(day_first=False)


@pytest.mark.parametrize(
    ("text", "point", "comma"),
    [
        ("12", 12, 12),
        ("-1.5", -1.5, None),
        ("1,5", None, 1.5),
        ("1.234", 1.234, 1234),
        ("1,234", 1234, 1.234),
        ("0,125", None, 0.125),  # no group of thousands begins with 0
        ("1,234.5", 1234.5, None),
        ("1.234.567,8", None, 1234567.8),
        ("1 234", 1234, 1234),
        ("1\u202f234\u202f567", 1234567, 1234567),
        ("1'234.5", 1234.5, None),
        ("1,234 567", None, None),  # two marks between thousands
        ("1,2345", None, 1.2345),
        ("12%", 12, 12),
        ("12,5 %", None, 12.5),
        ("€5", 5, 5),
        ("-$1,234.50", -1234.5, None),
        ("5 €", 5, 5),
        ("5 kg", None, None),
        ("1e3", 1000, 1000),
        ("1_000", None, None),
        ("٣", None, None),
        ("12 34", None, None),
        ("%", None, None),
        ("", None, None),
    ],
)
def test_numbers(text, point, comma):
    assert (number_of(text, POINT), number_of(text, COMMA)) == (point, comma)


@pytest.mark.parametrize(
    ("text", "spelling", "expected"),
    [
        ("2031-01-31", POINT, datetime(2031, 1, 31)),
        ("2031-01-31T14:30:05", POINT, datetime(2031, 1, 31, 14, 30, 5)),
        ("31.1.2031", POINT, datetime(2031, 1, 31)),
        ("31.01.2031 14:30", MONTH, datetime(2031, 1, 31, 14, 30)),  # dots go with the day first
        ("2031/1/31", POINT, datetime(2031, 1, 31)),
        ("1/31/2031 2:30 PM", MONTH, datetime(2031, 1, 31, 14, 30)),
        ("1/31/2031 12:05 am", MONTH, datetime(2031, 1, 31, 0, 5)),
        ("31-01-2031", DAY, datetime(2031, 1, 31)),
        ("31/1/2031", MONTH, None),
        ("3/4/2031", POINT, None),
        ("3/4/31", DAY, None),  # of which century?
        ("31.2.2031", POINT, None),
        ("1/2.2031", DAY, None),
        ("1.2.3", POINT, None),
        ("2031-13-01", POINT, None),
        ("1/31/2031 13:30 PM", MONTH, None),
        ("1.1.2031 25:00", POINT, None),
    ],
)
def test_dates(text, spelling, expected):
    assert date_of(text, spelling) == expected


def test_dates_that_can_be_two():
    assert [is_two_dates(text) for text in ("3/4/2031", "3/13/2031", "3.4.2031", "oak")] == [True, False, False, False]


def test_truth_values():
    found = [meaning_of(text) for text in ("Yes", "FALSE", "maybe", "1")]
    assert [one.value if one.kind == "boolean" else None for one in found] == [1, 0, None, None]
