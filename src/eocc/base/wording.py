"""Numbers and objects -> text for people, and values for JSON."""

import math
import re
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from eocc.base.printing import on_one_line
from eocc.base.registry import listed
from eocc.base.types import Matrix

# Larger numbers are written in powers of ten.
LONGEST_NUMBER = 1e9
# Marks a blank where no line may break.
GLUE = "\0"
LARGEST_FLOAT = float(np.finfo(np.float64).max)
BYTE_SUFFIXES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_number(value: float) -> str:
    """Return a computed number with three digits, for example a distance.

    >>> format_number(0.41234), format_number(2.0), format_number(1234.5), format_number(3.2e-7)
    ('0.412', '2', '1234', '3.2e-07')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.3g}"


def format_data_number(value: float) -> str:
    """Return a number of the data: as people wrote it, if it has few digits, else with four digits or more.

    >>> format_data_number(5.0), format_data_number(1523.44), format_data_number(0.12345678912)
    ('5', '1523.44', '0.1235')
    """
    return format_own(float(value), f"{value:.1f}" if 1000 <= abs(value) < LONGEST_NUMBER else f"{value:.4g}")


def format_within(extent: float, *values: Any) -> list[str]:
    """Return values of the data; numbers with as many decimals as show an extent to two digits.

    >>> format_within(0.4, 1.2345, 7.0), format_within(0.32, 101325.218), format_within(300, -70.2)
    (['1.23', '7'], ['101325.22'], ['-70'])
    """
    if not 0 < extent < math.inf:
        return list(map(format_value, values))
    decimals = min(max(1 - math.floor(math.log10(extent)), 0), 12)
    return [_with_decimals(value, decimals) for value in values]


def format_own(value: Any, otherwise: str) -> str:
    """Return a number of a row as people wrote it, if it has few digits, or else as `otherwise`.

    >>> format_own(4.7, "5"), format_own(0.1234567891, "0.12")
    ('4.7', '0.12')
    """
    if type(value) is not float or not (value == 0 or 1e-4 <= abs(value) < LONGEST_NUMBER):
        return otherwise
    text = repr(value).removesuffix(".0")
    # A number of more digits was computed, not written by a person.
    return text if value.is_integer() or sum(map(str.isdigit, text)) <= 8 else otherwise


def _with_decimals(value: Any, decimals: int) -> str:
    if type(value) is not float or value.is_integer() or not abs(value) < LONGEST_NUMBER:
        return format_value(value)
    text = f"{value:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if decimals else text
    return text if float(text) != 0 else f"{value:.2g}"


def format_value(value: Any) -> str:
    """Return a value of the data as text on one line: numbers of few digits in full, None as "missing"."""
    if value is None:
        return "missing"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | float | np.number) and not isinstance(value, np.complexfloating):
        return format_data_number(float(value))
    return on_one_line(str(value))


def to_json(value: Any) -> Any:
    """Return a value that JSON can hold: None, a boolean, a finite number or a string."""
    value = value.item() if isinstance(value, np.bool_ | np.integer) else value
    if isinstance(value, float | np.floating):
        return None if math.isnan(value) else finite(float(value))
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def finite(value: float) -> float:
    """Return the number, or the largest float for infinity, which JSON lacks."""
    return min(max(float(value), -LARGEST_FLOAT), LARGEST_FLOAT)


def all_finite(values: Matrix) -> Matrix:
    """Return numbers, with the largest floats for infinities."""
    return np.clip(values, -LARGEST_FLOAT, LARGEST_FLOAT)


def shortened(text: str, most: int = 60) -> str:
    """Return the text, with its middle cut out if it is longer than `most`."""
    if len(text) <= most:
        return text
    keep = (most - 3) // 2
    return f"{text[:keep]}...{text[len(text) - keep :]}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def span(first: int, last: int, noun: str) -> str:
    """Return a noun with its numbers from first to last."""
    return f"{noun} {first}" if first == last else f"{noun}s {first} to {last}"


def share(part: float, whole: float) -> str:
    """Return a share in percent, right-aligned."""
    # The square of a tiny number may be 0, that of a huge one infinite.
    return f"{100 * (part / whole if 0 < whole < math.inf else float(part > 0)):3.0f}%"


def wrapped(text: str, indent: int, width: int = 100) -> list[str]:
    """Return a paragraph as lines, the later ones indented more; glued text breaks only at commas and semicolons.

    >>> wrapped(f"one two {glued('a = 3, b = 4')}", indent=2, width=14)
    ['  one two', '    a = 3,', '    b = 4']
    """
    first, later = " " * indent, " " * (indent + 2)
    wrap = textwrap.TextWrapper(width, first, later, break_long_words=False, break_on_hyphens=False)
    return [line.replace(GLUE, " ") for line in wrap.wrap(text)]


def glued(text: str) -> str:
    """Return the text so that lines break at its commas and semicolons only."""
    return re.sub("(?<![,;]) ", GLUE, text)


def format_part(part: float, total: float) -> str:
    """Return a part of a positive total, with as many decimals as show the total to three digits.

    >>> format_part(0.2, 0.812), format_part(0.002, 0.0041), format_part(5, 25.0), format_part(2e150, 3e150)
    ('0.200', '0.00200', '5.0', '2e+150')
    """
    if total >= LONGEST_NUMBER:
        return format_number(part)
    return f"{part:.{min(max(2 - math.floor(math.log10(total)), 0), 12) if total > 0 else 0}f}"


def named_values(names: Sequence[str], values: Sequence[Any], most: int = 6) -> str:
    """Return the first names with their values."""
    return listed([f"{name} = {format_value(value)}" for name, value in zip(names, values, strict=True)], most)


def format_bytes(size: float) -> str:
    """Return a number of bytes with a unit.

    >>> format_bytes(800), format_bytes(3.6e9), format_bytes(8e10)
    ('800 B', '3.35 GiB', '74.5 GiB')
    """
    power = min(int(math.log2(max(size, 1)) // 10), len(BYTE_SUFFIXES) - 1)
    return f"{size / 1024**power:.3g} {BYTE_SUFFIXES[power]}"
