"""Patterns of any kind -> features: the numbers from which their coordinates are computed.

=====================  ====================================================================================
patterns               features
=====================  ====================================================================================
rows of numbers        the columns in the unit of the measure
tables of mixed kinds  numbers as shares of their range, and a column of 0 and 1 for each category
anything else          squared dissimilarities to the training patterns that the model keeps
=====================  ====================================================================================
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.ellipsoids.coordinates import Coordinates, pair_coordinates
from eocc.foundation.types import Matrix
from eocc.measures.protocol import Measure, Prepared

# Two rows with different categories differ in two columns of 0 and 1: each counts half.
CATEGORY = 0.5**0.5


def has_rows(measure: Any) -> bool:
    """Return whether a measure, or its fitted form, compares rows of numbers by their coordinates."""
    return _fitted_form(measure).coordinates is not None


def has_columns(measure: Any) -> bool:
    """Return whether features are columns: of rows of numbers, or of tables of mixed kinds."""
    return has_rows(measure) or _fitted_form(measure).indicator_columns is not None


def _fitted_form(measure: Any) -> Any:
    return measure.fitted_class if isinstance(measure, Measure) else measure


@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The columns of rows of numbers or of a table, each times the root of its weight."""

    measure: Any
    weights: Matrix

    def of(self, patterns: Any) -> Matrix:
        """Return the features (m, d); missing numbers are NaN, those of tables are filled by the measure."""
        if not has_rows(self.measure):
            values, owners = self.measure.indicator_columns(patterns)
            return np.asarray(np.nan_to_num(values) * self.factors(owners))
        rows: Matrix = self.measure.unit.measure(patterns)
        if self.measure.largest != 1:
            rows /= self.measure.largest
        return rows if (self.weights == 1).all() else rows * np.sqrt(self.weights)

    def factors(self, owners: Any) -> Matrix:
        """Return what the columns of a table are multiplied by, given the column that each belongs to."""
        roots = np.where(self.measure.is_code, CATEGORY, 1.0) * np.sqrt(self.weights)
        return np.asarray(roots[owners])


@dataclass(frozen=True, eq=False)
class PairFeatures:
    """The squared dissimilarities to the `prototypes`, in `unit`, the largest of two training patterns."""

    measure: Any
    weights: Matrix
    prototypes: Any
    unit: float

    def of(self, patterns: Any) -> Matrix:
        """Return the features (m, n)."""
        with np.errstate(over="ignore"):
            return np.asarray((self.measure.prepare(patterns, self.prototypes).evaluate(self.weights) / self.unit) ** 2)


def pair_features(measure: Any, weights: Matrix, patterns: Any, prepared: Prepared) -> tuple[PairFeatures, Coordinates]:
    """Return the features of training patterns, which are the prototypes, and their coordinates."""
    distances = prepared.evaluate(weights)
    distances = (distances + distances.T) / 2
    np.fill_diagonal(distances, 0.0)
    unit = float(distances.max()) or 1.0
    return PairFeatures(measure, weights, patterns, unit), pair_coordinates((distances / unit) ** 2)
