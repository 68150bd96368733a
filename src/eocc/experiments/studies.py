"""The studies: their data sets and systems, and the cells that are left to run."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from eocc.experiments.cells import Cell
from eocc.experiments.costs import generations_within, seconds_of
from eocc.experiments.pool import run_cells
from eocc.experiments.published_figures import QUANTITIES, published
from eocc.experiments.sources import IamSource, Source, UciSource
from eocc.experiments.store import Store
from eocc.experiments.systems import SYSTEMS, can_run
from eocc.experiments.tables import Results, results_of
from eocc.foundation.registry import choose

STUDIES: dict[str, tuple[Source, ...]] = {
    "uci-low": tuple(map(UciSource, ("AB", "BI", "BW", "D", "E", "I", "L"))),
    "uci-high": tuple(map(UciSource, ("AR", "BC-D", "BC-P", "C", "CO", "S", "SP"))),
    # The paper names AIDS's class a but counts its class i: both are shown, i as the paper's row.
    "iam": (*map(IamSource, ("A", "G", "L-L", "L-H", "M", "P")), IamSource("A (a)", "A", "a")),
}
TITLES = {"uci-low": "UCI sets of few features", "uci-high": "UCI sets of many features", "iam": "IAM graph sets"}


@dataclass(frozen=True)
class Request:
    """What the user asked for. `budget` and `time_limit` are seconds; a budget shortens the search."""

    runs: int = 10
    seed: int = 0
    jobs: int = 1
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    budget: float | None = None
    time_limit: float = 1800.0
    folder: Path = Path("results")


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


def plan_study(name: str, title: str, sources: Sequence[Source], request: Request) -> Study:
    """Return the cells of a study, data set by data set, with a search that fits the budget.

    Sets that were not asked for are left out; sets that are not available are listed with the reason.
    """
    chosen = [source for source in sources if not request.datasets or source.name in request.datasets]
    absent = {source.name: reason for source in chosen if (reason := _why_absent(source))}
    places = [
        (source, form, system.name)
        for source in chosen
        for form in source.normalisations
        for system in SYSTEMS.values()
        if (not request.systems or system.name in request.systems) and can_run(system, source)
    ]
    there = [place for place in places if place[0].name not in absent]
    lengths, note = generations_within(request.budget, there, request.runs, request.jobs)
    cells = tuple(
        Cell(*place, run, request.seed, lengths.get(place[0].name, 0) if SYSTEMS[place[2]].is_entropic else 0)
        for place in places
        for run in range(request.runs)
    )
    return Study(f"{name}-part" if request.systems or request.datasets else name, title, cells, note, absent)


def _why_absent(source: Source) -> str:
    """Return why a data set is not available, in one line; empty if it is."""
    try:
        source.trial(source.normalisations[0], 0, 0)
    except (OSError, ValueError) as error:
        return " ".join(str(error).split())
    return ""


def run_study(study: Study, request: Request, report: Callable[[int, int, float, Cell], None]) -> Results:
    """Run the cells that have no results in the folder yet; the results of each are written at once.

    After each cell, `report` gets the numbers of finished and of all cells, the estimated seconds left, and the cell.
    """
    with Store(request.folder, version("eocc")) as store:
        there = [cell for cell in study.cells if cell.source.name not in study.absent]
        waiting = [cell for cell in there if cell.key not in store.finished or store.finished[cell.key].reason]
        costs = {cell.key: seconds_of(cell.source, cell.system, cell.generations) for cell in waiting}
        passed, total, started = 0.0, sum(costs.values()), time.monotonic()
        n_before = len(there) - len(waiting)
        for done, (cell, figures) in enumerate(run_cells(waiting, request.jobs, request.time_limit), n_before + 1):
            store.add(cell, figures)
            passed += costs[cell.key]
            left = 0.0 if done == len(there) else (time.monotonic() - started) * (total / passed - 1)
            report(done, len(there), left, cell)
        name = study.name.removesuffix("-part")
        quantities = {"iam": QUANTITIES, "uci-low": ("auc",), "uci-high": ("auc",)}.get(name, ())
        printed = [figure for quantity in quantities for figure in published(name.replace("-", "_"), quantity)]
        return results_of(study.cells, store.finished, printed, study.absent)
