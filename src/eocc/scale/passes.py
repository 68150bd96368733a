"""Passes over rows of numbers, part by part: one interface for rows in files and on a cluster.

Dask collections are recognised without Dask. `eocc.scale.cluster`, which works on them, is imported when one comes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from typing import Any, Protocol, TypeVar

from numpy.typing import DTypeLike

from eocc.base.types import Indices, Matrix

Result = TypeVar("Result")

# What a pass does, unless it has a name.
READING = "reading rows"


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: finite `values` (m, d), C-contiguous, and the row `numbers` (m,), which ascend over all parts."""

    values: Matrix
    numbers: Indices


class Passes(Protocol):
    """Rows of numbers that can be read again and again, a few parts at a time."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it is not known before the first pass."""

    @property
    def n_columns(self) -> int | None:
        """The number of columns; None if it is not known before the first pass."""

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return join(join(work(part 1), work(part 2)), work(part 3)) and so on, or another tree of that order.

        `join` must be associative. It may change its first argument and return it. Parts are worked on at the same
        time, so `work` must not change anything. `name` says what is being done, for whoever watches the progress.
        """


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


def plug_in() -> Any:
    """Return the module that works on Dask collections: `DaskPasses`, `contents` and `lazily`."""
    return import_module("eocc.scale.cluster")


def dask_lazy(dtype: DTypeLike) -> Callable[[Method], Method]:
    """Make a method of a fitted estimator return a lazy Dask array for a Dask collection."""

    def widened(method: Method) -> Method:
        @wraps(method)
        def either(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
            if not is_dask(X):
                return method(self, X, *arguments, **named)
            return plug_in().lazily(self, method.__name__, X, dtype, arguments, named)

        return either  # type: ignore[return-value]

    return widened
