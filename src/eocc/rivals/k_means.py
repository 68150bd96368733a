"""The nearest of k centres."""

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from eocc.foundation.arguments import check_count, generator
from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import Rival, is_automatic
from eocc.rivals.consistency import most_complex_consistent

NUMBERS_TRIED = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89)


class KMeansDescription(Rival):
    """Distance to the nearest of k centres: score_samples is minus its square.

    The centres are those of k-means (scikit-learn's Lloyd iterations) from distinct random rows, the best of
    `n_starts` runs; at most as many as distinct rows. Training scores leave the pattern out of the mean that is its
    centre: in a cluster of m its distance grows by m / (m - 1), and a pattern that was a cluster by itself is scored by
    the other centres.
    Paper: Tax, One-class classification (2001), section 3.4.3; dd_tools' kmeans_dd.
    Good at: round clusters of similar size, many rows, speed. Bad at: long or bent clusters, features in unequal units.
    Automatic: k = "auto" takes the largest consistent k of 1, 2, 3, 5, 8, ...; 5 is dd_tools' default. The published
    figures fit one start; the best of many starts more often gives an outlier a centre of its own.

    >>> KMeansDescription(k=2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]]).score_samples([[0.5], [10.5]])
    array([-0., -4.])
    """

    k: int | str = 5
    n_starts: int = 1
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        is_open = is_automatic("k", self.k)
        check_count("n_starts", self.n_starts)
        seed = int(generator(self.random_state).integers(2**31))
        k = self._consistent_k(X, seed) if is_open else int(self.k)
        self.centres_ = _centres(X, k, self.n_starts, seed)
        self.k_ = len(self.centres_)
        return _left_out_scores(X, self.centres_)

    def _score(self, X: Matrix) -> Matrix:
        return _scores(X, self.centres_)

    def _consistent_k(self, X: Matrix, seed: int) -> int:
        def scores_of(k: int, kept: Indices) -> Matrix:
            return _scores(X, _centres(X[kept], k, self.n_starts, seed))

        n_distinct = len(np.unique(X, axis=0))
        candidates = [k for k in NUMBERS_TRIED if k <= n_distinct]
        return most_complex_consistent(candidates, scores_of, len(X), self.rejection_rate)


def _centres(X: Matrix, k: int, n_starts: int, seed: int) -> Matrix:
    """Return the centres of k clusters, or as many as there are distinct rows."""
    rows = np.unique(X, axis=0)
    randoms = np.random.default_rng(seed)
    runs = []
    with warnings.catch_warnings():
        # Rows that differ by rounding alone may share a centre: fewer clusters than asked for, and no harm.
        warnings.simplefilter("ignore", ConvergenceWarning)
        for _ in range(n_starts):
            start = rows[randoms.permutation(len(rows))[:k]]
            runs.append(KMeans(len(start), init=start, n_init=1).fit(X))
    return np.asarray(min(runs, key=lambda run: run.inertia_).cluster_centers_)


def _scores(X: Matrix, centres: Matrix) -> Matrix:
    return np.asarray(-cdist(X, centres, "sqeuclidean").min(axis=1))


def _left_out_scores(X: Matrix, centres: Matrix) -> Matrix:
    """Return the scores of training rows, each with its own centre moved to the mean of the rest of its cluster."""
    if len(X) == 1:
        return np.zeros(1)
    squares = cdist(X, centres, "sqeuclidean")
    own = squares.argmin(axis=1)
    sizes = np.bincount(own, minlength=len(centres))[own].astype(float)
    rows = np.arange(len(X))
    alone = sizes == 1
    squares[rows, own] *= (sizes / np.where(alone, 1, sizes - 1)) ** 2
    squares[rows[alone], own[alone]] = np.inf
    return np.asarray(-squares.min(axis=1))
