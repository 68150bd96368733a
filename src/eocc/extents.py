"""Distances inside a cluster -> its extent tau. One function each: pair distances in, a number out."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eocc.registry import choose

Extent = Callable[[NDArray[np.float64]], float]


def mean_extent(pairs: NDArray[np.float64]) -> float:
    """Return the mean distance over unordered pairs, as in the paper.

    >>> mean_extent(np.array([1.0, 2.0, 6.0]))
    3.0
    """
    return float(pairs.mean())


def std_extent(pairs: NDArray[np.float64]) -> float:
    """Return the standard deviation of the distances."""
    return float(pairs.std())


def median_extent(pairs: NDArray[np.float64]) -> float:
    """Return the median distance."""
    return float(np.median(pairs))


def max_extent(pairs: NDArray[np.float64]) -> float:
    """Return the largest distance: the diameter."""
    return float(pairs.max())


EXTENTS: dict[str, Extent] = {
    "max": max_extent,
    "mean": mean_extent,
    "median": median_extent,
    "std": std_extent,
}


def resolve_extent(extent: str | Extent) -> Extent:
    """Return the function itself, or the one registered under its name."""
    return extent if callable(extent) else choose("extent", EXTENTS, extent)
