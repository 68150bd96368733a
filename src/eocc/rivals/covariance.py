"""A covariance that can be inverted."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix


def covariance_of(X: Matrix) -> Matrix:
    """Return the covariance with n in the denominator."""
    centred = X - X.mean(axis=0)
    return np.asarray(centred.T @ centred / len(X))


def regularised(covariance: Matrix, regularisation: float) -> Matrix:
    """Return (1 - r) S + r tr(S)/d I; the identity if S is 0.

    >>> regularised(np.diag([1.0, 0.0]), 0.5)
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    d = len(covariance)
    scale = np.trace(covariance) / d
    if scale == 0:
        return np.eye(d)
    return np.asarray((1 - regularisation) * covariance + regularisation * scale * np.eye(d))


def is_singular(eigenvalues: NDArray[np.floating[Any]]) -> bool:
    """Return whether the smallest of ascending eigenvalues is 0 up to the rounding error of the largest."""
    return bool(eigenvalues[0] <= eigenvalues[-1] * len(eigenvalues) * np.finfo(float).eps)


def n_directions(X: Matrix, singular_values: Matrix) -> int:
    """Return the number of directions in which the rows differ by more than rounding error.

    `singular_values` are those of the centred rows, descending.

    >>> n_directions(np.array([[1.0, 0.1], [3.0, 0.1]]), np.array([1.4, 1e-17]))
    1
    """
    rounding = max(X.shape) * np.finfo(float).eps * max(float(singular_values[0]), float(np.abs(X).max()))
    return int((singular_values > rounding).sum())
