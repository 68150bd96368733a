"""Rows of dissimilarities -> the nearest prototypes of each row."""

from typing import NamedTuple

import numpy as np

from eocc.base.threads import in_blocks
from eocc.base.types import Matrix
from eocc.kernels.smallest import TIED, mean_within, smallest_entries


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few."""

    distances: Matrix
    scales: Matrix


def nearest_in(rows: Matrix, k: int, m: int, values: Matrix, above: float = -1.0) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities; on all threads allowed."""
    return summarise(rows, smallest(rows, k, above), m, values)


def smallest(rows: Matrix, k: int, above: float) -> Matrix:
    """Return the k smallest entries above `above` of each row."""
    distances = np.empty((len(rows), k))
    in_blocks(rows, lambda some: smallest_entries(rows[some], above, distances[some]))
    return distances


def summarise(rows: Matrix, distances: Matrix, m: int, values: Matrix) -> Nearest:
    """Return the nearest prototypes in rows of dissimilarities, of which the smallest are known."""
    scales = np.empty(len(rows))
    in_blocks(rows, lambda some: mean_within(rows[some], distances[some, m - 1] * TIED, values, scales[some]))
    return Nearest(distances, scales)
