"""Weighted Euclidean dissimilarity of feature vectors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eocc.blas import gram
from eocc.kernels.distances import distances_from_gram, weighted_cross_distances

Matrix = NDArray[np.float64]

# In units of the largest training value: new patterns beyond this are all equally far, so that
# squares stay finite.
FARTHEST = 1e150


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
    distances_from_gram(rows, scale, out, np.empty(n), np.empty(n, np.int64))
    return out


@dataclass(frozen=True)
class Euclidean:
    """d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) / delta, delta the largest training distance at p = 1.

    >>> measure = Euclidean().freeze(np.array([[0.0, 0.0], [3.0, 4.0]]))
    >>> measure.delta
    5.0
    """

    def freeze(self, training: Matrix) -> "FrozenEuclidean":
        """Fix delta, in units of a power of two that keeps squares of huge or tiny values finite."""
        exponent = int(np.frexp(np.abs(training).max())[1])
        rows = _centred(np.ldexp(training, -exponent))
        largest = float(euclidean_pairwise_distance(rows, scale=1.0).max())
        return FrozenEuclidean(training.shape[1], exponent, largest)


@dataclass(frozen=True)
class FrozenEuclidean:
    """The Euclidean measure with its delta fixed: `largest` in units of 2**exponent."""

    n_parameters: int
    exponent: int
    largest: float

    @property
    def delta(self) -> float:
        """The divisor in the patterns' own units; 1 when all training rows are equal."""
        return float(np.ldexp(self.largest, self.exponent)) if self.largest > 0 else 1.0

    @property
    def _scale(self) -> float:
        """What turns a distance in units of 2**exponent into a dissimilarity."""
        return 1.0 / self.largest if self.largest > 0 else 2.0 ** min(self.exponent, 1023)

    def prepare(self, patterns: Matrix, prototypes: Matrix) -> "_Square | _Rows":
        """Bring patterns (and prototypes) to units of 2**exponent, centred in the square case."""
        if patterns is prototypes:
            return _Square(_centred(self._rescaled(patterns)), self._scale)
        columns = np.ascontiguousarray(self._rescaled(prototypes).T)
        return _Rows(self._rescaled(patterns), columns, self._scale)

    def _rescaled(self, patterns: Matrix) -> Matrix:
        with np.errstate(over="ignore"):
            rows = np.ldexp(patterns, -self.exponent)
        return np.ascontiguousarray(np.clip(rows, -FARTHEST, FARTHEST))


@dataclass(frozen=True)
class _Square:
    """All pairs of one set: a matrix product of rows weighted by sqrt(p)."""

    rows: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        return euclidean_pairwise_distance(self.rows * np.sqrt(p), self.scale, out)


@dataclass(frozen=True)
class _Rows:
    """New patterns against prototypes: each row by itself, from differences."""

    rows: Matrix
    prototype_columns: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        distances = np.empty((len(self.rows), self.prototype_columns.shape[1]))
        weighted_cross_distances(self.rows, self.prototype_columns, p, self.scale, distances)
        return distances


def _centred(rows: Matrix) -> Matrix:
    return np.ascontiguousarray(rows - rows.mean(axis=0))
