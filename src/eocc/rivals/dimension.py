"""How many dimensions the data fill, from distances alone."""

import numpy as np

from eocc.foundation.types import Matrix


def intrinsic_dimension(neighbours: Matrix, k: int = 10) -> float:
    """Return Levina and Bickel's maximum-likelihood dimension (2004), averaged as MacKay and Ghahramani advise.

    `neighbours` holds, row by row, a pattern's distances to the others, sorted: 1 / dimension is the mean of
    log(r_k / r_j) over patterns and j < k. Copies say nothing of the dimension and are left out; without two different
    distances it is 1.

    >>> intrinsic_dimension(np.array([[1.0, 2.0], [1.0, 2.0]])).__round__(3)
    1.443
    """
    nearest = neighbours[:, :k]
    inside = (nearest > 0) & (nearest < nearest[:, -1:])
    if not inside.any():
        return 1.0
    logs = np.log(np.broadcast_to(nearest[:, -1:], nearest.shape)[inside] / nearest[inside])
    return float(1 / logs.mean())


def distances_to_others(D: Matrix) -> Matrix:
    """Return each row of a square block without its diagonal, sorted.

    >>> distances_to_others(np.array([[0.0, 3.0, 1.0], [3.0, 0.0, 2.0], [1.0, 2.0, 0.0]])).tolist()
    [[1.0, 3.0], [2.0, 3.0], [1.0, 2.0]]
    """
    n = len(D)
    return np.asarray(np.sort(D[~np.eye(n, dtype=bool)].reshape(n, n - 1), axis=1))
