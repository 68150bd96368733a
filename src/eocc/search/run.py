"""Search + function -> the best point so far after each batch."""

from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from eocc.foundation.registry import resolve
from eocc.foundation.types import Matrix
from eocc.search import SEARCHES
from eocc.search.protocol import Search


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

    `evaluate` takes distinct candidates (m, u) and returns their values (m,). If the run has a method ``close``, it is
    called at the end, also after an error.
    """
    run = search.start(n_parameters, rng)
    known: dict[bytes, float] = {}
    best, best_value, number = np.ones(n_parameters), -np.inf, 0
    with closing(cast(Any, run)) if hasattr(run, "close") else nullcontext():
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
