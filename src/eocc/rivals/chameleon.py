"""Clusters by dynamic modelling, each a region."""

import numpy as np
from scipy.spatial.distance import cdist

from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import Rival, is_automatic, needed
from eocc.rivals.consistency import most_complex_consistent

NUMBERS_TRIED = (1, 2, 3, 5, 8, 13, 21)
# Rows are scaled to this median distance to the nearest neighbour. Edges weigh 10^6 / distance, as 32-bit integers: at
# 100 the closest pairs keep four digits and more, and sums over 10^5 edges do not overflow.
NEIGHBOUR_DISTANCE = 100.0


class ChameleonDescription(Rival):
    """CHAMELEON's clusters as fuzzy regions: score_samples is the log-membership in the nearest, -(d / tau)^2 / 2.

    The graph of each target's 10 nearest neighbours is cut into small parts, which are merged if they are as well
    connected, and as close, as each is inside. Each cluster becomes a region: d is the distance to its medoid and tau
    the mean distance of its pairs; for a single target, the mean distance to the nearest neighbour in the data. Copies
    of a row are clustered as one. Fewer than 4 distinct rows are one cluster. The same rows always give the same
    clusters. Needs the package chameleon-cluster.
    Paper: Karypis, Han, Kumar, Chameleon: hierarchical clustering using dynamic modeling (1999).
    Good at: clusters of uneven size and density. Bad at: bent clusters, which one medoid cannot represent; scattered
    targets.
    Automatic: `n_clusters` = 5, as for k-means and k-centres; "auto" takes the largest consistent number of 1, 2, 3, 5,
    8, 13, 21, at ten fits each.
    """

    n_clusters: int | str = 5

    def _learn(self, X: Matrix) -> Matrix:
        is_open = is_automatic("n_clusters", self.n_clusters)
        self.n_clusters_ = self._consistent(X) if is_open else int(self.n_clusters)
        self.labels_ = chameleon_labels(X, self.n_clusters_)
        self.centres_, self.extents_ = regions(X, self.labels_)
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return log_membership(X, self.centres_, self.extents_)

    def _consistent(self, X: Matrix) -> int:
        def scores_of(n_clusters: int, kept: Indices) -> Matrix:
            return log_membership(X, *regions(X[kept], chameleon_labels(X[kept], n_clusters)))

        candidates = [n_clusters for n_clusters in NUMBERS_TRIED if n_clusters <= max(1, len(X) // 4)]
        return most_complex_consistent(candidates, scores_of, len(X), self.rejection_rate)


def chameleon_labels(X: Matrix, n_clusters: int) -> Indices:
    """Return CHAMELEON's clusters 0, 1, ...: at most `n_clusters` unless the neighbour graph has more parts."""
    chameleon = needed("pychameleon", "chameleon-cluster", by="ChameleonDescription").Chameleon
    distinct, copy_of = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) < 4 or n_clusters == 1:
        return np.zeros(len(X), np.int64)
    centred = distinct - distinct.mean(axis=0)
    rows = centred * (NEIGHBOUR_DISTANCE / np.median(_to_nearest_other(centred)))
    labels = chameleon(n_clusters=n_clusters).fit(rows).labels_
    return np.asarray(np.unique(labels, return_inverse=True)[1][copy_of.reshape(-1)])


def _to_nearest_other(rows: Matrix) -> Matrix:
    D = cdist(rows, rows)
    np.fill_diagonal(D, np.inf)
    return np.asarray(D.min(axis=1))


def regions(X: Matrix, labels: Indices) -> tuple[Matrix, Matrix]:
    """Return the medoid (k, d) and the extent (k,) of each cluster.

    >>> centres, extents = regions(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 0]))
    >>> centres.tolist(), extents.round(3).tolist()
    ([[1.0]], [3.333])
    """
    shapes = [_region(X[labels == label]) for label in range(labels.max() + 1)]
    centres = np.array([centre for centre, _ in shapes])
    extents = np.array([extent for _, extent in shapes])
    distinct = np.unique(X, axis=0)
    lone = float(_to_nearest_other(distinct).mean()) if len(distinct) > 1 else 1.0
    return centres, np.where(extents > 0, extents, lone)


def _region(members: Matrix) -> tuple[Matrix, float]:
    D = cdist(members, members)
    n_pairs = len(D) * (len(D) - 1)
    return members[D.sum(axis=1).argmin()], float(D.sum() / n_pairs) if n_pairs else 0.0


def log_membership(X: Matrix, centres: Matrix, extents: Matrix) -> Matrix:
    """Return -(d / tau)^2 / 2 in the region where it is largest."""
    return -0.5 * np.asarray((cdist(X, centres) / extents).min(axis=1)) ** 2
