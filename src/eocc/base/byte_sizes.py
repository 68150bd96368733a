"""Numbers of bytes as text, in both directions."""

import math
import re
from numbers import Integral
from typing import Any

BYTE_UNITS = {"": 1, "B": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for suffix, base in (("B", 1000), ("IB", 1024))
}
SIZE_IN_WORDS = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Za-z]*)")
BYTE_SUFFIXES = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def format_bytes(size: float) -> str:
    """Return a number of bytes with a unit.

    >>> format_bytes(800), format_bytes(3.6e9), format_bytes(8e10)
    ('800 B', '3.35 GiB', '74.5 GiB')
    """
    power = min(int(math.log2(max(size, 1)) // 10), len(BYTE_SUFFIXES) - 1)
    return f"{size / 1024**power:.3g} {BYTE_SUFFIXES[power]}"


def bytes_of(max_memory: Any, name: str = "max_memory") -> int:
    """Return a size in bytes, given as an integer or as a text with a unit.

    >>> bytes_of(4096), bytes_of("2GiB"), bytes_of("500 MB")
    (4096, 2147483648, 500000000)
    """
    size = 0
    if isinstance(max_memory, Integral) and not isinstance(max_memory, bool):
        size = int(max_memory)
    elif isinstance(max_memory, str):
        match = SIZE_IN_WORDS.fullmatch(max_memory.strip())
        size = int(float(match[1]) * BYTE_UNITS.get(match[2].upper(), 0)) if match else 0
    if size <= 0:
        raise ValueError(f"{name} must be a number of bytes or a text such as '2GiB' or '500MB', not {max_memory!r}")
    return size
