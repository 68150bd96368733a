"""Cluster -> the point that stands for it in the dissimilarity space.

A representative is an object with one method, ``centre``: the cluster's rows and mutual distances in, a point and
the number of the member that exemplifies it out. One that can do with the sum of each member's distances has a
method ``from_sums`` too, which takes all rows, the cluster's members and these sums: nothing is copied.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from eocc.foundation.registry import resolve
from eocc.foundation.types import Indices, Matrix
from eocc.regions import REPRESENTATIVES

# Sums of distances that differ by rounding only must not choose between equally central members.
# departure: representative
EQUALLY_CENTRAL = 1 + 1e-9
# Rows that are copied at a time.
BLOCK = 256


class Representative(Protocol):
    """How a cluster is represented."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return (a point (r,), the index of the exemplary row) for rows (m, r) and distances (m, m)."""
        ...


class Medoid:
    """The member with the least sum of distances to the others; ties to the lower index.

    >>> Medoid().centre(np.eye(3), np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]))
    (array([0., 1., 0.]), 1)
    """

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        index = most_central(sums)
        return rows[members[index]], index


class Centroid:
    """The mean of the members' rows; the medoid exemplifies it.

    >>> Centroid().centre(np.array([[0.0, 2.0], [1.0, 4.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    (array([0.5, 3. ]), 0)
    """

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        total = np.sum([block.sum(axis=0) for block in blocks_of(rows, members)], axis=0)
        return total / len(members), most_central(sums)


def blocks_of(rows: Matrix, members: Indices) -> Iterator[Matrix]:
    """Yield the members' rows, some at a time: a copy of all may be as large as they are."""
    for start in range(0, len(members), BLOCK):
        yield rows[members[start : start + BLOCK]]


def most_central(sums: Matrix) -> int:
    """Return the first of the least sums."""
    return int(np.argmax(sums <= sums.min() * EQUALLY_CENTRAL))


def resolve_representative(representative: str | Representative) -> Representative:
    """Return the representative itself, or the one registered under its name."""
    resolved: Representative = resolve("representative", REPRESENTATIVES, representative, method="centre")
    return resolved
