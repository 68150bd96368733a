"""Clusters -> fuzzy decision regions -> membership; and how well those of all partitions classify (Algorithm 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.entropic.graph import EuclideanGraph, SpanningTree, distances_to
from eocc.entropic.rules import BOUNDARY, Extent, MembershipFunction, TConorm, extents_of_sums, log_grades
from eocc.kernels.distances import pairs_among, sums_among
from eocc.kernels.trees import Products, count_accepted, leaf_order, merge_clusters

# Members whose sums of distances differ by less than this factor are equally central: the first is the medoid.
# departure: representative
EQUALLY_CENTRAL = 1 + 1e-9
# Absolute rounding error of a distance, when dissimilarities of order 1 cancel.
CANCELLED = 2e-15
# The extent of copies when the whole tree has length 0: small, but (d / tau)^2 stays finite for every d below 1e54.
# departure: extent of one
LEAST_EXTENT = 1e-100


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


def build_region(graph: EuclideanGraph, extent: Extent, members: Indices) -> Region:
    """Return the region of one cluster: its medoid, and its extent."""
    sums = np.empty(len(members))
    largest = sums_among(graph.distances, members, sums)
    tau = cluster_extent(graph.distances, extent, members, float(sums.sum() / 2), largest)
    medoid = members[np.argmax(sums <= sums.min() * EQUALLY_CENTRAL)]
    return Region(members, int(medoid), tau or default_extent(graph.tree))


def cluster_extent(distances: Matrix, extent: Extent, members: Indices, total: float, largest: float) -> float:
    """Return the extent, 0 if it is only a rounding error; raise a ValueError unless it is a number >= 0.

    Distances are copied only if their sum and maximum do not suffice: the copy for a large cluster takes much memory.
    """
    n = len(members)
    if n == 1:
        return 0.0
    size = extents_of_sums(extent, total, largest, n * (n - 1) / 2)
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
    tconorm: TConorm

    @classmethod
    def of(cls, graph: EuclideanGraph, regions: Sequence[Region], *functions: Any) -> Self:
        """Return the model of regions of the graph, with a membership function and a t-conorm."""
        centres = graph.space.rows[[region.representative for region in regions]] + graph.space.means
        return cls(centres, np.array([region.extent for region in regions]), *functions)

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


def accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the share of right decisions, as in the paper; `accepted` targets and `falsely` accepted outliers."""
    return (accepted + n_outliers - falsely) / (n_targets + n_outliers)


def balanced_accuracy(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the mean of the shares of right decisions among targets and among outliers."""
    return (accepted / n_targets + 1 - falsely / n_outliers) / 2


def f1(accepted: Any, falsely: Any, n_targets: int, n_outliers: int) -> Any:
    """Return the harmonic mean of precision and recall."""
    return 2 * accepted / (accepted + falsely + n_targets)


# From the numbers of accepted targets and outliers, of one partition or (as arrays) of many, and those of all.
Performance = Callable[[Any, Any, int, int], Any]


def performance_curve(
    graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Extent, performance: Performance
) -> Matrix:
    """Return the performance of the partitions into k = 2, ..., n clusters on validation rows, targets first.

    With a single training pattern, k = 1.
    """
    if len(graph.tree.edges):
        counts = counts_by_split(graph, rows, n_targets, extent)
    else:
        is_accepted = distances_to(rows, graph.space.rows) <= width_of(default_extent(graph.tree)) * BOUNDARY
        counts = is_accepted[:n_targets].sum(axis=0), is_accepted[n_targets:].sum(axis=0)
    return np.asarray(performance(*counts, n_targets, len(rows) - n_targets))


def counts_by_split(graph: EuclideanGraph, rows: Matrix, n_targets: int, extent: Extent) -> tuple[Indices, Indices]:
    """Return how many targets and outliers are accepted at k = 2, ..., n: O(n^2) for all clusters, O(m) per split."""
    cuts, space, default = leaf_order(graph.tree.edges), graph.space, default_extent(graph.tree)
    nodes = merge_clusters(graph.distances, cuts, EQUALLY_CENTRAL)
    size = (cuts.stop - cuts.start).astype(np.float64)
    extents = extents_of_sums(extent, nodes.total, nodes.largest, size * (size - 1) / 2)
    if extents is None:
        clusters = [np.sort(cuts.order[start:stop]) for start, stop in zip(cuts.start, cuts.stop, strict=True)]
        facts = zip(clusters, nodes.total.tolist(), nodes.largest.tolist(), strict=True)
        extents = np.array([cluster_extent(graph.distances, extent, *one) for one in facts])
    radius = width_of(np.where(extents > 0, extents, default)) * BOUNDARY / space.scale
    single_radius = float(width_of(default)) * BOUNDARY / space.scale
    norms, other_norms = (np.einsum("ij,ij->i", one, one) for one in (space.rows, rows))
    # A sum of r rounded products errs by at most r u |x| |y|, u = 2^-53.
    pairs = Products(space.rows, rows, norms, other_norms, space.rows @ rows.T, (space.n_dims + 4) * 2.0**-53)
    accepted, falsely = count_accepted(nodes, radius, single_radius, pairs, n_targets)
    return accepted, falsely
