"""The rules of decision regions: extents, representatives and t-conorms.

An extent is a function: the distances of all pairs in a cluster in, a number tau out. If their sum and their maximum
suffice, it may also have a method ``from_sums``: arrays with one entry per cluster in, the extents of all clusters out.

A representative has a method ``centre``: the cluster's rows and mutual distances in, a point and the number of the
member closest to that role out. If the sums of each member's distances suffice, it may also have a method
``from_sums``, which takes all rows, the cluster's members and these sums, so that no distances are copied.

A t-conorm is a function: log grades (m, k) in several regions in, log grades (m,) out. Logarithms keep the ranks of
grades that underflow. If all grades are tiny, the smooth t-conorms are computed as sums, because products of grades are
then negligible.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy

from eocc.base.registry import choose, resolve
from eocc.base.types import Indices, Matrix
from eocc.entropic.regions import EXTENTS, REPRESENTATIVES, TCONORMS

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


# Members whose sums of distances differ by less than this factor are equally central.
# departure: representative
EQUALLY_CENTRAL = 1 + 1e-9
# Rows copied at a time.
BLOCK_ROWS = 256


class Representative(Protocol):
    """How a cluster is represented."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return (a point (r,), the index of the row that represents it) for rows (m, r) and distances (m, m)."""
        ...


class Medoid:
    """The member with the least sum of distances to the others; ties to the lower index."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        index = most_central(sums)
        return rows[members[index]], index


class Centroid:
    """The mean of the members' rows; its member is the medoid."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        total = np.sum([block.sum(axis=0) for block in row_blocks(rows, members)], axis=0)
        return total / len(members), most_central(sums)


def row_blocks(rows: Matrix, members: Indices) -> Iterator[Matrix]:
    """Yield copies of the members' rows, block by block, to save memory."""
    for start in range(0, len(members), BLOCK_ROWS):
        yield rows[members[start : start + BLOCK_ROWS]]


def most_central(sums: Matrix) -> int:
    """Return the first of the least sums."""
    return int(np.argmax(sums <= sums.min() * EQUALLY_CENTRAL))


def resolve_representative(representative: str | Representative) -> Representative:
    """Return the representative itself, or the one registered under its name."""
    resolved: Representative = resolve("representative", REPRESENTATIVES, representative, method="centre")
    return resolved


TConorm = Callable[[Matrix], Matrix]

# Below exp(-30), about 1e-13, the product of two grades is negligible compared with their sum.
NEGLIGIBLE = -30.0


def maximum(log_grades: Matrix) -> Matrix:
    """Return the highest grade, as in the paper."""
    return np.asarray(log_grades.max(axis=1))


def probabilistic_sum(log_grades: Matrix) -> Matrix:
    """Return a + b - ab, that is 1 - prod(1 - mu)."""
    exact = _log_complement(_log_complement(log_grades).sum(axis=1))
    return _where_not_tiny(log_grades, exact)


def lukasiewicz(log_grades: Matrix) -> Matrix:
    """Return min(1, a + b)."""
    return np.asarray(np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0))


def einstein(log_grades: Matrix) -> Matrix:
    """Return (a + b) / (1 + ab), that is tanh(sum artanh(mu))."""
    # artanh(mu) = (ln(1 + mu) - ln(1 - mu)) / 2
    doubled = (np.log1p(np.exp(log_grades)) - _log_complement(log_grades)).sum(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        exact = np.where(doubled < 1, np.log(np.tanh(doubled / 2)), np.log1p(-2 / (np.exp(doubled) + 1)))
    return _where_not_tiny(log_grades, exact)


def _log_complement(x: Matrix) -> Matrix:
    """Return ln(1 - e^x), x <= 0, by whichever of two formulas loses fewer digits."""
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def _where_not_tiny(log_grades: Matrix, exact: Matrix) -> Matrix:
    return np.where(
        log_grades.max(axis=1) < NEGLIGIBLE, np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0), exact
    )


def resolve_tconorm(tconorm: str | TConorm) -> TConorm:
    """Return the function itself, or the one registered under its name."""
    chosen: TConorm = tconorm if callable(tconorm) else choose("t-conorm", TCONORMS, tconorm, "pass a function")
    return chosen
