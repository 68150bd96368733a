"""A membership function as the user gives it -> the function."""

import numpy as np

from eocc.foundation.registry import resolve
from eocc.regions.memberships import MEMBERSHIP_FUNCTIONS
from eocc.regions.memberships.protocol import MembershipFunction


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
