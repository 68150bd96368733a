"""Distances to the nearest targets, and to the tree that joins them."""

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.neighbors import LocalOutlierFactor

from eocc.base.checks import integer, number, or_word
from eocc.base.types import Matrix
from eocc.entropic.graph import spanning_tree
from eocc.kernels.trees import lower_to_edges, lower_to_triangles
from eocc.rivals.base import COUNT, DistanceRival, Rival, distances_to_others, intrinsic_dimension


class KNearestNeighbours(DistanceRival):
    """Distance to the k-th nearest target: score_samples is minus that distance.

    Training scores leave out the pattern itself, so a copy of a row is a neighbour at distance 0. k = "auto" takes the
    k of 1, 2, 3, 5, 8, ... whose density, a Gaussian at each target as wide as its distance to its k-th neighbour,
    gives left-out targets the largest likelihood.

    >>> KNearestNeighbours(k=1).fit([[0.0], [1.0], [3.0]]).score_samples([[5.0]])
    array([-2.])
    """

    k: Annotated[int | str, or_word(integer(1, otherwise=" or 'auto'"), "auto")] = "auto"

    def _learn(self, D: Matrix) -> Matrix:
        if len(D) == 1:
            self.k_ = 1
            return np.zeros(1)
        others = distances_to_others(D)
        self.k_ = _likeliest_k(D, others) if self.k == "auto" else min(int(self.k), len(D) - 1)
        return -others[:, self.k_ - 1]

    def _score(self, D: Matrix) -> Matrix:
        return -np.partition(D, self.k_ - 1, axis=1)[:, self.k_ - 1]


def _likeliest_k(D: Matrix, others: Matrix) -> int:
    """Return the k whose density gives left-out patterns the largest likelihood.

    The density of Breiman, Meisel, Purcell (1977) in the intrinsic dimension of the data. Without pattern j, a target
    that had j among its k nearest is as wide as its next distance. Copies must not be infinitely dense: widths are at
    least 10^-6 of the median distance (of the median positive one if most rows are copies), and 10^-150 of the largest.
    """
    candidates = [k for k in (1, 2, 3, 5, 8, 13, 21, 34, 55) if k < len(D) - 1] or [1]
    if len(candidates) == 1:
        return candidates[0]
    d = intrinsic_dimension(D)
    positive = others[others > 0]
    floor = 1e-6 * float(np.median(others) or (np.median(positive) if len(positive) else 1.0))
    floor = max(floor, 1e-150 * float(others.max()))
    D, likelihoods = D.astype(np.float64), []
    for k in candidates:
        width = np.where(others[:, [k - 1]] >= D, others[:, [k]], others[:, [k - 1]]).clip(floor)
        logs = -0.5 * (D / width) ** 2 - d * np.log(width)
        np.fill_diagonal(logs, -np.inf)
        likelihoods.append(logsumexp(logs, axis=0).mean())
    return candidates[int(np.argmax(likelihoods))]


class NearestNeighbour(KNearestNeighbours):
    """Distance to the nearest target: score_samples is minus that distance.

    `KNearestNeighbours` with k = 1. A training target scored again is at distance 0 from itself, so predict accepts it.
    """

    def __init__(self, *, metric: Any = "euclidean", rejection_rate: float = 0.05) -> None:
        super().__init__(k=1, metric=metric, rejection_rate=rejection_rate)


class PyodKNN(Rival):
    """Distance to the k-th nearest target, k = `n_neighbors`: score_samples is minus that distance.

    `KNearestNeighbours` with the scores and the default of PyOD's KNN, of which k is at most the number of the other
    targets.

    >>> PyodKNN(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).score_samples([[5.0]])
    array([-2.])
    """

    n_neighbors: Annotated[int, COUNT] = 5

    def _learn(self, X: Matrix) -> Matrix:
        self.neighbours_ = KNearestNeighbours(k=self.n_neighbors).fit(X)
        return np.asarray(self.neighbours_.training_scores_)

    def _score(self, X: Matrix) -> Matrix:
        return self.neighbours_.score_samples(X)


