"""Regions of one shape -> the membership of rows: the weighted sum of their Gaussian grades."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from eocc.ellipsoids.shape import means_of
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.ellipsoids import left_out_log_memberships, log_memberships


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

    def nearest(self, places: Matrix) -> Indices:
        """Return the region with the largest weighted grade at each place."""
        return np.asarray(np.argmax(self.log_weights - self.squared_distances(places) / 2, axis=1))


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
