"""Prototypes as far from each other as possible: k-centres."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.progress import stage
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.protocol import check_places, dissimilarities, nearest_dissimilarities

# Below every distance, so that a chosen pattern is not chosen again; its copies have distance 0.
TAKEN = -1.0
# The pool of candidates is n / 32 within these limits: small enough to compare with every choice, large enough that one
# pass over all patterns serves many choices.
SMALLEST_POOL, LARGEST_POOL = 256, 4096


@dataclass(frozen=True)
class FarthestFirst:
    """A random pattern, then repeatedly the one farthest from its nearest prototype; ties to the lower index.

    The largest distance of a pattern to its prototype is at most twice the optimum (Gonzalez 1985), if d satisfies the
    triangle inequality. Copies are chosen last, in the order of their indices.
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns; computes n * count dissimilarities and a few percent more."""
        n = len(patterns)
        check_places(count, n)
        return np.sort(spread(measure, patterns, count, int(rng.integers(n))))


def spread(measure: FittedMeasure, patterns: Any, count: int, first: int) -> Indices:
    """Return `first`, then repeatedly the pattern x_i of largest distance min_j d(x_i, x_j) to those chosen."""
    # Ties go to the lower index. One pass over all patterns serves many choices: distances only fall, so the patterns
    # of largest distance, the pool, come first while their distances exceed the largest of the others.
    chosen = np.array([first], dtype=np.int64)
    latest, distances = chosen, np.full(len(patterns), np.inf)
    with stage("choosing prototypes", count) as report:
        while len(chosen) < count:
            np.minimum(distances, nearest_dissimilarities(measure, patterns, patterns[latest]), out=distances)
            distances[chosen] = TAKEN
            if distances.max() <= 0:
                return np.concatenate([chosen, np.flatnonzero(distances == 0)[: count - len(chosen)]])
            latest = _next_choices(measure, patterns, distances, count - len(chosen))
            chosen = np.concatenate([chosen, latest])
            report(len(chosen))
    return chosen


def _next_choices(measure: FittedMeasure, patterns: Any, distances: Matrix, wanted: int) -> Indices:
    """Return the choices, at least 1, that follow from the pool alone."""
    pool, floor, last = _largest(distances)
    members, own = patterns[pool], distances[pool]
    choices: list[int] = []
    while len(choices) < wanted:
        place = np.array([np.argmax(own)])
        distance, index = float(own[place[0]]), int(pool[place[0]])
        # The distances outside the pool are at most `floor`; those equal to it have an index above `last`.
        if distance <= 0 or distance < floor or (distance == floor and index > last):
            break
        choices.append(index)
        np.minimum(own, dissimilarities(measure, members, members[place])[:, 0], out=own)
        own[place] = TAKEN
    return np.array(choices, dtype=np.int64)


def _largest(distances: Matrix) -> tuple[Indices, float, int]:
    """Return the pool, ascending; its least distance; the last pattern with that distance. Ties: lower index."""
    n = len(distances)
    size = min(n, max(SMALLEST_POOL, min(n // 32, LARGEST_POOL)))
    floor = np.partition(distances, n - size)[n - size]
    above = np.flatnonzero(distances > floor)
    level = np.flatnonzero(distances == floor)[: size - len(above)]
    return np.sort(np.concatenate([above, level])), float(floor), int(level[-1])
