"""Passes over rows of numbers, part by part: one interface for rows in files and on a cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

from eocc.base.types import Flags, Indices, Matrix

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
