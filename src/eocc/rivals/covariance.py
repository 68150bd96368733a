"""A covariance that can be inverted."""

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def regularised_covariance(X: Matrix, regularisation: float) -> Matrix:
    """Return (1 - r) S + r tr(S)/d I, S the covariance with n in the denominator; the identity if all rows are equal.

    >>> regularised_covariance(np.array([[0.0, 0.0], [2.0, 0.0]]), 0.5)
    array([[0.75, 0.  ],
           [0.  , 0.25]])
    """
    centred = X - X.mean(axis=0)
    covariance = np.asarray(centred.T @ centred / len(X))
    d = len(covariance)
    scale = np.trace(covariance) / d
    if scale == 0:
        return np.eye(d)
    regularised: Matrix = (1 - regularisation) * covariance + regularisation * scale * np.eye(d)
    return regularised
