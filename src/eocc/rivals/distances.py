"""The metrics of rivals: fit to the training patterns, then compute distances to them. Also what distances show."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from eocc.base.types import Matrix
from eocc.measures.auto import is_pairwise, resolve_measure
from eocc.measures.precomputed import PrecomputedRows
from eocc.measures.protocol import Measure


class Metric(ABC):
    """Distances between patterns."""

    is_pairwise = False  # whether X holds distances
    takes_rows = True  # whether patterns are rows of numbers, which scikit-learn validates

    def read(self, X: Any) -> Any:
        """Return the user's X as patterns."""
        return X

    def fit(self, training: Any) -> Self:
        """Fit to the training patterns and return the metric itself."""
        return self

    @abstractmethod
    def distances(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return the distances, patterns x prototypes; each row is independent of the others."""


class EuclideanRows(Metric):
    """The Euclidean distance in the unit of the data."""

    def distances(self, patterns: Matrix, prototypes: Matrix) -> Matrix:
        """Return the distances from differences; a matrix product would round differently in other batches."""
        return np.asarray(cdist(patterns, prototypes))


class Blocks(Metric):
    """Precomputed distances in their own unit; the measure reads and checks them."""

    is_pairwise = True
    takes_rows = False

    def __init__(self, measure: Any) -> None:
        self.measure = measure

    def read(self, X: Any) -> PrecomputedRows:
        """Return a block of distances."""
        block: PrecomputedRows = self.measure.read(X)
        return block

    def fit(self, training: PrecomputedRows) -> Self:
        """Check that the block is square, symmetric and zero on its diagonal."""
        self.measure.fit(training)
        return self

    def distances(self, patterns: PrecomputedRows, prototypes: PrecomputedRows) -> Matrix:
        """Return the block's columns of the prototypes."""
        given, wanted = patterns.block.shape[1], prototypes.block.shape[1]
        if given != wanted:
            raise ValueError(f"this block has {given} columns; it needs {wanted}, one per row of the fit")
        # Contiguous: otherwise one row and many would be laid out differently, and be summed in another order.
        return np.ascontiguousarray(patterns.block[:, prototypes.columns])


class Measured(Metric):
    """A measure of `eocc.measures` at its neutral weights, mostly all 1: at most 1 between training patterns."""

    def __init__(self, measure: Measure) -> None:
        self.measure = measure
        self.takes_rows = measure.read is None

    def read(self, X: Any) -> Any:
        """Return X as the measure reads it."""
        return self.measure.read(X)  # only called if takes_rows is False

    def fit(self, training: Any) -> Self:
        """Fit the measure."""
        self.fitted = self.measure.fit(training)
        return self

    def distances(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return the measure's dissimilarities."""
        found: Matrix = self.fitted.prepare(patterns, prototypes).evaluate(self.fitted.neutral_weights())
        return found


def resolve_metric(metric: Any) -> Metric:
    """Return a new, unfitted metric of that name, or of that measure.

    >>> resolve_metric("euclidean").distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[5.]])
    """
    if isinstance(metric, str) and metric == "euclidean":
        return EuclideanRows()
    measure = resolve_measure(metric)
    return Blocks(measure) if is_pairwise(measure) else Measured(measure)


def distances_to_others(D: Matrix) -> Matrix:
    """Return each row of a square block without its diagonal, sorted.

    >>> distances_to_others(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).tolist()
    [[1.0, 3.0], [2.0, 3.0], [1.0, 2.0]]
    """
    n = len(D)
    return np.asarray(np.sort(D[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1))


def intrinsic_dimension(D: Matrix, k: int = 10) -> float:
    """Return Levina and Bickel's maximum-likelihood dimension (2004), averaged as MacKay and Ghahramani advise.

    1 / dimension is the mean of log(r_k / r_j) over patterns and j < k, where r_j is the distance to the j-th nearest
    of the other patterns. Copies are left out; without two different distances the dimension is 1.

    >>> intrinsic_dimension(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).__round__(3)
    1.443
    """
    nearest = distances_to_others(D)[:, :k]
    inside = (nearest > 0) & (nearest < nearest[:, -1:])
    if not inside.any():
        return 1.0
    logs = np.log(np.broadcast_to(nearest[:, -1:], nearest.shape)[inside] / nearest[inside])
    return float(1 / logs.mean())
