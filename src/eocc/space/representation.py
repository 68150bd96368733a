"""Training patterns -> the measure fixed on them, and the prototypes to which all dissimilarities are taken."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.protocol import FittedMeasure, Measure, Prepared
from eocc.space.prototypes.protocol import Selection
from eocc.space.prototypes.select import count_of, select_prototypes

# Blocks of patterns against all prototypes hold about this many dissimilarities, 4 MiB: a thread has one.
BLOCK = 2**19


@dataclass(frozen=True, eq=False)
class Representation:
    """Patterns and prototypes; prototype j is pattern own[j], or none of them where that is -1.

    Where it `is_whole`, every pattern is a prototype in its place, and all pairs are prepared at once.
    """

    measure: FittedMeasure
    patterns: Any
    prototypes: Any
    prototype_indices: Indices
    is_whole: bool

    @cached_property
    def prepared(self) -> Prepared:
        """All patterns against the prototypes: this may take long, and is done once."""
        return self.measure.prepare(self.patterns, None if self.is_whole else self.prototypes)

    def left_out(self, p: Matrix) -> Matrix:
        """Return the dissimilarities of all patterns at p, infinite where one meets itself."""
        return self._left_out(self.prepared, p, 0, np.empty((len(self.patterns), len(self.prototype_indices))))

    def each(self, p: Matrix, function: Callable[[Matrix], Matrix]) -> Matrix:
        """Return what `function` makes of the rows of dissimilarities at p, infinite where a pattern meets itself.

        They come at once where they cost more to prepare than to keep, else in blocks, on the threads allowed.
        """
        if not isinstance(self.measure, FittedEuclidean):
            return function(self.left_out(p))
        active, n = p > 0, len(self.patterns)
        prepare, p = self.measure.along(active).against(self.prototypes[:, active]), p[active]
        step, rooms = max(1, BLOCK // max(len(self.prototype_indices), len(p))), list[Matrix]()
        found: list[Matrix] = [np.empty(0)] * -(-n // step)

        def work(start: int, stop: int) -> None:
            try:
                room = rooms.pop()  # of a block that is done: new memory costs more than what is computed there
            except IndexError:
                room = np.empty((min(step, n), len(self.prototype_indices)))
            rows = self._left_out(prepare(self.patterns[start:stop, active]), p, start, room[: stop - start])
            found[start // step] = function(rows)
            rooms.append(room)

        if n <= step:
            work(0, n)
        else:
            for_each_block(n, step, work)
        return np.concatenate(found)

    def _left_out(self, prepared: Prepared, p: Matrix, start: int, rows: Matrix) -> Matrix:
        """Fill `rows` with those of the patterns from `start` on."""
        given = prepared.evaluate(p, rows)
        if given is not rows:  # a measure may have them already, for others to see too
            rows[...] = given
        if len(self.prototype_indices) > 1:  # of a lone prototype nothing would remain
            columns = np.flatnonzero((self.prototype_indices >= start) & (self.prototype_indices < start + len(rows)))
            rows[self.prototype_indices[columns] - start, columns] = np.inf
        return rows


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
        return Representation(measure.fit(patterns), patterns, patterns, np.arange(n), is_whole=True)
    fit_against = getattr(measure, "fit_against", None)
    # Drawn apart, not from rng: what a seed selects does not depend on whether the measure has a scale.
    anyone = np.random.default_rng(0).integers(n, size=1)
    fitted = measure.fit(patterns) if fit_against is None else fit_against(patterns, patterns[anyone])
    prototype_indices = select_prototypes(selection, fitted, patterns, count, rng)
    chosen = patterns[prototype_indices]
    fitted = fitted if fit_against is None else fit_against(patterns, chosen)
    return Representation(fitted, patterns, chosen, prototype_indices, is_whole=False)
