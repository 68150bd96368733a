"""Training patterns -> the measure fixed on them, and the prototypes to which all dissimilarities are taken."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.measures import FrozenMeasure, Measure, Prepared
from eocc.measures.euclidean import FrozenEuclidean
from eocc.prototypes import Selection, count_of, select_prototypes

Matrix = NDArray[np.float64]
Indices = NDArray[np.int64]

# Blocks of patterns against all prototypes hold about this many dissimilarities, 16 MiB.
BLOCK = 2**21


@dataclass(frozen=True, eq=False)
class Representation:
    """Patterns and prototypes; prototype j is pattern own[j]."""

    measure: FrozenMeasure
    patterns: Any
    prototypes: Any
    own: Indices

    @property
    def is_whole(self) -> bool:
        """Whether every pattern is a prototype."""
        return len(self.own) == len(self.patterns)

    @cached_property
    def prepared(self) -> Prepared:
        """All patterns against the prototypes: this may take long, and is done once."""
        return self.measure.prepare(self.patterns, None if self.is_whole else self.prototypes)

    def of(self, some: Any) -> Prepared:
        """Return some of the patterns, by their indices or a slice, against the prototypes."""
        return self.measure.prepare(self.patterns[some], self.prototypes)

    def blocks(self, p: Matrix) -> Iterator[tuple[int, Matrix]]:
        """Yield dissimilarities of the patterns at p, with the first one's index; whoever asked may change them.

        They come at once where they cost more to prepare than to keep, else in blocks.
        """
        if self.is_whole or not isinstance(self.measure, FrozenEuclidean):
            yield 0, dissimilarities(self.prepared, p)
            return
        step = max(1, BLOCK // len(self.own))
        for start in range(0, len(self.patterns), step):
            yield start, dissimilarities(self.of(slice(start, start + step)), p)


def dissimilarities(prepared: Prepared, p: Matrix) -> Matrix:
    """Return the dissimilarities at p, doubles in an array that whoever asked may change."""
    return np.array(prepared.evaluate(p), dtype=np.float64, order="C")


def represent(
    patterns: Any, measure: Measure, prototypes: int | float | None, selection: Selection, rng: np.random.Generator
) -> Representation:
    """Fix the measure on the patterns and choose the prototypes: all of them, so many, or such a share.

    Dissimilarities then are those to prototypes only, and so is the scale of a measure that has one. Until it is known,
    the scale is the largest dissimilarity to one pattern: at least half of any, if d keeps the triangle inequality.
    """
    n = len(patterns)
    count = count_of(prototypes, n)
    if count == n:
        return Representation(measure.freeze(patterns), patterns, patterns, np.arange(n))
    freeze_against = getattr(measure, "freeze_against", None)
    # Drawn apart, not from rng: what a seed selects does not depend on whether the measure has a scale.
    anyone = np.random.default_rng(0).integers(n, size=1)
    frozen = measure.freeze(patterns) if freeze_against is None else freeze_against(patterns, patterns[anyone])
    own = select_prototypes(selection, frozen, patterns, count, rng)
    chosen = patterns[own]
    frozen = frozen if freeze_against is None else freeze_against(patterns, chosen)
    return Representation(frozen, patterns, chosen, own)
