"""Checks of single values: what a field of a stored object may hold."""

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

Check = Callable[[Any], bool]


def number(low: float = -math.inf, high: float = math.inf) -> Check:
    """Accept finite numbers in [low, high].

    >>> number(0, 1)(0.5), number(0, 1)(True), number()(math.inf)
    (True, False, False)
    """
    return lambda value: type(value) in (int, float) and abs(value) < math.inf and low <= value <= high


def integer(low: int, high: int) -> Check:
    """Accept integers in [low, high]."""
    return lambda value: type(value) is int and low <= value <= high


def real(low: float = -math.inf, high: float = math.inf) -> Check:
    """Accept finite floats in [low, high], and no integers: kernels would be compiled anew for them."""
    return lambda value: type(value) is float and number(low, high)(value)


def positive(value: Any) -> bool:
    """Accept finite floats above 0."""
    return type(value) is float and 0 < value < math.inf


def instance(*classes: type) -> Check:
    """Accept objects of exactly these classes."""
    return lambda value: type(value) in classes


def optional(check: Check) -> Check:
    """Accept None too."""
    return lambda value: value is None or check(value)


def tuple_of(check: Check, least: int = 0) -> Check:
    """Accept tuples of at least so many accepted values."""
    return lambda value: type(value) is tuple and len(value) >= least and all(map(check, value))


def mapping(key: Check, content: Check) -> Check:
    """Accept dictionaries of accepted keys and values."""
    return lambda value: type(value) is dict and all(key(k) and content(v) for k, v in value.items())


def hashable(value: Any) -> bool:
    """Accept what can be looked up."""
    if not isinstance(value, Hashable):
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def setting(value: Any) -> bool:
    """Accept what an argument of a search may be; the search itself checks more."""
    return type(value) in (type(None), bool, int, float, str) or tuple_of(number())(value)


def array_of(dtype: type, n_dims: int) -> Check:
    """Accept arrays of that dtype and that many dimensions, finite throughout."""
    return lambda value: (
        type(value) is np.ndarray and value.dtype == dtype and value.ndim == n_dims and bool(np.isfinite(value).all())
    )


text = instance(str)
