"""The metrics of rivals, and what distances show."""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist

from eocc.base.types import Matrix
from eocc.measures.auto import is_pairwise, resolve_measure


class Metric:
    """Distances between patterns: "euclidean", in the unit of the data, or those of a measure.

    Precomputed distances keep their own unit. Other measures have neutral weights, mostly all 1, and are at most 1
    between training patterns. `takes_rows` says whether patterns are rows of numbers, which scikit-learn validates.

    >>> Metric("euclidean").distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]]))
    array([[5.]])
    """

    def __init__(self, metric: Any) -> None:
        self.is_euclidean = isinstance(metric, str) and metric == "euclidean"
        self.measure = None if self.is_euclidean else resolve_measure(metric)
        self.is_pairwise = not self.is_euclidean and is_pairwise(self.measure)
        self.takes_rows = self.measure is None or self.measure.read is None

    def read(self, X: Any) -> Any:
        """Return the user's X as patterns."""
        return X if self.measure is None or self.takes_rows else self.measure.read(X)

    def fit(self, training: Any) -> Self:
        """Fit to the training patterns and return the metric itself."""
        self.fitted: Any = None if self.measure is None else self.measure.fit(training)
        return self

    def distances(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return the distances, patterns x prototypes; each row is independent of the others."""
        if self.is_euclidean:  # from differences: a matrix product would round differently in other batches
            return np.asarray(cdist(patterns, prototypes))
        if not self.is_pairwise:
            return np.asarray(self.fitted.prepare(patterns, prototypes).evaluate(self.fitted.neutral_weights()))
        given, wanted = patterns.block.shape[1], prototypes.block.shape[1]
        if given != wanted:
            raise ValueError(f"this block has {given} columns; it needs {wanted}, one per row of the fit")
        # Contiguous: otherwise one row and many would be laid out differently, and be summed in another order.
        return np.ascontiguousarray(patterns.block[:, prototypes.columns])


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
