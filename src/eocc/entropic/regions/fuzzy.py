"""Clusters -> fuzzy decision regions -> membership, score, decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph, SpanningTree
from eocc.entropic.regions import rules
from eocc.entropic.regions.memberships import MembershipFunction
from eocc.entropic.regions.scores import BOUNDARY, log_grades
from eocc.kernels.distances import pairs_among, sums_among
from eocc.space.dissimilarity_space import distances_to

# Absolute rounding error of a distance, when dissimilarities of order 1 cancel.
CANCELLED = 2e-15
# The extent of copies when the whole tree has length 0: small, but (d / tau)^2 stays finite for every d below 1e54.
# departure: extent of one
LEAST_EXTENT = 1e-100


@dataclass(frozen=True)
class Fuzzification:
    """How clusters become fuzzy regions."""

    extent: rules.Extent
    membership_function: MembershipFunction
    tconorm: rules.TConorm


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """A cluster as a decision region: its `members`, its `representative` (a member) and its `extent` tau."""

    members: Indices
    representative: int
    extent: float

    @property
    def n_members(self) -> int:
        """The number of members."""
        return len(self.members)

    def __repr__(self) -> str:
        count = f"{len(self.members)} pattern{'s' if len(self.members) != 1 else ''}"
        return f"<Region of {count} round pattern {self.representative}, extent {self.extent:.3g}>"


def build_region(graph: EuclideanGraph, extent: rules.Extent, members: Indices) -> Region:
    """Return the region of one cluster: its medoid, and its extent."""
    sums = np.empty(len(members))
    largest = sums_among(graph.distances, members, sums)
    tau = cluster_extent(graph.distances, extent, members, float(sums.sum() / 2), largest)
    return Region(members, int(members[rules.most_central(sums)]), tau or default_extent(graph.tree))


def cluster_extent(distances: Matrix, extent: rules.Extent, members: Indices, total: float, largest: float) -> float:
    """Return the extent, 0 if it is only a rounding error; raise a ValueError unless it is a number >= 0.

    Distances are copied only if their sum and maximum do not suffice: the copy for a large cluster takes much memory.
    """
    n = len(members)
    if n == 1:
        return 0.0
    size = rules.extents_of_sums(extent, total, largest, n * (n - 1) / 2)
    if size is None:
        pairs = np.empty(n * (n - 1) // 2)
        pairs_among(distances, members, pairs)
        size = extent(pairs)
    size = np.asarray(size)
    if size.shape != () or not np.issubdtype(size.dtype, np.number) or not 0 <= size < np.inf:
        raise ValueError(f"an extent must be a number >= 0; {extent!r} gave {size}")
    # A tiny share of the largest distance is a rounding error, for example the deviation of equal distances.
    return float(size) if size > 1e-12 * largest else 0.0


def width_of(extent: Any) -> Any:
    """Return the extent plus the rounding error of a distance; the extent of copies is returned unchanged."""
    return extent + np.where(extent > LEAST_EXTENT, CANCELLED, 0.0)


def default_extent(tree: SpanningTree) -> float:
    """Return the mean edge of the tree: the extent of a single pattern, or of copies of one."""
    mean = float(tree.lengths.mean()) if len(tree.lengths) else 0.0
    return mean if mean > 0 else LEAST_EXTENT


@dataclass(frozen=True, eq=False, repr=False)
class FuzzyModel:
    """Fuzzy decision regions: their `centres` (k, r) in the dissimilarity space and their `extents` (k,)."""

    centres: Matrix
    extents: Matrix
    membership_function: MembershipFunction
    tconorm: rules.TConorm

    @classmethod
    def of(cls, graph: EuclideanGraph, regions: Sequence[Region], how: Fuzzification) -> "FuzzyModel":
        """Return the model of regions of the graph."""
        centres = graph.space.rows[[region.representative for region in regions]] + graph.space.means
        return cls(centres, np.array([region.extent for region in regions]), how.membership_function, how.tconorm)

    def ratios(self, rows: Matrix) -> Matrix:
        """Return d(v, R_i) / tau_i of every row in every region."""
        with np.errstate(over="ignore"):
            return np.asarray(distances_to(rows, self.centres) / width_of(self.extents))

    def log_membership(self, rows: Matrix) -> Matrix:
        """Return ln SDF(v), the logarithm of the t-conorm of the grades, finite."""
        ratios, tconorm = self.ratios(rows), self.tconorm
        combined = np.asarray(tconorm(log_grades(self.membership_function, ratios)))
        if combined.shape != (len(ratios),) or np.isnan(combined).any():
            raise ValueError(
                f"a t-conorm must turn log-grades of shape (m, k) into numbers of shape (m,); {tconorm!r} gave "
                f"{combined if combined.size < 9 else combined.shape} for {ratios.shape}"
            )
        return combined

    @property
    def threshold(self) -> float:
        """The log-membership on the boundary of a region, if there is only one."""
        return float(self.membership_function.log_grade(np.array([[BOUNDARY]]))[0, 0])


def normal_regions(regions: Sequence[Region], share: float) -> Indices:
    """Return the indices of the regions that count as normal, if a `share` of the training rows may be outliers.

    A region does not count if it holds at most this share of the rows, and if all regions of its size or smaller hold
    at most half of the rows together. Without the second condition, data that form many small regions would have no
    normal region at all. Regions of equal size are treated alike, so the order of the rows does not matter.
    """
    sizes = np.array([len(region.members) for region in regions])
    held_by_no_larger = np.array([sizes[sizes <= size].sum() for size in sizes])
    # 1e-9 keeps 0.29 * 100 at 29, where floating point gives 28.999999999999996.
    may_be_outliers = sizes <= share * sizes.sum() + 1e-9
    return np.flatnonzero(~may_be_outliers | (2 * held_by_no_larger > sizes.sum()))
