"""Clusters -> fuzzy decision regions -> membership, score, decision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.graph.complete import EuclideanGraph, SpanningTree
from eocc.kernels.distances import pairs_among, sums_among
from eocc.regions.extents import Extent
from eocc.regions.memberships import MembershipFunction
from eocc.regions.representatives import Medoid, Representative, blocks_of
from eocc.regions.scores import BOUNDARY, decision_margin, log_grades
from eocc.regions.tconorms import TConorm
from eocc.space.dissimilarity_space import distances_to, offsets_from

# Distances cancel to 1e-15 where dissimilarities of order 1 do.
CANCELLED = 2e-15
# The extent of copies when the whole tree has length 0: small, but (d / tau)^2 stays finite for every d below 1e54.
# departure: extent of one
LEAST_EXTENT = 1e-100
# An extent below this share of the largest distance is 0 but for rounding (the deviation of equal distances, say).
NO_EXTENT = 1e-12


def knows_sums(thing: Any, method: str) -> bool:
    """Say whether a method ``from_sums`` tells the same as the other: not where a class below has changed that one.

    >>> from eocc.regions.extents import MeanExtent
    >>> class Wide(MeanExtent):
    ...     def __call__(self, pairs):
    ...         return 3 * super().__call__(pairs)
    >>> knows_sums(MeanExtent(), "__call__"), knows_sums(Wide(), "__call__")
    (True, False)
    """
    owners = [next((k for k, kind in enumerate(type(thing).__mro__) if name in vars(kind)), None)
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
        """Whether widths differ by side."""
        return hasattr(self.membership_function, "widths")

    @property
    def takes_sums(self) -> bool:
        """Whether a region follows from the sum and the largest of each member's distances."""
        return knows_sums(self.representative, "centre") and knows_sums(self.extent, "__call__")

    @property
    def gives_balls(self) -> bool:
        """Whether a region accepts what lies within its extent of its medoid, its extent known from sums."""
        return isinstance(self.representative, Medoid) and self.takes_sums and not self.is_sided


@dataclass(frozen=True, eq=False, repr=False)
class Region:
    """A cluster as a decision region: its `members`, its `representative` (a member) and its `extent` tau.

    >>> Region(np.array([0, 2, 3]), representative=2, extent=0.125)
    <Region of 3 patterns round pattern 2, extent 0.125>
    """

    members: NDArray[np.int64]
    representative: int
    extent: float

    def __repr__(self) -> str:
        count = f"{len(self.members)} pattern{'s' if len(self.members) != 1 else ''}"
        return f"<Region of {count} round pattern {self.representative}, extent {self.extent:.3g}>"


@dataclass(frozen=True, eq=False)
class Shape:
    """A region in the dissimilarity space: its `centre` (r,) and its (inner, outer) `widths`."""

    centre: Matrix
    widths: tuple[float, float]


def build_regions(
    rows: Matrix, graph: EuclideanGraph, labels: NDArray[np.int64], fuzzification: Fuzzification
) -> list[tuple[Region, Shape]]:
    """Return one region per cluster, in the order of the labels, with its shape."""
    order = np.argsort(labels, kind="stable")
    clusters = np.split(order, np.cumsum(np.bincount(labels))[:-1])
    lone = lone_extent(graph.tree)
    return [build_region(rows, graph.distances, members, fuzzification, lone) for members in clusters]


def build_region(
    rows: Matrix, distances: Matrix, members: NDArray[np.int64], fuzzification: Any, lone: float
) -> tuple[Region, Shape]:
    """Return the region of one cluster; `lone` is its extent where that would be 0.

    Distances are copied only where sums do not tell: those of a large cluster take as much memory as all.
    """
    sums = np.empty(len(members))
    largest = sums_among(distances, members, sums)
    if knows_sums(fuzzification.extent, "__call__"):
        extent = _extent_from_sums(sums, largest, fuzzification.extent)
    else:
        extent = _extent_of_pairs(distances, members, largest, fuzzification.extent)
    if knows_sums(fuzzification.representative, "centre"):
        centre = fuzzification.representative.from_sums(rows, members, sums)
    else:
        centre = fuzzification.representative.centre(rows[members], distances[np.ix_(members, members)])
    return _region_round(rows, members, extent or lone, centre, fuzzification)


def build_region_from_sums(
    rows: Matrix, members: NDArray[np.int64], sums: Matrix, largest: float, fuzzification: Any, lone: float
) -> tuple[Region, Shape]:
    """Return the region of one cluster by the sums and the largest of its members' mutual distances alone."""
    extent = _extent_from_sums(sums, largest, fuzzification.extent)
    centre = fuzzification.representative.from_sums(rows, members, sums)
    return _region_round(rows, members, extent or lone, centre, fuzzification)


def _extent_from_sums(sums: Matrix, largest: float, extent: Any) -> float:
    n = len(sums)
    if n == 1:
        return 0.0
    of_clusters = (np.array([number]) for number in (sums.sum() / 2, largest, n * (n - 1) / 2))
    return _checked_extent(extent.from_sums(*of_clusters)[0], largest, extent)


