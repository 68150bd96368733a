"""Prototypes as far from each other as can be: k-centres."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.protocol import check_places, dissimilarities, nearest_dissimilarities

# Less than any gap there is: a chosen pattern is not chosen again, also where its copies have gap 0.
TAKEN = -1.0
# A pool is a 32nd of all patterns within these bounds: comparing it with each choice adds little to the work, and one
# pass over all patterns serves many choices.
SMALLEST_POOL, LARGEST_POOL = 256, 4096


@dataclass(frozen=True)
class FarthestFirst:
    """A pattern drawn at random, then always the one whose nearest chosen pattern is farthest; ties to the lower index.

    No pattern is then farther from its prototype than twice the least such radius there is (Gonzalez 1985), if d keeps
    the triangle inequality. Copies are chosen last, in the order of their indices.

    >>> from eocc.measures import Euclidean
    >>> rows = np.array([[0.0], [1.0], [1.0], [2.0], [9.0]])
    >>> FarthestFirst().select(Euclidean().fit(rows), rows, 3, np.random.default_rng(0))
    array([0, 3, 4])
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns, from n count dissimilarities and a few per cent more."""
        n = len(patterns)
        check_places(count, n)
        return np.sort(spread(measure, patterns, count, int(rng.integers(n)), np.ones(n)))


def spread(measure: FittedMeasure, patterns: Any, count: int, first: int, weights: Matrix) -> Indices:
    """Return `first`, then always the pattern of largest gap w_i min_j d(x_i, x_j) to those chosen, as they are chosen.

    Ties go to the lower index. The choices are those of one pass over all patterns per choice, but many are made per
    pass, among the patterns of largest gap: gaps only fall, so that these come first as long as their gaps exceed the
    largest of the others.

    >>> from eocc.measures import Euclidean
    >>> rows = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> spread(Euclidean().fit(rows), rows, 3, 1, np.ones(4))
    array([1, 3, 0])
    """
    chosen = np.array([first], dtype=np.int64)
    latest, gaps = chosen, np.full(len(patterns), np.inf)
    while len(chosen) < count:
        np.minimum(gaps, weights * nearest_dissimilarities(measure, patterns, patterns[latest]), out=gaps)
        gaps[chosen] = TAKEN
        if gaps.max() <= 0:
            return np.concatenate([chosen, np.flatnonzero(gaps == 0)[: count - len(chosen)]])
        latest = _next_choices(measure, patterns, gaps, weights, count - len(chosen))
        chosen = np.concatenate([chosen, latest])
    return chosen


def _next_choices(measure: FittedMeasure, patterns: Any, gaps: Matrix, weights: Matrix, wanted: int) -> Indices:
    """Return the choices, at least 1, that are certain from the patterns of largest gap alone."""
    pool, floor, last = _largest(gaps)
    members, own = patterns[pool], gaps[pool]
    choices: list[int] = []
    while len(choices) < wanted:
        place = np.array([np.argmax(own)])
        gap, index = float(own[place[0]]), int(pool[place[0]])
        # The others' gaps are at most `floor`, and those that reach it have an index above `last`.
        if gap <= 0 or gap < floor or (gap == floor and index > last):
            break
        choices.append(index)
        np.minimum(own, weights[pool] * dissimilarities(measure, members, members[place])[:, 0], out=own)
        own[place] = TAKEN
    return np.array(choices, dtype=np.int64)


def _largest(gaps: Matrix) -> tuple[Indices, float, int]:
    """Return the patterns of largest gap, rising, ties to the lower index; the least gap among them; the last with it.

    >>> _largest(np.array([0.5, 0.2, 0.7]))
    (array([0, 1, 2]), 0.2, 1)
    """
    n = len(gaps)
    size = min(n, max(SMALLEST_POOL, min(n // 32, LARGEST_POOL)))
    floor = np.partition(gaps, n - size)[n - size]
    above = np.flatnonzero(gaps > floor)
    level = np.flatnonzero(gaps == floor)[: size - len(above)]
    return np.sort(np.concatenate([above, level])), float(floor), int(level[-1])
