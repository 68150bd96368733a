"""Uniform random points: the baseline for the other searches."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.search.stopping import Stopping, Watch


@dataclass(frozen=True)
class RandomSearch(Stopping):
    """Points drawn uniformly from [0, 1]^u; the first point is all ones."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> "RandomRun":
        """Start."""
        return RandomRun(n_parameters, rng, Watch(self))


@dataclass
class RandomRun:
    """A running random search."""

    n_parameters: int
    rng: np.random.Generator
    watch: Watch

    def ask(self) -> Matrix:
        """Return a batch of new points."""
        points = self.rng.random((self.watch.rules.population_size, self.n_parameters))
        if self.watch.generations == 0:
            points[0] = 1.0
        return points

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Count the batch."""
        self.watch.note(float(values.max()))

    def should_stop(self) -> bool:
        """Return whether a limit is reached."""
        return self.watch.is_over()
