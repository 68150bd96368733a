"""The rules of decision regions: extents, medoids, membership functions, t-conorms; and scores by how far out rows lie.

An extent is a function: the distances of all pairs in a cluster in, a number tau out. A membership function is an
object: a distance in extents in, a grade in [0, 1] out. A t-conorm is a function: log grades (m, k) in several regions
in, log grades (m,) out. Logarithms keep the ranks of grades that underflow.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

import numpy as np
import scipy

from eocc.base.checks import number
from eocc.base.registry import resolve
from eocc.base.stored import Checked
from eocc.base.types import Matrix
from eocc.entropic import MEMBERSHIP_FUNCTIONS

Extent = Callable[[Matrix], float]


# A model file knows these functions by their names, so they cannot be numpy's own.
def mean_extent(pairs: Matrix) -> float:
    """Return the mean distance over unordered pairs, as in the paper."""
    return float(pairs.mean())


def max_extent(pairs: Matrix) -> float:
    """Return the largest distance: the diameter."""
    return float(pairs.max())


def std_extent(pairs: Matrix) -> float:
    """Return the standard deviation of the distances."""
    return float(pairs.std())


@dataclass(frozen=True)
class QuantileExtent(Checked):
    """The q-quantile of the distances; the median is q = 0.5."""

    q: Annotated[float, number("[0, 1]")] = 0.9

    def __call__(self, pairs: Matrix) -> float:
        """Return the quantile."""
        return float(np.quantile(pairs, self.q))


median_extent, quantile_extent = QuantileExtent(0.5), QuantileExtent()


def extents_of_sums(extent: Extent, total: Any, largest: Any, n_pairs: Any) -> Any:
    """Return the extents of clusters by the sums and the maxima of their distances, None if these do not suffice."""
    if extent is mean_extent:
        return total / n_pairs
    return largest if extent is max_extent else None


TConorm = Callable[[Matrix], Matrix]


def maximum(log_grades: Matrix) -> Matrix:
    """Return the highest grade, as in the paper."""
    return np.asarray(log_grades.max(axis=1))


def probabilistic_sum(log_grades: Matrix) -> Matrix:
    """Return a + b - ab, that is 1 - prod(1 - mu); of grades below exp(-30), whose products are negligible, a + b."""
    exact = _log_complement(_log_complement(log_grades).sum(axis=1))
    return np.where(log_grades.max(axis=1) < -30.0, lukasiewicz(log_grades), exact)


def lukasiewicz(log_grades: Matrix) -> Matrix:
    """Return min(1, a + b)."""
    return np.asarray(np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0))


def _log_complement(x: Matrix) -> Matrix:
    """Return ln(1 - e^x), x <= 0, by whichever of two formulas loses fewer digits."""
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


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
class Bell(Checked):
    """mu = 1 / (1 + (d / tau)^(2 slope)): flat on top, with heavy tails."""

    slope: Annotated[float, number("(0, inf]")] = 2.0

    @property
    def formula(self) -> str:
        """The grade as a formula of r = d / tau."""
        return f"1 / (1 + r^{2 * self.slope:g})"

    def log_grade(self, ratio: Matrix) -> Matrix:
        """Return -ln(1 + ratio^(2 slope)), from the logarithm of the ratio: no power overflows."""
        with np.errstate(divide="ignore"):
            return np.asarray(-np.logaddexp(0.0, 2.0 * self.slope * np.log(ratio)))


@dataclass(frozen=True)
class Triangular(Checked):
    """mu = max(0, 1 - (d / tau) / support): a straight line that is 0 from `support` extents on."""

    support: Annotated[float, number("(1, inf]")] = 2.0

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


def limit_grade(function: MembershipFunction) -> float:
    """Return the logarithm of the grade on the boundary of a region."""
    return float(log_grades(function, np.array([BOUNDARY]))[0])
