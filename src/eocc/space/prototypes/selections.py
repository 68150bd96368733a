"""Which training patterns become prototypes: all, a number of them, and by which selection."""

import numbers
from dataclasses import dataclass
from math import isqrt
from typing import Any, Protocol, cast

import numpy as np

from eocc.base.checks import integer
from eocc.base.checks import prototypes as prototypes_check
from eocc.base.progress import track
from eocc.base.registry import resolve
from eocc.base.threads import BLOCK_SIZE
from eocc.base.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes import SELECTIONS


class Selection(Protocol):
    """Chooses the patterns that become prototypes, the coordinates of the dissimilarity space."""

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return the indices of `count` different patterns, ascending; every random number comes from `rng`.

        `patterns` have a length and can be indexed by an array of integers or a slice.
        """
        ...


def resolve_selection(selection: str | Selection) -> Selection:
    """Return the selection itself, or the one registered under its name."""
    return cast(Selection, resolve("selection", SELECTIONS, selection, method="select"))


def count_of(prototypes: int | float | None, n: int) -> int:
    """Return the number of prototypes among n patterns: all for None, at most n for an integer, n * fraction otherwise.

    The product is rounded to the nearest integer, and at least 1.

    >>> [count_of(wanted, 30) for wanted in (None, 8, 256, 0.1, 1.0, 0.001)]
    [30, 8, 30, 3, 30, 1]
    """
    if prototypes is None:
        return n
    prototypes_check()("prototypes", prototypes)
    return min(int(prototypes), n) if isinstance(prototypes, numbers.Integral) else max(1, round(prototypes * n))


def select_prototypes(
    selection: str | Selection, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator
) -> Indices:
    """Return the indices of `count` different patterns, ascending; raise a ValueError if the selection gave others."""
    chooser, n = resolve_selection(selection), len(patterns)
    if count == n:
        return np.arange(n)
    chosen, name = np.asarray(chooser.select(measure, patterns, count, rng)), type(chooser).__name__
    if chosen.shape != (count,) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"{name}: select must return {count} integers, not {chosen.dtype} of shape {chosen.shape}")
    if chosen[0] < 0 or chosen[-1] >= n or (np.diff(chosen) <= 0).any():
        raise ValueError(f"{name}: select must return different indices below {n}, ascending")
    return chosen.astype(np.int64)


def check_places(count: Any, n: int) -> None:
    """Raise a ValueError unless `count` of n patterns can be chosen."""
    integer(1)("count", count)
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


def nearest_dissimilarities(measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return min_j d(pattern_i, prototype_j; p = 1) for every pattern, (n,)."""
    nearest = np.full(len(patterns), np.inf)
    side = isqrt(BLOCK_SIZE)  # of blocks with many prototypes
    for first in range(0, len(prototypes), side):
        some = prototypes[first : first + side]
        step = BLOCK_SIZE // len(some)
        for start in range(0, len(patterns), step):
            rows = slice(start, start + step)
            np.minimum(nearest[rows], dissimilarities(measure, patterns[rows], some).min(axis=1), out=nearest[rows])
    return nearest


@dataclass(frozen=True)
class RandomSelection:
    """Patterns drawn uniformly without replacement; copies of earlier ones are skipped.

    If there are fewer different patterns than prototypes, the first copies drawn fill the rest.
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns; computes count^2 dissimilarities, up to n * count if most patterns are copies."""
        check_places(count, len(patterns))
        return np.sort(without_copies(measure, patterns, rng.permutation(len(patterns)), count))


def without_copies(measure: FittedMeasure, patterns: Any, order: Indices, count: int) -> Indices:
    """Return the first `count` of `order` that are not copies (dissimilarity 0) of earlier ones, then copies."""
    kept, start, step = order[:0], 0, min(count, isqrt(BLOCK_SIZE))
    while start < len(order):
        batch = order[start : start + step]
        start, step = start + step, max(step, 64)  # the first draws may be copies
        if len(kept):
            batch = batch[nearest_dissimilarities(measure, patterns[batch], patterns[kept]) > 0]
        if len(batch):
            among = dissimilarities(measure, patterns[batch], patterns[batch])
            kept = np.concatenate([kept, batch[~np.tril(among == 0, -1).any(axis=1)]])
        if len(kept) >= count:
            return kept[:count]
    copies = order[~np.isin(order, kept)]
    return np.concatenate([kept, copies[: count - len(kept)]])


@dataclass(frozen=True)
class FarthestFirst:
    """A random pattern, then repeatedly the one farthest from its nearest prototype; ties to the lower index.

    The largest distance of a pattern to its prototype is at most twice the optimum (Gonzalez 1985), if d satisfies the
    triangle inequality. Copies are chosen last, in the order of their indices.
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns; computes n * count dissimilarities."""
        check_places(count, len(patterns))
        return np.sort(spread(measure, patterns, count, int(rng.integers(len(patterns)))))


def spread(measure: FittedMeasure, patterns: Any, count: int, first: int) -> Indices:
    """Return `first`, then repeatedly the pattern x_i of largest distance min_j d(x_i, x_j) to those chosen."""
    chosen, distances = np.full(count, first), np.full(len(patterns), np.inf)
    for k in track("choosing prototypes", range(1, count)):
        latest = chosen[k - 1 : k]
        np.minimum(distances, nearest_dissimilarities(measure, patterns, patterns[latest]), out=distances)
        distances[latest] = -1.0  # below that of its copies, so that it is not chosen again
        chosen[k] = distances.argmax()
    return chosen
