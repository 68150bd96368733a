"""The genetic algorithm of the paper."""

from dataclasses import dataclass

import numpy as np

from eocc.base.registry import choose
from eocc.base.types import Matrix
from eocc.entropic.search.base import Run, Stopping


@dataclass(frozen=True)
class GeneticSearch(Stopping):
    """Roulette-wheel selection, two-point crossover, random mutation, the fittest carried over.

    `mutation_rate` is the probability that a child mutates. A mutant gets one new random gene, and every other gene is
    redrawn with probability 1/u (departure: mutation rate). `first_population` is "random", as in the paper, or "ones":
    random, but with one individual of all ones, so that the result is never worse than the unweighted dissimilarity
    (departure: first population).
    """

    mutation_rate: float = 0.3
    first_population: str = "ones"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.mutation_rate <= 1:
            raise ValueError(f"mutation_rate must lie in [0, 1], not {self.mutation_rate}")
        choose("first_population", dict.fromkeys(("ones", "random")), self.first_population)

    def start(self, n_parameters: int, rng: np.random.Generator) -> "GeneticRun":
        """Draw the first population."""
        population = rng.random((self.population_size, n_parameters))
        if self.first_population == "ones":
            population[0] = 1.0
        return GeneticRun(self, population, rng)


@dataclass
class GeneticRun(Run):
    """A running genetic search."""

    rules: GeneticSearch

    def next_population(self, candidates: Matrix, values: Matrix) -> Matrix:
        """Return the fittest of these candidates and the children of all."""
        elite = candidates[[int(np.argmax(values))]]
        n_children = len(candidates) - 1
        mothers, fathers = self._select(candidates, values, 2 * n_children).reshape(2, n_children, -1)
        return np.vstack([elite, self._mutate(self._cross(mothers, fathers))])

    def _select(self, candidates: Matrix, values: Matrix, count: int) -> Matrix:
        """Draw with probabilities proportional to value minus the population's minimum. departure: selection."""
        weights = values - values.min()
        chances = weights / weights.sum() if weights.sum() > 0 else None
        return candidates[self.rng.choice(len(candidates), size=count, p=chances)]

    def _cross(self, mothers: Matrix, fathers: Matrix) -> Matrix:
        """Give each child its father's genes between two cuts, its mother's outside them."""
        n, u = mothers.shape
        first, second = np.sort(self.rng.integers(0, u + 1, size=(2, n, 1)), axis=0)
        gene = np.arange(u)
        return np.where((first <= gene) & (gene < second), fathers, mothers)

    def _mutate(self, children: Matrix) -> Matrix:
        """Redraw genes of the mutants, uniformly in [0, 1]."""
        n, u = children.shape
        genes = self.rng.random((n, u)) < 1.0 / u
        genes[np.arange(n), self.rng.integers(0, u, size=n)] = True
        genes &= self.rng.random((n, 1)) < self.rules.mutation_rate
        return np.where(genes, self.rng.random((n, u)), children)
