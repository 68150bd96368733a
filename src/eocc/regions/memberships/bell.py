"""The generalised bell: flat on top, with heavy tails."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix


@dataclass(frozen=True)
class Bell:
    """mu = 1 / (1 + (d / tau)^(2 slope)).

    >>> np.exp(Bell().log_grade(np.array([0.0, 1.0]))).round(12)
    array([1. , 0.5])
    """

    slope: float = 2.0

    def __post_init__(self) -> None:
        if not self.slope > 0:
            raise ValueError(f"slope must be positive, not {self.slope}")

    @property
    def formula(self) -> str:
        """The grade as a formula of r = d / tau."""
        return f"1 / (1 + r^{2 * self.slope:g})"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return -ln(1 + ratio^(2 slope)), from the logarithm of the ratio: no power overflows."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.logaddexp(0.0, 2.0 * self.slope * np.log(ratio)))
