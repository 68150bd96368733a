"""The size of patterns, and the memory that a measure holds per pair."""

from typing import Any

import numpy as np

# The number of patterns whose sizes are averaged.
N_SIZED = 100


def n_columns_of(patterns: Any) -> int:
    """Return the size of a pattern: the columns of a table, else the mean size of some patterns.

    >>> n_columns_of(np.zeros((5, 3))), n_columns_of(["oak", "larch"])
    (3, 4)
    """
    for known in (patterns, getattr(patterns, "block", None)):
        if isinstance(known, np.ndarray):
            return int(known.shape[1])
    if hasattr(patterns, "parts"):
        return sum(map(n_columns_of, patterns.parts.values()))
    if hasattr(patterns, "columns"):
        return len(patterns.columns)
    some = [patterns[i] for i in range(0, len(patterns), -(-len(patterns) // N_SIZED))]
    return max(1, round(sum(map(_size, some)) / len(some)))


def _size(pattern: Any) -> int:
    if isinstance(pattern, np.ndarray):
        return int(pattern.size)
    return int(getattr(pattern, "n_vertices", 0)) or (len(pattern) if hasattr(pattern, "__len__") else 1)


def pair_bytes_of(measure: Any, patterns: Any) -> float:
    """Return the bytes that a measure holds per pair; a guess for a measure without a method `pair_bytes`."""
    if hasattr(measure, "pair_bytes"):
        return float(measure.pair_bytes(patterns))
    return 0.0 if isinstance(patterns, np.ndarray) else 8.0 * (1 + n_columns_of(patterns))
