"""Single values that JSON has no word for, as one-key objects: dates, huge or infinite numbers, bytes."""

import math
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

# Other languages read integers as doubles: larger ones are written as text.
LARGEST_INTEGER = 2**53
# Python shows integers of up to 4300 decimal digits; these have 1204 or fewer.
HEX_DIGITS = 1000
# More than any decimal format has: arithmetic with 1E+999999999 would take the memory of a thousand million digits.
DECIMAL_DIGITS = DECIMAL_EXPONENT = 10_000
MOMENT_UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as", "generic")


class UnwritableError(ValueError):
    """A value cannot be written to a model file."""


def plain_to_json(value: Any) -> Any:
    """Return a single value as JSON. Scalars of numpy become Python's, which equal them.

    >>> plain_to_json(np.float64(0.5)), plain_to_json(math.nan), plain_to_json(date(2024, 2, 29))
    (0.5, {'float': 'nan'}, {'date': '2024-02-29'})
    """
    if value is None or type(value) in (bool, str):
        return value
    if isinstance(value, np.str_ | np.bool_):
        return value.item()
    if type(value) is int or (isinstance(value, np.integer) and not isinstance(value, np.timedelta64)):
        return _integer(int(value))
    if type(value) is float or (isinstance(value, np.floating) and value.dtype.itemsize <= 8):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, np.datetime64 | np.timedelta64):
        return _moment(value)
    return _of_standard_library(value)


def _integer(value: int) -> Any:
    if abs(value) <= LARGEST_INTEGER:
        return value
    if value.bit_length() > 4 * HEX_DIGITS:
        raise UnwritableError(f"an integer of {value.bit_length()} bits cannot be written to a model file")
    return {"integer": hex(value)}


def _moment(value: np.datetime64 | np.timedelta64) -> Any:
    unit, step = np.datetime_data(value.dtype)
    return {value.dtype.name.split("[")[0]: [unit, step, _integer(int(value.astype(np.int64)))]}


def _of_standard_library(value: Any) -> Any:
    # A time zone is kept as its offset: the moment, and so equality, is the same.
    if isinstance(value, datetime) and getattr(value, "nanosecond", 0) == 0 and value == value:
        return {"datetime": value.isoformat()}
    if type(value) is date:
        return {"date": value.isoformat()}
    if type(value) is time:
        return {"time": value.isoformat()}
    if type(value) is timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if type(value) is Decimal:
        return {"decimal": str(_bounded(value))}
    if type(value) is bytes:
        return {"bytes": value.hex()}
    raise UnwritableError(f"a value of type {type(value).__name__} cannot be written to a model file")


def _moment_from(kind: Callable[..., Any]) -> Callable[[Any], Any]:
    def moment(content: Any) -> Any:
        unit, step, count = content
        if unit not in MOMENT_UNITS or type(step) is not int or not 0 < step < 2**31:
            raise ValueError(f"unknown unit {unit!r} of time")
        return kind(_whole(count), unit if unit == "generic" else (unit, step))

    return moment


def _whole(content: Any) -> int:
    if isinstance(content, dict) and set(content) == {"integer"}:
        return _integer_from(content["integer"])
    if type(content) is not int:
        raise ValueError("a whole number is wanted")
    return content


def _text(content: Any) -> str:
    if not isinstance(content, str):
        raise ValueError("a text is wanted")
    return content


def _integer_from(content: Any) -> int:
    if len(_text(content)) > HEX_DIGITS + len("-0x"):
        raise ValueError(f"an integer has at most {HEX_DIGITS} hexadecimal digits")
    return int(content, 16)


def _decimal_from(content: Any) -> Decimal:
    if len(_text(content)) > 2 * DECIMAL_DIGITS:
        raise ValueError(f"a decimal has at most {DECIMAL_DIGITS} digits")
    return _bounded(Decimal(content))


def _bounded(value: Decimal) -> Decimal:
    digits, exponent = value.as_tuple()[1:]
    if len(digits) > DECIMAL_DIGITS or (isinstance(exponent, int) and abs(exponent) > DECIMAL_EXPONENT):
        raise UnwritableError(f"a decimal of more than {DECIMAL_DIGITS} digits cannot be written to a model file")
    return value


def _float_from(content: Any) -> float:
    if content not in ("nan", "inf", "-inf"):
        raise ValueError("a number that is not finite is wanted")
    return float(content)


PLAIN: dict[str, Callable[[Any], Any]] = {
    "float": _float_from,
    "integer": _integer_from,
    "datetime64": _moment_from(np.datetime64),
    "timedelta64": _moment_from(np.timedelta64),
    "datetime": lambda content: datetime.fromisoformat(_text(content)),
    "date": lambda content: date.fromisoformat(_text(content)),
    "time": lambda content: time.fromisoformat(_text(content)),
    "timedelta": lambda content: timedelta(*(_whole(part) for part in content)),
    "decimal": _decimal_from,
    "bytes": lambda content: bytes.fromhex(_text(content)),
}
