"""Dask collections, recognised without Dask. `eocc.scale.cluster`, which works on them, is imported when one comes."""

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any, TypeVar

from numpy.typing import DTypeLike

from eocc.scale.passes import Passes

Method = TypeVar("Method", bound=Callable[..., Any])


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array, dataframe or bag."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def are_dask_numbers(X: Any) -> bool:
    """Return whether X is a 2-D Dask array or a Dask dataframe of numbers only."""
    if not is_dask(X) or getattr(X, "ndim", 1) != 2:
        return False
    kinds = [X.dtype.kind] if hasattr(X, "chunks") else [getattr(dtype, "kind", "O") for dtype in X.dtypes]
    return all(kind in "biuf" for kind in kinds)


def dask_passes(X: Any) -> Passes:
    """Return passes over a Dask array or dataframe of numbers, which is never gathered."""
    passes: Passes = import_module("eocc.scale.cluster").DaskPasses(X)
    return passes


def materialised(X: Any, check: Callable[[int, int], object] | None = None) -> Any:
    """Return the contents of a Dask collection, after check(n_rows, n_columns); return anything else unchanged."""
    return import_module("eocc.scale.cluster").contents(X, check) if is_dask(X) else X


def dask_lazy(dtype: DTypeLike) -> Callable[[Method], Method]:
    """Make a method of a fitted estimator return a lazy Dask array for a Dask collection."""

    def widened(method: Method) -> Method:
        @wraps(method)
        def either(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
            if not is_dask(X):
                return method(self, X, *arguments, **named)
            return import_module("eocc.scale.cluster").lazily(self, method.__name__, X, dtype, arguments, named)

        return either  # type: ignore[return-value]

    return widened