class GeometricEntropyMinimisation(DistanceRival):
    """GEM: score_samples is minus the sum of distance^gamma to the k nearest targets.

    The total of this sum over the rows of a set is the length of its k-nearest-neighbour graph, which estimates the
    Rényi entropy of order (d - gamma) / d, d the dimension: a row is as normal as the length that it adds is short.
    Sums are in the unit of the largest training distance, so that powers neither overflow nor vanish.

    >>> gem = GeometricEntropyMinimisation(k=2).fit([[0.0], [1.0], [4.0]])
    >>> gem.score_samples([[2.0], [8.0]]) * gem.unit_
    array([ -3., -11.])
    """

    k: Annotated[int, COUNT] = 5
    gamma: Annotated[float, number("(0, 5]")] = 1.0

    def _learn(self, D: Matrix) -> Matrix:
        self.unit_ = float(D.max()) or 1.0
        self.k_ = max(1, min(int(self.k), len(D) - 1))
        return self._minus_length(distances_to_others(D)[:, : self.k_])

    def _score(self, D: Matrix) -> Matrix:
        nearest = np.partition(D, self.k_ - 1, axis=1)[:, : self.k_]
        return self._minus_length(np.sort(nearest, axis=1))

    def _minus_length(self, nearest: Matrix) -> Matrix:
        """Return minus the sum over sorted distances, in the unit of the training distances."""
        return np.asarray(-((nearest / self.unit_) ** self.gamma).sum(axis=1))


class LocalOutlierFactorRival(DistanceRival):
    """The local outlier factor: score_samples is minus the neighbours' density over the pattern's own, about -1 inside.

    The density is one over the mean reachability distance to the `n_neighbors` nearest targets, or all others if there
    are fewer: scikit-learn's LocalOutlierFactor. With a single target, the score is minus the distance to it.

    >>> LocalOutlierFactorRival(n_neighbors=1).fit([[0.0], [1.0], [3.0]]).score_samples([[7.0]]).round(6)
    array([-2.])
    """

    n_neighbors: Annotated[int, COUNT] = 20

    def _learn(self, D: Matrix) -> Matrix:
        self.n_neighbors_ = min(int(self.n_neighbors), len(D) - 1)
        self.scale_ = float(D.mean()) or 1.0  # scikit-learn adds 1e-10 to distances
        if self.n_neighbors_ == 0:
            return np.zeros(1)
        self.factor_ = LocalOutlierFactor(n_neighbors=self.n_neighbors_, metric="precomputed", novelty=True)
        self.factor_.fit(D / self.scale_)
        return np.asarray(self.factor_.negative_outlier_factor_)

    def _score(self, D: Matrix) -> Matrix:
        if self.n_neighbors_ == 0:
            return -D[:, 0]
        return np.asarray(self.factor_.score_samples(D / self.scale_))


class SpanningTreeDescription(DistanceRival):
    """Distance to the targets' minimum spanning tree: score_samples is minus that to the nearest point of any edge.

    With metric="euclidean" an edge is the segment between its two targets. With any other metric the distance is the
    height over the edge of the triangle of the three distances, 0 if the triangle inequality fails. `tree_` holds the
    edges. Training scores are distances to the other targets and to the edges that do not end in the pattern; scored
    again, a training target lies on the tree, so predict accepts every one.

    >>> tree = SpanningTreeDescription().fit([[0.0, 0.0], [4.0, 0.0], [4.0, 9.0]])
    >>> tree.score_samples([[2.0, 1.0], [7.0, 13.0]])
    array([-1., -5.])
    """

    def _learn(self, D: Matrix) -> Matrix:
        # A measure may differ by rounding between (i, j) and (j, i); otherwise the mean changes nothing.
        symmetric = D / 2 + D.T / 2
        np.fill_diagonal(symmetric, 0.0)
        self.tree_ = spanning_tree(symmetric)
        if len(D) == 1:
            return np.zeros(1)
        np.fill_diagonal(symmetric, np.inf)
        return self._minus_distance(symmetric, self.prototypes_, own=np.arange(len(D)))

    def _score_block(self, D: Matrix, patterns: Matrix) -> Matrix:
        return self._score(D, patterns)

    def _score(self, D: Matrix, patterns: Any = None) -> Matrix:
        return self._minus_distance(D, patterns, own=np.full(len(D), -1))

    def _minus_distance(self, D: Matrix, patterns: Any, own: NDArray[np.int64]) -> Matrix:
        nearest: Matrix = D.min(axis=1)
        if self._has_rows:
            lower_to_edges(patterns, own, self.prototypes_, self.tree_.edges, nearest)
        else:
            lower_to_triangles(np.ascontiguousarray(D), own, self.tree_.edges, self.tree_.lengths, nearest)
        return -nearest
