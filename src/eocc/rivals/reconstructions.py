"""Distances to what sums the targets up: centres, a map, clusters, principal components, the copy of a network."""

import warnings
from typing import Annotated, Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from eocc.base.arguments import generator
from eocc.base.checks import Check, is_integer, number
from eocc.base.registry import needed
from eocc.base.types import Indices, Matrix
from eocc.rivals.base import COUNT, DistanceRival, Rival, seed_of
from eocc.rivals.densities import n_directions


class KMeansDescription(Rival):
    """Distance to the nearest of k centres: score_samples is minus its square.

    The centres are those of k-means from `k` distinct random rows; at most as many as distinct rows. Training scores
    leave the pattern out of the mean that is its centre: in a cluster of m its distance grows by m / (m - 1), and a
    pattern that was a cluster by itself is scored by the other centres.

    >>> KMeansDescription(k=2, random_state=0).fit([[0.0], [1.0], [8.0], [9.0]]).score_samples([[0.5], [10.5]])
    array([-0., -4.])
    """

    k: Annotated[int, COUNT] = 5
    random_state: Any = None

    def _learn(self, X: Matrix) -> Matrix:
        rows = np.unique(X, axis=0)
        start = rows[np.random.default_rng(seed_of(self.random_state)).permutation(len(rows))[: self.k]]
        with warnings.catch_warnings():
            # Rows that differ by rounding alone may share a centre: fewer clusters than asked for, and no harm.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.centres_ = KMeans(len(start), init=start, n_init=1).fit(X).cluster_centers_
        self.k_ = len(self.centres_)
        if len(X) == 1:
            return np.zeros(1)
        squares = cdist(X, self.centres_, "sqeuclidean")
        own, each = squares.argmin(axis=1), np.arange(len(X))
        sizes = np.bincount(own, minlength=self.k_)[own].astype(float)
        alone = sizes == 1
        squares[each, own] *= (sizes / np.where(alone, 1, sizes - 1)) ** 2
        squares[each[alone], own[alone]] = np.inf
        return np.asarray(-squares.min(axis=1))

    def _score(self, X: Matrix) -> Matrix:
        return np.asarray(-cdist(X, self.centres_, "sqeuclidean").min(axis=1))


class KCentres(DistanceRival):
    """Distance to the nearest of k targets chosen as centres: score_samples is minus that distance.

    Of `n_starts` starts, each k random targets that move to the middle of their clusters until none moves, those of
    smallest `radius_`: the largest distance of any target to its nearest centre. `centres_` are the targets chosen, at
    most k. A centre's training score is computed as if the next best member of its cluster had replaced it.

    >>> centres = KCentres(k=2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> sorted(centres.centres_.tolist()), centres.radius_
    ([1, 4], 1.0)
    >>> centres.score_samples([[5.0]])
    array([-4.])
    """

    k: Annotated[int, COUNT] = 5
    n_starts: Annotated[int, COUNT] = 25
    random_state: Any = None

    def _learn(self, D: Matrix) -> Matrix:
        self.centres_ = recentred_centres(D, self.k, self.n_starts, generator(self.random_state))
        self.k_ = len(self.centres_)
        self.radius_ = radius(D, self.centres_)
        return -left_out_distances(D, self.centres_)

    def _score(self, D: Matrix) -> Matrix:
        return -np.asarray(D[:, self.centres_].min(axis=1))


def radius(D: Matrix, centres: Indices) -> float:
    """Return the largest distance of any pattern to its nearest centre."""
    return float(D[:, centres].min(axis=1).max())


def recentred_centres(D: Matrix, k: int, n_starts: int, random: np.random.Generator) -> Indices:
    """Return the centres of smallest radius found from `n_starts` sets of k random patterns by recentring alone."""
    found = []
    for _ in range(n_starts):
        centres = random.permutation(len(D))[:k]
        # With tied distances, moves can go round in a circle; a hundred are far more than it takes to settle.
        for _ in range(100):
            moved = np.array([_middle(D, members) for members in _clusters(D, centres) if len(members)])
            if np.array_equal(moved, centres):
                break
            centres = moved
        found.append(centres)
    return min(found, key=lambda centres: radius(D, centres))


def _clusters(D: Matrix, centres: Indices) -> list[Indices]:
    """Return the patterns nearest to each centre; every centre is in its own cluster, unless a copy precedes it."""
    labels = D[:, centres].argmin(axis=1)
    return [np.flatnonzero(labels == label) for label in range(len(centres))]


