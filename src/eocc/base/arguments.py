"""Checks of arguments that all estimators share, and a fit that succeeds completely or changes nothing."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any, TypeVar

import numpy as np

from eocc.base.checks import integer, number
from eocc.base.parameters import THREADS

Estimator = TypeVar("Estimator")


def check_number(name: str, value: Any, interval: str, otherwise: str = "") -> None:
    """Raise a ValueError unless `value` is a number in the interval; `otherwise` names other valid values."""
    number(interval, otherwise)(name, value)


def check_count(name: str, value: Any, least: int = 1, otherwise: str = "") -> None:
    """Raise a ValueError unless `value` is an integer >= `least`; `otherwise` names other valid values."""
    integer(least, otherwise=otherwise)(name, value)


def n_threads(n_jobs: Any) -> int:
    """Return the number of threads: 1 for None; all cores for -1, all but one for -2, and so on."""
    if n_jobs is None:
        return 1
    THREADS("n_jobs", n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


def generator(random_state: Any) -> np.random.Generator:
    """Return the random generator of a fit."""
    if random_state is np.random:  # numpy's global state, as scikit-learn accepts it
        random_state = np.random.mtrand._rand
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise ValueError(f"random_state must be an integer >= 0, a generator or None, not {random_state!r}") from error


def unfitted_copy(estimator: Any) -> Any:
    """Return an unfitted copy of a scikit-learn estimator with the same parameters."""
    return type(estimator)(**{name: _owned(value) for name, value in estimator.get_params(deep=False).items()})


def commit_fit(estimator: Estimator, draft: Any) -> Estimator:
    """Copy the fitted state of `draft` to the estimator in one step: an interrupt leaves the old or the new model."""
    kept = {name: _owned(value) for name, value in vars(estimator).items() if not name.endswith("_")}
    estimator.__dict__ = {**vars(draft), **kept}
    return estimator


def _owned(value: Any) -> Any:
    """Return a copy of a parameter that the caller could change in place; objects of the user's own are kept."""
    is_ours = type(value).__module__.startswith("eocc.") and is_dataclass(value)
    return deepcopy(value) if isinstance(value, list | np.ndarray) or is_ours else value


def check_no_mask(X: Any) -> None:
    """Raise a ValueError for a masked array with masked entries."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            "X is a masked array, whose mask would be ignored; pass X.filled(np.nan), with measure='gower'"
        )


def check_no_dates(X: Any) -> None:
    """Raise a ValueError for dates or durations, which would count as nanoseconds."""
    columns: Any = getattr(X, "dtypes", None)
    kinds = list(columns) if hasattr(columns, "__iter__") else [getattr(X, "dtype", None)]
    if any(getattr(kind, "kind", "") in ("m", "M") for kind in kinds):
        raise ValueError("X holds dates or durations; measure='gower' compares them, or pass them as numbers")


# Messages of scikit-learn about data that is not a table of numbers, and the remedy here.
REMEDIES = {
    "could not convert string to float": "measure='gower' takes tables with text, measure='auto' also strings",
    "not 'LazyFrame'": "pass X.collect()",
    "not 'dict'": "measure='gower' takes records",
    "contains NaN": "measure='gower' allows missing values; else drop or impute them",
}


@contextmanager
def saying_remedy() -> Iterator[None]:
    """Add the remedy to scikit-learn's errors about data that another measure accepts."""
    try:
        yield
    except (ValueError, TypeError) as error:
        first = (str(error).splitlines() or [""])[0].rstrip(".")
        for complaint, remedy in REMEDIES.items():
            if complaint in first:
                raise type(error)(f"{first}; {remedy}") from None
        raise
