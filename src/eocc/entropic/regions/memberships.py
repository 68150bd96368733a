"""Membership functions: distance in extents -> a grade in [0, 1]. One class per function, one row in the registry."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from eocc.base.registry import resolve
from eocc.base.types import Matrix
from eocc.entropic.regions import MEMBERSHIP_FUNCTIONS


class MembershipFunction(Protocol):
    """A grade in [0, 1] that never rises with the distance; 1 at the representative itself.

    A string ``formula``, if it has one, gives the grade in terms of r = d / tau for people to read.
    """

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return ln mu for ratio = d / tau, -inf where mu = 0. departure: ranking."""
        ...


@dataclass(frozen=True)
class Gaussian:
    """mu(v) = exp(-(d(v, R) / tau)^2 / 2), as in the paper."""

    formula = "exp(-r^2 / 2)"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return -ratio^2 / 2."""
        return np.asarray(-(ratio**2) / 2)


@dataclass(frozen=True)
class Bell:
    """mu = 1 / (1 + (d / tau)^(2 slope)): flat on top, with heavy tails."""

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


@dataclass(frozen=True)
class Triangular:
    """mu = max(0, 1 - (d / tau) / support): a straight line that is 0 from `support` extents on."""

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


def resolve_membership_function(function: str | MembershipFunction) -> MembershipFunction:
    """Return the function itself or the one of that name, after a check that its grades start at 1 and never rise."""
    resolved: MembershipFunction = resolve("membership function", MEMBERSHIP_FUNCTIONS, function, method="log_grade")
    ratios = np.array([[0.0, 0.5, 1.0, 2.0]])
    grades = np.asarray(resolved.log_grade(ratios))
    if grades.shape != ratios.shape or not (grades[0, 0] == 0 and (np.diff(grades) <= 0).all()):
        raise ValueError(
            f"log_grade must be 0 at ratio 0 and never rise; {function!r} gave {grades.tolist()} for {ratios.tolist()}"
        )
    return resolved
