"""What a search is, how it is run, and the genetic algorithm of the paper."""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Protocol

import numpy as np

from eocc.base.checks import demand, integer, number, optional
from eocc.base.registry import choice, resolve
from eocc.base.stored import Checked
from eocc.base.types import Matrix
from eocc.base.vocabulary import completed
from eocc.entropic import SEARCHES

Batches = Generator[Matrix, Matrix, None]


class Search(Protocol):
    """The settings of a search."""

    def batches(self, n_parameters: int, rng: np.random.Generator) -> Batches:
        """Yield batches of candidates (m, u) in [0, 1]^u, and receive the values of each, higher = better.

        The search ends when it yields no more. Every random number comes from `rng`.
        """
        ...


@dataclass(frozen=True)
class GeneticSearch(Checked):
    """Roulette-wheel selection, two-point crossover, random mutation, the fittest carried over.

    A generation has `population_size` candidates. The search stops after `max_generations`, when the best value has
    not improved for `patience` generations, or at the end of a generation when `max_time` seconds have passed.

    `mutation_rate` is the probability that a child mutates. A mutant gets one new random gene, and every other gene is
    redrawn with probability 1/u (departure: mutation rate). `first_population` is "random", as in the paper, or "ones":
    random, but with one individual of all ones, so that the result is never worse than the unweighted dissimilarity
    (departure: first population).
    """

    population_size: Annotated[int, integer(5)] = 30
    max_generations: Annotated[int, integer(1)] = 100
    patience: Annotated[int, integer(1)] = 10
    max_time: Annotated[float | None, optional(number("(0, inf]", " of seconds, or None"))] = None
    mutation_rate: Annotated[float, number("[0, 1]")] = 0.3
    first_population: Annotated[str, choice(("ones", "random"))] = "ones"

    def batches(self, n_parameters: int, rng: np.random.Generator) -> Batches:
        """Yield the populations of the generations."""
        started, stagnation, best = time.monotonic(), 0, -np.inf
        population = rng.random((self.population_size, n_parameters))
        if self.first_population == "ones":
            population[0] = 1.0
        for _ in range(self.max_generations):
            values = yield population
            stagnation = 0 if values.max() > best else stagnation + 1
            best = max(best, values.max())
            population = self.next_population(population, values, rng)
            is_late = self.max_time is not None and time.monotonic() - started >= self.max_time
            if is_late or stagnation >= self.patience:
                return

    def next_population(self, candidates: Matrix, values: Matrix, rng: np.random.Generator) -> Matrix:
        """Return the fittest of these candidates and the children of all."""
        n_children = len(candidates) - 1
        mothers, fathers = select(candidates, values, 2 * n_children, rng).reshape(2, n_children, -1)
        children = mutate(cross(mothers, fathers, rng), self.mutation_rate, rng)
        return np.vstack([candidates[[int(np.argmax(values))]], children])


def select(candidates: Matrix, values: Matrix, count: int, rng: np.random.Generator) -> Matrix:
    """Draw with probabilities proportional to value minus the population's minimum. departure: selection."""
    weights = values - values.min()
    chances = weights / weights.sum() if weights.sum() > 0 else None
    return candidates[rng.choice(len(candidates), size=count, p=chances)]


def cross(mothers: Matrix, fathers: Matrix, rng: np.random.Generator) -> Matrix:
    """Give each child its father's genes between two cuts, its mother's outside them."""
    n, u = mothers.shape
    first, second = np.sort(rng.integers(0, u + 1, size=(2, n, 1)), axis=0)
    gene = np.arange(u)
    return np.where((first <= gene) & (gene < second), fathers, mothers)


def mutate(children: Matrix, rate: float, rng: np.random.Generator) -> Matrix:
    """Redraw genes of the mutants, uniformly in [0, 1]."""
    n, u = children.shape
    genes = rng.random((n, u)) < 1.0 / u
    genes[np.arange(n), rng.integers(0, u, size=n)] = True
    genes &= rng.random((n, 1)) < rate
    return np.where(genes, rng.random((n, u)), children)


def resolve_search(search: str | Search) -> Search:
    """Return the search itself, or the one registered under its name."""
    resolved: Search = resolve("search", SEARCHES, search, method="batches")
    return resolved


class Generation(NamedTuple):
    """The state of a search after a batch: the best candidate so far, and the mean objective of the batch."""

    best: Any
    mean: float


def generations(
    search: Search, evaluate: Callable[[Matrix], Sequence[Any]], n_parameters: int, rng: np.random.Generator
) -> Iterator[Generation]:
    """Run the search and yield after every batch; ties go to the earlier candidate.

    `evaluate` takes distinct candidates (m, u), none of them twice, and returns what it finds about each, with its
    value as `objective`.
    """
    batches, known, best = search.batches(n_parameters, rng), dict[bytes, Any](), None
    if not isinstance(batches, Generator):
        raise TypeError(
            f"batches of {type(search).__name__} must be a generator: it yields points and gets their values"
        )
    batch = next(batches, None)
    while batch is not None:
        batch = _checked_batch(batch, n_parameters, search)
        keys = [candidate.tobytes() for candidate in batch]
        fresh = {key: candidate for key, candidate in zip(keys, batch, strict=True) if key not in known}
        if fresh:
            known.update(zip(fresh, evaluate(np.array(list(fresh.values()))), strict=True))
        values = np.array([known[key].objective for key in keys])
        if best is None or values.max() > best.objective:
            best = known[keys[int(np.argmax(values))]]
        yield Generation(best, float(values.mean()))
        try:
            batch = batches.send(values)
        except StopIteration:
            return


def _checked_batch(batch: Matrix, n_parameters: int, search: Search) -> Matrix:
    candidates, proposed = np.ascontiguousarray(batch, dtype=np.float64), f"{type(search).__name__} proposed"
    is_right = candidates.ndim == 2 and candidates.shape[1] == n_parameters and len(candidates) > 0
    needed = f"one row of {n_parameters} parameters per candidate is needed"
    demand(is_right, f"{proposed} an array of shape {candidates.shape}; {needed}")
    for odd in candidates[~((candidates >= 0) & (candidates <= 1))]:
        raise ValueError(f"{proposed} {odd:g}; parameters must lie in [0, 1]")
    return candidates


__all__ = ["GeneticSearch", "Search", "resolve_search"]
for _name in __all__:
    completed(globals()[_name])
