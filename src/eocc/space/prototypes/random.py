"""Prototypes drawn at random: the baseline for the other selections."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Indices
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.protocol import BLOCK_COLUMNS, check_places, dissimilarities, nearest_dissimilarities

# The least number of patterns compared at once after the first draws, which may be copies.
LEAST_STEP = 64


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
    kept, start, step = order[:0], 0, min(count, BLOCK_COLUMNS)
    while start < len(order):
        batch = order[start : start + step]
        start, step = start + step, max(step, LEAST_STEP)
        if len(kept):
            batch = batch[nearest_dissimilarities(measure, patterns[batch], patterns[kept]) > 0]
        if len(batch):
            among = dissimilarities(measure, patterns[batch], patterns[batch])
            kept = np.concatenate([kept, batch[~np.tril(among == 0, -1).any(axis=1)]])
        if len(kept) >= count:
            return kept[:count]
    copies = order[~np.isin(order, kept)]
    return np.concatenate([kept, copies[: count - len(kept)]])
