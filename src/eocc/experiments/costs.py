"""What a cell costs, roughly: for the time left, and for a search that fits a budget.

The constants are seconds on one core of a machine of 2025. They are part of the plan and not measured anew, so that the
same request gives the same search, and so the same model, everywhere.
"""

from collections.abc import Sequence
from functools import lru_cache

from eocc.experiments.sources import Source
from eocc.experiments.systems import ENTROPIC, SYSTEMS

FULL_SEARCH = 100
POPULATION = 30
# A search of 100 generations stops early where it finds nothing better: on most sets after some eleven.
TYPICAL_GENERATIONS = 14


@lru_cache(maxsize=64)
def _size(source: Source) -> tuple[int, int]:
    """Return the numbers of training and test patterns."""
    trial = source.trial(source.normalisations[0], 0, 0)
    return len(trial.training), len(trial.test.y)


def seconds_of(source: Source, system: str, generations: int) -> float:
    """Return a guess of the seconds of one run."""
    n, m = _size(source)
    pairs = 5e-6 if source.measure == "graph-edit" else 2e-8
    if SYSTEMS[system].group == ENTROPIC:
        return 0.02 + pairs * n * (n + m) + min(generations, TYPICAL_GENERATIONS) * POPULATION * candidate_seconds(n)
    return 0.05 + 1e-6 * n * n + 2e-8 * n * m


def candidate_seconds(n: int) -> float:
    """Return a guess of the seconds of one candidate of the search on n patterns: a product of n x n matrices."""
    return 1e-4 + 6e-9 * n**2 + 1.1e-11 * n**3


def generations_within(
    budget: float | None, kept: Sequence[tuple[Source, str, str]], runs: int, jobs: int
) -> tuple[int, str]:
    """Return the generations a search may take so that the study fits the budget, and a note that says so."""
    if budget is None:
        return FULL_SEARCH, ""
    low = sum(seconds_of(source, system, 0) for source, _, system in kept) * runs / jobs
    for generations in (FULL_SEARCH, *range(TYPICAL_GENERATIONS - 1, 0, -1)):
        total = sum(seconds_of(source, system, generations) for source, _, system in kept) * runs / jobs
        if total <= budget:
            break
    else:
        generations, total = 1, low
    if generations == FULL_SEARCH:
        return generations, f"The budget of {budget:.0f} s allows the full search."
    short = "" if total <= budget else f"; even so about {total:.0f} s are expected"
    return generations, f"The budget of {budget:.0f} s shrank the search to {generations} generations{short}."
