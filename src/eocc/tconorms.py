"""Grades in several regions -> one grade. One function each: log grades (m, k) in, log grades (m,) out."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from eocc.registry import choose

TConorm = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def maximum(log_grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the highest grade, as in the paper.

    >>> maximum(np.array([[-3.0, -1.0]]))
    array([-1.])
    """
    return np.asarray(log_grades.max(axis=1))


TCONORMS: dict[str, TConorm] = {"max": maximum}


def resolve_tconorm(tconorm: str | TConorm) -> TConorm:
    """Return the function itself, or the one registered under its name."""
    return tconorm if callable(tconorm) else choose("t-conorm", TCONORMS, tconorm)
