"""Checks of arguments that all estimators share, and a fit that succeeds completely or changes nothing."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import is_dataclass
from typing import Any

import numpy as np


@contextmanager
def fitting(estimator: Any) -> Iterator[Any]:
    """Yield an unfitted copy to fit, of an estimator whose `_parameters` are right; its state is taken at the end.

    An error or an interrupt inside the block leaves the estimator as it was. A default needs no check.
    """
    defaults = type(estimator).__init__.__kwdefaults__ or {}
    for parameter in getattr(estimator, "_parameters", ()):
        value = getattr(estimator, parameter.name)
        if value is not defaults.get(parameter.name, parameter):
            parameter.kind(parameter.name, value)
    draft = unfitted_copy(estimator)
    yield draft
    kept = {name: value for name, value in vars(estimator).items() if not name.endswith("_")}
    estimator.__dict__ = {**kept, **vars(draft)}  # in one step


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
    """Return an unfitted copy of a scikit-learn estimator with the same parameters.

    Those that the caller could change in place are copied; objects of the user's own are kept.
    """
    given = estimator.get_params(deep=False)
    for name, value in given.items():
        is_ours = type(value).__module__.startswith("eocc.") and is_dataclass(value)
        if is_ours or isinstance(value, list | np.ndarray):
            given[name] = deepcopy(value)
    return type(estimator)(**given)


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
