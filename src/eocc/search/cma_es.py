"""CMA-ES, by the package ``cmaes``."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.search.stopping import Run, Stopping

# Up to this many parameters the full covariance matrix is adapted, at a cost of u^3 per generation.
LARGEST_FULL = 100


@dataclass(frozen=True)
class CMAESSearch(Stopping):
    """CMA-ES in [0, 1]^u from the centre of the cube; the first candidate is all ones.

    `sigma` is the standard deviation of the first step. Above 100 parameters only the diagonal of the covariance is
    adapted. Requires the extra ``search``.
    """

    sigma: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.sigma > 0:
            raise ValueError(f"sigma must be positive, not {self.sigma}")

    def start(self, n_parameters: int, rng: np.random.Generator) -> "CMAESRun":
        """Start."""
        try:
            import cmaes
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("search='cma-es' needs the package cmaes: pip install cmaes") from error
        # The package needs at least two parameters; a second one, never used, is added to a single one.
        size = max(n_parameters, 2)
        kind = cmaes.CMA if size <= LARGEST_FULL else cmaes.SepCMA
        bounds, seed = np.tile([0.0, 1.0], (size, 1)), int(rng.integers(2**31))
        optimiser = kind(np.full(size, 0.5), self.sigma, bounds, seed=seed, population_size=self.population_size)
        return CMAESRun(self, optimiser, n_parameters)


@dataclass
class CMAESRun(Run):
    """A running CMA-ES search."""

    optimiser: Any
    n_parameters: int
    asked: Matrix = field(default_factory=lambda: np.empty((0, 0)))

    def ask(self) -> Matrix:
        """Return one population."""
        self.asked = np.array([self.optimiser.ask() for _ in range(self.optimiser.population_size)])
        if self.generations == 0:
            self.asked[0] = 1.0
        return self.asked[:, : self.n_parameters]

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Update the distribution; the package minimises."""
        super().tell(candidates, values)
        self.optimiser.tell(list(zip(self.asked, -values, strict=True)))

    def should_stop(self) -> bool:
        """Return whether a limit is reached or the steps have become negligible."""
        return super().should_stop() or bool(self.optimiser.should_stop())
