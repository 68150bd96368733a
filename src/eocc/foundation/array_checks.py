"""Checks of stored arrays: each raises a ValueError of one line that names the array and what it must be."""

import math
from typing import Any

import numpy as np


def demand(condition: Any, message: str) -> None:
    """Raise a ValueError with the message unless the condition holds."""
    if not condition:
        raise ValueError(message)


def check_keys(name: str, value: Any, keys: Any) -> None:
    """Demand a dictionary with exactly these keys.

    >>> check_keys("threshold", {"value": 1.0}, ("value", "scale"))
    Traceback (most recent call last):
    ...
    ValueError: threshold must hold exactly value, scale
    """
    demand(type(value) is dict and set(value) == set(keys), f"{name} must hold exactly {', '.join(keys)}")


def check_numbers(
    name: str, value: Any, shape: tuple[int, ...], low: float = -math.inf, high: float = math.inf
) -> None:
    """Demand finite doubles in [low, high], in an array of that shape.

    >>> check_numbers("weights", np.array([0.5, 2.0]), (2,), 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: weights must lie in [0, 1]
    """
    is_right = type(value) is np.ndarray and value.dtype == np.float64 and value.shape == shape
    demand(is_right and np.isfinite(value).all(), f"{name} must be finite numbers of shape {shape}")
    demand(not value.size or (value.min() >= low and value.max() <= high), f"{name} must lie in [{low:g}, {high:g}]")


def check_positive(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Demand finite doubles above 0, in an array of that shape."""
    check_numbers(name, value, shape)
    demand((value > 0).all(), f"{name} must be positive")


def check_indices(name: str, value: Any, shape: tuple[int, ...], stop: int, *, rising: bool = False) -> None:
    """Demand 64-bit integers in [0, stop), in an array of that shape, each above the one before if `rising`."""
    is_right = type(value) is np.ndarray and value.dtype == np.int64 and value.shape == shape
    demand(is_right, f"{name} must be integers of shape {shape}")
    demand(not value.size or (value.min() >= 0 and value.max() < stop), f"{name} must lie in 0..{stop - 1}")
    demand(not rising or (np.diff(value) > 0).all(), f"{name} must rise")


def check_number(name: str, value: Any, low: float = -math.inf) -> None:
    """Demand a finite float above `low`."""
    demand(
        type(value) is float and math.isfinite(value) and value > low, f"{name} must be a finite number above {low:g}"
    )


def length_of(name: str, value: Any) -> int:
    """Return the length of a one-dimensional array."""
    demand(type(value) is np.ndarray and value.ndim == 1, f"{name} must be an array with one dimension")
    return len(value)