def _middle(D: Matrix, members: Indices) -> int:
    """Return the member whose largest distance to the others is smallest."""
    return int(members[D[np.ix_(members, members)].max(axis=1).argmin()])


def left_out_distances(D: Matrix, centres: Indices) -> Matrix:
    """Return the distances to the nearest centre; for a centre, to the others or to the one that would replace it."""
    distances = np.asarray(D[:, centres].min(axis=1))
    for centre, members in zip(centres, _clusters(D, centres), strict=True):
        others = centres[centres != centre]
        rest = members[members != centre]
        replacements = np.append(others, _middle(D, rest)) if len(rest) else others
        distances[centre] = D[centre, replacements].min(initial=np.inf)
    return np.where(np.isfinite(distances), distances, 0.0)


SIDES = Check(
    "two integers >= 1, rows and columns",
    lambda value: isinstance(value, tuple | list) and len(value) == 2 and all(is_integer(n) and n >= 1 for n in value),
)


class SelfOrganisingMap(Rival):
    """Kohonen's map: score_samples is minus the squared distance to the nearest unit, -min over units ||x - w||².

    The units, on a grid of `grid` rows and columns, start at random targets. Each of `n_epochs` passes shows every
    target once; the nearest unit and, less, its neighbours on the grid move towards it. The learning rate starts at
    0.5, and the Gaussian of the neighbourhood at `width` grid steps; both fall to a third. Needs the package minisom.
    """

    grid: Annotated[tuple[int, int], SIDES] = (5, 5)
    n_epochs: Annotated[int, COUNT] = 100
    width: float = 1.0
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        widest = max(1.0, float(np.hypot(*self.grid)))
        number(f"(0, {widest:.3g}]", ", as wide as the grid")("width", self.width)
        som = needed("minisom", "SelfOrganisingMap needs the package minisom: pip install minisom").MiniSom(
            *map(int, self.grid), X.shape[1], sigma=float(self.width), learning_rate=0.5,
            random_seed=seed_of(self.random_state), decay_function="asymptotic_decay",
            sigma_decay_function="asymptotic_decay",
        )  # fmt: skip
        # minisom's other starts have length 1 whatever the unit of the data.
        som.random_weights_init(X)
        som.train(X, int(self.n_epochs), random_order=True, use_epochs=True)
        self.units_ = np.ascontiguousarray(som.get_weights().reshape(-1, X.shape[1]))

    def _score(self, X: Matrix) -> Matrix:
        return -np.asarray(cdist(X, self.units_, "sqeuclidean").min(axis=1))


class ChameleonDescription(Rival):
    """CHAMELEON's clusters as fuzzy regions: score_samples is the log-membership in the nearest, -(d / tau)^2 / 2.

    The graph of each target's 10 nearest neighbours is cut into small parts, which are merged if they are as well
    connected, and as close, as each is inside, until `n_clusters` are left. d is the distance to the medoid of a
    cluster and tau the mean distance of its pairs; for a single target, the mean distance to the nearest neighbour in
    the data. Fewer than 4 distinct rows are one cluster. Needs the package chameleon-cluster.
    """

    n_clusters: Annotated[int, COUNT] = 5

    def _learn(self, X: Matrix) -> None:
        self.labels_ = chameleon_labels(X, self.n_clusters)
        self.centres_, self.extents_ = regions(X, self.labels_)

    def _score(self, X: Matrix) -> Matrix:
        return -0.5 * np.asarray((cdist(X, self.centres_) / self.extents_).min(axis=1)) ** 2


def chameleon_labels(X: Matrix, n_clusters: int) -> Indices:
    """Return CHAMELEON's clusters 0, 1, ...: at most `n_clusters` unless the neighbour graph has more parts."""
    words = "ChameleonDescription needs the package chameleon-cluster: pip install chameleon-cluster"
    chameleon = needed("pychameleon", words).Chameleon
    distinct, copy_of = np.unique(X, axis=0, return_inverse=True)
    if len(distinct) < 4 or n_clusters == 1:
        return np.zeros(len(X), np.int64)
    centred = distinct - distinct.mean(axis=0)
    # The median distance to the nearest neighbour becomes 100. Edges weigh 10^6 / distance, as 32-bit integers: at 100
    # the closest pairs keep four digits and more, and sums over 10^5 edges do not overflow.
    rows = centred * (100.0 / np.median(_to_nearest_other(centred)))
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
    distinct = np.unique(X, axis=0)
    lone = float(_to_nearest_other(distinct).mean()) if len(distinct) > 1 else 1.0
    centres, extents = [], []
    for label in range(labels.max() + 1):
        members = X[labels == label]
        D = cdist(members, members)
        centres.append(members[D.sum(axis=1).argmin()])
        extents.append(float(D.sum() / (len(D) * (len(D) - 1))) if D.any() else lone)
    return np.array(centres), np.array(extents)


