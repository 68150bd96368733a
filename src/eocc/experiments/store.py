"""Cells on several processes, and their results on disk."""

import csv
import io
import multiprocessing
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import astuple, fields
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any

from eocc.base.atomic import drafted, flush_to_disk, naming
from eocc.experiments.cells import Cell, Figures, run_cell

# Every process uses one thread, so that times are comparable. The libraries read these when they are imported.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def run_cells(cells: Sequence[Cell], n_jobs: int, time_limit: float) -> Iterator[tuple[Cell, Figures]]:
    """Yield every cell with its results, in the order in which they finish."""
    workers: dict[int, _Worker] = {}

    def run(cell: Cell) -> Figures:
        return workers.setdefault(threading.get_ident(), _Worker()).run(cell, time_limit)

    threads = ThreadPoolExecutor(n_jobs)  # each waits for one process
    with _one_thread_per_process():
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
            context.set_forkserver_preload(["eocc.experiments.cells"])
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


@contextmanager
def _one_thread_per_process() -> Iterator[None]:
    kept = {name: os.environ[name] for name in ONE_THREAD if name in os.environ}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name in ONE_THREAD:
            os.environ.pop(name)
        os.environ.update(kept)


def _serve(connection: Connection) -> None:
    """Run cells until the parent closes the pipe; end at once if the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_follow_parent, daemon=True).start()
    try:
        connection.send("ready")
        while True:
            connection.send(run_cell(connection.recv()))
    except (EOFError, OSError):
        return


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


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
            with naming(path), path.open("ab") as file:
                texts = [_text(value) for value in astuple(figures)]
                file.write((b"" if file.tell() else _line(CELL_HEAD)) + _line((*cell.key, *texts)))
                flush_to_disk(file)
            finished[cell.key] = _figures(texts)  # as they will be read
            touched.add(path)

        yield finished, add
        for path in touched:
            _tidy(path)


def _text(value: Any) -> str:
    """Return a result as text, empty for NaN; nine digits are enough."""
    if isinstance(value, str):
        return " ".join(value.split())
    return "" if value != value else f"{value:.9g}"


def _line(values: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue().encode()


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


def _tidy(path: Path) -> None:
    """Keep the last line of every cell, sorted."""
    latest = {key[:-1]: (key[-1], figures) for key, figures in _read(path).items()}
    lines = [(*key, code, *map(_text, astuple(figures))) for key, (code, figures) in sorted(latest.items())]
    with drafted(path) as draft:
        draft.write_bytes(b"".join(map(_line, (CELL_HEAD, *lines))))


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
