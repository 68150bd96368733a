"""Regions of one shape: their covariance, the cuts of a spanning tree, the membership of rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eocc.base.threads import one_blas_thread
from eocc.base.types import Indices, Matrix
from eocc.kernels.ellipsoids import best_cut, left_out_log_memberships, log_memberships, preorder

# Variances below this share of the largest, or of the total, are rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Shape:
    """The pooled covariance within regions, shrunk: `axes` (r, r), the `variances` along them, `outside` of the span.

    `shrinkage` is rho in Sigma = (1 - rho) S + rho mu I, where S is the pooled covariance and mu its mean variance.
    """

    axes: Matrix
    variances: Matrix
    outside: float
    shrinkage: float

    @property
    def whitening(self) -> Matrix:
        """The matrix (r, r) that turns the shape into a unit ball."""
        return np.asarray(self.axes * self.variances**-0.5)


def pooled_shape(rows: Matrix, labels: Indices, n_regions: int) -> Shape:
    """Return the covariance of rows (n, r) around the means of their regions, shrunk as Ledoit and Wolf say.

    If every row is a region of its own, or all regions are copies of a row, it is the covariance of all rows.
    """
    n, r = rows.shape
    if n_regions >= n:
        labels, n_regions = np.zeros(n, np.int64), 1
    if r == 0 or n < 2:
        return Shape(np.eye(r), np.ones(r), 1.0, 1.0)
    with one_blas_thread():
        residuals = (rows - means_of(rows, labels, n_regions)[labels]) * np.sqrt(n / (n - n_regions))
        if not (residuals**2).sum() > ROUNDING * (rows**2).sum():
            residuals = rows - rows.mean(axis=0)
        return _shrunk(residuals)


def _shrunk(residuals: Matrix) -> Shape:
    n, r = residuals.shape
    covariance = residuals.T @ residuals / n
    mean, squares = float(np.trace(covariance)) / r, float((covariance**2).sum())
    spread = squares - mean**2 * r
    noise = float(((residuals**2).sum(axis=1) ** 2).sum()) / n**2 - squares / n
    # Without any shrinkage, a direction in which the regions do not vary would have the variance 0.
    is_round = spread <= 1e-12 * squares
    shrinkage = 1.0 if is_round else float(np.clip(noise / spread, 1e-4, 1.0))
    values, axes = np.linalg.eigh(covariance)
    variances = (1 - shrinkage) * np.maximum(values, 0) + shrinkage * mean
    return Shape(axes, np.maximum(variances, ROUNDING * mean * r), shrinkage * mean, shrinkage)


def means_of(rows: Matrix, labels: Indices, n_regions: int) -> Matrix:
    """Return the mean of the rows of each region (k, r)."""
    counts = np.bincount(labels, minlength=n_regions)
    sums = [np.bincount(labels, column, n_regions) for column in rows.T]
    return np.stack(sums, axis=1) / counts[:, None] if sums else np.empty((n_regions, 0))


# A region needs this many different rows on average, or its centre says little.
ROWS_PER_REGION = 4


def scatter_cuts(rows: Matrix, edges: Indices, n_regions: int) -> tuple[Indices, Indices]:
    """Return the region of each row (n,), the largest region first, and the cut edges as pairs of regions (k - 1, 2).

    `edges` (n - 1, 2) are those of a spanning tree of the rows. Each of the cuts, n_regions - 1 at most, is that of the
    edge that lowers the scatter within regions most; there are fewer if no cut lowers it. One pass up the tree gives
    the gains of all edges of a part. Regions of one size are in the order of their first rows.

    >>> rows, edges = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    >>> labels, cut = scatter_cuts(rows, edges, 2)
    >>> labels, cut
    (array([1, 1, 0, 0, 0]), array([[0, 1]]))
    """
    n = len(rows)
    order, parents = np.empty(n, np.int64), np.empty(n, np.int64)
    preorder(np.ascontiguousarray(edges, np.int64), order, parents)
    workspace = np.empty_like(rows), np.empty(n, np.int64)
    least = ROUNDING * float(((rows - rows.mean(axis=0)) ** 2).sum())
    parts, cut = [order], [best_cut(rows, order, parents, *workspace)]
    while len(parts) < n_regions:
        i = max(range(len(cut)), key=lambda part: cut[part][0])
        gain, start, size = cut[i]
        if gain <= least:
            break
        below = parts[i][start : start + size]
        parts[i] = np.delete(parts[i], np.s_[start : start + size])
        parts.append(below)
        cut[i] = best_cut(rows, parts[i], parents, *workspace)
        cut.append(best_cut(rows, below, parents, *workspace))
    parts.sort(key=lambda part: (-len(part), int(part.min())))
    labels = np.empty(n, np.int64)
    for region, part in enumerate(parts):
        labels[part] = region
    ends = labels[edges]
    between = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    return labels, between[np.lexsort(between.T[::-1])]


def count_of_regions(wanted: int, n_distinct: int) -> int:
    """Return the number of regions for this number of different rows: those wanted, at most one per four rows."""
    return max(1, min(wanted, n_distinct // ROWS_PER_REGION))


@dataclass(frozen=True, eq=False)
class Ellipsoids:
    """The `centres` (k, q) of regions, in widths, and how many rows each has, `counts` (k,).

    mu_i(v) = exp(-||v - c_i||^2 / 2), and the membership is sum_i (n_i / n) mu_i(v): the Lukasiewicz t-conorm of the
    weighted grades, which never exceeds 1.
    """

    centres: Matrix
    counts: Indices

    @classmethod
    def of(cls, places: Matrix, labels: Indices) -> "Ellipsoids":
        """Return the regions of places (n, q) with these labels."""
        counts = np.bincount(labels)
        return cls(np.ascontiguousarray(means_of(places, labels, len(counts))), counts)

    @cached_property
    def columns(self) -> Matrix:
        """The coordinates of the centres, (q, k)."""
        return np.ascontiguousarray(self.centres.T)

    @cached_property
    def log_weights(self) -> Matrix:
        """ln(n_i / n) of each region."""
        return np.asarray(np.log(self.counts / self.counts.sum()))

    def log_memberships(self, places: Matrix) -> Matrix:
        """Return the logarithm of the membership of places (m, q)."""
        out = np.empty(len(places))
        log_memberships(places, self.columns, self.log_weights, out)
        return out

    def left_out(self, places: Matrix, labels: Indices, shrinkage: float) -> Matrix:
        """Return the log-membership of every member, left out of its centre and of the covariance; -inf if alone."""
        out = np.empty(len(places))
        counts = self.counts.astype(np.float64)
        left_out_log_memberships(places, labels, self.centres, counts, shrinkage, out)
        return out

    def squared_distances(self, places: Matrix) -> Matrix:
        """Return the squared distances (m, k) of places from all centres, in widths."""
        return np.asarray(((places[:, None, :] - self.centres) ** 2).sum(axis=2))


@dataclass(frozen=True, eq=False)
class KnownOutliers:
    """The regions of known outliers, and the log-membership at the limit of normal rows, `background`.

    An outlier is of a known kind, with the membership in these regions, or of an unknown kind, as likely everywhere as
    a normal row at the limit. So far from the known outliers the membership of a row stays what it is without them.
    departure: known outliers of regions.
    """

    regions: Ellipsoids
    background: float

    def penalty(self, places: Matrix) -> Matrix:
        """Return ln(1 + m / b) >= 0 of places: m is the membership in the outliers' regions, b the background."""
        return np.logaddexp(0.0, self.regions.log_memberships(places) - self.background)


def radius(logs: Matrix) -> Matrix:
    """Return sqrt(-2 ln m): the distance, in widths, at which one region alone has the membership m."""
    return np.sqrt(np.maximum(-2 * logs, 0.0))