class PrincipalComponents(Rival):
    """Principal component analysis: score_samples is minus the squared distance to the principal subspace.

    The subspace passes through the mean of the targets, along the directions in which they vary most:
    -||(x - m) - V'V(x - m)||². `n_components` is their number, or the fraction of the variance that the fewest of them
    must keep; 0.9 is dd_tools' default. At least one direction in which the targets vary is always left out: otherwise
    all errors would be zero. Features keep their unit.

    >>> rival = PrincipalComponents().fit([[-2.0, 0.0], [2.0, 0.0], [0.0, 0.5], [0.0, -0.5]])
    >>> rival.score_samples([[9.0, 0.0], [0.0, 3.0]])
    array([-0., -9.])
    """

    n_components: float = 0.9

    def _learn(self, X: Matrix) -> None:
        if not (is_integer(self.n_components) and self.n_components >= 0):
            fraction = number("(0, 1)", ", a fraction of the variance, or an integer >= 0")
            fraction("n_components", self.n_components)
        self.mean_ = X.mean(axis=0)
        self.components_ = np.empty((0, X.shape[1]))
        if np.ptp(X, axis=0).any():
            analysis = PCA(svd_solver="full").fit(X)
            kept = np.cumsum(analysis.singular_values_**2)
            n_asked = np.searchsorted(kept, self.n_components * kept[-1]) + 1
            n_asked = self.n_components if is_integer(self.n_components) else n_asked
            n_kept = min(int(n_asked), max(0, n_directions(X, analysis.singular_values_) - 1))
            self.components_ = np.ascontiguousarray(analysis.components_[:n_kept])
        self.n_components_ = len(self.components_)

    def _score(self, X: Matrix) -> Matrix:
        centred = X - self.mean_
        # einsum sums each row by itself: a matrix product would round differently in other batches.
        coordinates = np.einsum("ij,kj->ik", centred, self.components_)
        residuals = centred - np.einsum("ik,kj->ij", coordinates, self.components_)
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))


class AutoEncoder(Rival):
    """A neural network that copies its input: score_samples is minus the squared error of the copy, -||x - f(x)||².

    One hidden layer of `n_hidden` tanh units and a linear output, fitted by L-BFGS for at most `max_iter` steps. The
    features are centred and divided by one number, the root of their mean variance, so that the network trains well in
    any unit while features keep their relative scale, as in the published figures.
    """

    n_hidden: Annotated[int, COUNT] = 5
    max_iter: Annotated[int, COUNT] = 1000
    random_state: Any = None

    def _learn(self, X: Matrix) -> None:
        self.mean_, self.scale_ = X.mean(axis=0), float(np.sqrt(X.var(axis=0).mean())) or 1.0
        scaled = (X - self.mean_) / self.scale_
        network = MLPRegressor(
            hidden_layer_sizes=(self.n_hidden,), activation="tanh", solver="lbfgs", max_iter=self.max_iter,
            random_state=seed_of(self.random_state),
        )  # fmt: skip
        with warnings.catch_warnings():
            # A network stopped at max_iter is as good as any other: its errors are what is measured.
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(scaled, scaled[:, 0] if scaled.shape[1] == 1 else scaled)
        self.layers_, self.n_iter_ = list(zip(network.coefs_, network.intercepts_, strict=True)), network.n_iter_

    def _score(self, X: Matrix) -> Matrix:
        (inward, inward_bias), (outward, outward_bias) = self.layers_
        scaled = (X - self.mean_) / self.scale_
        # einsum sums each row by itself: the network's own matrix product would round differently in other batches.
        hidden = np.tanh(np.einsum("ij,jk->ik", scaled, inward) + inward_bias)
        residuals = (scaled - np.einsum("ik,kj->ij", hidden, outward) - outward_bias) * self.scale_
        return np.asarray(-np.einsum("ij,ij->i", residuals, residuals))
