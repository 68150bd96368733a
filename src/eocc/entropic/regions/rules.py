"""The rules of decision regions: extents, medoids and t-conorms.

An extent is a function: the distances of all pairs in a cluster in, a number tau out. A t-conorm is a function: log
grades (m, k) in several regions in, log grades (m,) out. Logarithms keep the ranks of grades that underflow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from eocc.base.types import Matrix

Extent = Callable[[Matrix], float]


def mean_extent(pairs: Matrix) -> float:
    """Return the mean distance over unordered pairs, as in the paper."""
    return float(pairs.mean())


def max_extent(pairs: Matrix) -> float:
    """Return the largest distance: the diameter."""
    return float(pairs.max())


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


median_extent, quantile_extent = QuantileExtent(0.5), QuantileExtent()


def extents_of_sums(extent: Extent, total: Any, largest: Any, n_pairs: Any) -> Any:
    """Return the extents of clusters by the sums and the maxima of their distances, None if these do not suffice."""
    if extent is mean_extent:
        return total / n_pairs
    return largest if extent is max_extent else None


# Members whose sums of distances differ by less than this factor are equally central.
# departure: representative
EQUALLY_CENTRAL = 1 + 1e-9


def most_central(sums: Matrix) -> int:
    """Return the medoid, the first member with the least sum of distances to the others."""
    return int(np.argmax(sums <= sums.min() * EQUALLY_CENTRAL))


TConorm = Callable[[Matrix], Matrix]


def maximum(log_grades: Matrix) -> Matrix:
    """Return the highest grade, as in the paper."""
    return np.asarray(log_grades.max(axis=1))


def probabilistic_sum(log_grades: Matrix) -> Matrix:
    """Return a + b - ab, that is 1 - prod(1 - mu); of grades below exp(-30), whose products are negligible, a + b."""
    exact = _log_complement(_log_complement(log_grades).sum(axis=1))
    return np.where(log_grades.max(axis=1) < -30.0, lukasiewicz(log_grades), exact)


def lukasiewicz(log_grades: Matrix) -> Matrix:
    """Return min(1, a + b)."""
    return np.asarray(np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0))


def _log_complement(x: Matrix) -> Matrix:
    """Return ln(1 - e^x), x <= 0, by whichever of two formulas loses fewer digits."""
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))
