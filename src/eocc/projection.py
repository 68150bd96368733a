"""A fitted classifier's dissimilarity space, seen in two dimensions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.classifier import EntropicOneClassClassifier

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Projection:
    """The plane of largest variance of the training patterns in the dissimilarity space.

    `training` (n, 2) are the training patterns in it; `kept` is the share of their variance that it shows.
    """

    training: Matrix
    kept: float
    mean: Matrix
    axes: Matrix

    def place(self, rows: Matrix) -> Matrix:
        """Return the points (m, 2) of rows of the dissimilarity space."""
        return np.asarray(np.einsum("ij,jk->ik", rows - self.mean, self.axes))


def project(classifier: EntropicOneClassClassifier) -> Projection:
    """Return the principal plane of the dissimilarity space, its axes signed so that the largest entry is positive.

    >>> import numpy as np
    >>> clf = EntropicOneClassClassifier(search=None).fit([[0.0, 0.0], [3.0, 1.0], [1.0, 5.0], [2.0, 2.0]])
    >>> plane = project(clf)
    >>> plane.training.shape, bool(plane.kept > 0.9)
    ((4, 2), True)
    """
    rows = classifier.measure_.prepare(classifier.prototypes_).evaluate(classifier.weights_)
    mean = rows.mean(axis=0)
    _, spreads, directions = np.linalg.svd(rows - mean, full_matrices=False)
    axes = np.zeros((rows.shape[1], 2))
    axes[:, : min(2, len(directions))] = directions[:2].T
    largest = np.abs(axes).argmax(axis=0)
    axes *= np.where(axes[largest, [0, 1]] < 0, -1.0, 1.0)
    total = float((spreads**2).sum())
    kept = float((spreads[:2] ** 2).sum()) / total if total > 0 else 1.0
    return Projection(np.einsum("ij,jk->ik", rows - mean, axes), kept, mean, axes)


def place(classifier: EntropicOneClassClassifier, projection: Projection, X: Any) -> Matrix:
    """Return the points of new patterns."""
    return projection.place(np.asarray(classifier.transform(X)))
