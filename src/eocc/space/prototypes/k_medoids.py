"""Prototypes with a small sum of dissimilarities to all patterns: k-medoids."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import FittedMeasure
from eocc.space.prototypes.protocol import check_places, dissimilarities, nearest_dissimilarities
from eocc.space.prototypes.random import without_copies

# All pairs of a sample of this size take 32 MB.
SAMPLE = 2000
# Each medoid of a sample has at least four patterns of it.
MOST_MEDOIDS = SAMPLE // 4
# A swap must lower the sum by this share; otherwise rounding errors could cause an endless loop.
LEAST_GAIN = 1e-9
# Samples of Gaussians needed at most seven rounds.
MOST_ROUNDS = 20


@dataclass(frozen=True)
class KMedoids:
    """Patterns with a small sum_i min_j d(x_i, r_j), from a random start by swaps on a sample.

    `RandomSelection` draws the start. On a random sample of 2000 patterns that includes the start, one medoid at a time
    is swapped for the pattern that lowers the sum most, until no swap lowers it: PAM (Kaufman, Rousseeuw 1990) with the
    eager swaps of FasterPAM (Schubert, Rousseeuw 2021). The result replaces the start unless the sum over all patterns
    is larger. Above 500 prototypes, several samples are used. Copies are chosen only if there are no other patterns.
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return `count` patterns; computes 2 n * count dissimilarities and those within the samples."""
        n = len(patterns)
        check_places(count, n)
        order = rng.permutation(n)
        start = without_copies(measure, patterns, order, count)
        found = _improved(measure, patterns, start, order[~np.isin(order, start)])
        # Medoids from several samples may be copies of each other.
        found = without_copies(measure, patterns, np.concatenate([found, start[~np.isin(start, found)]]), count)
        total = [nearest_dissimilarities(measure, patterns, patterns[chosen]).sum() for chosen in (found, start)]
        return np.sort(found if total[0] <= total[1] else start)


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


def swapped_medoids(D: Matrix, medoids: Indices) -> Indices:
    """Return the medoids after swaps that lower the sum; D_ji is d of pattern i to candidate j, (m, m)."""
    # Candidates are tried in the order of D; each replaces the medoid for which the sum falls most, the first on ties.
    nearest = _Nearest(D, medoids.copy())
    since_swap = 0
    for turn in range(MOST_ROUNDS * len(D)):
        candidate = turn % len(D)
        changes = nearest.changes(D[candidate])
        place, since_swap = int(np.argmin(changes)), since_swap + 1
        if changes[place] < -LEAST_GAIN * nearest.total:
            nearest.swap(place, candidate)
            since_swap = 0
        if since_swap == len(D):
            break
    return nearest.medoids


@dataclass
class _Nearest:
    """For each pattern, its nearest and second nearest medoid and the dissimilarities to them."""

    D: Matrix
    medoids: Indices
    places: Indices = field(init=False)  # (2, m)
    distances: Matrix = field(init=False)  # (2, m)
    total: float = field(init=False)

    def __post_init__(self) -> None:
        m = len(self.D)
        self.places, self.distances = np.empty((2, m), np.int64), np.empty((2, m))
        self._look_up(np.arange(m))

    def changes(self, to_candidate: Matrix) -> Matrix:
        """Return the change of the sum if the candidate replaces each medoid."""
        # sum_i (min(c_i, a_i) - a_i) + sum over the patterns i of that medoid (min(c_i, b_i) - min(c_i, a_i)), where a
        # and b are the distances to the nearest and second nearest medoid, c those to the candidate.
        first, second = self.distances
        kept = np.minimum(to_candidate, first)
        left = np.minimum(to_candidate, second)
        left -= kept
        kept -= first
        return np.asarray(kept.sum() + np.bincount(self.places[0], left, minlength=len(self.medoids)))

    def swap(self, place: int, candidate: int) -> None:
        """Replace a medoid by the candidate."""
        self.medoids[place] = candidate
        affected = (self.places == place).any(axis=0)
        distance = self.D[candidate]
        is_first = ~affected & (distance < self.distances[0])
        is_second = ~affected & ~is_first & (distance < self.distances[1])
        self.distances[1, is_first], self.places[1, is_first] = self.distances[0, is_first], self.places[0, is_first]
        for rank, those in enumerate((is_first, is_second)):
            self.distances[rank, those], self.places[rank, those] = distance[those], place
        self._look_up(np.flatnonzero(affected))

    def _look_up(self, those: Indices) -> None:
        """Compare those patterns with every medoid; with a single medoid the second nearest is infinitely far."""
        distances = self.D[np.ix_(self.medoids, those)]
        columns = np.arange(len(those))
        for rank in range(2):
            nearest = distances.argmin(axis=0)
            self.places[rank, those], self.distances[rank, those] = nearest, distances[nearest, columns]
            distances[nearest, columns] = np.inf
        self.total = float(self.distances[0].sum())
