"""Membership functions: distance to a region's representative, in extents -> a grade in [0, 1]."""

from collections.abc import Callable

import numpy as np

from eocc.foundation.registry import resolve
from eocc.regions.memberships.bell import Bell
from eocc.regions.memberships.gaussian import Gaussian
from eocc.regions.memberships.protocol import MembershipFunction, SidedMembershipFunction
from eocc.regions.memberships.trapezoidal import Trapezoidal
from eocc.regions.memberships.triangular import Triangular
from eocc.regions.memberships.two_sided import TwoSided

__all__ = [
    "MEMBERSHIP_FUNCTIONS",
    "Bell",
    "Gaussian",
    "MembershipFunction",
    "SidedMembershipFunction",
    "Trapezoidal",
    "Triangular",
    "TwoSided",
    "resolve_membership_function",
]

MEMBERSHIP_FUNCTIONS: dict[str, Callable[[], MembershipFunction]] = {
    "bell": Bell,
    "gaussian": Gaussian,
    "trapezoidal": Trapezoidal,
    "triangular": Triangular,
    "two-sided": TwoSided,
}


def resolve_membership_function(function: str | MembershipFunction) -> MembershipFunction:
    """Return the function itself, or the one registered under its name; say so if it is no membership function."""
    resolved = resolve("membership function", MEMBERSHIP_FUNCTIONS, function, method="log_grade")
    ratios = np.array([[0.0, 0.5, 1.0, 2.0]])
    grades = np.asarray(resolved.log_grade(ratios))
    if grades.shape != ratios.shape or not (grades[0, 0] == 0 and (np.diff(grades) <= 0).all()):
        raise ValueError(
            f"log_grade must be 0 at ratio 0 and never rise; {function!r} gave {grades.tolist()} for {ratios.tolist()}"
        )
    return resolved
