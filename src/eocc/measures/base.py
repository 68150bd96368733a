"""What measures share: components summed by weight, pattern sizes, the nearest prototypes, gaps filled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.base.threads import for_each_block, in_blocks, interruptibly
from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.distances import combine
from eocc.kernels.gower import fill_gaps, gower_cross_dissimilarities, gower_pairwise_dissimilarities
from eocc.measures.protocol import FittedMeasure

# A gap is filled from this many of the nearest training rows that have a value there.
N_NEAREST = 8


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C (u, n, r), computed once, and their weights w, if these are not p.

    A measure without parameters has one component, d itself.

    >>> LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]])).evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    >>> LinearPrepared(np.array([[[0.0, 0.5]]])).evaluate(np.empty(0))
    array([[0. , 0.5]])
    """

    components: Matrix
    weights: Callable[[Matrix], Matrix] | None = None

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k w_k(p) C_k (n, r), summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        weights = (p if self.weights is None else self.weights(p)) if len(p) else np.ones(1)
        in_blocks(out, lambda some: combine(self.components, weights, some.start, out[some]))
        return out


def at_weights(components: Matrix, weightings: Matrix) -> Matrix:
    """Return sum_k p_k C_k, once per weighting p, of components (u, n, ...): (weightings, n, ...)."""
    pairs = LinearPrepared(components.reshape(len(components), 1, -1))
    return np.stack([pairs.evaluate(p) for p in weightings]).reshape(len(weightings), *components.shape[1:])


def n_columns_of(patterns: Any) -> int:
    """Return the size of a pattern: the columns of a table, else the mean size of some patterns.

    >>> n_columns_of(np.zeros((5, 3))), n_columns_of(["oak", "larch"])
    (3, 4)
    """
    if isinstance(known := getattr(patterns, "block", patterns), np.ndarray):
        return int(known.shape[1])
    if hasattr(patterns, "parts"):
        return sum(map(n_columns_of, patterns.parts.values()))
    if hasattr(patterns, "columns"):
        return len(patterns.columns)
    # The sizes of about 100 patterns are averaged.
    some = [patterns[i] for i in range(0, len(patterns), -(-len(patterns) // 100))]
    return max(1, round(sum(map(_size, some)) / len(some)))


def _size(pattern: Any) -> int:
    if isinstance(pattern, np.ndarray):
        return int(pattern.size)
    return int(getattr(pattern, "n_vertices", 0)) or (len(pattern) if hasattr(pattern, "__len__") else 1)


# Up to this many pairs are all compared: it is as fast, and needs nothing compiled but what the fit has compiled.
FEW_PAIRS = 2**11
# A task compares at most this many patterns, with at most about this many bounds.
MOST_PATTERNS, MOST_BOUNDS = 64, 2**16


def nearest_prototypes(
    measure: FittedMeasure, patterns: Any, prototypes: Any, weightings: Matrix, k: int
) -> list[tuple[Matrix, Indices]]:
    """Return measure.nearest(patterns, prototypes, weightings, k); if there are few pairs, all are compared."""
    if len(patterns) * len(prototypes) <= FEW_PAIRS:
        prepared = measure.prepare(patterns, prototypes)
        return [smallest_of(prepared.evaluate(p), k) for p in weightings]
    return list(measure.nearest(patterns, prototypes, weightings, k))


def smallest_of(dissimilarities: Matrix, k: int) -> tuple[Matrix, Indices]:
    """Return the k smallest entries of each row, ascending, and their columns; ties go to the lower column."""
    columns = np.argsort(dissimilarities, axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(dissimilarities, columns, axis=-1), columns


def by_block(
    shape: tuple[int, int, int], n_units: int, work: Callable[[int, int, Matrix, Indices], None]
) -> list[tuple[Matrix, Indices]]:
    """Return distances and indices (weightings, patterns, k), filled by work(start, stop, distances, indices)."""
    near, indices = np.empty(shape), np.empty(shape, np.int64)

    def one(start: int, stop: int) -> None:
        part = np.full((shape[0], stop - start, shape[2]), np.inf)
        numbers = np.full(part.shape, np.iinfo(np.int64).max)
        work(start, stop, part, numbers)
        near[:, start:stop], indices[:, start:stop] = part, numbers

    for_each_block(shape[1], max(1, min(MOST_PATTERNS, MOST_BOUNDS // n_units)), one)
    return list(zip(near, indices, strict=True))


def filled(rows: Matrix, donors: Matrix, is_code: Flags) -> Matrix:
    """Return rows (m, u) with every NaN filled from the `donors` (n, u) that are nearest in the columns both have.

    Columns of codes get the most frequent code of the nearest, columns of numbers, all in one unit, the lower median.
    What no donor has stays NaN.
    """
    if not np.isnan(rows).any():
        return rows
    found = rows.copy()
    fill_gaps(rows, donors, is_code, min(N_NEAREST, len(donors)), found)
    return found


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Encoded rows (n, u) against prototypes (u, r), each row by itself."""

    rows: Matrix
    prototype_columns: Matrix
    is_code: Flags
    kernel: ClassVar = staticmethod(gower_cross_dissimilarities)

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k c_k / u (n, r)."""
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        interruptibly(lambda: self.kernel(self.rows, self.prototype_columns, self.is_code, p, out), out.size * len(p))
        return out


class MixedSquare(MixedRows):
    """All pairs of one table."""

    kernel: ClassVar = staticmethod(gower_pairwise_dissimilarities)
