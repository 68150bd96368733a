"""Weighted Euclidean dissimilarity of rows of numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np

from eocc.base.checks import Sizes, demand, is_array, numbers
from eocc.base.threads import interruptibly
from eocc.base.types import Indices, Matrix
from eocc.base.wording import format_data_number, named_values, to_json
from eocc.kernels.content import row_hashes
from eocc.kernels.distances import CANCELLATION, cross_distances_by_columns, distances_from_gram, spread_copies
from eocc.measures.base import filled
from eocc.measures.difference import Cells, Contribution, Difference, Pair, feature_names, shared_out
from eocc.measures.unit import FittedInUnit, MeasureInUnit, StandardUnit, Unit

# The most training rows that are kept to fill gaps, evenly spaced.
MOST_DONORS = 1000
# With 1,000 columns, hashing these takes 0.02 of the time of hashing all.
TELLING_COLUMNS = 16


def euclidean_pairwise_distance(rows: Matrix, scale: float, out: Matrix | None = None) -> Matrix:
    """Return ||rows_i - rows_j||_2 * scale for all pairs (n, n), through one matrix product.

    Only distinct rows enter the product, so that equal rows have a distance of exactly 0 and equal distances to all
    others (departure: copies). Centre the rows first: it does not change the distances and reduces the rounding error
    of the product. Squares that lost their digits are computed from differences.
    """
    n = len(rows)
    out = np.empty((n, n)) if out is None else out
    distinct, number = distinct_rows(rows)
    u = len(distinct)
    distances = out.reshape(-1)[: u * u].reshape(u, u)
    np.matmul(distinct, distinct.T, out=distances)  # numpy calls BLAS syrk, half the work, without its lock
    distances_from_gram(distinct, scale, CANCELLATION, distances, np.empty(u))
    if u < n:
        spread_copies(number, u, out)
    return out


def distinct_rows(rows: Matrix) -> tuple[Matrix, Indices]:
    """Return the rows without repetitions, in the order of their first appearance, and which of them each row is.

    Rows are equal if their hashes of 64 bits are. Most often the first columns tell that all differ.
    """
    for columns in (rows[:, :TELLING_COLUMNS], rows):
        hashes = row_hashes(np.ascontiguousarray(columns).view(np.uint64))
        _, first, number = np.unique(hashes, return_index=True, return_inverse=True)
        if len(first) == len(rows):
            return rows, np.arange(len(rows))
    return np.ascontiguousarray(rows[np.sort(first)]), np.argsort(np.argsort(first))[number]


@dataclass(frozen=True, eq=False)
class FittedEuclidean(FittedInUnit):
    """The Euclidean measure with its unit and divisor; `donors` are training rows that fill gaps of new rows."""

    donors: Annotated[Matrix, numbers("n d")]
    kind: ClassVar = "numbers"
    fills_gaps: ClassVar = True

    def check_parts(self, sizes: Sizes) -> None:
        """Demand rows to fill gaps of as many columns as the unit has."""
        is_right = self.donors.shape[1:] == self.unit.centre.shape and len(self.donors) > 0
        demand(is_right, f"the rows that fill gaps must be at least 1, of {len(self.unit.centre)} columns")

    def prepare(self, patterns: Matrix, prototypes: Matrix | None = None) -> "_Square | _Rows":
        """Express patterns and prototypes in the unit."""
        if patterns.shape[1] != self.n_parameters:
            raise ValueError(f"rows have {patterns.shape[1]} numbers; the training rows had {self.n_parameters}")
        if prototypes is not None:
            columns = np.ascontiguousarray(self.unit.measure(self.filled(prototypes)).T)
            return _Rows(self.unit.measure(self.filled(patterns)), columns, 1.0 / self.largest)
        rows = self.unit.measure(patterns)
        return _Square(np.ascontiguousarray(rows - rows.mean(axis=0)), 1.0 / self.largest)

    def largest_of(self, training: Matrix, prototypes: Matrix | None) -> float:
        """Return the largest distance, looked for in blocks of about 4 MiB of distances."""
        others, p = training if prototypes is None else prototypes, np.ones(self.n_parameters)
        step, largest = max(1, 2**19 // len(others)), list[float]()

        def look() -> None:
            for start in range(0, len(training), step):
                largest.append(float(np.max(self.prepare(training[start : start + step], others).evaluate(p))))

        interruptibly(look, training.size // 8 * len(others))  # a step compares eight numbers of rows
        return max(largest)

    def coordinates(self, patterns: Matrix) -> Matrix:
        """Return the rows in the unit of the dissimilarity."""
        return self.unit.measure(self.filled(patterns)) / self.largest

    def cell_values(self, patterns: Matrix) -> Matrix:
        """Return the numbers as they are, NaN if missing."""
        return patterns

    def filled(self, patterns: Matrix) -> Matrix:
        """Return patterns without gaps; the columns count in units of their range."""
        is_gap = np.isnan(patterns)
        if not is_gap.any():
            return patterns
        largest = np.abs(self.donors).max(axis=0)  # so that no range overflows
        largest[largest == 0] = 1.0
        donors, rows = self.donors / largest, patterns / largest
        spans = np.ptp(donors, axis=0)
        spans[spans == 0] = 1.0
        found = filled(rows / spans, donors / spans, np.zeros(len(spans), bool))
        return np.where(is_gap, found * spans * largest, patterns)

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the names of the features."""
        return feature_names(names, self.n_parameters)

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per feature: c_k = d p_k (x_k - y_k)^2 / sum_l p_l (x_l - y_l)^2.

        d is a root of a sum, so a feature has no term of its own in d: its share of the sum is its share of d.
        """
        pattern, prototype = pair.pattern[0], pair.prototype[0]
        complete = self.filled(np.array([pattern, prototype]))
        here, there = self.unit.measure(complete)
        amounts = shared_out(pair.dissimilarity, pair.weights * (here - there) ** 2)
        names = feature_names(pair.names, len(pattern))
        columns = np.stack([amounts, pattern, prototype, pair.weights, complete[0]], axis=1).tolist()
        contributions = []
        for name, (amount, value, other, weight, counted) in zip(names, columns, strict=True):
            said = format_data_number(counted)
            said = f"missing (counted as {said}, as in the nearest training rows)" if math.isnan(value) else said
            text = f"{name}: {said}, {pair.called} {format_data_number(other)}"
            details = {"feature": name, "value": to_json(value), "prototype": other, "weight": weight}
            contributions.append(Contribution(amount, text, details))
        return Difference(pair.dissimilarity, tuple(contributions), "by feature")

    def cells(self, patterns: Matrix, prototypes: Matrix, names: Sequence[str] | None = None) -> Cells:
        """Return the numbers in the unit."""
        columns = np.ascontiguousarray(self.unit.measure(prototypes).T)
        return Cells(
            tuple(self.weight_names(names)), self.unit.measure(patterns), columns, np.zeros(len(columns), bool),
            lambda i, k: patterns.item(i, k), prototypes.item,
        )  # fmt: skip

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the values by name, for example "length = 5, width = 3.25"."""
        values = [None if math.isnan(value) else value for value in pattern[0].tolist()]
        return named_values(feature_names(names, pattern.shape[1]), values)

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are rows of finite numbers, as many as the unit has columns."""
        return is_array(patterns, np.float64, 2) and 0 < patterns.shape[1] == self.n_parameters


@dataclass(frozen=True)
class Euclidean(MeasureInUnit):
    """d(x, y; p) = sqrt(sum_k p_k (x_k - y_k)^2) / delta; delta is the largest training distance at p = 1.

    Training rows must be complete. A missing number (NaN) in a new row is filled with the median of the 8 training rows
    that are nearest in the other columns.

    >>> Euclidean().fit(np.array([[0.0, 0.0], [3.0, 4.0]])).delta
    5.0
    """

    fitted_class: ClassVar = FittedEuclidean
    stored_classes: ClassVar = (Unit, StandardUnit)
    pair_floats: ClassVar = 0
    unit_class: ClassVar[type[Unit]] = Unit

    def unscaled(self, training: Matrix) -> FittedEuclidean:
        """Return the measure with its unit, and the divisor 1. departure: dissimilarity of vectors."""
        donors = training[:: -(-len(training) // MOST_DONORS)].copy()
        return FittedEuclidean(self.unit_class.of(training), 1.0, donors)

    def fit_roughly(self, training: Matrix) -> FittedEuclidean:
        """Return the measure divided by twice the largest distance from the centre, without comparing all pairs."""
        unscaled = self.unscaled(training)
        rows = unscaled.unit.measure(training)
        return unscaled.divided(2 * float(np.sqrt(np.einsum("ij,ij->i", rows, rows).max())))


class Standardised(Euclidean):
    """The Euclidean measure after dividing each column by its standard deviation s_k in training.

    d(x, y; p) = sqrt(sum_k p_k ((x_k - y_k) / s_k)^2) / delta; delta is the largest such distance in training at p = 1.
    It is like a StandardScaler in front of the Euclidean measure, but the scale is saved with the model, and
    explanations show the columns in their own units.

    >>> measure = Standardised().fit(np.array([[0.0, 1.0], [0.5, 1000.0]]))
    >>> measure.prepare(np.array([[0.0, 1000.0]]), np.array([[0.0, 1.0], [0.5, 1000.0]])).evaluate(np.ones(2)).round(3)
    array([[0.707, 0.707]])
    """

    unit_class: ClassVar = StandardUnit


@dataclass(frozen=True, eq=False)
class _Square:
    """All pairs of one set: a matrix product of rows weighted by sqrt(p)."""

    rows: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        active, rows = p > 0, self.rows
        if 2 * active.sum() <= len(p):  # columns of weight 0 are left out of the product
            rows, p = np.ascontiguousarray(rows[:, active]), p[active]
        return euclidean_pairwise_distance(rows * np.sqrt(p), self.scale, out)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Patterns against prototypes: each row by itself, from differences."""

    rows: Matrix
    prototype_columns: Matrix
    scale: float

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        rows, columns, active = self.rows, self.prototype_columns, p > 0
        if not active.all():
            rows, columns, p = np.ascontiguousarray(rows[:, active]), columns[active], p[active]
        roots = np.sqrt(p)
        cross_distances_by_columns(rows * roots, columns * roots[:, None], self.scale, out)
        return out
