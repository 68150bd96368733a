"""A rough estimate of the seconds of a cell: for the time left, and to fit a search into a budget.

The constants are seconds on one core of a machine of 2025. They are fixed, so that the same request gives the same
search and the same model on every machine.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from eocc.experiments.sources import Source
from eocc.experiments.systems import SYSTEMS

FULL_SEARCH = 100
LENGTHS = (100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1)
POPULATION = 30
# A search stops after ten generations without progress: sooner without validation than with it.
TYPICAL_GENERATIONS, TYPICAL_WITH_VALIDATION = 20, 60
VALIDATION_FACTOR = 1.4


@lru_cache(maxsize=64)
def _size(source: Source) -> tuple[int, int]:
    """Return the numbers of training and test rows."""
    trial = source.trial(source.normalisations[0], 0, 0)
    return len(trial.training), len(trial.test.y)


def seconds_of(source: Source, system: str, generations: int) -> float:
    """Return the estimated seconds of one run. A candidate of the search costs a product of n x n matrices."""
    n, m = _size(source)
    if not SYSTEMS[system].is_entropic:
        return 0.05 + 1e-6 * n * n + 2e-8 * n * m
    pair = 5e-6 if source.measure == "graph-edit" else 2e-8
    typical, factor = TYPICAL_GENERATIONS, 1.0
    if SYSTEMS[system].validation is not None:
        typical, factor = TYPICAL_WITH_VALIDATION, VALIDATION_FACTOR
    candidate = 1e-4 + 6e-9 * n**2 + 1.6e-11 * n**3
    return 0.02 + pair * n * (n + m) + min(generations, typical) * POPULATION * factor * candidate


def generations_within(
    budget: float | None, places: Sequence[tuple[Source, str, str]], runs: int, jobs: int
) -> tuple[Mapping[str, int], str]:
    """Return the generations of the search on each set so that the study fits the budget, and a note about it.

    `places` are (source, normalisation, system). Only the most expensive sets are shortened: no set may cost more than
    a cap, the largest for which the sum fits.
    """
    costs: dict[str, dict[int, float]] = {}
    for source, _, system in places:
        cost = costs.setdefault(source.name, dict.fromkeys(LENGTHS, 0.0))
        for length in LENGTHS if budget is not None else ():
            cost[length] += runs * seconds_of(source, system, length) / jobs
    chosen = dict.fromkeys(costs, FULL_SEARCH)
    if budget is None:
        return chosen, ""
    total = 0.0
    for cap in sorted({seconds for cost in costs.values() for seconds in cost.values()}, reverse=True):
        chosen = {name: next((g for g in LENGTHS if cost[g] <= cap), 1) for name, cost in costs.items()}
        total = sum(costs[name][length] for name, length in chosen.items())
        if total <= budget:
            break
    short = ", ".join(f"{length} generations on {name}" for name, length in chosen.items() if length < FULL_SEARCH)
    note = f"shortens the search to at most {short}" if short else "allows the full search"
    late = "" if total <= budget else f" Even so about {total:.0f} s are expected."
    return chosen, f"The budget of {budget:.0f} s {note}.{late}"
