"""Numbers and objects as people read them."""

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# A thousand and more is read in whole numbers and tenths; beyond this, in powers of ten.
LONGEST_NUMBER = 1e9
# Stands for a blank at which no line may break.
GLUE = "\0"
LARGEST = float(np.finfo(np.float64).max)


def format_number(value: float) -> str:
    """Return a computed number to three digits, not in powers of ten while it has a sensible size.

    >>> format_number(0.41234), format_number(2.0), format_number(1234.5), format_number(3.2e-7)
    ('0.412', '2', '1234', '3.2e-07')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.3g}"


def format_data_number(value: float) -> str:
    """Return a number of the data to four digits or more, whole numbers in full.

    >>> format_data_number(5.0), format_data_number(1523.4412), format_data_number(0.123456), format_data_number(2024.0)
    ('5', '1523.4', '0.1235', '2024')
    """
    if abs(value) < LONGEST_NUMBER and value == int(value):
        return str(int(value))
    return f"{value:.1f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.4g}"


def format_value(value: Any) -> str:
    """Return a value of the data in words: numbers rounded, a missing one said to be missing.

    >>> format_value(None), format_value(True), format_value(0.5), format_value("pump"), format_value(np.float64(2))
    ('missing', 'yes', '0.5', 'pump', '2')
    """
    if value is None:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number) and not isinstance(value, np.complexfloating):
        return format_data_number(float(value))
    return str(value)


def to_json(value: Any) -> Any:
    """Return a value that JSON can hold: None, a boolean, a finite number or a string.

    >>> to_json(np.int64(3)), to_json(float("nan")), to_json(("a", 1)), to_json(np.bool_(True))
    (3, None, "('a', 1)", True)
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else finite(float(value))
    return str(value)


def finite(value: float) -> float:
    """Return the number, the largest there is for infinity: JSON knows no infinity.

    >>> finite(2.5), finite(float("inf")) > 1e308
    (2.5, True)
    """
    return min(max(float(value), -LARGEST), LARGEST)


def shortened(text: str, most: int = 60) -> str:
    """Return the text, cut in its middle where it is longer than `most`.

    >>> shortened("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if len(text) <= most:
        return text
    keep = (most - 3) // 2
    return f"{text[:keep]}...{text[len(text) - keep :]}"


def listing(items: Iterable[str], most: int = 6, separator: str = ", ") -> str:
    """Return the first items in a row, and how many there are besides.

    >>> listing(["oak", "elm", "ash"]), listing("abcdefgh", most=3)
    ('oak, elm, ash', 'a, b, c and 5 more')
    """
    named = list(items)
    if len(named) <= most:
        return separator.join(named)
    return f"{separator.join(named[:most])} and {len(named) - most} more"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "vertex", "vertices"), counted(2, "edge"), counted(100_000, "pattern")
    ('1 vertex', '2 edges', '100,000 patterns')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def known_of(n_members: int, n_prototypes: int | None) -> str:
    """Return how many of a region's members are prototypes, after a comma; nothing where every training pattern is.

    >>> known_of(9, None), known_of(9, 0), known_of(9, 3), known_of(1, 1)
    ('', ', none of them a prototype', ', 3 of them prototypes', ', which is a prototype')
    """
    if n_prototypes is None:
        return ""
    if n_members == 1:
        return f", which is {'a' if n_prototypes else 'no'} prototype"
    few = {0: "none of them a prototype", 1: "one of them a prototype", n_members: "all of them prototypes"}
    return f", {few.get(n_prototypes, f'{n_prototypes:,} of them prototypes')}"


def span(first: int, last: int, noun: str) -> str:
    """Return the numbers from first to last, with their noun.

    >>> span(3, 3, "step"), span(3, 7, "step")
    ('step 3', 'steps 3 to 7')
    """
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def share(part: float, whole: float) -> str:
    """Return a share in percent, as wide for 5 as for 100.

    >>> share(1.0, 20.0), share(2.0, 2.0)
    ('  5%', '100%')
    """
    return f"{100 * part / whole:3.0f}%"


def wrapped(text: str, indent: int, width: int = 100) -> list[str]:
    """Return a paragraph in lines, the first indented, the next a little more; no word and nothing glued is cut.

    >>> wrapped(f"one two {glued('a = 3, b = 4')}", indent=2, width=14)
    ['  one two', '    a = 3,', '    b = 4']
    """
    lines = textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace(GLUE, " ") for line in lines]


def glued(text: str) -> str:
    """Return the text such that lines break at its commas and semicolons only."""
    return re.sub("(?<![,;]) ", GLUE, text)


def decimals_for(total: float) -> int:
    """Return how many decimals show a positive total to three digits; its parts are shown with as many.

    >>> decimals_for(0.812), decimals_for(0.0041), decimals_for(25.0)
    (3, 5, 1)
    """
    return min(max(2 - math.floor(math.log10(total)), 0), 12) if total > 0 else 0


def named_values(names: Sequence[str], values: Sequence[Any], most: int = 6) -> str:
    """Return name and value of each, the first of many.

    >>> named_values(["width", "kind"], [3.5, "oak"])
    'width = 3.5, kind = oak'
    """
    return listing([f"{name} = {format_value(value)}" for name, value in zip(names, values, strict=True)], most)
