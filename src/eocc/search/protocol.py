"""The interface of a search: it proposes points of [0, 1]^u and receives their values."""

from typing import Protocol

import numpy as np

from eocc.foundation.types import Matrix


class SearchRun(Protocol):
    """A running search."""

    def ask(self) -> Matrix:
        """Return the next batch of candidates, (m, u), each in [0, 1]^u."""
        ...

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Receive the values of the last batch, higher = better."""
        ...

    def should_stop(self) -> bool:
        """Return whether the search has converged or reached a limit."""
        ...


class Search(Protocol):
    """The settings of a search."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> SearchRun:
        """Start a search in [0, 1]^n_parameters; every random number comes from `rng`."""
        ...
