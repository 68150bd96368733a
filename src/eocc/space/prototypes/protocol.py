"""The interface of a prototype selection, and dissimilarities computed block by block."""

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from eocc.foundation.arguments import check_count
from eocc.foundation.progress import track
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure

# The largest block of dissimilarities, 8 MiB: memory does not grow with n, and preparing a block is cheap.
BLOCK_ROWS, BLOCK_COLUMNS = 2048, 512


class Selection(Protocol):
    """Chooses the patterns that become prototypes, the coordinates of the dissimilarity space."""

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return the indices of `count` different patterns, ascending; every random number comes from `rng`.

        `patterns` have a length and can be indexed by an array of integers or a slice.
        """
        ...


def check_places(count: Any, n: int) -> None:
    """Raise a ValueError unless `count` of n patterns can be chosen."""
    check_count("count", count)
    if count > n:
        raise ValueError(f"count must be at most {n}, the number of patterns, not {count}")


def dissimilarities(measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return D_ij = d(pattern_i, prototype_j) at neutral weights; raise a ValueError if one is negative or infinite."""
    D = np.asarray(measure.prepare(patterns, prototypes).evaluate(measure.neutral_weights()))
    name, wanted = measure.called, (len(patterns), len(prototypes))
    if D.shape != wanted:
        raise ValueError(f"{name}: evaluate gave shape {D.shape} for {wanted[0]} patterns and {wanted[1]} prototypes")
    if not (D.min() >= 0 and D.max() < np.inf):
        raise ValueError(f"{name}: evaluate gave a negative number, NaN or infinity at p = 1; correct the measure")
    return D


def blocks(measure: FittedMeasure, patterns: Any, prototypes: Any) -> Iterator[tuple[slice, Matrix]]:
    """Yield (slice, D): the dissimilarities of these patterns to the prototypes, for all slices in order."""
    for start in track("choosing prototypes", range(0, len(patterns), BLOCK_ROWS)):
        rows = slice(start, min(start + BLOCK_ROWS, len(patterns)))
        yield rows, dissimilarities(measure, patterns[rows], prototypes)


def nearest_dissimilarities(measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return min_j d(pattern_i, prototype_j; p = 1) for every pattern, (n,)."""
    nearest = np.full(len(patterns), np.inf)
    for start in track("choosing prototypes", range(0, len(prototypes), BLOCK_COLUMNS)):
        for rows, D in blocks(measure, patterns, prototypes[start : start + BLOCK_COLUMNS]):
            np.minimum(nearest[rows], D.min(axis=1), out=nearest[rows])
    return nearest
