"""Uniform random points: the baseline for the other searches."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Matrix
from eocc.search.stopping import Run, Stopping


@dataclass(frozen=True)
class RandomSearch(Stopping):
    """Points drawn uniformly from [0, 1]^u; the first point is all ones."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> "RandomRun":
        """Start."""
        return RandomRun(self, n_parameters, rng)


@dataclass
class RandomRun(Run):
    """A running random search."""

    n_parameters: int
    rng: np.random.Generator

    def ask(self) -> Matrix:
        """Return a batch of new points."""
        points = self.rng.random((self.rules.population_size, self.n_parameters))
        if self.generations == 0:
            points[0] = 1.0
        return points
