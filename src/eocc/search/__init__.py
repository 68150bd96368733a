"""Searches: maximise any function of p in [0, 1]^u, a batch at a time; they know nothing of the rest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from eocc.registry import resolve
from eocc.search.genetic import GeneticSearch
from eocc.search.protocol import Matrix, Search, SearchRun

__all__ = ["SEARCHES", "Generation", "GeneticSearch", "Search", "SearchRun", "generations", "resolve_search"]

SEARCHES: dict[str, Callable[[], Search]] = {"genetic": GeneticSearch}


def resolve_search(search: str | Search) -> Search:
    """Return the search itself, or the one registered under its name."""
    return resolve("search", SEARCHES, search, method="start")


@dataclass(frozen=True)
class Generation:
    """Where a search stands after a batch: the best point so far, its value, the batch's mean value."""

    number: int
    best: Matrix
    best_value: float
    mean_value: float
    n_evaluations: int


def generations(
    search: Search, evaluate: Callable[[Matrix], Matrix], n_parameters: int, rng: np.random.Generator
) -> Iterator[Generation]:
    """Run the search, yielding after every batch; no candidate is evaluated twice.

    `evaluate` takes distinct candidates (m, u) and returns their values (m,).

    >>> peak = lambda batch: -((batch - 0.25) ** 2).sum(axis=1)
    >>> *_, last = generations(GeneticSearch(), peak, 1, np.random.default_rng(0))
    >>> bool(abs(last.best[0] - 0.25) < 0.05)
    True
    """
    run = search.start(n_parameters, rng)
    known: dict[bytes, float] = {}
    best, best_value, number = np.ones(n_parameters), -np.inf, 0
    while not run.should_stop():
        candidates = np.ascontiguousarray(run.ask(), dtype=np.float64)
        fresh = {p.tobytes(): p for p in candidates if p.tobytes() not in known}
        if fresh:
            known.update(zip(fresh, np.asarray(evaluate(np.array(list(fresh.values())))).tolist(), strict=True))
        values = np.array([known[p.tobytes()] for p in candidates])
        if values.max() > best_value:
            best, best_value = candidates[int(np.argmax(values))].copy(), float(values.max())
        run.tell(candidates, values)
        yield Generation(number, best, best_value, float(values.mean()), len(known))
        number += 1
