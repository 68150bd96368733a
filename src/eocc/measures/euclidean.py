"""Weighted Euclidean dissimilarity of feature vectors."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.blas import gram
from eocc.foundation.types import Matrix
from eocc.kernels.distances import CANCELLATION, cross_distances_by_columns, distances_from_gram
from eocc.kernels.smallest import nearest_by_columns
from eocc.measures.largest import largest_against
from eocc.measures.unit import Unit


def euclidean_pairwise_distance(rows: Matrix, scale: float, out: Matrix | None = None) -> Matrix:
    """Return ||rows_i - rows_j||_2 * scale for all pairs, through one matrix product.

    Rows should be centred: that leaves the distances as they are and cuts the product's rounding error.

    >>> euclidean_pairwise_distance(np.array([[0.0, 0.0], [3.0, 4.0]]), scale=2.0)
    array([[ 0., 10.],
           [10.,  0.]])
    """
    n = len(rows)
    out = np.empty((n, n)) if out is None else out
    gram(rows, out)
    distances_from_gram(rows, scale, CANCELLATION, out, np.empty(n), np.empty(n, np.int64))
    return out


@dataclass(frozen=True)
class Euclidean:
    """d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) / delta, delta the largest training distance at p = 1.

    >>> measure = Euclidean().fit(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> measure.delta
    5.0
    """

    def fit(self, training: Matrix) -> "FittedEuclidean":
        """Fix the unit and delta. departure: dissimilarity of vectors."""
        return fitted_in(Unit.of(training), training)

    def fit_against(self, training: Matrix, prototypes: Matrix) -> "FittedEuclidean":
        """Fix the unit, and as delta the largest distance to a prototype."""
        return fitted_against(Unit.of(training), training, prototypes)


def fitted_in(unit: Unit, training: Matrix) -> "FittedEuclidean":
    """Return the Euclidean measure in that unit; where all training rows are equal, delta is 1."""
    largest = float(euclidean_pairwise_distance(unit.measure(training), scale=1.0).max())
    return FittedEuclidean(unit, largest) if largest > 0 else FittedEuclidean(unit.plain(), 1.0)


def fitted_against(unit: Unit, training: Matrix, prototypes: Matrix) -> "FittedEuclidean":
    """Return the Euclidean measure in that unit, scaled by the largest distance of a training row to a prototype."""
    largest = largest_against(FittedEuclidean(unit, 1.0), training, prototypes)
    return FittedEuclidean(unit, largest) if largest > 0 else FittedEuclidean(unit.plain(), 1.0)


@dataclass(frozen=True, eq=False)
class FittedEuclidean:
    """The Euclidean measure with its delta fixed: `largest` in `unit`."""

    unit: Unit
    largest: float

    @property
    def n_parameters(self) -> int:
        """One weight per feature."""
        return len(self.unit.centre)

    @property
    def delta(self) -> float:
        """The divisor in the patterns' own units; 1 when all training rows are equal."""
        return self.unit.length(self.largest)

    def prepare(self, patterns: Matrix, prototypes: Matrix | None = None) -> "_Square | _Rows":
        """Bring patterns and prototypes to the unit."""
        if patterns.shape[1] != self.n_parameters:
            raise ValueError(f"rows have {patterns.shape[1]} numbers; those of the fit had {self.n_parameters}")
        if prototypes is not None:
            return self.against(prototypes)(patterns)
        rows = self.unit.measure(patterns)
        return _Square(np.ascontiguousarray(rows - rows.mean(axis=0)), 1.0 / self.largest)

    def along(self, active: NDArray[np.bool_]) -> "FittedEuclidean":
        """Return the measure of some of the columns, on the same scale."""
        return FittedEuclidean(self.unit.along(active), self.largest)

    def against(self, prototypes: Matrix) -> "Callable[[Matrix], _Rows]":
        """Return what prepares patterns against these prototypes, which are brought to the unit once."""
        columns = np.ascontiguousarray(self.unit.measure(prototypes).T)
        return lambda patterns: _Rows(self.unit.measure(patterns), columns, 1.0 / self.largest)


@dataclass(frozen=True, eq=False)
class _Square:
    """All pairs of one set: a matrix product of rows weighted by sqrt(p)."""

    rows: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        active = p > 0
        if 2 * active.sum() <= len(p):  # columns without weight need no product
            kept = np.ascontiguousarray(self.rows[:, active] * np.sqrt(p[active]))
            return euclidean_pairwise_distance(kept, self.scale, out)
        return euclidean_pairwise_distance(self.rows * np.sqrt(p), self.scale, out)


@dataclass(frozen=True, eq=False)
class _Rows:
    """New patterns against prototypes: each row by itself, from differences."""

    rows: Matrix
    prototype_columns: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        cross_distances_by_columns(*self._weighted(p), self.scale, out)
        return out

    def nearest_and_means(
        self, p: Matrix, k: int, m: int, values: Matrix, own: NDArray[np.int64]
    ) -> tuple[Matrix, Matrix]:
        near, means = np.empty((len(self.rows), k)), np.empty(len(self.rows))
        nearest_by_columns(*self._weighted(p), own, self.scale, m, values, near, means)
        return near, means

    def _weighted(self, p: Matrix) -> tuple[Matrix, Matrix]:
        rows, columns, active = self.rows, self.prototype_columns, p > 0
        if not active.all():
            rows, columns, p = np.ascontiguousarray(rows[:, active]), columns[active], p[active]
        roots = np.sqrt(p)
        return rows * roots, columns * roots[:, None]
