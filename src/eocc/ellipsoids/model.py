"""Coordinates -> regions: whiten, span a tree, cut it, take the shape of the parts."""

from dataclasses import dataclass, replace

import numpy as np

from eocc.base.threads import one_blas_thread
from eocc.base.types import Indices, Matrix
from eocc.ellipsoids.features import Coordinates, Placement, row_coordinates
from eocc.ellipsoids.shape import (
    ROWS_PER_REGION,
    Ellipsoids,
    KnownOutliers,
    count_of_regions,
    means_of,
    pooled_shape,
    radius,
    scatter_cuts,
)
from eocc.entropic.graph import point_spanning_tree, spanning_tree
from eocc.measures.euclidean import distinct_rows, euclidean_pairwise_distance

# Of more coordinates the tree comes from a matrix product, if the rows are this few. 2,000 x 2,000: 0.24 s instead of
# 1.4 s, in 130 MB.
MOST_COORDINATES, MOST_PAIRED = 250, 2000
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
        return self.of_places(self.place(features))

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

    def of_places(self, places: Matrix) -> Matrix:
        """Return the log-membership of places."""
        logs = self.regions.log_memberships(places)
        return logs if self.outliers is None else logs - self.outliers.penalty(places)


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
    white = whitened(rows, pooled_shape(rows, np.zeros(len(rows), np.int64), 1).whitening)
    labels, tree = cut_tree(white, count_of_regions(n_regions, count_distinct(white)))
    shape = pooled_shape(rows, labels, int(labels.max()) + 1)
    inside = whitened(rows, shape.whitening)
    places = np.hstack([inside, np.zeros((len(rows), 1))])
    regions = Ellipsoids.of(places, labels)
    logs = regions.left_out(places, labels, shape.shrinkage)
    radii = np.where(np.isfinite(logs), radius(logs), 1.0)
    model = EllipsoidModel(coordinates.whitened(shape), regions)
    return Learned(model, labels, places, radii, tree, nearest_members(places, labels, regions.centres))


def whitened(rows: Matrix, whitening: Matrix) -> Matrix:
    """Return rows (n, r) times a matrix, the same for any number of threads."""
    with one_blas_thread():
        return np.ascontiguousarray(rows @ whitening)


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


def nearest_members(places: Matrix, labels: Indices, centres: Matrix) -> Indices:
    """Return the member nearest to the centre of each region; of equally near ones, the first."""
    gaps = ((places - centres[labels]) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(labels)), gaps, labels))
    return order[np.searchsorted(labels[order], np.arange(len(centres)))]


def with_outliers(learned: Learned, outliers: Matrix, limit: float, n_regions: int) -> Learned:
    """Return the model that also knows outliers by their places, given the radius up to which rows are normal.

    Known outliers are few and of several kinds, so every different one may be a region of its own.
    """
    labels, _ = cut_tree(outliers, min(n_regions, count_distinct(outliers)))
    known = KnownOutliers(Ellipsoids.of(outliers, labels), -(limit**2) / 2)
    logs = -(learned.radii**2) / 2 - known.penalty(learned.places)
    return replace(learned, model=replace(learned.model, outliers=known), radii=radius(logs))
