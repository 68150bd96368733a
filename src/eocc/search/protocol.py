"""What a search must offer: it proposes points of [0, 1]^u and is told their values, nothing else."""

from typing import Protocol

import numpy as np

from eocc.foundation.types import Matrix


class SearchRun(Protocol):
    """One search under way."""

    def ask(self) -> Matrix:
        """Return the next batch of candidates, (m, u), each in [0, 1]^u."""
        ...

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Take the values of the batch last asked for, higher = better."""
        ...

    def should_stop(self) -> bool:
        """Say whether the search has converged or used up its generations."""
        ...


class Search(Protocol):
    """The settings of a search; starting it leaves them as they are."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> SearchRun:
        """Begin a search in [0, 1]^n_parameters; all randomness comes from `rng`."""
        ...
