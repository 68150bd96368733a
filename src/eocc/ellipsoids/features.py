"""Patterns of any kind -> features, the coordinates in which regions are fitted, and the columns behind the features.

=====================  ====================================================================================
patterns               features
=====================  ====================================================================================
rows of numbers        the columns in the unit of the measure
tables of mixed kinds  numbers as shares of their range, and a column of 0 and 1 for each category
anything else          squared dissimilarities to the training patterns that the model keeps
=====================  ====================================================================================
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import FITTED, numbers, optional, real
from eocc.base.threads import one_blas_thread
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.kernels.ellipsoids import place_rows, squared_lengths
from eocc.measures.difference import feature_names
from eocc.measures.protocol import Prepared
from eocc.tables.table import NUMBER as KIND_NUMBER

# Features farther out count as this far, so that no square of theirs overflows. departure: far patterns
FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class Shape:
    """The pooled covariance within regions, shrunk: `axes` (r, r), the `variances` along them, `outside` of the span.

    `shrinkage` is rho in Sigma = (1 - rho) S + rho mu I, where S is the pooled covariance and mu its mean variance.
    """

    axes: Matrix
    variances: Matrix
    outside: float
    shrinkage: float


@dataclass(frozen=True, eq=False)
class Coordinates:
    """The coordinates of the training rows, `rows` (n, r), and how those of new rows follow from their features.

    A row with features f (d,) has the coordinates (f - origin) basis; `basis` is (d, r). The squared distance from the
    span of the training rows is the squared length of the row less that of its coordinates. The squared length is
    ||f - origin||^2 for rows of numbers, whose features are the numbers. Squared dissimilarities to the training rows
    have the squared length mean(f) + `constant`.
    """

    rows: Matrix
    origin: Matrix
    basis: Matrix
    constant: float | None = None

    def whitened(self, shape: Shape) -> "Placement":
        """Return the placement in which the shape is a unit ball."""
        fills = self.constant is None and self.basis.shape[0] == self.basis.shape[1]
        with one_blas_thread():
            axes = np.ascontiguousarray(self.basis @ shape.axes)
        height = 0.0 if fills or not shape.outside > 0 else shape.outside**-0.5
        return Placement(self.origin, axes, shape.variances**-0.5, height, self.constant)


@dataclass(frozen=True, eq=False)
class Placement:
    """Where rows lie, in widths of the regions: the distance between two places is the Mahalanobis distance.

    The last coordinate is the distance from the span of the training rows, in its own width: `height` is 1 / width.
    """

    # No number of a fit is nearly as large as 1e40; with larger ones a score could overflow.
    origin: Annotated[Matrix, numbers("d")]
    axes: Annotated[Matrix, numbers("d r", "[-1e40, 1e40]")]
    scales: Annotated[Matrix, numbers("r", "[0, 1e40]")]
    height: Annotated[float, real("[-1e-300, 1e40]")]
    constant: Annotated[float | None, optional(real(FITTED))] = None

    def place(self, features: Matrix) -> Matrix:
        """Return the places (m, r + 1) of rows with these features (m, d)."""
        rows = np.clip(features, -FARTHEST, FARTHEST)
        lengths, out = np.empty(len(rows)), np.empty((len(rows), len(self.scales) + 1))
        if self.constant is None:
            squared_lengths(rows, self.origin, lengths)
        else:
            lengths = np.array([row.mean() for row in rows]) + self.constant
        place_rows(rows, self.origin, self.axes, self.scales, lengths, self.height, out)
        return out

    def features_of(self, places: Matrix) -> Matrix:
        """Return the features (k, d) of places inside the span, such as the centres of regions."""
        return np.asarray(self.origin + places[:, : len(self.scales)] / self.scales @ self.axes.T)

    def pull(self, gaps: Matrix) -> Matrix:
        """Return Sigma^-1 times the gaps (m, d), features less those of a centre."""
        inside = gaps @ self.axes
        return np.asarray((inside * self.scales**2) @ self.axes.T + self.height**2 * (gaps - inside @ self.axes.T))

    def pull_of(self, columns: Indices) -> Matrix:
        """Return some columns of Sigma^-1 (d, a)."""
        along, found = self.axes[columns], np.zeros((len(self.origin), len(columns)))
        found[columns, np.arange(len(columns))] = self.height**2
        return np.asarray(found + self.axes * (self.scales**2 - self.height**2) @ along.T)

    @property
    def widths(self) -> Matrix:
        """1 / sqrt(diagonal of Sigma^-1): how much each feature varies within a region, given the others."""
        squares = self.axes**2
        return np.asarray((squares @ self.scales**2 + self.height**2 * (1 - squares.sum(axis=1))).clip(1e-300) ** -0.5)

    @property
    def deviations(self) -> Matrix:
        """The roots of the diagonal of Sigma: how much each feature varies within regions, whatever the others are."""
        squares = self.axes**2
        outside = (1 - squares.sum(axis=1)).clip(0) / self.height**2 if self.height else 0.0
        return np.asarray(np.sqrt((squares / self.scales**2).sum(axis=1) + outside))

    @property
    def covariance(self) -> Matrix:
        """Sigma (d, d)."""
        inside = self.axes / self.scales**2 @ self.axes.T
        if not self.height:
            return np.asarray(inside)
        return np.asarray(inside + (np.eye(len(self.origin)) - self.axes @ self.axes.T) / self.height**2)


def row_coordinates(features: Matrix) -> Coordinates:
    """Return the coordinates of rows of numbers (n, d): centred, along the axes of their variation."""
    origin = features.mean(axis=0)
    with one_blas_thread():
        centred = features - origin
        small = np.linalg.qr(centred, mode="r") if len(centred) > centred.shape[1] else centred
        _, lengths, axes = np.linalg.svd(small, full_matrices=False)
        basis = np.ascontiguousarray(axes[_large(lengths**2)].T)
        return Coordinates(centred @ basis, origin, basis)


def pair_coordinates(squares: Matrix) -> Coordinates:
    """Return the coordinates of objects with these squared dissimilarities (n, n), symmetric, at most 1.

    Classical scaling. Where the dissimilarities are not those of points, a constant is added to all squares, the least
    that makes them so (Lingoes).
    """
    n, means = len(squares), squares.mean(axis=0)
    with one_blas_thread():
        values, vectors = np.linalg.eigh(-0.5 * (squares - means[:, None] - means + means.mean()))
        added = -values[0] if -values[0] > ROUNDING * max(values[-1], 1e-300) else 0.0
        # The constant adds to every eigenvalue but that of the vector of ones, which is 0.
        is_constant = np.abs(vectors.sum(axis=0)) > 0.5 * np.sqrt(n)
        values = np.where(is_constant, 0.0, values + added)
        kept = _large(values)
        values, vectors = values[kept], vectors[:, kept]
        basis = -0.5 * vectors / np.sqrt(values)
        basis -= basis.mean(axis=0)  # a constant in the features does not matter
        origin = means + 2 * added * (1 - 1 / n) - 2 * added
        constant = 2 * added - 0.5 * (float(means.mean()) + 2 * added * (1 - 1 / n))
        return Coordinates(vectors * np.sqrt(values), origin, np.ascontiguousarray(basis), constant)


def _large(variances: Matrix) -> Matrix:
    """Return which variances are more than rounding errors."""
    return np.asarray(variances > ROUNDING * max(float(variances.max(initial=0.0)), 1e-300))


# Two rows with different categories differ in two columns of 0 and 1: each counts half.
CATEGORY = 0.5**0.5


def has_rows(measure: Any) -> bool:
    """Return whether a fitted measure, or its class, compares rows of numbers by their coordinates."""
    return measure.coordinates is not None


def has_columns(measure: Any) -> bool:
    """Return whether features are columns: of rows of numbers, or of tables of mixed kinds."""
    return has_rows(measure) or measure.indicator_columns is not None


@dataclass(frozen=True, eq=False)
class ColumnFeatures:
    """The columns of rows of numbers or of a table, each times the root of its weight."""

    measure: Any
    weights: Matrix

    def of(self, patterns: Any) -> Matrix:
        """Return the features (m, d); missing numbers are NaN, those of tables are filled by the measure."""
        if not has_rows(self.measure):
            values, owners = self.measure.indicator_columns(patterns)
            factors = np.where(self.measure.is_code, CATEGORY, 1.0) * np.sqrt(self.weights)
            return np.asarray(np.nan_to_num(values) * factors[owners])
        rows: Matrix = self.measure.unit.measure(patterns)
        if self.measure.largest != 1:
            rows /= self.measure.largest
        return rows if (self.weights == 1).all() else rows * np.sqrt(self.weights)


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


NUMBER, CATEGORIES, LEVELS, CONSTANT, DATE = "number", "categories", "levels", "constant", "date"


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A column of the data: the `places` of its features, and what they mean.

    A number x has the feature (x - centre) * factor, and so has a date, in microseconds; `moment` is its kind.
    Categories have one feature each, `factor` for the row's own one of the `labels`. A level has its rank among the
    labels, from 0 to `factor` for the last. A column that is constant in training has the feature 0 for that value,
    `centre`, and `factor` for any other. If it `has_words_for_gaps`, texts such as NA are missing values.
    """

    name: str
    kind: str
    places: Indices
    factor: float
    centre: float = 0.0
    labels: tuple[Any, ...] = ()
    moment: str = ""
    has_words_for_gaps: bool = False

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
        width = max(len(column.coder.codes), 1)
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
        return DataColumn(name, CONSTANT, places, root, coder.low * scale, moment=column.kind)
    kind = NUMBER if column.kind == KIND_NUMBER else DATE
    return DataColumn(name, kind, places, root / (coder.span * scale), coder.low * scale, moment=column.kind)
