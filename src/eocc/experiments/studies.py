"""The studies: their data sets and systems, and the cells that are left to run."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from eocc.experiments.cells import Cell, Figures
from eocc.experiments.costs import generations_within, seconds_of
from eocc.experiments.pool import run_cells
from eocc.experiments.published_figures import PublishedFigure, published
from eocc.experiments.sources import IamSource, Source, UciSource
from eocc.experiments.store import Store
from eocc.experiments.systems import SYSTEMS, can_run
from eocc.experiments.tables import Results, results_of
from eocc.foundation.registry import choose

UCI_LOW = ("AB", "BI", "BW", "D", "E", "I", "L")
UCI_HIGH = ("AR", "BC-D", "BC-P", "C", "CO", "S", "SP")
IAM = ("A", "G", "L-L", "L-H", "M", "P")

STUDIES: dict[str, tuple[Source, ...]] = {
    "uci-low": tuple(UciSource(name) for name in UCI_LOW),
    "uci-high": tuple(UciSource(name) for name in UCI_HIGH),
    # The paper names AIDS's class a but counts its class i: both are shown, i as the paper's row.
    "iam": (*(IamSource(name) for name in IAM), IamSource("A (a)", "A", "a")),
}

TITLES = {
    "uci-low": "UCI sets of few features",
    "uci-high": "UCI sets of many features",
    "iam": "IAM graph sets",
}


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

    @property
    def is_partial(self) -> bool:
        """Whether only some sets or systems were asked for."""
        return bool(self.systems or self.datasets)


@dataclass(frozen=True, eq=False)
class Study:
    """A study: name, title, cells, a note about the search, and the sets that are not available, with reasons."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    note: str
    absent: Mapping[str, str]


@dataclass(frozen=True)
class Progress:
    """How far a run is: finished cells, all cells, and the estimated seconds left."""

    done: int
    total: int
    seconds_left: float
    cell: Cell
    figures: Figures


def check_names(request: Request, sources: Sequence[Source]) -> None:
    """Raise a ValueError for an unknown system or data set."""
    by_name = {source.name: source for source in sources}
    for dataset in request.datasets:
        choose("data set", by_name, dataset)
    for system in request.systems:
        choose("system", SYSTEMS, system)


def plan_study(name: str, title: str, sources: Sequence[Source], request: Request) -> Study:
    """Return the cells of a study, data set by data set, with a search that fits the budget.

    Sets that were not asked for are left out; sets that are not available are listed with the reason.
    """
    chosen = [source for source in sources if not request.datasets or source.name in request.datasets]
    absent = {source.name: reason for source in chosen if (reason := _why_absent(source))}
    systems = [system for system in SYSTEMS if not request.systems or system in request.systems]
    kept = [
        (source, form, system)
        for source in chosen
        for form in source.normalisations
        for system in systems
        if can_run(SYSTEMS[system], source)
    ]
    there = [place for place in kept if place[0].name not in absent]
    generations, note = generations_within(request.budget, there, request.runs, request.jobs)
    cells = [
        Cell(
            source, form, system, run, request.seed, generations.get(source.name, 0) if SYSTEMS[system].searches else 0
        )
        for source, form, system in kept
        for run in range(request.runs)
    ]
    return Study(f"{name}-part" if request.is_partial else name, title, tuple(cells), note, absent)


def _why_absent(source: Source) -> str:
    """Return why a data set cannot be had, in one line; nothing where it can."""
    try:
        source.trial(source.normalisations[0], 0, 0)
    except (OSError, ValueError) as error:
        return " ".join(str(error).split())
    return ""


def run_study(study: Study, request: Request, report: Callable[[Progress], None]) -> Results:
    """Run the cells that the folder does not hold yet, or holds without figures; each is written down at once."""
    with Store(request.folder, version("eocc")) as store:
        there = [cell for cell in study.cells if cell.source.name not in study.absent]
        waiting = [cell for cell in there if store.finished.get(cell.key, Figures(reason="waiting")).reason]
        left = {cell.key: seconds_of(cell.source, cell.system, cell.generations) for cell in waiting}
        expected, started = sum(left.values()), time.monotonic()
        for done, (cell, figures) in enumerate(run_cells(waiting, request.jobs, request.time_limit), start=1):
            store.add(cell, figures)
            del left[cell.key]
            passed = expected - sum(left.values())
            pace = (time.monotonic() - started) / passed if passed > 0 else 0.0
            n_done = len(there) - len(waiting) + done
            report(Progress(n_done, len(there), pace * sum(left.values()), cell, figures))
        return results_of(study.cells, store.finished, _published(study), study.absent)


def _published(study: Study) -> Iterable[PublishedFigure]:
    name = study.name.removesuffix("-part")
    if name not in STUDIES:
        return ()
    quantities = ("auc", "accuracy", "regions") if name == "iam" else ("auc",)
    return [figure for quantity in quantities for figure in published(name.replace("-", "_"), quantity)]
