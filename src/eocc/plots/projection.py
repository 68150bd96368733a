"""The dissimilarity space of a fitted classifier in two dimensions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from eocc.base.progress import track
from eocc.base.threads import BLOCK_SIZE, one_blas_thread, threads
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted
from eocc.classifiers.base import OneClassClassifier

# The plane is computed from at most this many prototypes, and regions are shown up to this many unless they are there
# already: both cost their square.
MOST_PROTOTYPES = 2000


@dataclass(frozen=True, eq=False)
class Projection:
    """The plane of largest variance of the dissimilarities to the prototypes `columns`; `kept` is its share of it."""

    columns: Indices
    kept: float
    mean: Matrix
    axes: Matrix

    def place(self, rows: Matrix) -> Matrix:
        """Return the points (m, 2) of rows of dissimilarities to the prototypes that span the plane."""
        return np.asarray(np.einsum("ij,jk->ik", rows - self.mean, self.axes))


def project(classifier: OneClassClassifier) -> Projection:
    """Return the plane of largest variance of the dissimilarity space of a fitted classifier."""
    columns = evenly(np.arange(classifier._n_features_out), MOST_PROTOTYPES)
    rows = classifier._map_rows(columns)
    mean = rows.mean(axis=0)
    centred = rows - mean
    axes, total = principal_axes(centred), float((centred**2).sum())
    points = np.einsum("ij,jk->ik", centred, axes)
    return Projection(columns, float((points**2).sum()) / total if total > 0 else 1.0, mean, axes)


def principal_axes(centred: Matrix) -> Matrix:
    """Return the first two right singular vectors (c, 2) of centred rows; the largest entry of each is positive.

    The rows lose what lies along the first before the second is found, which would drown if it is much shorter.
    """
    n_columns = centred.shape[1]
    axes, left = np.zeros((n_columns, 2)), centred / (np.abs(centred).max() or 1.0)
    for k in range(min(2, *centred.shape)):
        with one_blas_thread():
            products = left.T @ left
            # No other eigenvalue is below 0, so an axis is not found twice, even if no variance is left.
            products -= 2 * (products.trace() or 1.0) * (axes @ axes.T)
            axes[:, k] = eigh(products, subset_by_index=[n_columns - 1, n_columns - 1], overwrite_a=True)[1][:, 0]
        for _ in range(2):  # what the first pass leaves by rounding may be all that is left
            left = left - np.outer(left @ axes[:, k], axes[:, k])
    largest = np.abs(axes).argmax(axis=0)
    return np.asarray(axes * np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0))


def points_of(classifier: OneClassClassifier, plane: Projection, patterns: Any) -> Matrix:
    """Return the points (m, 2) of patterns as the measure reads them."""
    blocks = classifier._blocks_of(patterns, max(1, BLOCK_SIZE // len(plane.columns)))
    with threads(classifier.n_jobs):
        rows = (
            classifier._map_points(one, plane.columns)
            for one in track(f"placing {counted(len(patterns), 'row')}", blocks)
        )
        return np.concatenate([plane.place(block) for block in rows])


@dataclass(frozen=True, eq=False)
class LogFrame:
    """A map on which one far row does not squeeze all others: true to scale inside a circle, logarithmic outside.

    A point at r times the `radius` from the `centre`, r > 1, is drawn at 1 + log(r) times the radius.
    """

    centre: Matrix
    radius: float

    @classmethod
    def around(cls, points: Matrix) -> "LogFrame":
        """Return the frame whose circle is centred at the median of the points (n, 2) and holds 95% of them."""
        centre = np.median(points, axis=0)
        radius = float(np.quantile(np.hypot(*(points - centre).T), 0.95))
        return cls(centre, radius or 1.0)

    def place(self, points: Matrix) -> Matrix:
        """Return where points (m, 2) are drawn, in units of the radius around the centre."""
        away = (points - self.centre) / self.radius
        r = np.maximum(np.hypot(*away.T), 1.0)[:, None]
        return np.asarray(away / r * (1 + np.log(r)))


def edges_between(classifier: OneClassClassifier, columns: Indices) -> Indices:
    """Return the edges of the spanning tree that join two of these prototypes, as pairs of columns, longest first."""
    place = np.full(len(classifier.training_indices_), -1)
    place[classifier.prototype_indices_[columns]] = columns
    edges = place[np.asarray(classifier.spanning_tree_.edges).reshape(-1, 2)]
    return np.asarray(edges[(edges >= 0).all(axis=1)])


def shows_regions(classifier: OneClassClassifier) -> bool:
    """Return whether to show regions: if they are there, or there are at most 2,000 prototypes, none of them huge."""
    if classifier._has_regions:
        return True
    # The cells that it takes to compare one prototype with all others; two strings of this many take 1 GiB.
    is_small = classifier.measure_.comparison_work(classifier.prototypes_) <= 2**32
    return is_small and len(classifier.prototypes_) <= MOST_PROTOTYPES


def evenly(indices: Indices, most: int) -> Indices:
    """Return at most `most` of the indices, spread evenly over them."""
    return indices if len(indices) <= most else indices[np.arange(most) * len(indices) // max(most, 1)]
