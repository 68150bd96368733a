"""What stored values must be, as tables of names and checks; each raises a ValueError of one line."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

Sizes = Mapping[str, int]
StoredCheck = Callable[[str, Any, Sizes], None]
Layout = Mapping[str, StoredCheck]


def demand(condition: Any, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def number(low: float = -math.inf) -> StoredCheck:
    """Demand a finite float above `low`."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        is_right = type(value) is float and math.isfinite(value) and value > low
        demand(is_right, f"{name} must be a finite number above {low:g}")

    return check


def numbers(shape: str, low: float = -math.inf, high: float = math.inf, *, positive: bool = False) -> StoredCheck:
    """Demand an array of finite doubles in [low, high]. `shape` names its sizes: "n 2" means (n, 2)."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        _check_shape(name, value, shape, sizes, np.float64, "finite numbers")
        demand(((low <= value) & (value <= high)).all(), f"{name} must lie in [{low:g}, {high:g}]")
        demand(not positive or (value > 0).all(), f"{name} must be positive")

    return check


def indices(shape: str, stop: str, *, rising: bool = False) -> StoredCheck:
    """Demand an array of 64-bit integers in [0, stop), each above the one before if they rise."""

    def check(name: str, value: Any, sizes: Sizes) -> None:
        _check_shape(name, value, shape, sizes, np.int64, "integers")
        demand(((value >= 0) & (value < sizes[stop])).all(), f"{name} must lie in 0..{sizes[stop] - 1}")
        demand(not rising or (np.diff(value) > 0).all(), f"{name} must rise")

    return check


def _check_shape(name: str, value: Any, names: str, sizes: Sizes, dtype: type, what: str) -> None:
    shape = tuple(int(size) if size.isdigit() else sizes[size] for size in names.split())
    is_right = type(value) is np.ndarray and value.dtype == dtype and value.shape == shape
    demand(is_right and np.isfinite(value).all(), f"{name} must be {what} of shape {shape}")


def check_values(state: Any, layout: Layout, sizes: Sizes, group: str = "") -> None:
    """Demand that the values are as the layout says, and that a `group` holds no others.

    >>> check_values({"weights": np.array([0.5, 2.0])}, {"weights": numbers("u", 0, 1)}, {"u": 2})
    Traceback (most recent call last):
    ...
    ValueError: weights must lie in [0, 1]
    """
    if group:
        check_keys(group, state, layout)
    for name, check in layout.items():
        check(f"{group}.{name}" if group else name, state[name], sizes)


def check_keys(name: str, value: Any, keys: Any) -> None:
    """Demand a dictionary with exactly these keys."""
    demand(type(value) is dict and set(value) == set(keys), f"{name} must hold exactly {', '.join(keys)}")


def length_of(name: str, state: Any, key: str) -> int:
    """Return the length of a one-dimensional array in a dictionary."""
    value: Any = state.get(key) if type(state) is dict else None
    demand(type(value) is np.ndarray and value.ndim == 1, f"{name} must be an array with one dimension")
    return len(value)