def _extent_of_pairs(distances: Matrix, members: NDArray[np.int64], largest: float, extent: Extent) -> float:
    if len(members) == 1:
        return 0.0
    pairs = np.empty(len(members) * (len(members) - 1) // 2)
    pairs_among(distances, members, pairs)
    return _checked_extent(extent(pairs), largest, extent)


def _checked_extent(size: Any, largest: float, extent: Extent) -> float:
    """Return what an extent gave, if that can be; 0 where it is no more than rounding."""
    size = np.asarray(size)
    if size.shape != () or not np.issubdtype(size.dtype, np.number) or not 0 <= size < np.inf:
        raise ValueError(f"an extent must be a number >= 0; {extent!r} gave {size}")
    return float(size) if size > NO_EXTENT * largest else 0.0


def _region_round(
    rows: Matrix,
    members: NDArray[np.int64],
    extent: float,
    centre_and_exemplar: tuple[Matrix, int],
    fuzzification: Fuzzification,
) -> tuple[Region, Shape]:
    centre, exemplar = _checked_centre(*centre_and_exemplar, rows.shape[1:], len(members), fuzzification.representative)
    inner, outer = (extent, extent)
    if fuzzification.is_sided:
        inner, outer = _widths_of(rows, members, centre[None], extent, fuzzification.membership_function)
    return Region(members, int(members[exemplar]), extent), Shape(centre, (width_of(inner), width_of(outer)))


def width_of(extent: Any) -> Any:
    """Return the extent with room for rounding; that of copies of one pattern stays as it is."""
    return extent + np.where(extent > LEAST_EXTENT, CANCELLED, 0.0)


def _checked_centre(
    centre: Any, exemplar: int, shape: tuple[int, ...], n_members: int, representative: Representative
) -> tuple[Matrix, int]:
    """Return what a representative gave, if that can be."""
    centre = np.asarray(centre, dtype=np.float64)
    if centre.shape != shape or not 0 <= exemplar < n_members or not np.isfinite(centre).all():
        raise ValueError(
            f"{representative!r} must give a finite point of shape {shape} and a member 0..{n_members - 1}; "
            f"it gave shape {centre.shape} and {exemplar!r}"
        )
    return centre, exemplar


def _widths_of(
    rows: Matrix, members: NDArray[np.int64], centre: Matrix, extent: float, function: Any
) -> tuple[float, float]:
    seen = (np.concatenate([look(block, centre)[:, 0] for block in blocks_of(rows, members)])
            for look in (distances_to, offsets_from))  # fmt: skip
    inner, outer = function.widths(*seen, extent)
    if not (0 < inner < np.inf and 0 < outer < np.inf):
        raise ValueError(f"widths must be two positive numbers; {function!r} gave {inner!r} and {outer!r}")
    return inner, outer


def lone_extent(tree: SpanningTree) -> float:
    """Return the mean tree edge: the extent of a lone pattern, or of copies of one."""
    mean = float(tree.lengths.mean()) if len(tree.lengths) else 0.0
    return mean if mean > 0 else LEAST_EXTENT


@dataclass(frozen=True, eq=False, repr=False)
class FuzzyModel:
    """Fuzzy decision regions: `centres` (k, r) in the dissimilarity space, `widths` (k, 2) inside and outside.

    >>> from eocc.regions.memberships import Gaussian
    >>> from eocc.regions.tconorms import maximum
    >>> model = FuzzyModel(np.array([[0.0], [1.0]]), np.array([[0.1, 0.1], [0.2, 0.2]]), Gaussian(), maximum)
    >>> rows = np.array([[0.1], [0.5]])
    >>> model.decision(rows) >= 0
    array([ True, False])
    >>> model.nearest_region(rows)
    array([0, 1])
    """

    centres: Matrix
    widths: Matrix
    membership_function: MembershipFunction
    tconorm: TConorm

    @classmethod
    def of_shapes(cls, shapes: Sequence[Shape], function: MembershipFunction, tconorm: TConorm) -> "FuzzyModel":
        """Stack the shapes of regions."""
        return cls(
            np.array([shape.centre for shape in shapes]),
            np.array([shape.widths for shape in shapes]),
            function,
            tconorm,
        )

    def ratios(self, rows: Matrix) -> Matrix:
        """Return d(v, R_i) / tau_i of every row in every region, tau_i by the side the row lies on."""
        inner, outer = self.widths.T
        widths = inner if (inner == outer).all() else np.where(offsets_from(rows, self.centres) < 0, inner, outer)
        with np.errstate(over="ignore"):
            return np.asarray(distances_to(rows, self.centres) / widths)

    def log_membership(self, rows: Matrix) -> Matrix:
        """Return ln SDF(v), the logarithm of the t-conorm of the grades, finite."""
        return united_grades(self.membership_function, self.tconorm, self.ratios(rows))

    @property
    def threshold(self) -> float:
        """The log-membership on the boundary of a lone region."""
        return float(self.membership_function.log_grade(np.array([[BOUNDARY]]))[0, 0])

    def decision(self, rows: Matrix) -> Matrix:
        """Return (1 - (d / tau)^2) / 2 in the region of highest membership: >= 0 exactly where d <= tau (HDF).

        Grades fall with d / tau in all regions alike, so the highest membership is where d / tau is least.
        """
        return decision_margin(self.ratios(rows).min(axis=1))

    def nearest_region(self, rows: Matrix) -> NDArray[np.int64]:
        """Return the index of the region of highest membership; ties to the lower one."""
        return np.asarray(np.argmin(self.ratios(rows), axis=1))


def united_grades(function: MembershipFunction, tconorm: TConorm, ratios: Matrix) -> Matrix:
    """Return the t-conorm, over the regions, of ln mu."""
    united = np.asarray(tconorm(log_grades(function, ratios)))
    if united.shape != (len(ratios),) or np.isnan(united).any():
        raise ValueError(
            f"a t-conorm must turn log-grades of shape (m, k) into numbers of shape (m,); {tconorm!r} gave "
            f"{united if united.size < 9 else united.shape} for {ratios.shape}"
        )
    return united
