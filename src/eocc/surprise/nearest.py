"""Rows of dissimilarities -> the nearest prototypes of each row."""

from typing import NamedTuple

import numpy as np

from eocc.foundation.threads import in_blocks
from eocc.foundation.types import Matrix
from eocc.kernels.smallest import TIED, mean_within, smallest_entries

# For few numbers compiling the kernel would take longer than any search.
FEW = 2**16


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few."""

    distances: Matrix
    scales: Matrix


def empty_nearest(n: int, k: int) -> Nearest:
    """Return room for the k nearest prototypes of n rows."""
    return Nearest(np.empty((n, k)), np.empty(n))


def nearest_in(rows: Matrix, k: int, m: int, values: Matrix, above: float = -1.0) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities; on all threads allowed."""
    return summarise(rows, smallest(rows, k, above), m, values)


def smallest(rows: Matrix, k: int, above: float) -> Matrix:
    """Return the k smallest entries above `above` of each row."""
    if rows.size <= FEW:
        above_only = np.where(rows > above, rows, np.inf)
        return np.sort(np.partition(above_only, k - 1, axis=1)[:, :k], axis=1)
    distances = np.empty((len(rows), k))
    in_blocks(rows, lambda some: smallest_entries(rows[some], above, distances[some]))
    return distances


def summarise(rows: Matrix, distances: Matrix, m: int, values: Matrix) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities, of which the smallest are known."""
    scales = np.empty(len(rows))
    in_blocks(rows, lambda some: mean_within(rows[some], distances[some, m - 1] * TIED, values, scales[some]))
    return Nearest(distances, scales)
