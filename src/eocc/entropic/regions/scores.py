"""How far out a row lies -> its scores."""

from dataclasses import dataclass

import numpy as np

from eocc.base.types import Matrix
from eocc.entropic.regions.memberships import MembershipFunction

# A row on the boundary, such as the second of two members, must not fall out by rounding: distances are exact to
# about 1e-10 of themselves. departure: boundary
BOUNDARY = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Scores:
    """For every row its `ratio`, above the limit where it is rejected, and the logarithm of its membership."""

    ratios: Matrix
    log_memberships: Matrix

    def __post_init__(self) -> None:
        # No fit leads here. The numbers in a model file may be altered so that they overflow.
        if np.isnan(self.ratios).any() or not np.isfinite(self.log_memberships).all():
            raise ValueError("a row has no finite score: the model was altered or damaged; use another copy of it")

    @classmethod
    def of_ratios(cls, ratios: Matrix, function: MembershipFunction) -> "Scores":
        """Return the ratios with their grades of membership."""
        return cls(ratios, log_grades(function, ratios[:, None])[:, 0])

    @property
    def margins(self) -> Matrix:
        """(1 - ratio^2) / 2: >= 0 for accepted rows, unless calibrated to another threshold."""
        return decision_margin(self.ratios)


def log_grades(function: MembershipFunction, ratios: Matrix) -> Matrix:
    """Return ln mu, finite also where mu = 0: there below that of any other grade, and falling with the distance."""
    with np.errstate(over="ignore"):
        grades = function.log_grade(ratios)
        ranked = np.where(np.isneginf(grades) & np.isfinite(ratios), -1e100 * (1 + ratios), grades)
        return np.maximum(ranked, np.finfo(np.float64).min)


def decision_margin(ratios: Matrix) -> Matrix:
    """Return (BOUNDARY^2 - ratio^2) / 2, finite: for Gaussian grades, their logarithm less that on the boundary."""
    with np.errstate(over="ignore"):
        return np.maximum((BOUNDARY**2 - ratios**2) / 2, np.finfo(np.float64).min)
