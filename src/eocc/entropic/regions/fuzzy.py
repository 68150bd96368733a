"""Clusters -> fuzzy decision regions -> membership, score, decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph, SpanningTree
from eocc.entropic.partition.cuts import members_of_clusters
from eocc.entropic.regions.memberships import MembershipFunction
from eocc.entropic.regions.rules import Extent, Medoid, Representative, TConorm, row_blocks
from eocc.entropic.regions.scores import BOUNDARY, decision_margin, log_grades
from eocc.kernels.distances import pairs_among, sums_among
from eocc.space.dissimilarity_space import distances_to, offsets_from

# Absolute rounding error of a distance, when dissimilarities of order 1 cancel.
CANCELLED = 2e-15
# The extent of copies when the whole tree has length 0: small, but (d / tau)^2 stays finite for every d below 1e54.
# departure: extent of one
LEAST_EXTENT = 1e-100
# An extent below this share of the largest distance is a rounding error, for example the deviation of equal distances.
NO_EXTENT = 1e-12


def can_use_sums(rule: Any, method: str) -> bool:
    """Return whether ``from_sums`` gives the same as `method`: not if a subclass overrides `method` alone."""
    owners = [next((k for k, cls in enumerate(type(rule).__mro__) if name in vars(cls)), None)
              for name in ("from_sums", method)]  # fmt: skip
    return owners[0] is not None and (owners[1] is None or owners[0] <= owners[1])


@dataclass(frozen=True)
class Fuzzification:
    """How clusters become fuzzy regions."""

    extent: Extent
    representative: Representative
    membership_function: MembershipFunction
    tconorm: TConorm

    @property
    def is_sided(self) -> bool:
        """Whether the inner and the outer width may differ."""
        return hasattr(self.membership_function, "widths")

    @property
    def takes_sums(self) -> bool:
        """Whether the sum and the maximum of each member's distances determine the region."""
        return can_use_sums(self.representative, "centre") and can_use_sums(self.extent, "__call__")

    @property
    def gives_balls(self) -> bool:
        """Whether a region is a ball around its medoid with an extent computed from sums."""
        return isinstance(self.representative, Medoid) and self.takes_sums and not self.is_sided


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


@dataclass(frozen=True, eq=False)
class Shape:
    """A region in the dissimilarity space: its `centre` (r,) and its (inner, outer) `widths`."""

    centre: Matrix
    widths: tuple[float, float]


def build_regions(graph: EuclideanGraph, labels: Indices, fuzzification: Fuzzification) -> list[tuple[Region, Shape]]:
    """Return one region per cluster, in the order of the labels, with its shape."""
    return [build_region(graph, fuzzification, members) for members in members_of_clusters(labels)]


def build_region(graph: EuclideanGraph, fuzzification: Any, members: Indices) -> tuple[Region, Shape]:
    """Return the region of one cluster.

    Distances are copied only if their sums do not suffice, because the copy for a large cluster takes much memory.
    """
    rows, distances, sums = graph.space.rows, graph.distances, np.empty(len(members))
    largest = sums_among(distances, members, sums)
    extent = _extent(distances, members, sums, largest, fuzzification.extent) or default_extent(graph.tree)
    if can_use_sums(fuzzification.representative, "centre"):
        point, exemplar = fuzzification.representative.from_sums(rows, members, sums)
    else:
        point, exemplar = fuzzification.representative.centre(rows[members], distances[np.ix_(members, members)])
    centre = np.asarray(point, dtype=np.float64)
    if centre.shape != rows.shape[1:] or not 0 <= exemplar < len(members) or not np.isfinite(centre).all():
        raise ValueError(
            f"{fuzzification.representative!r} must give a finite point of shape {rows.shape[1:]} and a member "
            f"0..{len(members) - 1}; it gave shape {centre.shape} and {exemplar!r}"
        )
    inner, outer = (extent, extent)
    if fuzzification.is_sided:
        inner, outer = _sided_widths(rows, members, centre[None], extent, fuzzification.membership_function)
    return Region(members, int(members[exemplar]), extent), Shape(centre, (width_of(inner), width_of(outer)))


