"""Distances inside a cluster -> its extent tau.

An extent is a function: the distances of all pairs in, a number out. If their sum and their maximum suffice, it may
also have a method ``from_sums``: arrays with one entry per cluster in, the extents of all clusters out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eocc.foundation.registry import choose
from eocc.foundation.types import Matrix
from eocc.regions import EXTENTS

Extent = Callable[[Matrix], float]


class MeanExtent:
    """The mean distance over unordered pairs, as in the paper."""

    def __call__(self, pairs: Matrix) -> float:
        """Return the mean."""
        return float(pairs.mean())

    def from_sums(self, total: Matrix, largest: Matrix, n_pairs: Matrix) -> Matrix:
        """Return the mean of each cluster."""
        return total / n_pairs


class MaxExtent:
    """The largest distance: the diameter."""

    def __call__(self, pairs: Matrix) -> float:
        """Return the largest."""
        return float(pairs.max())

    def from_sums(self, total: Matrix, largest: Matrix, n_pairs: Matrix) -> Matrix:
        """Return the largest of each cluster."""
        return largest


def std_extent(pairs: Matrix) -> float:
    """Return the standard deviation of the distances."""
    return float(pairs.std())


@dataclass(frozen=True)
class QuantileExtent:
    """The q-quantile of the distances; the median is q = 0.5."""

    q: float = 0.9

    def __post_init__(self) -> None:
        if not 0 <= self.q <= 1:
            raise ValueError(f"q must lie in [0, 1], not {self.q}")

    def __call__(self, pairs: Matrix) -> float:
        """Return the quantile."""
        return float(np.quantile(pairs, self.q))


max_extent, mean_extent = MaxExtent(), MeanExtent()
median_extent, quantile_extent = QuantileExtent(0.5), QuantileExtent()


def resolve_extent(extent: str | Extent) -> Extent:
    """Return the function itself, or the one registered under its name."""
    if isinstance(extent, type):
        raise ValueError(f"extent must be an object, not a class: write {extent.__name__}()")
    resolved: Extent = extent if callable(extent) else choose("extent", EXTENTS, extent, otherwise="pass a function")
    return resolved
