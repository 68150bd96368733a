"""What measures share: components summed by weight, sizes of patterns, the nearest prototypes by bounds."""

from collections.abc import Callable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.threads import for_each_block, in_blocks
from eocc.base.types import Indices, Matrix
from eocc.kernels.combination import combine, insert_smallest
from eocc.measures.protocol import Prepared


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


# A bound that is computed in another order than the dissimilarity is lowered by this factor, against rounding.
SAFE_SHARE = 1 - 1e-9
# The first round compares this many times k prototypes; each further round this many times as many as the one before.
FIRST_ROUND, GROWTH = 2, 4
# Up to this many pairs are all compared: it is as fast, and needs nothing compiled but what the fit has compiled.
FEW_PAIRS = 2**11
# A task compares at most this many patterns, with at most about this many bounds.
MOST_PATTERNS, MOST_BOUNDS = 64, 2**16


def are_few(patterns: Sized, prototypes: Sized) -> bool:
    """Return whether there are so few pairs that all are compared."""
    return len(patterns) * len(prototypes) <= FEW_PAIRS


def nearest_of_all(prepared: Prepared, weightings: Matrix, k: int) -> list[tuple[Matrix, Indices]]:
    """Return the distances (m, k) to the k nearest prototypes and their indices, once per weighting, from all pairs."""
    found = []
    for p in weightings:
        rows = prepared.evaluate(p)
        indices = np.argsort(rows, axis=1, kind="stable")[:, :k]
        found.append((np.take_along_axis(rows, indices, axis=1), indices))
    return found


def nearest_by_bounds(
    n_patterns: int,
    n_weightings: int,
    units: Indices,
    k: int,
    bounds: Callable[[int, int], Matrix],
    compare: Callable[[Indices, Indices], Matrix],
) -> list[tuple[Matrix, Indices]]:
    """Return the distances (m, k) to the k nearest prototypes and their indices, once per weighting.

    Row q of `units` lists the prototypes that are compared together; -1 for none. bounds(start, stop) gives a lower
    bound (weightings, patterns, units) of the dissimilarity of these patterns and any prototype of a unit, and
    compare(patterns, units) the dissimilarities (weightings, pairs, prototypes of a unit). Units come in the order of
    their first bounds, in rounds. A unit is skipped if, under every weighting, its bound is above the k-th smallest
    dissimilarity so far. Ties go to the lower index.
    """

    def work(start: int, stop: int, near: Matrix, indices: Indices) -> None:
        lowest = bounds(start, stop)
        order = np.argsort(lowest[0], axis=1, kind="stable")
        first, count = 0, -(-FIRST_ROUND * k // units.shape[1])
        while first < len(units):
            some = order[:, first : first + count]
            rows, places = np.nonzero((np.take_along_axis(lowest, some[None], 2) <= near[:, :, -1:]).any(axis=0))
            if len(rows):
                chosen = some[rows, places]
                insert_smallest(compare(start + rows, chosen), rows, units[chosen], near, indices)
            first, count = first + count, GROWTH * count

    return by_block((n_weightings, n_patterns, k), len(units), work)


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
