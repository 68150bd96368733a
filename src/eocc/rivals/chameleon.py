"""Clusters by dynamic modelling, each a region."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from eocc.foundation.types import Indices, Matrix
from eocc.rivals.automatic import is_automatic
from eocc.rivals.base import Rival
from eocc.rivals.consistency import held_out_error, most_complex_consistent
from eocc.rivals.packages import needed

Labels = NDArray[np.int64]

CANDIDATES = (1, 2, 3, 5, 8, 13, 21)
# The typical distance to the nearest neighbour that rows are brought to. Edges weigh 10^6 / distance, as 32-bit
# integers: at 100 the closest pairs keep four digits and more, and sums over 10^5 edges do not overflow.
NEIGHBOUR_DISTANCE = 100.0


class ChameleonDescription(Rival):
    """CHAMELEON's clusters as fuzzy regions: score_samples is the log-membership in the nearest, -(d / tau)^2 / 2.

    The graph of each target's 10 nearest neighbours is cut into small parts, which are merged where they are as well
    connected, and as close, as each is inside. A cluster becomes a region: d is the distance to its medoid and tau
    the mean distance of its pairs; a lone target's is the mean distance to the nearest neighbour. Copies of a row are
    clustered as one. With fewer than 4 distinct rows there is no graph to cut and all targets are one cluster.
    Training scores are those of the fitted regions. Needs `pip install 'eocc[rivals]'`; the same rows give the same
    clusters always.
    Paper: Karypis, Han, Kumar, Chameleon: hierarchical clustering using dynamic modeling (1999).
    Good at: clusters of uneven size and density. Bad at: bent clusters, which one medoid cannot stand for; scattered
    targets.
    Automatic: `n_clusters` = 5, as for k-means and k-centres; "auto" takes the largest of 1, 2, 3, 5, 8, 13, 21 that
    still accepts held-out targets as promised (consistency, Tax and Müller 2004), at ten fits each.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ChameleonDescription().fit(X[y == 0]).predict(X[[0, 75, 149]])
    array([ 1, -1, -1])
    """

    def __init__(self, *, n_clusters: int | str = 5, rejection_rate: float = 0.05) -> None:
        self.n_clusters = n_clusters
        self.rejection_rate = rejection_rate

    def _learn(self, X: Matrix) -> Matrix:
        is_open = is_automatic("n_clusters", self.n_clusters)
        self.n_clusters_ = self._consistent(X) if is_open else int(self.n_clusters)
        self.labels_ = chameleon_labels(X, self.n_clusters_)
        self.centres_, self.extents_ = regions(X, self.labels_)
        return self._score(X)

    def _score(self, X: Matrix) -> Matrix:
        return log_membership(X, self.centres_, self.extents_)

    def _consistent(self, X: Matrix) -> int:
        def error(n_clusters: int) -> float:
            def scores_from(kept: Indices) -> Matrix:
                return log_membership(X, *regions(X[kept], chameleon_labels(X[kept], n_clusters)))

            return held_out_error(len(X), self.rejection_rate, scores_from)

        candidates = [n_clusters for n_clusters in CANDIDATES if n_clusters <= max(1, len(X) // 4)]
        return most_complex_consistent(candidates, error, len(X), self.rejection_rate)


def chameleon_labels(X: Matrix, n_clusters: int) -> Labels:
    """Return CHAMELEON's clusters 0, 1, ...: at most `n_clusters` unless the neighbour graph has more parts.

    >>> chameleon_labels(np.array([[0.0], [1.0], [1.0]]), 2)
    array([0, 0, 0])
    """
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


def regions(X: Matrix, labels: Labels) -> tuple[Matrix, Matrix]:
    """Return the medoid (k, d) and the extent (k,) of each cluster.

    >>> centres, extents = regions(np.array([[0.0], [1.0], [5.0]]), np.array([0, 0, 0]))
    >>> centres.tolist(), extents.round(3).tolist()
    ([[1.0]], [3.333])
    """
    shapes = [_region(X[labels == label]) for label in range(labels.max() + 1)]
    centres = np.array([centre for centre, _ in shapes])
    extents = np.array([extent for _, extent in shapes])
    return centres, np.where(extents > 0, extents, _lone_extent(X))


def _region(members: Matrix) -> tuple[Matrix, float]:
    D = cdist(members, members)
    n_pairs = len(D) * (len(D) - 1)
    return members[D.sum(axis=1).argmin()], float(D.sum() / n_pairs) if n_pairs else 0.0


def _lone_extent(X: Matrix) -> float:
    """Return the mean distance of distinct rows to the nearest other; where there is one row only, 1: any unit will do.

    >>> _lone_extent(np.array([[0.0], [2.0], [2.0]]))
    2.0
    """
    distinct = np.unique(X, axis=0)
    return float(_to_nearest_other(distinct).mean()) if len(distinct) > 1 else 1.0


def log_membership(X: Matrix, centres: Matrix, extents: Matrix) -> Matrix:
    """Return -(d / tau)^2 / 2 in the region where it is largest.

    >>> log_membership(np.array([[2.0]]), np.array([[0.0], [3.0]]), np.array([1.0, 0.5]))
    array([-2.])
    """
    return -0.5 * np.asarray((cdist(X, centres) / extents).min(axis=1)) ** 2
