"""Searches by libraries: CMA-ES by the package ``cmaes``, differential evolution by ``scipy.optimize``."""

import threading
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any

import numpy as np
import scipy

from eocc.base.types import Matrix
from eocc.entropic.search.base import Run, Stopping


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
        # The full covariance matrix costs u^3 per generation.
        kind = cmaes.CMA if size <= 100 else cmaes.SepCMA
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


@dataclass(frozen=True)
class DifferentialEvolutionSearch(Stopping):
    """scipy's differential evolution; the first individual is all ones.

    `strategy`, `mutation` and `recombination` are those of scipy.
    """

    strategy: str = "best1bin"
    mutation: float | tuple[float, float] = (0.5, 1.0)
    recombination: float = 0.7

    def start(self, n_parameters: int, rng: np.random.Generator) -> "DifferentialEvolutionRun":
        """Draw the first population and start scipy's solver."""
        first = rng.random((self.population_size, n_parameters))
        first[0] = 1.0
        return DifferentialEvolutionRun(self, first, rng)


class _Closed(Exception):  # noqa: N818  (not an error: it ends the solver's thread)
    pass


@dataclass
class DifferentialEvolutionRun(Run):
    """A running differential evolution. scipy calls the function it minimises, so the solver runs in its own thread.

    The solver puts a batch into `batches` and waits for `values`. None in `batches` means that the solver has ended;
    None in `values` ends it.
    """

    rules: DifferentialEvolutionSearch
    first: Matrix
    rng: np.random.Generator
    batches: "SimpleQueue[Matrix | BaseException | None]" = field(default_factory=SimpleQueue)
    values: "SimpleQueue[Matrix | None]" = field(default_factory=SimpleQueue)
    waiting: Any = None

    def __post_init__(self) -> None:
        threading.Thread(target=self._solve, daemon=True, name="eocc-differential-evolution").start()
        self._next_batch()

    def ask(self) -> Matrix:
        """Return the batch whose values scipy is waiting for."""
        batch: Matrix = self.waiting
        return batch

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Pass the values to scipy and wait for the next batch."""
        super().tell(candidates, values)
        if not super().should_stop():
            self.values.put(values)
            self._next_batch()

    def should_stop(self) -> bool:
        """Return whether a limit is reached or scipy's population has converged."""
        return super().should_stop() or self.waiting is None

    def close(self) -> None:
        """End the solver's thread."""
        self.values.put(None)

    def _next_batch(self) -> None:
        self.waiting = self.batches.get()
        if isinstance(self.waiting, BaseException):
            raise self.waiting

    def _minimised(self, columns: Matrix) -> Matrix:
        self.batches.put(np.ascontiguousarray(columns.T))
        values = self.values.get()
        if values is None:
            raise _Closed
        return -values

    def _solve(self) -> None:
        try:
            how, bounds = self.rules, [(0.0, 1.0)] * self.first.shape[1]
            scipy.optimize.differential_evolution(  # without a tolerance: `patience` decides about convergence
                self._minimised, bounds, init=self.first, seed=self.rng, maxiter=how.max_generations,
                strategy=how.strategy, mutation=how.mutation, recombination=how.recombination, polish=False, tol=0.0,
                updating="deferred", vectorized=True,
            )  # fmt: skip
        except _Closed:
            return
        except BaseException as error:  # raised in the calling thread
            self.batches.put(error)
        else:
            self.batches.put(None)
