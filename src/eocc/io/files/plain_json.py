"""Strict JSON: no duplicate keys, no numbers too large for a float, no deep nesting, no half characters."""

import json
import math
import re
from typing import Any

from eocc.foundation.printing import quoted

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A float has at most 309 digits before its point.
MOST_DIGITS = 309


class JsonError(ValueError):
    """Text that is not usable JSON; `line` is the place, if known, `is_extra` whether a second value follows."""

    line: int | None = None
    is_extra = False


def parse_json(text: str) -> Any:
    """Return the one value in the text.

    >>> parse_json('{"a": [1, null]}')
    {'a': [1, None]}
    >>> parse_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    eocc.io.files.plain_json.JsonError: the key 'a' occurs twice
    """
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise JsonError("the value is nested too deeply") from None
    except json.JSONDecodeError as error:
        known = JsonError(f"not a JSON value: {error.msg} at character {error.colno}")
        known.line, known.is_extra = error.lineno, error.msg.startswith("Extra data")
        raise known from None
    if SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            raise JsonError("a text holds half a surrogate pair, which is not a character") from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise JsonError(f"the key {quoted(key)} occurs twice")
        found[key] = value
    return found


def _integer(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS:
        raise JsonError(f"the number {quoted(text)} is too large")
    _float(text)
    return int(text)


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"the number {quoted(text)} is too large")
    return number


def _constant(name: str) -> Any:
    raise JsonError(f"{name} is not a number in JSON; write null for missing values")


DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_int=_integer, parse_constant=_constant)
