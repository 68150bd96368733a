"""A rough estimate of the seconds of a cell: for the time left, and to fit a search into a budget.

The constants are seconds on one core of a machine of 2025. They are fixed, so that the same request gives the same
search and the same model on every machine.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from eocc.experiments.sources import Source
from eocc.experiments.systems import SYSTEMS

FULL_SEARCH = 100
SHORTER = (100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1)
POPULATION = 30
# A search stops after ten generations without progress: sooner without validation than with it.
TYPICAL_GENERATIONS, TYPICAL_WITH_VALIDATION = 20, 60
VALIDATION_FACTOR = 1.4

Plan = Sequence[tuple[Source, str, str]]


@lru_cache(maxsize=64)
def _size(source: Source) -> tuple[int, int]:
    """Return the numbers of training and test rows."""
    trial = source.trial(source.normalisations[0], 0, 0)
    return len(trial.training), len(trial.test.y)


def seconds_of(source: Source, system: str, generations: int) -> float:
    """Return the estimated seconds of one run."""
    n, m = _size(source)
    pairs = 5e-6 if source.measure == "graph-edit" else 2e-8
    if not SYSTEMS[system].searches:
        return 0.05 + 1e-6 * n * n + 2e-8 * n * m
    typical = TYPICAL_GENERATIONS if SYSTEMS[system].validation is None else TYPICAL_WITH_VALIDATION
    factor = 1.0 if SYSTEMS[system].validation is None else VALIDATION_FACTOR
    candidates = min(generations, typical) * POPULATION
    return 0.02 + pairs * n * (n + m) + candidates * factor * candidate_seconds(n)


def candidate_seconds(n: int) -> float:
    """Return the estimated seconds of one candidate of the search on n rows: a product of n x n matrices."""
    return 1e-4 + 6e-9 * n**2 + 1.6e-11 * n**3


def generations_within(budget: float | None, plan: Plan, runs: int, jobs: int) -> tuple[Mapping[str, int], str]:
    """Return the generations of the search on each set so that the study fits the budget, and a note about it.

    Only the most expensive sets are shortened: no set may cost more than a cap, the largest for which the sum fits.
    """
    sources = list({source.name: source for source, _, _ in plan}.values())
    full = {source.name: FULL_SEARCH for source in sources}
    if budget is None:
        return full, ""
    costs = {
        source.name: {g: sum(runs * seconds_of(s, system, g) for s, _, system in plan if s == source) for g in SHORTER}
        for source in sources
    }
    caps = sorted({cost for by_length in costs.values() for cost in by_length.values()}, reverse=True)
    for cap in caps:
        chosen = {name: _longest(by_length, cap) for name, by_length in costs.items()}
        total = sum(costs[name][g] for name, g in chosen.items()) / jobs
        if total <= budget:
            break
    return chosen, _note(budget, chosen, total)


def _longest(by_length: Mapping[int, float], cap: float) -> int:
    return next((g for g in SHORTER if by_length[g] <= cap), SHORTER[-1])


def _note(budget: float, chosen: Mapping[str, int], total: float) -> str:
    short = {name: g for name, g in chosen.items() if g < FULL_SEARCH}
    late = "" if total <= budget else f" Even so about {total:.0f} s are expected."
    if not short:
        return f"The budget of {budget:.0f} s allows the full search.{late}"
    shortened = ", ".join(f"{g} generations on {name}" for name, g in short.items())
    return f"The budget of {budget:.0f} s shortens the search to at most {shortened}.{late}"
