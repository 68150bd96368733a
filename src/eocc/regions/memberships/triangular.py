"""A membership that falls in a straight line."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Triangular:
    """mu = max(0, 1 - (d / tau) / support): 0 from `support` extents on.

    >>> np.exp(Triangular().log_grade(np.array([0.0, 1.0, 2.0])))
    array([1. , 0.5, 0. ])
    """

    support: float = 2.0

    def __post_init__(self) -> None:
        if not self.support > 1:
            raise ValueError(f"support must exceed 1, the extent itself, not be {self.support}")

    @property
    def formula(self) -> str:
        """The grade as a formula of r = d / tau."""
        return f"max(0, 1 - r / {self.support:g})"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return ln(1 - ratio / support)."""
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(1.0 - ratio / self.support, 0.0))
