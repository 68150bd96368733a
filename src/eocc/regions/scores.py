"""How far out a row lies -> its scores."""

from dataclasses import dataclass

from eocc.foundation.types import Matrix
from eocc.regions.fuzzy import decision_margin, log_grades
from eocc.regions.memberships import MembershipFunction


@dataclass(frozen=True, eq=False)
class Scores:
    """For every row its `ratio`, above 1 where it is rejected, and the logarithm of its membership."""

    ratios: Matrix
    log_memberships: Matrix

    @classmethod
    def of_ratios(cls, ratios: Matrix, function: MembershipFunction) -> "Scores":
        """Return the ratios with their grades of membership."""
        return cls(ratios, log_grades(function, ratios[:, None])[:, 0])

    @property
    def margins(self) -> Matrix:
        """(1 - ratio^2) / 2: >= 0 for accepted rows, unless calibrated to another threshold."""
        return decision_margin(self.ratios)
