"""Prototypes in the middle of what they stand for."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.protocol import check_places, dissimilarities, nearest_dissimilarities
from eocc.space.prototypes.random import without_copies

# All pairs of so many patterns take 32 MB.
SAMPLE = 2000
# With more medoids than this per sample, a medoid would stand for fewer than four patterns.
MOST_MEDOIDS = SAMPLE // 4
# A swap must lower the sum by more than it errs by, or rounding could go round in circles.
WORTHWHILE = 1e-9
# On samples of Gaussians there were at most seven rounds; the bound keeps the time in proportion to the sample's pairs.
MOST_ROUNDS = 20


@dataclass(frozen=True)
class KMedoids:
    """Patterns of small sum of dissimilarities, sum_i min_j d(x_i, r_j), from a random start by swaps on a sample.

    The start is drawn as `RandomSelection` draws. Then, on 2000 patterns drawn at random with the start among them, one
    medoid at a time is swapped for the pattern that lowers the sum most, until no swap does: PAM (Kaufman, Rousseeuw
    1990) with the eager swaps of FasterPAM (Schubert, Rousseeuw 2021). The result replaces the start if the sum over
    all patterns is no larger. Above 500 prototypes each 500 have a sample of their own.
    Copies are passed over as long as there are other patterns.

    >>> from eocc.measures import Euclidean
    >>> rows = np.array([[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]])
    >>> KMedoids().select(Euclidean().fit(rows), rows, 2, np.random.default_rng(0))
    array([1, 4])
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns, from 2 n count dissimilarities and those within the samples."""
        n = len(patterns)
        check_places(count, n)
        order = rng.permutation(n)
        start = without_copies(measure, patterns, order, count)
        found = _improved(measure, patterns, start, order[~np.isin(order, start)])
        # Medoids from several samples may be copies of each other.
        found = without_copies(measure, patterns, np.concatenate([found, start[~np.isin(start, found)]]), count)
        better = min((found, start), key=lambda chosen: _sum_over_all(measure, patterns, chosen))
        return np.sort(better)


def _improved(measure: FittedMeasure, patterns: Any, start: Indices, others: Indices) -> Indices:
    """Return the medoids of one sample per MOST_MEDOIDS of the start."""
    n_parts = -(-len(start) // MOST_MEDOIDS)
    found = []
    for part in range(n_parts):
        own = start[part::n_parts]
        sample = np.concatenate([own, others[part::n_parts][: SAMPLE - len(own)]])
        members = patterns[sample]
        to_members = np.ascontiguousarray(dissimilarities(measure, members, members).T)
        found.append(sample[swapped_medoids(to_members, np.arange(len(own)))])
    return np.concatenate(found)


def _sum_over_all(measure: FittedMeasure, patterns: Any, chosen: Indices) -> float:
    return float(nearest_dissimilarities(measure, patterns, patterns[chosen]).sum())


def swapped_medoids(D: Matrix, medoids: Indices) -> Indices:
    """Return medoids after swaps that lower the sum of dissimilarities; D_ji of pattern i to candidate j, (m, m).

    The candidates have their turns in the order of D; each takes the place where the sum falls most, the first of
    those where it falls alike.

    >>> D = np.abs(np.subtract.outer([0.0, 1.0, 2.0, 9.0], [0.0, 1.0, 2.0, 9.0]))
    >>> swapped_medoids(D, np.array([0, 2]))
    array([3, 1])
    """
    nearest = _Nearest(D, medoids.copy())
    since_swap = 0
    for turn in range(MOST_ROUNDS * len(D)):
        candidate = turn % len(D)
        changes = nearest.changes(D[candidate])
        place, since_swap = int(np.argmin(changes)), since_swap + 1
        if changes[place] < -WORTHWHILE * nearest.total:
            nearest.swap(place, candidate)
            since_swap = 0
        if since_swap == len(D):
            break
    return nearest.medoids


@dataclass
class _Nearest:
    """Of each pattern, the places of its nearest and next nearest medoid and the dissimilarities to them."""

    D: Matrix
    medoids: Indices
    places: Indices = field(init=False)  # (2, m)
    gaps: Matrix = field(init=False)  # (2, m)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.D)
        self.places, self.gaps = np.empty((2, m), np.int64), np.empty((2, m))
        self._look_up(np.arange(m))

    def changes(self, to_candidate: Matrix) -> Matrix:
        """Return by how much the sum changes if the candidate takes each place.

        sum_i (min(c_i, a_i) - a_i) + sum over i of that place (min(c_i, b_i) - min(c_i, a_i)), where a and b are the
        gaps to the nearest and the next nearest medoid, c those to the candidate.
        """
        first, second = self.gaps
        kept = np.minimum(to_candidate, first)
        left = np.minimum(to_candidate, second)
        left -= kept
        kept -= first
        return np.asarray(kept.sum() + np.bincount(self.places[0], left, minlength=len(self.medoids)))

    def swap(self, place: int, candidate: int) -> None:
        """Give the place to the candidate."""
        self.medoids[place] = candidate
        bereft = (self.places == place).any(axis=0)
        gap = self.D[candidate]
        is_first = ~bereft & (gap < self.gaps[0])
        is_second = ~bereft & ~is_first & (gap < self.gaps[1])
        self.gaps[1, is_first], self.places[1, is_first] = self.gaps[0, is_first], self.places[0, is_first]
        for rank, those in enumerate((is_first, is_second)):
            self.gaps[rank, those], self.places[rank, those] = gap[those], place
        self._look_up(np.flatnonzero(bereft))

    def _look_up(self, those: Indices) -> None:
        """Compare those patterns with every medoid; the next nearest of a lone medoid is infinitely far."""
        gaps = self.D[np.ix_(self.medoids, those)]
        columns = np.arange(len(those))
        for rank in range(2):
            nearest = gaps.argmin(axis=0)
            self.places[rank, those], self.gaps[rank, those] = nearest, gaps[nearest, columns]
            gaps[nearest, columns] = np.inf
        self.total = float(self.gaps[0].sum())
