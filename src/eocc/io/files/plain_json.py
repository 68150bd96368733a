"""JSON from strangers: no key twice, no number beyond floats, no depth, no half characters."""

import json
import math
import re
from typing import Any

from eocc.foundation.printing import quoted

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A float has at most 309 digits before its point.
MOST_DIGITS = 309


class JsonError(ValueError):
    """Text is no JSON that can be used; `line` is where, if known, `is_extra` whether a second value follows."""

    line: int | None = None
    is_extra = False


def parse_json(text: str) -> Any:
    """Return the one value that the text is.

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
        raise JsonError("the value is nested too deep") from None
    except json.JSONDecodeError as error:
        raise _explained(error) from None
    if SURROGATE.search(text):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except (UnicodeEncodeError, RecursionError):
            raise JsonError("a text holds half a surrogate pair, which is no character") from None
    return value


def _explained(error: json.JSONDecodeError) -> JsonError:
    known = JsonError(f"no JSON value: {error.msg} at character {error.colno}")
    known.line, known.is_extra = error.lineno, error.msg.startswith("Extra data")
    return known


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen = set[str]()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonError(f"the key {quoted(twice)} occurs twice")
    return found


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > MOST_DIGITS or not math.isfinite(float(text)):
        raise JsonError(f"the number {quoted(text)} is too large")
    return int(text)


def _real(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonError(f"the number {quoted(text)} is too large")
    return number


def _no_constant(name: str) -> Any:
    raise JsonError(f"{name} is no number in JSON; write null if missing")


DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_real, parse_int=_whole, parse_constant=_no_constant
)  # fmt: skip
