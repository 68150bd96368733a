"""Numbers and objects -> text for people, and values for JSON."""

import math
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

# Larger numbers are written in powers of ten.
LONGEST_NUMBER = 1e9
# Marks a blank where no line may break.
GLUE = "\0"
LARGEST = float(np.finfo(np.float64).max)


def format_number(value: float) -> str:
    """Return a computed number with three digits, for example a distance.

    >>> format_number(0.41234), format_number(2.0), format_number(1234.5), format_number(3.2e-7)
    ('0.412', '2', '1234', '3.2e-07')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.3g}"


def format_data_number(value: float) -> str:
    """Return a number of the data with at least four digits; whole numbers in full.

    >>> format_data_number(5.0), format_data_number(1523.4412), format_data_number(0.123456), format_data_number(2024.0)
    ('5', '1523.4', '0.1235', '2024')
    """
    if abs(value) < LONGEST_NUMBER and value == int(value):
        return str(int(value))
    return f"{value:.1f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.4g}"


def format_value(value: Any) -> str:
    """Return a value of the data as text: numbers rounded, None as "missing".

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
    """Return the number, or the largest float for infinity, which JSON lacks.

    >>> finite(2.5), finite(float("inf")) > 1e308
    (2.5, True)
    """
    return min(max(float(value), -LARGEST), LARGEST)


def shortened(text: str, most: int = 60) -> str:
    """Return the text, with its middle cut out if it is longer than `most`.

    >>> shortened("abcdefghijklmnop", 9)
    'abc...nop'
    """
    if len(text) <= most:
        return text
    keep = (most - 3) // 2
    return f"{text[:keep]}...{text[len(text) - keep :]}"


def listing(items: Iterable[str], most: int = 6, separator: str = ", ") -> str:
    """Return the first items and the number of the others.

    >>> listing(["oak", "elm", "ash"]), listing("abcdefgh", most=3)
    ('oak, elm, ash', 'a, b, c and 5 more')
    """
    known = list(items)
    return separator.join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun.

    >>> counted(1, "vertex", "vertices"), counted(2, "edge"), counted(100_000, "pattern")
    ('1 vertex', '2 edges', '100,000 patterns')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def known_of(n_members: int, n_prototypes: int | None) -> str:
    """Return ", 3 of them prototypes" for a region's members; nothing if all training patterns are prototypes (None).

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
    """Return a noun with its numbers from first to last.

    >>> span(3, 3, "step"), span(3, 7, "step")
    ('step 3', 'steps 3 to 7')
    """
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def share(part: float, whole: float) -> str:
    """Return a share in percent, right-aligned.

    >>> share(1.0, 20.0), share(2.0, 2.0)
    ('  5%', '100%')
    """
    return f"{100 * part / whole:3.0f}%"


def wrapped(text: str, indent: int, width: int = 100) -> list[str]:
    """Return a paragraph as lines, the later ones indented more; glued text breaks only at commas and semicolons.

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
    """Return the text so that lines break at its commas and semicolons only."""
    return re.sub("(?<![,;]) ", GLUE, text)


def decimals_for(total: float) -> int:
    """Return the number of decimals that shows a positive total, and its parts, to three digits.

    >>> decimals_for(0.812), decimals_for(0.0041), decimals_for(25.0)
    (3, 5, 1)
    """
    return min(max(2 - math.floor(math.log10(total)), 0), 12) if total > 0 else 0


def named_values(names: Sequence[str], values: Sequence[Any], most: int = 6) -> str:
    """Return the first names with their values.

    >>> named_values(["width", "kind"], [3.5, "oak"])
    'width = 3.5, kind = oak'
    """
    return listing([f"{name} = {format_value(value)}" for name, value in zip(names, values, strict=True)], most)
