"""Searches: what they share, how they are run, and the baseline of uniform random points."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from eocc.base.arguments import check_count, check_number
from eocc.base.registry import resolve
from eocc.base.types import Matrix
from eocc.entropic.search import SEARCHES


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


@dataclass(frozen=True)
class Stopping:
    """The settings all searches share.

    A generation has `population_size` candidates. The search stops after `max_generations`, when the best value has
    not improved for `patience` generations, or at the end of a generation when `max_time` seconds have passed.
    """

    population_size: int = 30
    max_generations: int = 100
    patience: int = 10
    max_time: float | None = None

    def __post_init__(self) -> None:
        for name, least in (("population_size", 5), ("max_generations", 1), ("patience", 1)):
            check_count(name, getattr(self, name), least)
        if self.max_time is not None:
            check_number("max_time", self.max_time, "(0, inf]", " of seconds, or None")


@dataclass
class Run:
    """A running search that counts its generations, applies the stopping rules and proposes its `population`."""

    rules: Stopping
    population: Matrix
    rng: np.random.Generator
    generations: int = field(default=0, init=False)
    stagnation: int = field(default=0, init=False)
    best_value: float = field(default=-np.inf, init=False)
    started: float = field(default_factory=time.monotonic, init=False)

    def ask(self) -> Matrix:
        """Return the population, (population_size, u)."""
        return self.population

    def tell(self, candidates: Matrix, values: Matrix) -> None:
        """Record the best value of a generation, and make the next population."""
        value = float(values.max())
        self.generations += 1
        self.stagnation = 0 if value > self.best_value else self.stagnation + 1
        self.best_value = max(self.best_value, value)
        self.population = self.next_population(candidates, values)

    def next_population(self, candidates: Matrix, values: Matrix) -> Matrix:
        """Return random points."""
        return self.rng.random(candidates.shape)

    def should_stop(self) -> bool:
        """Return whether a limit of generations, patience or time is reached."""
        late = self.rules.max_time is not None and time.monotonic() - self.started >= self.rules.max_time
        return late or self.generations >= self.rules.max_generations or self.stagnation >= self.rules.patience


@dataclass(frozen=True)
class RandomSearch(Stopping):
    """Points drawn uniformly from [0, 1]^u; the first point is all ones."""

    def start(self, n_parameters: int, rng: np.random.Generator) -> Run:
        """Draw the first points."""
        points = rng.random((self.population_size, n_parameters))
        points[0] = 1.0
        return Run(self, points, rng)


def resolve_search(search: str | Search) -> Search:
    """Return the search itself, or the one registered under its name."""
    resolved: Search = resolve("search", SEARCHES, search, method="start")
    return resolved


@dataclass(frozen=True)
class Generation:
    """The state of a search after a batch: the best point so far, its value, the batch's mean value."""

    number: int
    best: Matrix
    best_value: float
    mean_value: float
    n_evaluations: int


def generations(
    search: Search, evaluate: Callable[[Matrix], Matrix], n_parameters: int, rng: np.random.Generator
) -> Iterator[Generation]:
    """Run the search and yield after every batch; no candidate is evaluated twice.

    `evaluate` takes distinct candidates (m, u) and returns their values (m,).
    """
    run = search.start(n_parameters, rng)
    known: dict[bytes, float] = {}
    best, best_value, number = np.ones(n_parameters), -np.inf, 0
    while not run.should_stop():
        candidates = _checked_batch(run.ask(), n_parameters, search)
        values = _values(candidates, evaluate, known)
        if values.max() > best_value:
            best, best_value = candidates[int(np.argmax(values))].copy(), float(values.max())
        run.tell(candidates, values)
        yield Generation(number, best, best_value, float(values.mean()), len(known))
        number += 1


def _checked_batch(batch: Matrix, n_parameters: int, search: Search) -> Matrix:
    candidates = np.ascontiguousarray(batch, dtype=np.float64)
    if candidates.ndim != 2 or candidates.shape[1] != n_parameters or len(candidates) == 0:
        raise ValueError(
            f"{type(search).__name__} proposed an array of shape {candidates.shape}; "
            f"one row of {n_parameters} parameters per candidate is needed"
        )
    if not ((candidates >= 0) & (candidates <= 1)).all():
        odd = candidates[~((candidates >= 0) & (candidates <= 1))][0]
        raise ValueError(f"{type(search).__name__} proposed {odd:g}; parameters must lie in [0, 1]")
    return candidates


def _values(candidates: Matrix, evaluate: Callable[[Matrix], Matrix], known: dict[bytes, float]) -> Matrix:
    """Return the values of the candidates; only new ones are evaluated."""
    keys = [candidate.tobytes() for candidate in candidates]
    fresh = {key: candidate for key, candidate in zip(keys, candidates, strict=True) if key not in known}
    if fresh:
        found = np.asarray(evaluate(np.array(list(fresh.values()))))
        known.update(zip(fresh, found.tolist(), strict=True))
    return np.array([known[key] for key in keys])
