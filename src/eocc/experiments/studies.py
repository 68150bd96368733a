"""The studies: their data sets and systems, a search that fits a budget, and the cells that are left to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from eocc.experiments.cells import Cell
from eocc.experiments.pool import run_cells
from eocc.experiments.protocol import ALL_ROWS, IamSource, Source, UciSource
from eocc.experiments.provenance import fingerprint
from eocc.experiments.published_figures import QUANTITIES, published
from eocc.experiments.store import open_store
from eocc.experiments.systems import SYSTEMS, forms_of
from eocc.experiments.tables import Results, results_of
from eocc.foundation.progress import stage
from eocc.foundation.registry import choose

STUDIES: dict[str, tuple[Source, ...]] = {
    # The printed figures of the rivals on raw BW and L are those of the other class: both are shown.
    "uci-low": (
        *map(UciSource, ("AB", "BI", "BW", "D", "E", "I", "L")),
        UciSource("BW (malignant)", "BW"),
        UciSource("L (ill)", "L"),
    ),
    "uci-high": tuple(map(UciSource, ("AR", "BC-D", "BC-P", "C", "CO", "S", "SP"))),
    # The paper names AIDS's class a but counts its class i: both are shown, i as its row. departure: aids class
    "iam": (*map(IamSource, ("A", "G", "L-L", "L-H", "M", "P")), IamSource("A (a)", "A", "a")),
}
TITLES = {"uci-low": "UCI sets of few features", "uci-high": "UCI sets of many features", "iam": "IAM graph sets"}

# Seconds on one core of a machine of 2025. They are fixed, so that the same request gives the same search and the same
# model on every machine. A search stops after ten generations without progress, from a random start after about forty.
FULL_SEARCH = 100
LENGTHS = (100, 60, 40, 30, 20, 15, 10, 7, 5, 3, 2, 1)
POPULATION = 30
TYPICAL_GENERATIONS = 40
VALIDATION_FACTOR = 1.4


@dataclass(frozen=True)
class Request:
    """What the user asked for. `budget` and `time_limit` are seconds; a budget shortens the search.

    Without a number of repetitions, every set has its own.
    """

    repetitions: int | None = None
    seed: int = 0
    jobs: int = 1
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    budget: float | None = None
    time_limit: float = 1800.0
    folder: Path = Path("results")

    def n_runs(self, source: Source, form: str = "") -> int:
        """Return the number of runs of a system on a set."""
        return (1 if form == ALL_ROWS else self.repetitions or source.repetitions) * source.n_folds


@dataclass(frozen=True, eq=False)
class Study:
    """A study: name, title, cells, a note about the search, and the sets that are not available, with reasons."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    note: str
    absent: Mapping[str, str]


def check_names(request: Request, sources: Sequence[Source]) -> None:
    """Raise a ValueError for an unknown system or data set."""
    for dataset in request.datasets:
        choose("data set", {source.name: source for source in sources}, dataset)
    for system in request.systems:
        choose("system", SYSTEMS, system)


@lru_cache(maxsize=64)
def _size(source: Source) -> tuple[int, int]:
    trial = source.trial(source.normalisations[0], 0, 0)
    return len(trial.training), len(trial.test.y)


def seconds_of(source: Source, system: str, generations: int) -> float:
    """Return the estimated seconds of one run. A candidate of the search costs a product of n x n matrices."""
    n, m = _size(source)
    if not SYSTEMS[system].is_entropic:
        return 0.05 + 1e-6 * n * n + 2e-8 * n * m
    pair = 5e-6 if source.kind == "graphs" else 2e-8
    factor = 1.0 if SYSTEMS[system].validation is None else VALIDATION_FACTOR
    candidate = 1e-4 + 6e-9 * n**2 + 1.6e-11 * n**3
    return 0.02 + pair * n * (n + m) + min(generations, TYPICAL_GENERATIONS) * POPULATION * factor * candidate


def generations_within(places: Sequence[tuple[Source, str, str]], request: Request) -> tuple[Mapping[str, int], str]:
    """Return the generations of the search on each set so that the study fits the budget, and a note about it.

    `places` are (source, normalisation, system). Only the most expensive sets are shortened: no set may cost more than
    a cap, the largest for which the sum fits.
    """
    costs: dict[str, dict[int, float]] = {}
    budget = request.budget
    for source, form, system in places:
        cost = costs.setdefault(source.name, dict.fromkeys(LENGTHS, 0.0))
        for length in LENGTHS if budget is not None else ():
            cost[length] += request.n_runs(source, form) * seconds_of(source, system, length) / request.jobs
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


def plan_study(name: str, title: str, sources: Sequence[Source], request: Request) -> Study:
    """Return the cells of a study, data set by data set, with a search that fits the budget.

    Sets that were not asked for are left out; sets that are not available are listed with the reason.
    """
    chosen = [source for source in sources if not request.datasets or source.name in request.datasets]
    absent = {source.name: reason for source in chosen if (reason := _why_absent(source))}
    places = [
        (source, form, system.name)
        for source in chosen
        for form in (*source.normalisations, ALL_ROWS)
        for system in SYSTEMS.values()
        if (not request.systems or system.name in request.systems) and form in forms_of(system, source)
    ]
    there = [place for place in places if place[0].name not in absent]
    lengths, note = generations_within(there, request)
    cells = tuple(
        Cell(
            *place,
            run,
            request.seed,
            lengths.get(place[0].name, 0) if SYSTEMS[place[2]].is_entropic else 0,
            fingerprint(place[2], place[0].kind),
        )
        for place in places
        for run in range(request.n_runs(*place[:2]))
    )
    return Study(f"{name}-part" if request.systems or request.datasets else name, title, cells, note, absent)


def _why_absent(source: Source) -> str:
    try:
        source.trial(source.normalisations[0], 0, 0)
    except (OSError, ValueError) as error:
        return " ".join(str(error).split())
    return ""


def run_study(study: Study, request: Request) -> Results:
    """Run the cells that have no results in the folder yet; the results of each are written at once."""
    with open_store(request.folder) as (finished, add):
        there = list({cell.key: cell for cell in study.cells if cell.source.name not in study.absent}.values())
        waiting = [cell for cell in there if cell.key not in finished or finished[cell.key].reason]
        costs = {cell.key: seconds_of(cell.source, cell.system, cell.generations) for cell in waiting}
        passed, n_before = 0.0, len(there) - len(waiting)
        with stage(study.name, sum(costs.values())) as report:
            for done, (cell, figures) in enumerate(run_cells(waiting, request.jobs, request.time_limit), n_before + 1):
                add(cell, figures)
                passed += costs[cell.key]
                report(passed, note=f"{done} of {len(there)} runs; {cell.system} on {cell.source.name}")
        name = study.name.removesuffix("-part")
        quantities = {"iam": QUANTITIES, "uci-low": ("auc",), "uci-high": ("auc",)}.get(name, ())
        printed = [figure for quantity in quantities for figure in published(name.replace("-", "_"), quantity)]
        return results_of(study.cells, finished, printed, study.absent)
