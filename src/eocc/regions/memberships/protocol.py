"""What a membership function must offer."""

from typing import Protocol

from eocc.foundation.types import Matrix


class MembershipFunction(Protocol):
    """A grade in [0, 1] that never rises with the distance; 1 at the representative itself.

    One that is not the same on all sides has a method ``widths`` too: see ``SidedMembershipFunction``. A string
    ``formula``, if it has one, gives the grade in terms of r = d / tau for people to read.
    """

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return ln mu for ratio = d / tau, -inf where mu = 0. departure: ranking."""
        ...


class SidedMembershipFunction(MembershipFunction, Protocol):
    """A membership function whose width differs on the inner and on the outer side of a representative.

    A pattern lies outside a representative if it is, on average over the prototypes, less similar to them.
    """

    def widths(self, distances: Matrix, offsets: Matrix, extent: float) -> tuple[float, float]:
        """Return (inner, outer) width of a region.

        `distances` of its members to the representative, `offsets` the mean of their dissimilarities less the
        representative's: negative inside, positive outside.
        """
        ...
