"""Coordinates -> regions of one shape: whiten, span a tree, cut it, take the shape of the parts, sum memberships."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from eocc.base.checks import FITTED, indices, numbers, real
from eocc.base.threads import one_blas_thread
from eocc.base.types import ROUNDING, Indices, Matrix
from eocc.ellipsoids.features import Coordinates, Placement, Shape, row_coordinates
from eocc.entropic.graph import point_spanning_tree, spanning_tree
from eocc.kernels.ellipsoids import best_cut, left_out_log_memberships, log_memberships, preorder
from eocc.measures.euclidean import distinct_rows, euclidean_pairwise_distance


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

    centres: Annotated[Matrix, numbers("k q")]
    counts: Annotated[Indices, indices("k", least=1)]

    @classmethod
    def of(cls, places: Matrix, labels: Indices, **more: Any) -> Self:
        """Return the regions of places (n, q) with these labels."""
        counts = np.bincount(labels)
        return cls(np.ascontiguousarray(means_of(places, labels, len(counts))), counts, **more)

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


@dataclass(frozen=True, eq=False)
class KnownOutliers(Ellipsoids):
    """The regions of known outliers, and the log-membership at the limit of normal rows, `background`.

    An outlier is of a known kind, with the membership in these regions, or of an unknown kind, as likely everywhere as
    a normal row at the limit. So far from the known outliers the membership of a row stays what it is without them.
    departure: known outliers of regions.
    """

    background: Annotated[float, real(FITTED)]

    def penalty(self, places: Matrix) -> Matrix:
        """Return ln(1 + m / b) >= 0 of places: m is the membership in the outliers' regions, b the background."""
        return np.logaddexp(0.0, self.log_memberships(places) - self.background)


def radius(logs: Matrix) -> Matrix:
    """Return sqrt(-2 ln m): the distance, in widths, at which one region alone has the membership m."""
    return np.sqrt(np.maximum(-2 * logs, 0.0))


# Of more coordinates the tree comes from a matrix product, if the rows are this few. 2,000 x 2,000: 0.24 s instead of
# 1.4 s, in 130 MB. Up to 250 the points are faster (2,000 x 100: 0.04 s, 0.13 s), but of edges that tie, as in one-hot
# columns, the two ways take others, so another number would change decisions.
MOST_COORDINATES, MOST_PAIRED = 60, 2000
# Up to this many rows, and coordinates of them all, are also left out by this many folds: the cuts have seen the rows,
# which matters while the rows per region are few. At a rate of 0.05, 100 normal rows of 5 columns: 0.042 false alarms
# instead of 0.067; 1,000 rows: 0.050 without folds. departure: limit of regions
MOST_FOLDED, MOST_FOLDED_VALUES, FOLDS = 500, 2**14, 20


@dataclass(frozen=True)
class EllipsoidRegion:
    """A region: how many training rows it has, their share, and the row nearest to its centre."""

    n_members: int
    weight: float
    representative: int


@dataclass(frozen=True, eq=False)
class EllipsoidModel:
    """Where rows lie, the regions of normal rows and, if there are labels, those of known outliers.

    `own_deviations` (k, d) are those of the features of each region's rows: no score depends on them, rules do. None
    if features are no columns, and in models of version 0.2. `ends` (2, d) are the least and the largest values of the
    columns of these rows, if no reading knows those of all training rows.
    """

    placement: Placement
    regions: Ellipsoids
    outliers: KnownOutliers | None = None
    own_deviations: Matrix | None = None
    ends: Matrix | None = None

    @property
    def deviations(self) -> Matrix:
        """How much each feature varies in each region (k, d): by the shared shape, if the region's own is not known."""
        if self.own_deviations is not None:
            return self.own_deviations
        return np.tile(self.placement.deviations, (len(self.regions.counts), 1))

    def with_deviations(self, features: Matrix, labels: Indices) -> "EllipsoidModel":
        """Return the model that knows how much the features of each region's rows vary.

        A region of very few rows has the deviations of the shared shape: its own would give its rows away.
        """
        k = len(self.regions.counts)
        squares = means_of((features - means_of(features, labels, k)[labels]) ** 2, labels, k)
        is_small = self.regions.counts < ROWS_PER_REGION
        found = np.where(is_small[:, None], self.placement.deviations, np.sqrt(squares))
        return replace(self, own_deviations=found)

    def with_centres(self, features: Matrix) -> "EllipsoidModel":
        """Return the model whose regions have centres with these features (k, d), inside the span."""
        places = self.placement.place(features)
        places[:, -1] = 0.0
        return replace(self, regions=Ellipsoids(places, self.regions.counts))

    def log_memberships(self, features: Matrix) -> Matrix:
        """Return the log-membership of rows with these features."""
        places = self.place(features)
        logs = self.regions.log_memberships(places)
        return logs if self.outliers is None else logs - self.outliers.penalty(places)

    def place(self, features: Matrix) -> Matrix:
        """Return the places (m, r + 1) of rows with these features, gaps filled."""
        return self.placement.place(self.filled(features))

    def filled(self, features: Matrix) -> Matrix:
        """Return features in which a gap (NaN) has the value that the others suggest in the most likely region."""
        rows = np.flatnonzero(np.isnan(features).any(axis=1))
        if not len(rows):
            return features
        found, centres = features.copy(), self.placement.features_of(self.regions.centres)
        # The inverse covariance of the known features, and what the unknown ones gain per unit of each of them.
        solved: dict[bytes, tuple[Matrix, Matrix]] = {}
        for i in rows.tolist():
            is_gap = np.isnan(features[i])
            if (key := is_gap.tobytes()) not in solved:
                across = self.placement.covariance[:, ~is_gap]
                inverse = np.linalg.pinv(across[~is_gap], hermitian=True)
                solved[key] = inverse, across[is_gap] @ inverse
            inverse, slopes = solved[key]
            gaps = features[i, ~is_gap] - centres[:, ~is_gap]
            squares = np.array([one @ inverse @ one for one in gaps])
            k = int(np.argmax(self.regions.log_weights - squares / 2))
            found[i, is_gap] = centres[k, is_gap] + slopes @ gaps[k]
        return found


