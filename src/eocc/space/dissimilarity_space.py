"""Dissimilarities to prototypes -> the dissimilarity space, with one coordinate per prototype."""

from dataclasses import dataclass

import numpy as np

from eocc.base.types import Matrix
from eocc.kernels.distances import cross_distances
from eocc.measures.protocol import FittedMeasure, Prepared


@dataclass(frozen=True, eq=False)
class DissimilaritySpace:
    """Row i of `rows` holds the dissimilarities of pattern i to all prototypes, minus `means`, the column means.

    Centring does not change distances, and makes their computation from scalar products more accurate.
    """

    rows: Matrix
    means: Matrix

    @property
    def n_dims(self) -> int:
        """The number of prototypes."""
        return int(self.rows.shape[1])

    @property
    def scale(self) -> float:
        """1 / sqrt(|R|), so that distances between rows lie in [0, 1]."""
        return distance_scale(self.n_dims)


def distance_scale(n_prototypes: int) -> float:
    """Return 1 / sqrt(|R|), the factor of Euclidean distances in the space. departure: distances."""
    return float(1.0 / np.sqrt(n_prototypes))


def dissimilarity_space(prepared: Prepared, p: Matrix, out: Matrix) -> DissimilaritySpace:
    """Return the dissimilarity space of the training patterns, D_ij = d(x_i, r_j; p), stored in `out`."""
    rows = prepared.evaluate(p, out)
    means = rows.mean(axis=0)
    if not np.isfinite(means).all():  # one such entry makes its column mean NaN or infinite
        raise ValueError(f"the measure gave NaN or infinity at p = {np.array2string(p, threshold=6)}")
    return DissimilaritySpace(np.subtract(rows, means, out=out), means)


def check_measure(measure: FittedMeasure, prepared: Prepared, out: Matrix) -> None:
    """Raise a ValueError unless the training dissimilarities at p = 1 have the right shape and lie in [0, 1]."""
    D = np.asarray(prepared.evaluate(np.ones(measure.n_parameters), out))
    name = measure.called
    if D.shape != out.shape:
        raise ValueError(f"{name}: evaluate gave shape {D.shape} for {len(out)} patterns and {out.shape[1]} prototypes")
    least, most = float(D.min()), float(D.max())
    if not (np.isfinite(least) and np.isfinite(most)):
        raise ValueError(f"{name}: evaluate gave NaN or infinity at p = 1")
    if least < 0 or most > 1 + 1e-9:
        odd = least if least < 0 else most
        raise ValueError(f"{name}: training dissimilarities must lie in [0, 1], but {odd:g} occurs; scale in fit")


def distances_to(rows: Matrix, points: Matrix) -> Matrix:
    """Return the distances in the dissimilarity space of each row to each point: (m, k)."""
    distances = np.empty((len(rows), len(points)))
    cross_distances(rows, points, distance_scale(rows.shape[1]), distances)
    return distances
