"""What measures share: components summed by weight, sizes of patterns, the nearest prototypes by bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.threads import for_each_block, in_blocks
from eocc.base.types import Indices, Matrix
from eocc.kernels.combination import combine, insert_smallest
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

    def at_all(self, weightings: Matrix) -> Matrix:
        """Return D of every weighting: (weightings, n, r)."""
        return np.stack([self.evaluate(p) for p in weightings])


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

Nearest = list[tuple[Matrix, Indices]]
# A search by bounds: the prototypes that are compared together, -1 for none, (units, prototypes of a unit); then
# bounds(start, stop), a lower bound (weightings, patterns, units) of the dissimilarity of these patterns and any
# prototype of a unit; and compare(patterns, units), the dissimilarities (weightings, pairs, prototypes of a unit).
Search = tuple[Indices, Callable[[int, int], Matrix], Callable[[Indices, Indices], Matrix]]


class FittedWithBounds(FittedMeasure):
    """A measure that compares only the prototypes which bounds do not rule out; `search` has the bounds."""

    def search(self, patterns: Any, prototypes: Any, weightings: Matrix) -> Search:
        """Return how patterns are compared with prototypes."""
        raise NotImplementedError

    def compares_all(self, patterns: Any, prototypes: Any) -> bool:
        """Return whether comparing all pairs is as fast."""
        return len(patterns) * len(prototypes) <= FEW_PAIRS

    def nearest(self, patterns: Any, prototypes: Any, weightings: Matrix, k: int) -> Nearest:
        """Return the distances (m, k) to the k nearest prototypes and their indices, once per weighting."""
        n, r = len(patterns), len(prototypes)
        if not self.compares_all(patterns, prototypes):
            return nearest_by_bounds(n, len(weightings), k, *self.search(patterns, prototypes, weightings))
        pairs, (near, indices) = self.prepare(patterns, prototypes), _nothing_yet(len(weightings), n, k)
        everyone = np.tile(np.arange(r), (n, 1))
        insert_smallest(np.stack([pairs.evaluate(p) for p in weightings]), np.arange(n), everyone, near, indices)
        return list(zip(near, indices, strict=True))


def _nothing_yet(*shape: int) -> tuple[Matrix, Indices]:
    return np.full(shape, np.inf), np.full(shape, np.iinfo(np.int64).max)


def nearest_by_bounds(
    n_patterns: int,
    n_weightings: int,
    k: int,
    units: Indices,
    bounds: Callable[[int, int], Matrix],
    compare: Callable[[Indices, Indices], Matrix],
) -> Nearest:
    """Return the distances (m, k) to the k nearest prototypes and their indices, once per weighting.

    Units come in the order of their first bounds, in rounds. A unit is skipped if, under every weighting, its bound is
    above the k-th smallest dissimilarity so far. Ties go to the lower index.
    """
    near, indices = _nothing_yet(n_weightings, n_patterns, k)

    def work(start: int, stop: int) -> None:
        own, own_indices = _nothing_yet(n_weightings, stop - start, k)
        lowest = bounds(start, stop)
        order = np.argsort(lowest[0], axis=1)
        first, count = 0, -(-FIRST_ROUND * k // units.shape[1])
        while first < len(units):
            some = order[:, first : first + count]
            rows, places = np.nonzero((np.take_along_axis(lowest, some[None], 2) <= own[:, :, -1:]).any(axis=0))
            if len(rows):
                chosen = some[rows, places]
                insert_smallest(compare(start + rows, chosen), rows, units[chosen], own, own_indices)
            first, count = first + count, GROWTH * count
        near[:, start:stop], indices[:, start:stop] = own, own_indices

    # A task has at most 64 patterns and about 2**16 bounds.
    for_each_block(n_patterns, max(1, min(64, 2**16 // len(units))), work)
    return list(zip(near, indices, strict=True))
