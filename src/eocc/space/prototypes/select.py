"""Number of prototypes + selection -> the indices of the prototypes."""

import numbers
from typing import Any

import numpy as np

from eocc.foundation.parameters import Prototypes
from eocc.foundation.registry import resolve
from eocc.foundation.types import Indices
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes import SELECTIONS
from eocc.space.prototypes.protocol import Selection

# Comparisons of all rows of numbers with those that are kept by default: about half a minute on two cores. Rows of more
# columns than FEW_COLUMNS take longer in proportion.
MOST_COMPARISONS, FEW_COLUMNS = 5 * 10**10, 20
# Rows of numbers that are kept, however many there are.
FEWEST_ROWS = 5_000
# Memory for all pairs of other patterns, and for three matrices of their dissimilarities.
PAIR_MEMORY, DOUBLE = 2**31, 8


def resolve_selection(selection: str | Selection) -> Selection:
    """Return the selection itself, or the one registered under its name."""
    resolved: Selection = resolve("selection", SELECTIONS, selection, method="select")
    return resolved


def count_of(prototypes: int | float | None, n: int) -> int:
    """Return the number of prototypes among n patterns: all for None, at most n for an integer, n * fraction otherwise.

    The product is rounded to the nearest integer, and at least 1.

    >>> [count_of(wanted, 30) for wanted in (None, 8, 256, 0.1, 1.0, 0.001)]
    [30, 8, 30, 3, 30, 1]
    """
    if prototypes is None:
        return n
    Prototypes().check("prototypes", prototypes)
    return min(int(prototypes), n) if isinstance(prototypes, numbers.Integral) else max(1, round(prototypes * n))


def count_compared(prototypes: int | float | str | None, n: int, n_columns: int, pair_bytes: float = 0.0) -> int:
    """Return with how many of n training rows new rows are compared; "auto" limits the time and memory of a fit.

    Rows of numbers (`pair_bytes` 0) are compared with all rows, or with fewer if that makes more than MOST_COMPARISONS.
    Other patterns keep `pair_bytes` for each pair.

    >>> [count_compared("auto", n, 10) for n in (200_000, 1_000_000, 4_000_000, 100_000_000)]
    [200000, 50000, 12500, 5000]
    >>> count_compared("auto", 200_000, 100)
    50000
    """
    if prototypes != "auto":
        return count_of(prototypes, n)  # type: ignore[arg-type]
    if pair_bytes:
        return min(n, int((PAIR_MEMORY / (pair_bytes + 3 * DOUBLE)) ** 0.5))
    return min(n, max(FEWEST_ROWS, MOST_COMPARISONS * FEW_COLUMNS // (n * max(FEW_COLUMNS, n_columns))))


def select_prototypes(
    selection: str | Selection, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator
) -> Indices:
    """Return the indices of `count` different patterns, ascending; raise a ValueError if the selection gave others."""
    chooser, n = resolve_selection(selection), len(patterns)
    if count == n:
        return np.arange(n)
    chosen = np.asarray(chooser.select(measure, patterns, count, rng))
    if chosen.shape != (count,) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(
            f"{type(chooser).__name__}: select must return {count} integers, not {chosen.dtype} of shape {chosen.shape}"
        )
    if chosen[0] < 0 or chosen[-1] >= n or (np.diff(chosen) <= 0).any():
        raise ValueError(f"{type(chooser).__name__}: select must return different indices below {n}, ascending")
    return chosen.astype(np.int64)
