"""Rows of numbers, or dissimilarities -> coordinates in which regions are fitted, and where new rows lie in them."""

from dataclasses import dataclass

import numpy as np

from eocc.ellipsoids.shape import ROUNDING, Shape
from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.ellipsoids import place_rows, squared_lengths

# Features farther out count as this far, so that no square of theirs overflows. departure: far patterns
FARTHEST = 1e100


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

    origin: Matrix
    axes: Matrix
    scales: Matrix
    height: float
    constant: float | None = None

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

    def precision(self, columns: Indices) -> Matrix:
        """Return the block of Sigma^-1 of some features (a, a)."""
        return self.pull_of(columns)[columns]

    @property
    def widths(self) -> Matrix:
        """1 / sqrt(diagonal of Sigma^-1): how much each feature varies within a region, given the others."""
        squares = self.axes**2
        return np.asarray((squares @ self.scales**2 + self.height**2 * (1 - squares.sum(axis=1))).clip(1e-300) ** -0.5)

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
