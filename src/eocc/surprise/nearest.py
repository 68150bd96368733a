"""Rows of dissimilarities -> the nearest prototypes of each row."""

from typing import NamedTuple

import numpy as np

from eocc.foundation.threads import in_blocks
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.smallest import TIED, mean_within, smallest_entries

# For few numbers compiling the kernel would take longer than any search.
FEW = 2**16


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few.

    `copies` (m,) of the prototypes are copies of the row, and the nearest other one is `gaps` (m,) away.
    """

    distances: Matrix
    scales: Matrix
    copies: Indices
    gaps: Matrix


def empty_nearest(n: int, k: int) -> Nearest:
    """Return room for the k nearest prototypes of n rows."""
    return Nearest(np.empty((n, k)), np.empty(n), np.empty(n, np.int64), np.empty(n))


def nearest_in(rows: Matrix, k: int, m: int, values: Matrix, above: float = -1.0, tolerance: float = -1.0) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities; on all threads allowed."""
    return summarise(rows, smallest(rows, k, above), m, values, tolerance)


def smallest(rows: Matrix, k: int, above: float) -> Matrix:
    """Return the k smallest entries above `above` of each row."""
    if rows.size <= FEW:
        above_only = np.where(rows > above, rows, np.inf)
        return np.sort(np.partition(above_only, k - 1, axis=1)[:, :k], axis=1)
    distances = np.empty((len(rows), k))
    in_blocks(rows, lambda some: smallest_entries(rows[some], above, distances[some]))
    return distances


def summarise(rows: Matrix, distances: Matrix, m: int, values: Matrix, tolerance: float) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities, of which the smallest are known."""
    scales, copies, gaps = np.empty(len(rows)), np.zeros(len(rows), np.int64), distances[:, 0].copy()
    in_blocks(rows, lambda some: mean_within(rows[some], distances[some, m - 1] * TIED, values, scales[some]))
    for i in np.flatnonzero(distances[:, 0] <= tolerance):
        is_copy = rows[i] <= tolerance
        copies[i], gaps[i] = is_copy.sum(), rows[i].min(where=~is_copy, initial=np.inf)
    return Nearest(distances, scales, copies, gaps)
