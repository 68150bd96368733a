"""The studies: their data sets and systems, and the cells that are left to run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eocc.base.progress import stage
from eocc.base.registry import choose
from eocc.experiments.cells import SYSTEMS, Cell, forms_of
from eocc.experiments.protocol import ALL_ROWS, IamSource, Source, UciSource
from eocc.experiments.provenance import fingerprint
from eocc.experiments.results import Results, published
from eocc.experiments.store import open_store, run_cells

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


@dataclass(frozen=True)
class Request:
    """What the user asked for; `time_limit` is in seconds. Without a number of repetitions, every set has its own.

    With `finished`, nothing is run: the tables are made of the runs that are there.
    """

    repetitions: int | None = None
    seed: int = 0
    jobs: int = 1
    systems: tuple[str, ...] = ()
    datasets: tuple[str, ...] = ()
    generations: int = 100
    time_limit: float = 1800.0
    folder: Path = Path("results")
    finished: bool = False

    def n_runs(self, source: Source, form: str = "") -> int:
        """Return the number of runs of a system on a set."""
        return (1 if form == ALL_ROWS else self.repetitions or source.repetitions) * source.n_folds


@dataclass(frozen=True, eq=False)
class Study:
    """A study: name, title, cells, and the sets that are not available, with reasons."""

    name: str
    title: str
    cells: tuple[Cell, ...]
    absent: Mapping[str, str]


def check_names(request: Request, sources: Sequence[Source]) -> None:
    """Raise a ValueError for an unknown system or data set."""
    for dataset in request.datasets:
        choose("data set", {source.name: source for source in sources}, dataset)
    for system in request.systems:
        choose("system", SYSTEMS, system)


def plan_study(name: str, title: str, sources: Sequence[Source], request: Request) -> Study:
    """Return the cells of a study, data set by data set.

    Sets that were not asked for are left out; sets that are not available are listed with the reason.
    """
    chosen = [source for source in sources if not request.datasets or source.name in request.datasets]
    absent = {source.name: reason for source in chosen if (reason := _why_absent(source))}
    places = [
        (source, form, system)
        for source in chosen
        for form in (*source.normalisations, ALL_ROWS)
        for system in SYSTEMS.values()
        if (not request.systems or system.name in request.systems) and form in forms_of(system, source)
    ]
    cells = tuple(
        Cell(source, form, system.name, run, request.seed, request.generations if system.is_entropic else 0,
             fingerprint(system.name, source.kind))
        for source, form, system in places
        for run in range(request.n_runs(source, form))
    )  # fmt: skip
    return Study(f"{name}-part" if request.systems or request.datasets else name, title, cells, absent)


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
        left = [cell for cell in there if cell.key not in finished or finished[cell.key].reason]
        waiting = [] if request.finished else left
        n_before, done = len(there) - len(waiting), 0
        with stage(study.name, sum(map(_duration, waiting))) as report:
            for count, (cell, figures) in enumerate(run_cells(waiting, request.jobs, request.time_limit), n_before + 1):
                add(cell, figures)
                done += _duration(cell)
                report(done, note=f"{count} of {len(there)} runs; {cell.system} on {cell.source.name}")
        name = study.name.removesuffix("-part")
        printed = published(name.replace("-", "_")) if name in STUDIES else []
        return Results(study.cells, finished, printed, study.absent)


def _duration(cell: Cell) -> int:
    """Return how long a run takes, in those of a plain classifier: a search about 50 times as long."""
    return 50 if cell.generations else 1
