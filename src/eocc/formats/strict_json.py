"""Strict JSON: no duplicate keys, no numbers too large for a float, no deep nesting, no half characters."""

import json
import math
import re
from collections import Counter
from functools import partial
from typing import Any

from eocc.base.printing import quoted

SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonError(ValueError):
    """Text that is not usable JSON; `line` is the place, if known, `is_extra` whether a second value follows."""

    def __init__(self, message: str, line: int | None = None, is_extra: bool = False) -> None:
        super().__init__(message)
        self.line, self.is_extra = line, is_extra


def parse_json(text: str) -> Any:
    """Return the one value in the text."""
    try:
        value = DECODER.decode(text)
        if SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise JsonError("the value is nested too deeply") from None
    except json.JSONDecodeError as error:
        message = f"not a JSON value: {error.msg} at character {error.colno}"
        raise JsonError(message, error.lineno, error.msg.startswith("Extra data")) from None
    except UnicodeEncodeError:
        raise JsonError("a text holds half a surrogate pair, which is not a character") from None
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise JsonError(f"the key {quoted(twice)} occurs twice")
    return found


def _number(kind: type, text: str) -> Any:
    if not math.isfinite(float(text)):  # so int() never meets more digits than a float can have
        raise JsonError(f"the number {quoted(text)} is too large")
    return kind(text)


def _constant(name: str) -> Any:
    raise JsonError(f"{name} is not a number in JSON; write null for missing values")


DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=partial(_number, float), parse_int=partial(_number, int),
    parse_constant=_constant,
)  # fmt: skip
