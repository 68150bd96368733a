"""What an array must be. The shape "n 2" means (n, 2), and the first array with an n says how large n is."""

from collections.abc import Callable
from typing import Any

import numpy as np

from eocc.base.checks import ANY_NUMBER, Check, Sizes, demand, interval_of


def numbers(shape: str, interval: str = ANY_NUMBER, *, gaps: bool = False) -> Check:
    """Accept arrays of finite doubles in the interval, with `gaps` also NaN."""
    holds = interval_of(interval)[0]

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        _check_shape(name, value, shape, sizes, np.float64, "numbers or gaps" if gaps else "finite numbers")
        demand(gaps or np.isfinite(value).all(), f"{name} must be finite numbers of shape {value.shape}")
        demand((holds(value) | np.isnan(value)).all(), f"{name} must lie in {interval}")

    return Check(rule)


def indices(shape: str, stop: str = "", *, least: int = 0, most: int = 2**62, rising: bool = False) -> Check:
    """Accept arrays of 64-bit integers in [least, most], or below the size `stop`; they may have to rise."""

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        _check_shape(name, value, shape, sizes, np.int64, "integers")
        largest = sizes[stop] - 1 if stop else most
        demand(((value >= least) & (value <= largest)).all(), f"{name} must lie in {least}..{largest}")
        demand(not rising or (np.diff(value) > 0).all(), f"{name} must rise")

    return Check(rule)


def array_of(dtype: type, n_dims: int) -> Callable[[Any], bool]:
    """Return whether a value is an array of that dtype and that many dimensions, finite throughout."""
    return lambda value: (
        type(value) is np.ndarray and value.dtype == dtype and value.ndim == n_dims and bool(np.isfinite(value).all())
    )


def _check_shape(name: str, value: Any, names: str, sizes: Sizes, dtype: type, what: str) -> None:
    parts = names.split()
    is_array = type(value) is np.ndarray and value.dtype == dtype and value.ndim == len(parts)
    for size, length in zip(parts, value.shape if is_array else (), strict=False):
        sizes.setdefault(size, int(size) if size.isdigit() else length)
    shape = tuple(sizes.get(size, size) for size in parts)
    demand(is_array and value.shape == shape, f"{name} must be {what} of shape {shape}")
