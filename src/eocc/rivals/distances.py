"""What distances show."""

import numpy as np

from eocc.base.types import Matrix


def distances_to_others(D: Matrix) -> Matrix:
    """Return each row of a square block without its diagonal, sorted.

    >>> distances_to_others(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).tolist()
    [[1.0, 3.0], [2.0, 3.0], [1.0, 2.0]]
    """
    n = len(D)
    return np.asarray(np.sort(D[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1))


def intrinsic_dimension(D: Matrix, k: int = 10) -> float:
    """Return Levina and Bickel's maximum-likelihood dimension (2004), averaged as MacKay and Ghahramani advise.

    1 / dimension is the mean of log(r_k / r_j) over patterns and j < k, where r_j is the distance to the j-th nearest
    of the other patterns. Copies are left out; without two different distances the dimension is 1.

    >>> intrinsic_dimension(np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).__round__(3)
    1.443
    """
    nearest = distances_to_others(D)[:, :k]
    inside = (nearest > 0) & (nearest < nearest[:, -1:])
    if not inside.any():
        return 1.0
    logs = np.log(np.broadcast_to(nearest[:, -1:], nearest.shape)[inside] / nearest[inside])
    return float(1 / logs.mean())
