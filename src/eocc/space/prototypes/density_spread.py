"""Prototypes far from each other, but not isolated patterns."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.arguments import check_count, check_number
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.farthest_first import spread
from eocc.space.prototypes.protocol import blocks, check_places

# The sample has two patterns per prototype within these limits: fewer could not distinguish a small cluster
# from isolated patterns, more would cost more than the selection itself.
FEWEST, MOST = 128, 512


@dataclass(frozen=True)
class DensitySpread:
    """Farthest-first with less weight for isolated patterns: repeatedly the largest w_i min_j d(x_i, r_j).

    w_i = min(1, s / s_i)^exponent, where s_i is the dissimilarity of x_i to its k-th nearest pattern in a random
    sample, k = `neighbours`, and s the median of the s_i > 0. In the denser half, w = 1. An isolated pattern with
    s_i = 10 s has w = 1 / 100. With exponent 0 this is farthest-first.
    The first prototype is drawn from the denser half. Ties go to the lower index; copies are chosen last.
    """

    neighbours: int = 5
    exponent: float = 2.0

    def __post_init__(self) -> None:
        check_count("neighbours", self.neighbours)
        check_number("exponent", self.exponent, ">= 0", lambda value: 0 <= value < np.inf)

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns; computes n * (count + size of the sample) dissimilarities."""
        n = len(patterns)
        check_places(count, n)
        sample = np.sort(rng.permutation(n)[: max(FEWEST, min(2 * count, MOST))])
        weights = weights_from(local_spacings(measure, patterns, sample, self.neighbours), self.exponent)
        first = int(rng.choice(np.flatnonzero(weights == 1)))
        return np.sort(spread(measure, patterns, count, first, weights))


def local_spacings(measure: FittedMeasure, patterns: Any, sample: Indices, neighbours: int) -> Matrix:
    """Return the dissimilarity of each pattern to its k-th nearest other pattern in the sample, or to the last."""
    spacings, k = np.zeros(len(patterns)), min(neighbours, len(sample) - 1)
    if k == 0:
        return spacings
    for rows, D in blocks(measure, patterns, patterns[sample]):
        here = np.flatnonzero((sample >= rows.start) & (sample < rows.stop))
        D[sample[here] - rows.start, here] = np.inf
        D.partition(k - 1, axis=1)
        spacings[rows] = D[:, k - 1]
    return spacings


def weights_from(spacings: Matrix, exponent: float) -> Matrix:
    """Return min(1, s / s_i)^exponent, s the median of the positive s_i; 1 if there is none."""
    positive = spacings[spacings > 0]
    if len(positive) == 0:
        return np.ones(len(spacings))
    median = np.median(positive)
    return np.asarray((median / np.maximum(spacings, median)) ** exponent)
