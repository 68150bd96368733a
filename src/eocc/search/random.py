"""Uniform random points: what every other search has to beat."""

from dataclasses import dataclass

import numpy as np

from eocc.search.protocol import Matrix
from eocc.search.stopping import Stopping, Watch


@dataclass(frozen=True)
class RandomSearch(Stopping):
    """Points drawn uniformly from [0, 1]^u, after one of all ones."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> "RandomRun":
        """Begin."""
        return RandomRun(n_parameters, rng, Watch(self))


@dataclass
class RandomRun:
    """One sequence of random batches."""

    n_parameters: int
    rng: np.random.Generator
    watch: Watch

    def ask(self) -> Matrix:
        """Return a batch of points never seen before."""
        points = self.rng.random((self.watch.rules.population_size, self.n_parameters))
        if self.watch.generations == 0:
            points[0] = 1.0
        return points

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Count the batch."""
        self.watch.note(float(values.max()))

    def should_stop(self) -> bool:
        """Say whether generations, patience or time are used up."""
        return self.watch.is_over()
