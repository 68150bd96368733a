"""Membership functions: distance to a region's representative, in extents -> a grade in [0, 1]."""

from collections.abc import Callable

from eocc.memberships.gaussian import Gaussian
from eocc.memberships.protocol import MembershipFunction
from eocc.registry import resolve

__all__ = ["MEMBERSHIP_FUNCTIONS", "Gaussian", "MembershipFunction", "resolve_membership_function"]

MEMBERSHIP_FUNCTIONS: dict[str, Callable[[], MembershipFunction]] = {"gaussian": Gaussian}


def resolve_membership_function(function: str | MembershipFunction) -> MembershipFunction:
    """Return the function itself, or the one registered under its name."""
    return resolve("membership function", MEMBERSHIP_FUNCTIONS, function, method="log_grade")
