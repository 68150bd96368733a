"""Weighted Euclidean dissimilarity of feature vectors whose columns have different units."""

from dataclasses import dataclass

from eocc.foundation.types import Matrix
from eocc.measures.euclidean import FittedEuclidean, fitted_against, fitted_in
from eocc.measures.unit import StandardUnit


@dataclass(frozen=True)
class Standardised:
    """The Euclidean measure on columns over their standard deviation in training: no column wins by its unit.

    d(x, y; p) = sqrt(sum_k p_k ((x_k - y_k) / s_k)^2) / delta, delta the largest such distance in training at p = 1.
    As a StandardScaler before it, but that the scale is part of the model: it is saved with it, and explanations speak
    of the features as they are.

    >>> measure = Standardised().fit(np.array([[0.0, 1.0], [0.5, 1000.0]]))
    >>> measure.prepare(np.array([[0.0, 1000.0]]), np.array([[0.0, 1.0], [0.5, 1000.0]])).evaluate(np.ones(2)).round(3)
    array([[0.707, 0.707]])
    """

    def fit(self, training: Matrix) -> FittedEuclidean:
        """Fix the spreads and delta."""
        return fitted_in(StandardUnit.of(training), training)

    def fit_against(self, training: Matrix, prototypes: Matrix) -> FittedEuclidean:
        """Fix the spreads, and as delta the largest distance to a prototype."""
        return fitted_against(StandardUnit.of(training), training, prototypes)
