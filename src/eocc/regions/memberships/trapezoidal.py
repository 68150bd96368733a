"""A membership that is full up to some distance and then falls in a straight line."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Trapezoidal:
    """mu = 1 up to `core` extents, 0 from `support` extents on, a straight line between.

    >>> np.exp(Trapezoidal().log_grade(np.array([0.5, 1.25, 2.0])))
    array([1. , 0.5, 0. ])
    """

    core: float = 0.5
    support: float = 2.0

    def __post_init__(self) -> None:
        if not 0 <= self.core < self.support:
            raise ValueError(f"core must lie in [0, support) = [0, {self.support}), not be {self.core}")
        if not self.support > 1:
            raise ValueError(f"support must exceed 1, the extent itself, not be {self.support}")

    @property
    def formula(self) -> str:
        """The grade as a formula of r = d / tau."""
        return f"min(1, max(0, ({self.support:g} - r) / {self.support - self.core:g}))"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return the logarithm of the trapezoid."""
        with np.errstate(divide="ignore"):
            return np.log(np.clip((self.support - ratio) / (self.support - self.core), 0.0, 1.0))
