"""Dissimilarities to prototypes -> the dissimilarity space, whose coordinates they are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eocc.kernels.distances import cross_distances
from eocc.measures import Prepared

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class DissimilaritySpace:
    """Row i of `rows` = dissimilarities of pattern i to every prototype, less the mean of each column.

    Centring leaves all distances as they are and saves digits in the product that gives them.
    """

    rows: Matrix

    @property
    def n_dims(self) -> int:
        """The number of prototypes."""
        return int(self.rows.shape[1])

    @property
    def scale(self) -> float:
        """1 / sqrt(|R|): keeps distances between rows in [0, 1]."""
        return distance_scale(self.n_dims)


def distance_scale(n_prototypes: int) -> float:
    """Return 1 / sqrt(|R|), the factor of Euclidean distances in the dissimilarity space."""
    return float(1.0 / np.sqrt(n_prototypes))


def dissimilarity_space(prepared: Prepared, p: Matrix, out: Matrix | None = None) -> DissimilaritySpace:
    """Embed the training patterns: D_ij = d(x_i, r_j; p)."""
    rows = prepared.evaluate(p, out)
    rows -= rows.mean(axis=0)
    return DissimilaritySpace(rows)


def distances_to(rows: Matrix, points: Matrix) -> Matrix:
    """Return the distances in the dissimilarity space of each row to each point: (m, k).

    >>> distances_to(np.array([[0.0, 1.0]]), np.array([[1.0, 0.0], [0.0, 1.0]]))
    array([[1., 0.]])
    """
    distances = np.empty((len(rows), len(points)))
    cross_distances(rows, points, distance_scale(rows.shape[1]), distances)
    return distances
