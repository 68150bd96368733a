"""Cluster -> the point that represents it in the dissimilarity space.

A representative has a method ``centre``: the cluster's rows and mutual distances in, a point and the number of the
member closest to that role out. If the sums of each member's distances suffice, it may also have a method
``from_sums``, which takes all rows, the cluster's members and these sums, so that no distances are copied.
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from eocc.foundation.registry import resolve
from eocc.foundation.types import Indices, Matrix
from eocc.regions import REPRESENTATIVES

# Members whose sums of distances differ by less than this factor are equally central.
# departure: representative
EQUALLY_CENTRAL = 1 + 1e-9
# Rows copied at a time.
BLOCK_ROWS = 256


class Representative(Protocol):
    """How a cluster is represented."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return (a point (r,), the index of the row that represents it) for rows (m, r) and distances (m, m)."""
        ...


class Medoid:
    """The member with the least sum of distances to the others; ties to the lower index."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the medoid's own row."""
        index = most_central(sums)
        return rows[members[index]], index


class Centroid:
    """The mean of the members' rows; its member is the medoid."""

    def centre(self, rows: Matrix, distances: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        return self.from_sums(rows, np.arange(len(rows)), distances.sum(axis=1))

    def from_sums(self, rows: Matrix, members: Indices, sums: Matrix) -> tuple[Matrix, int]:
        """Return the mean row."""
        total = np.sum([block.sum(axis=0) for block in row_blocks(rows, members)], axis=0)
        return total / len(members), most_central(sums)


def row_blocks(rows: Matrix, members: Indices) -> Iterator[Matrix]:
    """Yield copies of the members' rows, block by block, to save memory."""
    for start in range(0, len(members), BLOCK_ROWS):
        yield rows[members[start : start + BLOCK_ROWS]]


def most_central(sums: Matrix) -> int:
    """Return the first of the least sums."""
    return int(np.argmax(sums <= sums.min() * EQUALLY_CENTRAL))


def resolve_representative(representative: str | Representative) -> Representative:
    """Return the representative itself, or the one registered under its name."""
    resolved: Representative = resolve("representative", REPRESENTATIVES, representative, method="centre")
    return resolved
