"""The nearest of k targets."""

from typing import Any

import numpy as np

from eocc.foundation.arguments import check_count, generator
from eocc.foundation.types import Indices, Matrix
from eocc.rivals.base import DistanceRival, is_automatic
from eocc.rivals.consistency import most_complex_consistent

NUMBERS_TRIED = (1, 2, 3, 5, 8, 13, 21, 34, 55)


class KCentres(DistanceRival):
    """Distance to the nearest of k targets chosen as centres: score_samples is minus that distance.

    The centres should minimise the radius, the largest distance of any target to its nearest centre. They are the best
    of `n_starts` starts, as in dd_tools: each is k random targets, moved to the middle of their clusters until none
    moves. `centres_` are the targets chosen, `k_` is their number (copies may make it smaller than k) and `radius_`
    their radius. The training score of a centre is computed as if the next best member of its cluster had replaced it.
    Paper: Ypma, Duin, Support objects for domain approximation (1998); dd_tools' kcenter_dd.
    Good at: any dissimilarity; a description by k patterns that can be looked at. Bad at: outliers among the training
    targets, since the farthest one decides; clusters of uneven size.
    Automatic: k = "auto" takes the largest consistent k of 1, 2, 3, 5, 8, ... 55; k = 5 and 25 starts are dd_tools'
    defaults.

    >>> centres = KCentres(k=2, random_state=0).fit([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> sorted(centres.centres_.tolist()), centres.radius_
    ([1, 4], 1.0)
    >>> centres.score_samples([[5.0]])
    array([-4.])
    """

    k: int | str = 5
    n_starts: int = 25
    random_state: Any = None

    def _learn(self, D: Matrix) -> Matrix:
        is_open = is_automatic("k", self.k)
        check_count("n_starts", self.n_starts)
        random = generator(self.random_state)
        k = self._consistent_k(D, random) if is_open else min(int(self.k), len(D))
        self.centres_ = recentred_centres(D, k, self.n_starts, random)
        self.k_ = len(self.centres_)
        self.radius_ = radius(D, self.centres_)
        return -left_out_distances(D, self.centres_)

    def _score(self, D: Matrix) -> Matrix:
        return -np.asarray(D[:, self.centres_].min(axis=1))

    def _consistent_k(self, D: Matrix, random: np.random.Generator) -> int:
        n, seed = len(D), int(random.integers(2**31))

        def scores_of(k: int, kept: Indices) -> Matrix:
            inside = D[np.ix_(kept, kept)]
            centres = recentred_centres(inside, k, self.n_starts, np.random.default_rng(seed))
            return -np.asarray(D[:, kept[centres]].min(axis=1))

        # Every fold must have more targets than centres.
        candidates = [k for k in NUMBERS_TRIED if k < n - -(-n // 10)] or [1]
        return most_complex_consistent(candidates, scores_of, n, self.rejection_rate)


def radius(D: Matrix, centres: Indices) -> float:
    """Return the largest distance of any pattern to its nearest centre."""
    return float(D[:, centres].min(axis=1).max())


def recentred_centres(D: Matrix, k: int, n_starts: int, random: np.random.Generator) -> Indices:
    """Return the centres of smallest radius found from `n_starts` sets of k random patterns by recentring alone."""
    found = (_settled(D, random.permutation(len(D))[:k]) for _ in range(n_starts))
    return min(found, key=lambda centres: radius(D, centres))


def _settled(D: Matrix, centres: Indices) -> Indices:
    """Return centres moved to the middle of their clusters until none moves; those of empty clusters are dropped."""
    # With tied distances, moves can go round in a circle; a hundred are far more than it takes to settle.
    for _ in range(100):
        moved = np.array([middle(D, members) for members in clusters(D, centres) if len(members)])
        if np.array_equal(moved, centres):
            break
        centres = moved
    return centres


def clusters(D: Matrix, centres: Indices) -> list[Indices]:
    """Return the patterns nearest to each centre; every centre is in its own cluster, unless a copy precedes it."""
    labels = D[:, centres].argmin(axis=1)
    return [np.flatnonzero(labels == label) for label in range(len(centres))]


def middle(D: Matrix, members: Indices) -> int:
    """Return the member whose largest distance to the others is smallest."""
    return int(members[D[np.ix_(members, members)].max(axis=1).argmin()])


def left_out_distances(D: Matrix, centres: Indices) -> Matrix:
    """Return the distances to the nearest centre; for a centre, to the others or to the one that would replace it."""
    distances = np.asarray(D[:, centres].min(axis=1))
    for centre, members in zip(centres, clusters(D, centres), strict=True):
        others = centres[centres != centre]
        rest = members[members != centre]
        replacements = np.append(others, middle(D, rest)) if len(rest) else others
        distances[centre] = D[centre, replacements].min(initial=np.inf)
    return np.where(np.isfinite(distances), distances, 0.0)
