"""The studies: their data sets and systems; the cells left to run, on several processes, and their results on disk."""

import csv
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import astuple, dataclass, fields
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any

from threadpoolctl import threadpool_limits

from eocc.base.atomic import drafted, flush_to_disk, naming
from eocc.base.progress import stage
from eocc.base.registry import choose
from eocc.experiments.cells import SYSTEMS, Cell, Figures, fingerprint, forms_of, run_cell
from eocc.experiments.protocol import ALL_ROWS, IamSource, Source, UciSource
from eocc.experiments.results import Results, published

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
    absent = dict[str, str]()
    for source in chosen:
        try:
            source.trial(source.normalisations[0], 0, 0)
        except (OSError, ValueError) as error:
            absent[source.name] = " ".join(str(error).split())
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


def run_cells(cells: Sequence[Cell], n_jobs: int, time_limit: float) -> Iterator[tuple[Cell, Figures]]:
    """Yield every cell with its results, in the order in which they finish."""
    workers: dict[int, _Worker] = {}

    def run(cell: Cell) -> Figures:
        return workers.setdefault(threading.get_ident(), _Worker()).run(cell, time_limit)

    threads = ThreadPoolExecutor(n_jobs)  # each waits for one process
    futures = {threads.submit(run, cell): cell for cell in cells}
    try:
        for future in as_completed(futures):
            yield futures[future], future.result()
    finally:
        threads.shutdown(wait=False, cancel_futures=True)
        while any(future.running() for future in futures):
            for process in [worker.process for worker in list(workers.values()) if worker.process]:
                process.kill()
            time.sleep(0.01)
        for worker in workers.values():
            worker.stop()


class _Worker:
    """A process that runs cells; it is started when there is a cell for it."""

    def __init__(self) -> None:
        self.process: Any = None
        self.connection: Any = None

    def run(self, cell: Cell, time_limit: float) -> Figures:
        try:
            if self.process is None or not self.process.is_alive():
                self._start()
            self.connection.send(cell)
            if self.connection.poll(time_limit):
                figures: Figures = self.connection.recv()
                return figures
            reason = f"not done within {time_limit:g} s"
        except (EOFError, OSError):
            self.process.join()
            reason = f"the process ended with exit code {self.process.exitcode}"
        self.stop()
        return Figures(reason=reason)

    def _start(self) -> None:
        self.stop()
        is_forked = "forkserver" in multiprocessing.get_all_start_methods()
        context: Any = multiprocessing.get_context("forkserver" if is_forked else "spawn")
        if is_forked:  # all processes share one import of the library
            context.set_forkserver_preload(["eocc.experiments.studies"])
        self.connection, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs,), daemon=True)
        process.start()
        self.process = process
        theirs.close()
        self.connection.recv()  # the process is ready: its imports do not count as time of a cell

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.connection.close()
            self.process = None


def _serve(connection: Connection) -> None:
    """Run cells until the parent closes the pipe; end at once if the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C

    def follow_parent() -> None:
        parent = multiprocessing.parent_process()
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=follow_parent, daemon=True).start()
    threadpool_limits(1)  # so that times are comparable
    try:
        connection.send("ready")
        while True:
            connection.send(run_cell(connection.recv()))
    except (EOFError, OSError):
        return


Finished = dict[tuple[Any, ...], Figures]
Add = Callable[[Cell, Figures], None]

OF_CELL = ("dataset", "normalisation", "system", "run", "seed", "most_generations", "code")
OF_FIGURES = tuple(field.name for field in fields(Figures))
CELL_HEAD = (*OF_CELL, *OF_FIGURES)


@contextmanager
def open_store(folder: Path) -> Iterator[tuple[Finished, Add]]:
    """Yield the results of the finished cells of a folder by key, and a function that adds those of another cell.

    Every data set has a CSV file in the folder `cells`. A line holds the cell, with the fingerprint of the code that
    ran it, and the results; the last line of a cell counts. A line that was cut off when a run was killed is dropped,
    and its cell runs again. In the end lines are sorted, and of a cell only the last one is kept, by whatever code.
    The folder is locked meanwhile.
    """
    cells = folder / "cells"
    cells.mkdir(parents=True, exist_ok=True)
    with _locked(folder / "lock"):
        finished = {key: figures for path in sorted(cells.glob("*.csv")) for key, figures in _read(path).items()}
        touched = set[Path]()

        def add(cell: Cell, figures: Figures) -> None:
            path = cells / f"{re.sub(r'[^A-Za-z0-9_.-]+', '_', cell.source.name)}.csv"
            texts = [_text(value) for value in astuple(figures)]
            with naming(path), path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([CELL_HEAD] * (not file.tell()) + [(*cell.key, *texts)])
                flush_to_disk(file)
            finished[cell.key] = _figures(texts)  # as they will be read
            touched.add(path)

        yield finished, add
        for path in touched:
            latest = {key[:-1]: (key[-1], figures) for key, figures in _read(path).items()}
            lines = [(*key, code, *map(_text, astuple(figures))) for key, (code, figures) in sorted(latest.items())]
            with drafted(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows([CELL_HEAD, *lines])


def _text(value: Any) -> str:
    """Return a result as text, empty for NaN; nine digits are enough."""
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value != value else f"{value:.9g}"


def _read(path: Path) -> Finished:
    lines = path.read_bytes().splitlines(keepends=True)
    if lines and not lines[-1].endswith(b"\n"):
        lines.pop()
        os.truncate(path, sum(map(len, lines)))
    finished = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            cells = next(csv.reader([line.decode()]))
            key = cells[: len(OF_CELL)]
            finished[(*key[:3], *map(int, key[3:6]), key[6])] = _figures(cells[len(OF_CELL) :])
        except (ValueError, IndexError) as error:
            raise ValueError(f"{path}, line {number} is damaged; delete that line and start again") from error
    return finished


def _figures(texts: Sequence[str]) -> Figures:
    values = dict(zip(OF_FIGURES, texts, strict=True))
    reason = values.pop("reason")
    return Figures(**{name: float(value) for name, value in values.items() if value}, reason=reason)


def _locked(path: Path) -> IO[bytes]:
    """Return the open lock file; systems without file locks get none."""
    file = path.open("wb")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ModuleNotFoundError:
        pass
    except OSError:
        file.close()
        raise ValueError(f"another run uses the folder {path.parent}; wait for it, or pass another --output") from None
    return file
