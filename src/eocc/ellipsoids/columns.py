"""The columns of a table behind the features of a model, so that regions can be said in the units of the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.ellipsoids.features import CATEGORY, has_rows
from eocc.foundation.types import Indices, Matrix
from eocc.measures.difference import feature_names
from eocc.tables.table import NUMBER as KIND_NUMBER

NUMBER, CATEGORIES, LEVELS, CONSTANT, DATE = "number", "categories", "levels", "constant", "date"


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A column of the data: the `places` of its features, and what they mean.

    A number x has the feature (x - centre) * factor, and so has a date, in microseconds; `moment` is its kind.
    Categories have one feature each, `factor` for the row's own one of the `labels`. A level has its rank among the
    labels, from 0 to `factor` for the last. A column that is constant in training has the feature 0 for that value,
    `centre`, and `factor` for any other.
    """

    name: str
    kind: str
    places: Indices
    factor: float
    centre: float = 0.0
    labels: tuple[Any, ...] = ()
    moment: str = ""

    def value(self, feature: float) -> float:
        """Return the number of the column that a feature encodes."""
        return feature / self.factor + self.centre

    def shares(self, features: Matrix) -> Matrix:
        """Return the share of each category, given the mean features of rows."""
        return np.asarray(features[self.places] / self.factor)


def data_columns(measure: Any, weights: Matrix, names: Sequence[str] | None) -> list[DataColumn]:
    """Return the columns of weight > 0 of a fitted measure of rows of numbers or of a table."""
    roots = np.sqrt(weights)
    if has_rows(measure):
        factors = measure.unit.factors / measure.largest * roots
        called, centres = feature_names(names, len(factors)), measure.unit.centre
        return [
            DataColumn(name, NUMBER, np.array([k]), float(factors[k]), float(centres[k]))
            for k, name in enumerate(called)
            if weights[k] > 0
        ]
    found, start = [], 0
    for k, column in enumerate(measure.columns):
        width = max(column.coder.n_codes, 1)
        places, start = np.arange(start, start + width), start + width
        if weights[k] > 0 and column.coder.kind != "empty":
            found.append(_table_column(str(column.name), column, places, float(roots[k])))
    return found


def _table_column(name: str, column: Any, places: Indices, root: float) -> DataColumn:
    coder = column.coder
    if coder.kind == "categorical":
        return DataColumn(name, CATEGORIES, places, CATEGORY * root, labels=tuple(coder.codes))
    if coder.kind == "boolean":
        return DataColumn(name, CATEGORIES, places, CATEGORY * root, labels=(False, True))
    if coder.kind == "ordered":
        return DataColumn(name, LEVELS, places, root, labels=coder.levels)
    scale = float(np.ldexp(1.0, coder.exponent))
    if coder.span == 0:
        return DataColumn(name, CONSTANT, places, root, coder.low * scale)
    kind = NUMBER if column.kind == KIND_NUMBER else DATE
    return DataColumn(name, kind, places, root / (coder.span * scale), coder.low * scale, moment=column.kind)
