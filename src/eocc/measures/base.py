"""What measures share: components summed by weight, sizes of patterns, the nearest prototypes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.threads import for_each_block, in_blocks
from eocc.base.types import Indices, Matrix
from eocc.kernels.distances import combine
from eocc.measures.protocol import FittedMeasure


@dataclass(frozen=True, eq=False)
class LinearPrepared:
    """The components C (u, n, r), computed once. A measure without parameters has one component, d itself.

    >>> LinearPrepared(np.array([[[1.0, 2.0]], [[0.5, 0.25]]])).evaluate(np.array([1.0, 4.0]))
    array([[3., 3.]])
    >>> LinearPrepared(np.array([[[0.0, 0.5]]])).evaluate(np.empty(0))
    array([[0. , 0.5]])
    """

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k C_k (n, r), summed in the order of the components."""
        out = np.empty(self.components.shape[1:]) if out is None else out
        weights = p if len(p) else np.ones(1)
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
    found: list[tuple[Matrix, Indices]] = measure.nearest(patterns, prototypes, weightings, k)
    return found


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
