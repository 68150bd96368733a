"""Grades in several regions -> one grade. Every t-conorm is a function: log grades (m, k) in, log grades (m,) out.

Logarithms keep the ranks of grades that underflow. If all grades are tiny, the smooth t-conorms are computed as sums,
because products of grades are then negligible.
"""

from collections.abc import Callable

import numpy as np
import scipy

from eocc.foundation.registry import choose
from eocc.foundation.types import Matrix
from eocc.regions import TCONORMS

TConorm = Callable[[Matrix], Matrix]

# Below exp(-30), about 1e-13, the product of two grades is negligible compared with their sum.
NEGLIGIBLE = -30.0


def maximum(log_grades: Matrix) -> Matrix:
    """Return the highest grade, as in the paper."""
    return np.asarray(log_grades.max(axis=1))


def probabilistic_sum(log_grades: Matrix) -> Matrix:
    """Return a + b - ab, that is 1 - prod(1 - mu)."""
    exact = _log_complement(_log_complement(log_grades).sum(axis=1))
    return _where_not_tiny(log_grades, exact)


def lukasiewicz(log_grades: Matrix) -> Matrix:
    """Return min(1, a + b)."""
    return np.asarray(np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0))


def einstein(log_grades: Matrix) -> Matrix:
    """Return (a + b) / (1 + ab), that is tanh(sum artanh(mu))."""
    # artanh(mu) = (ln(1 + mu) - ln(1 - mu)) / 2
    doubled = (np.log1p(np.exp(log_grades)) - _log_complement(log_grades)).sum(axis=1)
    with np.errstate(divide="ignore", over="ignore"):
        exact = np.where(doubled < 1, np.log(np.tanh(doubled / 2)), np.log1p(-2 / (np.exp(doubled) + 1)))
    return _where_not_tiny(log_grades, exact)


def _log_complement(x: Matrix) -> Matrix:
    """Return ln(1 - e^x), x <= 0, by whichever of two formulas loses fewer digits."""
    with np.errstate(divide="ignore"):
        return np.where(x > -np.log(2), np.log(-np.expm1(x)), np.log1p(-np.exp(x)))


def _where_not_tiny(log_grades: Matrix, exact: Matrix) -> Matrix:
    return np.where(
        log_grades.max(axis=1) < NEGLIGIBLE, np.minimum(scipy.special.logsumexp(log_grades, axis=1), 0.0), exact
    )


def resolve_tconorm(tconorm: str | TConorm) -> TConorm:
    """Return the function itself, or the one registered under its name."""
    chosen: TConorm = tconorm if callable(tconorm) else choose("t-conorm", TCONORMS, tconorm, "pass a function")
    return chosen
