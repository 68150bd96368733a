"""Single values that JSON cannot express, as objects with one key: dates, infinite or large numbers, bytes."""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from eocc.base.checks import LARGEST_INTEGER, demand

# Python prints integers of up to 4300 decimal digits; these have at most 1204.
HEX_DIGITS = 1000
# More than any decimal format has. Arithmetic with 1E+999999999 would need a gigabyte of digits.
DECIMAL_DIGITS = 10_000
BEYOND = "an integer beyond 2^53 must be written as text"
TIME_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")


class UnwritableError(ValueError):
    """A value cannot be written to a model file."""


def plain_to_json(value: Any) -> Any:
    """Return a single value as JSON. Scalars of numpy become equal ones of Python."""
    if value is None or type(value) in (bool, str):
        return value
    if isinstance(value, np.str_ | np.bool_):
        return value.item()
    if isinstance(value, np.datetime64 | np.timedelta64):
        unit, step = np.datetime_data(value.dtype)
        return {value.dtype.name.split("[")[0]: [unit, step, _integer(int(value.astype(np.int64)))]}
    if type(value) is int or isinstance(value, np.integer):
        return _integer(int(value))
    if type(value) is float or (isinstance(value, np.floating) and value.dtype.itemsize <= 8):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    # A time zone becomes its offset, and pandas' Timestamp a datetime: both stay equal to what they were.
    if isinstance(value, datetime) and getattr(value, "nanosecond", 0) == 0 and value == value:
        return {"datetime": value.isoformat()}
    if type(value) in (date, time):
        return {type(value).__name__: value.isoformat()}
    if type(value) is timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if type(value) is Decimal:
        return {"decimal": str(_bounded(value))}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    raise UnwritableError(f"a value of type {type(value).__name__} cannot be written to a model file")


def _integer(value: int) -> Any:
    if value.bit_length() > 4 * HEX_DIGITS:
        raise UnwritableError(f"an integer of {value.bit_length()} bits cannot be written to a model file")
    # Other languages read integers as doubles, so larger ones are written as text.
    return value if abs(value) <= LARGEST_INTEGER else {"integer": hex(value)}


def _bounded(value: Decimal) -> Decimal:
    digits, exponent = value.as_tuple()[1:]
    if len(digits) > DECIMAL_DIGITS or (isinstance(exponent, int) and abs(exponent) > DECIMAL_DIGITS):
        raise UnwritableError(f"a decimal of more than {DECIMAL_DIGITS} digits cannot be written to a model file")
    return value


def _small(content: Any) -> int:
    demand(type(content) is int, "an integer is needed")
    demand(abs(content) <= LARGEST_INTEGER, BEYOND)
    return int(content)


def _text(content: Any, most: int = 2**62) -> str:
    demand(isinstance(content, str) and len(content) <= most, f"a text of at most {most} characters is needed")
    return str(content)


def _integer_from(content: Any) -> int:
    return int(_text(content, HEX_DIGITS + len("-0x")), 16)


def _moment(kind: Callable[..., Any], content: Any) -> Any:
    unit, step, count = content
    demand(unit in TIME_UNITS and type(step) is int and 0 < step < 2**31, f"unknown unit of time {unit!r}")
    is_text = isinstance(count, dict) and set(count) == {"integer"}
    whole = _integer_from(count["integer"]) if is_text else _small(count)
    return kind(whole, unit if unit == "generic" else (unit, step))


PLAIN: dict[str, Callable[[Any], Any]] = {
    "float": lambda content: {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}[content],
    "integer": _integer_from,
    "datetime64": lambda content: _moment(np.datetime64, content),
    "timedelta64": lambda content: _moment(np.timedelta64, content),
    "datetime": lambda content: datetime.fromisoformat(_text(content)),
    "date": lambda content: date.fromisoformat(_text(content)),
    "time": lambda content: time.fromisoformat(_text(content)),
    "timedelta": lambda content: timedelta(*map(_small, content)),
    "decimal": lambda content: _bounded(Decimal(_text(content, 2 * DECIMAL_DIGITS))),
    "bytes": lambda content: bytes.fromhex(_text(content)),
}
