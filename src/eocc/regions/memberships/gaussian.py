"""The paper's membership function."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Gaussian:
    """mu(v) = exp(-(d(v, R) / tau)^2 / 2).

    >>> Gaussian().log_grade(np.array([0.0, 2.0]))
    array([-0., -2.])
    """

    @property
    def formula(self) -> str:
        """The grade as a formula of r = d / tau."""
        return "exp(-r^2 / 2)"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return -(d / tau)^2 / 2."""
        return np.asarray(-(ratio**2) / 2)
