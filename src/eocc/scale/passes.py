"""Passes over rows of numbers, part by part: one interface for rows in memory, in files and on a cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, TypeVar

import numpy as np

from eocc.base.threads import in_order
from eocc.base.types import Flags, Indices, Matrix

Result = TypeVar("Result")

# Number of rows in a part of an array.
PART_ROWS = 8192
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


class ArrayPasses:
    """Passes over an array in memory, on `count` threads.

    >>> ArrayPasses(np.ones((20_000, 3)), 2).fold(lambda part: part.values.sum(axis=0), np.add)
    array([20000., 20000., 20000.])
    """

    def __init__(self, values: Matrix, count: int = 1) -> None:
        self._values, self._count = values, count
        self.n_rows, self.n_columns = values.shape

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all parts, joined in order; there is at least one row."""

        def worked(start: int) -> Result:
            values = self._values[start : start + PART_ROWS]
            return work(Part(values, np.arange(start, start + len(values))))

        return reduce(join, in_order(worked, iter(range(0, len(self._values), PART_ROWS)), self._count, name))


class SomeRows:
    """Passes over the rows of others that are `wanted` (n,); their numbers stay."""

    def __init__(self, passes: Passes, wanted: Flags) -> None:
        self._passes, self._wanted = passes, wanted
        self.n_rows, self.n_columns = int(wanted.sum()), passes.n_columns

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all parts, joined in order; a part may have no rows."""
        wanted = self._wanted

        def of_some(part: Part) -> Result:
            is_wanted = wanted[part.numbers]
            return work(Part(np.ascontiguousarray(part.values[is_wanted]), part.numbers[is_wanted]))

        return self._passes.fold(of_some, join, name)
