"""Membership functions: distance in extents -> a grade in [0, 1]. One file per function, one row here."""

from eocc.foundation.registry import Registry

MEMBERSHIP_FUNCTIONS = Registry(
    "eocc.regions.memberships",
    {
        "bell": "bell.Bell",
        "gaussian": "gaussian.Gaussian",
        "trapezoidal": "trapezoidal.Trapezoidal",
        "triangular": "triangular.Triangular",
        "two-sided": "two_sided.TwoSided",
    },
)
__getattr__, __all__ = MEMBERSHIP_FUNCTIONS.exports(
    "protocol.MembershipFunction", "protocol.SidedMembershipFunction", "resolve.resolve_membership_function"
)
