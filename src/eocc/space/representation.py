"""Training patterns -> the fitted measure and the prototypes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.types import Indices
from eocc.measures.protocol import FittedMeasure, Measure, Prepared, prepare
from eocc.space.prototypes.selections import Selection, count_of, select_prototypes


@dataclass(frozen=True, eq=False)
class Representation:
    """Patterns and prototypes: prototype j is pattern prototype_indices[j]. `is_whole`: all patterns are prototypes."""

    measure: FittedMeasure
    patterns: Any
    prototypes: Any
    prototype_indices: Indices
    is_whole: bool

    @cached_property
    def prepared(self) -> Prepared:
        """All patterns compared with the prototypes; computed once, on the cluster in use if there is one."""
        return prepare(self.measure, self.patterns, None if self.is_whole else self.prototypes)


def represent(
    patterns: Any,
    measure: Measure,
    prototypes: int | float | None,
    selection: str | Selection,
    rng: np.random.Generator,
) -> Representation:
    """Fit the measure and choose the prototypes: all patterns (None), a number or a fraction of them.

    A measure with a scale is scaled by the largest dissimilarity to a prototype. While the prototypes are chosen, it is
    scaled by the largest dissimilarity to one pattern: at least half of any other, by the triangle inequality.
    """
    n = len(patterns)
    count = count_of(prototypes, n)
    if count == n:
        return Representation(measure.fit(patterns), patterns, patterns, np.arange(n), is_whole=True)
    # Not drawn from rng, so that the prototypes of a seed do not depend on whether the measure has a scale.
    reference = np.random.default_rng(0).integers(n, size=1)
    fitted = measure.fit_against(patterns, patterns[reference])
    prototype_indices = select_prototypes(selection, fitted, patterns, count, rng)
    chosen = patterns[prototype_indices]
    return Representation(measure.fit_against(patterns, chosen), patterns, chosen, prototype_indices, is_whole=False)
