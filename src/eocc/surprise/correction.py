"""Answered rows -> a correction of the surprise around each of them.

It vanishes at half the distance of the nearest training row, so that answers move no training row and hence no limit.
"""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.surprise.comparison import Reference
from eocc.surprise.neighbours import sum_columns

# The reach of an answer is this share of its distance from the nearest training row.
REACH = 0.5
# Near-copies with opposite answers cancel; with less of this they would swing widely.
NOISE = 0.05


@dataclass(frozen=True, eq=False)
class Correction:
    """Adds amounts_j (1 - (d(x, a_j) / reaches_j)^2)^2 to the surprise of x, for each answered row a_j within reach."""

    answered: Reference
    amounts: Matrix
    reaches: Matrix

    def of(self, patterns: object) -> Matrix:
        """Return the correction of every row: (m,)."""
        distances = self.answered.compare_fully(patterns).rows(self.answered.weightings[0])
        return sum_columns(_kernels(distances, self.reaches) * self.amounts)


def fit_correction(answered: Reference, wanted: Matrix, to_training: Matrix) -> Correction:
    """Return the correction that changes the surprise of the answered rows by `wanted` (a,).

    `to_training` (a,) are the distances of the answered rows to their nearest training row.
    """
    reaches = np.maximum(REACH * to_training, np.finfo(float).tiny)
    kernels = _kernels(answered.compare_fully(answered.prototypes).rows(answered.weightings[0]), reaches)
    # A lone answer is followed exactly.
    amounts = np.linalg.solve((kernels + NOISE * np.eye(len(wanted))) / (1 + NOISE), wanted)
    return Correction(answered, np.asarray(amounts, np.float64), reaches)


def _kernels(distances: Matrix, reaches: Matrix) -> Matrix:
    shares = np.minimum(distances / reaches, 1.0)
    return np.asarray((1 - shares * shares) ** 2)
