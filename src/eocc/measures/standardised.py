"""Weighted Euclidean dissimilarity of rows of numbers whose columns have different units."""

from dataclasses import dataclass
from typing import Any, ClassVar

from eocc.foundation.types import Matrix
from eocc.measures.base import RegisteredMeasure
from eocc.measures.euclidean import FittedEuclidean, fitted_against, fitted_in
from eocc.measures.unit import StandardUnit, Unit


@dataclass(frozen=True)
class Standardised(RegisteredMeasure):
    """The Euclidean measure after dividing each column by its standard deviation s_k in training.

    d(x, y; p) = sqrt(sum_k p_k ((x_k - y_k) / s_k)^2) / delta; delta is the largest such distance in training at p = 1.
    It is like a StandardScaler in front of the Euclidean measure, but the scale is saved with the model, and
    explanations show the columns in their own units.

    >>> measure = Standardised().fit(np.array([[0.0, 1.0], [0.5, 1000.0]]))
    >>> measure.prepare(np.array([[0.0, 1000.0]]), np.array([[0.0, 1.0], [0.5, 1000.0]])).evaluate(np.ones(2)).round(3)
    array([[0.707, 0.707]])
    """

    fitted_class: ClassVar = FittedEuclidean
    stored_classes: ClassVar = (FittedEuclidean, Unit, StandardUnit)

    def fit(self, training: Matrix) -> FittedEuclidean:
        """Fix the standard deviations and delta."""
        return fitted_in(StandardUnit.of(training), training)

    def fit_against(self, training: Matrix, prototypes: Matrix) -> FittedEuclidean:
        """Fix the standard deviations, and as delta the largest distance to a prototype."""
        return fitted_against(StandardUnit.of(training), training, prototypes)

    def pair_bytes(self, patterns: Any) -> float:
        """Return 0: pairs are computed in blocks."""
        return 0.0