def _extent(distances: Matrix, members: Indices, sums: Matrix, largest: float, extent: Any) -> float:
    """Return the extent, 0 if it is only a rounding error; raise a ValueError unless it is a number >= 0."""
    n = len(members)
    if n == 1:
        return 0.0
    if can_use_sums(extent, "__call__"):
        size = extent.from_sums(*(np.array([number]) for number in (sums.sum() / 2, largest, n * (n - 1) / 2)))[0]
    else:
        pairs = np.empty(n * (n - 1) // 2)
        pairs_among(distances, members, pairs)
        size = extent(pairs)
    size = np.asarray(size)
    if size.shape != () or not np.issubdtype(size.dtype, np.number) or not 0 <= size < np.inf:
        raise ValueError(f"an extent must be a number >= 0; {extent!r} gave {size}")
    return float(size) if size > NO_EXTENT * largest else 0.0


def width_of(extent: Any) -> Any:
    """Return the extent plus the rounding error of a distance; the extent of copies is returned unchanged."""
    return extent + np.where(extent > LEAST_EXTENT, CANCELLED, 0.0)


def _sided_widths(rows: Matrix, members: Indices, centre: Matrix, extent: float, function: Any) -> tuple[float, float]:
    distances, offsets = (np.concatenate([compare(block, centre)[:, 0] for block in row_blocks(rows, members)])
                          for compare in (distances_to, offsets_from))  # fmt: skip
    inner, outer = function.widths(distances, offsets, extent)
    if not (0 < inner < np.inf and 0 < outer < np.inf):
        raise ValueError(f"widths must be two positive numbers; {function!r} gave {inner!r} and {outer!r}")
    return inner, outer


def default_extent(tree: SpanningTree) -> float:
    """Return the mean edge of the tree: the extent of a single pattern, or of copies of one."""
    mean = float(tree.lengths.mean()) if len(tree.lengths) else 0.0
    return mean if mean > 0 else LEAST_EXTENT


@dataclass(frozen=True, eq=False, repr=False)
class FuzzyModel:
    """Fuzzy decision regions: `centres` (k, r) in the dissimilarity space, `widths` (k, 2) inside and outside."""

    centres: Matrix
    widths: Matrix
    membership_function: MembershipFunction
    tconorm: TConorm

    @classmethod
    def of_shapes(cls, shapes: Sequence[Shape], function: MembershipFunction, tconorm: TConorm) -> "FuzzyModel":
        """Stack the shapes of regions."""
        centres, widths = (np.array(column) for column in zip(*((s.centre, s.widths) for s in shapes), strict=True))
        return cls(centres, widths, function, tconorm)

    def ratios(self, rows: Matrix) -> Matrix:
        """Return d(v, R_i) / tau_i of every row in every region, tau_i by the side the row lies on."""
        inner, outer = self.widths.T
        widths = inner if (inner == outer).all() else np.where(offsets_from(rows, self.centres) < 0, inner, outer)
        with np.errstate(over="ignore"):
            return np.asarray(distances_to(rows, self.centres) / widths)

    def log_membership(self, rows: Matrix) -> Matrix:
        """Return ln SDF(v), the logarithm of the t-conorm of the grades, finite."""
        return combined_grades(self.membership_function, self.tconorm, self.ratios(rows))

    @property
    def threshold(self) -> float:
        """The log-membership on the boundary of a region, if there is only one."""
        return float(self.membership_function.log_grade(np.array([[BOUNDARY]]))[0, 0])

    def decision(self, rows: Matrix) -> Matrix:
        """Return (1 - (d / tau)^2) / 2 in the region of highest membership: >= 0 exactly where d <= tau (HDF)."""
        return decision_margin(self.ratios(rows).min(axis=1))


def combined_grades(function: MembershipFunction, tconorm: TConorm, ratios: Matrix) -> Matrix:
    """Return the t-conorm, over the regions, of ln mu."""
    combined = np.asarray(tconorm(log_grades(function, ratios)))
    if combined.shape != (len(ratios),) or np.isnan(combined).any():
        raise ValueError(
            f"a t-conorm must turn log-grades of shape (m, k) into numbers of shape (m,); {tconorm!r} gave "
            f"{combined if combined.size < 9 else combined.shape} for {ratios.shape}"
        )
    return combined


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