@dataclass(frozen=True, eq=False)
class Learned:
    """A model, and what its fit says of each training row: its region, its place and how far out it is, left out.

    `tree` holds the edges between regions that were cut (k - 1, 2). `representatives` are the rows nearest to centres.
    """

    model: EllipsoidModel
    labels: Indices
    places: Matrix
    radii: Matrix
    tree: Indices
    representatives: Indices


def learn_ellipsoids(coordinates: Coordinates, n_regions: int) -> Learned:
    """Return the regions of training rows; regions are in the order of their sizes, the largest first.

    Few rows are also left out of the whole fit, one fold at a time, and the larger radius counts: folds alone find
    copies too near, and rows in more columns than there are rows.
    """
    learned, (n, r) = _learn(coordinates, n_regions), coordinates.rows.shape
    if not FOLDS <= n <= MOST_FOLDED or not 0 < n * r <= MOST_FOLDED_VALUES:
        return learned
    folds, radii = np.arange(n) % FOLDS, learned.radii.copy()
    for fold in range(FOLDS):
        held_out, others = coordinates.rows[folds == fold], row_coordinates(coordinates.rows[folds != fold])
        logs = _learn(others, n_regions).model.log_memberships(held_out)
        radii[folds == fold] = np.maximum(radii[folds == fold], radius(logs))
    return replace(learned, radii=radii)


def _learn(coordinates: Coordinates, n_regions: int) -> Learned:
    """Return the regions, and how far out each row is without it in its centre and in the covariance.

    A row that is alone has no membership when it is left out: it counts as one width away.
    """
    rows = coordinates.rows
    white = whitened(rows, pooled_shape(rows, np.zeros(len(rows), np.int64), 1))
    labels, tree = cut_tree(white, count_of_regions(n_regions, count_distinct(white)))
    shape = pooled_shape(rows, labels, int(labels.max()) + 1)
    inside = whitened(rows, shape)
    places = np.hstack([inside, np.zeros((len(rows), 1))])
    regions = Ellipsoids.of(places, labels)
    logs = regions.left_out(places, labels, shape.shrinkage)
    radii = np.where(np.isfinite(logs), radius(logs), 1.0)
    model = EllipsoidModel(coordinates.whitened(shape), regions)
    # The member nearest to the centre of each region; of equally near ones, the first.
    gaps = ((places - regions.centres[labels]) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(labels)), gaps, labels))
    nearest = order[np.searchsorted(labels[order], np.arange(len(regions.centres)))]
    return Learned(model, labels, places, radii, tree, nearest)


def whitened(rows: Matrix, shape: Shape) -> Matrix:
    """Return rows (n, r) in coordinates in which the shape is a unit ball, the same for any number of threads."""
    with one_blas_thread():
        return np.ascontiguousarray(rows @ (shape.axes * shape.variances**-0.5))


def count_distinct(places: Matrix) -> int:
    """Return how many of the places are different."""
    # Places that are equal in 12 decimals are one: they differ by rounding.
    return len(distinct_rows(np.ascontiguousarray(places.round(12)))[0])


def cut_tree(places: Matrix, n_regions: int) -> tuple[Indices, Indices]:
    """Return the regions of places, and which of them the cut edges of their minimum spanning tree join."""
    n, r = places.shape
    if n_regions == 1 or not r:
        return np.zeros(n, np.int64), np.empty((0, 2), np.int64)
    if r <= MOST_COORDINATES or n > MOST_PAIRED:
        tree = point_spanning_tree(places)
    else:
        distances = euclidean_pairwise_distance(np.ascontiguousarray(places - places.mean(axis=0)), 1.0)
        tree = spanning_tree(np.triu(distances, 1) + np.triu(distances, 1).T)
    return scatter_cuts(places, tree.edges, n_regions)


def with_outliers(learned: Learned, outliers: Matrix, limit: float, n_regions: int) -> Learned:
    """Return the model that also knows outliers by their places, given the radius up to which rows are normal.

    Known outliers are few and of several kinds, so every different one may be a region of its own.
    """
    labels, _ = cut_tree(outliers, min(n_regions, count_distinct(outliers)))
    known = KnownOutliers.of(outliers, labels, background=-(limit**2) / 2)
    logs = -(learned.radii**2) / 2 - known.penalty(learned.places)
    return replace(learned, model=replace(learned.model, outliers=known), radii=radius(logs))
