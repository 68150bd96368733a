"""Training patterns -> the fitted measure and the prototypes -> the dissimilarity space, with a coordinate for each."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.kernels.distances import cross_distances
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


@dataclass(frozen=True, eq=False)
class DissimilaritySpace:
    """Row i of `rows` holds the dissimilarities of pattern i to all prototypes, minus `means`, the column means.

    Centring does not change distances, and makes their computation from scalar products more accurate.
    """

    rows: Matrix
    means: Matrix

    @property
    def n_dims(self) -> int:
        """The number of prototypes."""
        return int(self.rows.shape[1])

    @property
    def scale(self) -> float:
        """1 / sqrt(|R|), so that distances between rows lie in [0, 1]."""
        return distance_scale(self.n_dims)


def distance_scale(n_prototypes: int) -> float:
    """Return 1 / sqrt(|R|), the factor of Euclidean distances in the space. departure: distances."""
    return float(1.0 / np.sqrt(n_prototypes))


def dissimilarity_space(prepared: Prepared, p: Matrix, out: Matrix) -> DissimilaritySpace:
    """Return the dissimilarity space of the training patterns, D_ij = d(x_i, r_j; p), stored in `out`."""
    rows = prepared.evaluate(p, out)
    means = rows.mean(axis=0)
    if not np.isfinite(means).all():  # one such entry makes its column mean NaN or infinite
        raise ValueError(f"the measure gave NaN or infinity at p = {np.array2string(p, threshold=6)}")
    return DissimilaritySpace(np.subtract(rows, means, out=out), means)


def check_measure(measure: FittedMeasure, prepared: Prepared, out: Matrix) -> None:
    """Raise a ValueError unless the training dissimilarities at p = 1 have the right shape and lie in [0, 1]."""
    D = np.asarray(prepared.evaluate(np.ones(measure.n_parameters), out))
    name = measure.called
    if D.shape != out.shape:
        raise ValueError(f"{name}: evaluate gave shape {D.shape} for {len(out)} patterns and {out.shape[1]} prototypes")
    least, most = float(D.min()), float(D.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ValueError(f"{name}: evaluate gave NaN or infinity at p = 1")
    if least < 0 or most > 1 + 1e-9:
        odd = least if least < 0 else most
        raise ValueError(f"{name}: training dissimilarities must lie in [0, 1], but {odd:g} occurs; scale in fit")


def distances_to(rows: Matrix, points: Matrix) -> Matrix:
    """Return the distances in the dissimilarity space of each row to each point: (m, k)."""
    distances = np.empty((len(rows), len(points)))
    cross_distances(rows, points, distance_scale(rows.shape[1]), distances)
    return distances
