"""Clusters -> fuzzy decision regions -> membership, score, decision."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from eocc.extents import Extent
from eocc.graph import EuclideanGraph
from eocc.memberships import MembershipFunction
from eocc.space import distances_to
from eocc.tconorms import TConorm

Matrix = NDArray[np.float64]

# Extents and medoids come from distances that are exact to about 1e-10 of their scale. A pattern on
# the boundary (the second of two members, say) must not fall out of its own region by rounding, nor
# may rounding choose between equally central members.
BOUNDARY = 1e-9
# The extent of copies when the whole tree has length 0: small, but (d / tau)^2 stays finite
# for every d below 1e54.
LEAST_EXTENT = 1e-100


@dataclass(frozen=True)
class Region:
    """A cluster as a decision region: its `members`, its `representative` (a member) and its `extent` tau."""

    members: NDArray[np.int64]
    representative: int
    extent: float


def build_regions(graph: EuclideanGraph, labels: NDArray[np.int64], extent: Extent) -> list[Region]:
    """Return one region per cluster, in the order of the labels."""
    fallback = _fallback_extent(graph)
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    return [_region(graph.distances, members, extent, fallback) for members in clusters]


def _region(distances: Matrix, members: NDArray[np.int64], extent: Extent, fallback: float) -> Region:
    inside = distances[np.ix_(members, members)]
    size = extent(squareform(inside, checks=False)) if len(members) > 1 else 0.0
    return Region(members, int(members[medoid(inside)]), size if size > 0 else fallback)


def medoid(distances: Matrix) -> int:
    """Return the row with the least sum of distances; ties to the lower index.

    >>> medoid(np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    1
    """
    sums = distances.sum(axis=1)
    return int(np.argmax(sums <= sums.min() * (1 + BOUNDARY)))


def _fallback_extent(graph: EuclideanGraph) -> float:
    """Return the mean tree edge: the extent of a lone pattern, or of copies of one."""
    lengths = graph.tree.lengths
    mean = float(lengths.mean()) if len(lengths) else 0.0
    return mean if mean > 0 else LEAST_EXTENT


@dataclass(frozen=True)
class FuzzyModel:
    """Fuzzy decision regions: `representatives` (k, r) in the dissimilarity space, `extents` (k,).

    >>> from eocc.memberships import Gaussian
    >>> from eocc.tconorms import maximum
    >>> model = FuzzyModel(np.array([[0.0], [1.0]]), np.array([0.1, 0.2]), Gaussian(), maximum)
    >>> rows = np.array([[0.1], [0.5]])
    >>> model.decision(rows) >= 0
    array([ True, False])
    >>> model.nearest_region(rows)
    array([0, 1])
    """

    representatives: Matrix
    extents: Matrix
    membership_function: MembershipFunction
    tconorm: TConorm

    def log_grades(self, rows: Matrix) -> Matrix:
        """Return ln mu_i(v) of every row in every region, finite."""
        with np.errstate(over="ignore"):
            ratios = distances_to(rows, self.representatives) / self.extents
            return np.maximum(self.membership_function.log_grade(ratios), np.finfo(float).min)

    def log_membership(self, rows: Matrix) -> Matrix:
        """Return ln SDF(v), the logarithm of the t-conorm of the grades."""
        return self.tconorm(self.log_grades(rows))

    @property
    def threshold(self) -> float:
        """The logarithm of mu at d = tau, the boundary of every region."""
        return float(self.membership_function.log_grade(np.array([1.0 + BOUNDARY]))[0])

    def decision(self, rows: Matrix) -> Matrix:
        """Return ln mu_max(v) - ln mu(tau): nonnegative exactly where d(v, R_max) <= tau_max (HDF)."""
        return np.asarray(self.log_grades(rows).max(axis=1) - self.threshold)

    def nearest_region(self, rows: Matrix) -> NDArray[np.int64]:
        """Return the index of the region of highest membership; ties to the lower one."""
        return np.asarray(np.argmax(self.log_grades(rows), axis=1))


def fuzzy_model(
    regions: Sequence[Region], representatives: Matrix, function: MembershipFunction, tconorm: TConorm
) -> FuzzyModel:
    """Equip regions, whose representatives' rows in the dissimilarity space are given, with memberships."""
    return FuzzyModel(representatives, np.array([region.extent for region in regions]), function, tconorm)
