"""Cells on several processes. A cell that hangs is stopped at its time limit; a process that dies loses one cell."""

import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

from eocc.experiments.cells import Cell, Figures, run_cell

# Every process uses one thread, so that times are comparable.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")

# A process sends this after its imports, which do not count as time of a cell.
READY = None


@dataclass
class _Worker:
    process: Any
    connection: Connection
    cell: Cell | None = None
    is_ready: bool = False
    deadline: float = float("inf")

    def watch(self, time_limit: float) -> None:
        """Set the deadline of the current cell, if there is one and the process is ready."""
        self.deadline = time.monotonic() + time_limit if self.cell and self.is_ready else float("inf")


def run_cells(cells: Sequence[Cell], n_jobs: int, time_limit: float) -> Iterator[tuple[Cell, Figures]]:
    """Yield every cell with its results, in the order in which they finish.

    Cells of one data set run one after the other, so that a process need not load it again.
    """
    waiting = deque(cells)
    workers = [_start() for _ in range(min(n_jobs, len(cells)))]
    try:
        while waiting or any(worker.cell for worker in workers):
            for index, worker in enumerate(workers):
                if worker.cell is None and waiting:
                    workers[index] = _hand(worker, waiting.popleft(), time_limit)
            yield from _collect(workers, time_limit)
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
            worker.connection.close()


def _collect(workers: list[_Worker], time_limit: float) -> Iterator[tuple[Cell, Figures]]:
    """Wait for the next result, death or deadline, and yield the cells that are done."""
    busy = [worker for worker in workers if worker.cell is not None]
    patience = min(worker.deadline for worker in busy) - time.monotonic()
    timeout = None if patience == float("inf") else max(0.0, patience)
    ready = set(wait([worker.connection for worker in busy], timeout=timeout))
    for index, worker in enumerate(workers):
        cell = worker.cell
        if cell is None:
            continue
        if worker.connection in ready:
            try:
                figures = worker.connection.recv()
                if figures is READY:
                    worker.is_ready = True
                    worker.watch(time_limit)
                    continue
                worker.cell = None
                worker.watch(time_limit)
            except (EOFError, OSError):
                worker.process.join()
                figures = Figures(reason=f"the process ended with exit code {worker.process.exitcode}")
                workers[index] = _restart(worker)
            yield cell, figures
        elif time.monotonic() >= worker.deadline:
            workers[index] = _restart(worker)
            yield cell, Figures(reason=f"not done within {time_limit:g} s")


def _hand(worker: _Worker, cell: Cell, time_limit: float) -> _Worker:
    try:
        worker.connection.send(cell)
    except OSError:  # the process died while idle
        worker = _restart(worker)
        worker.connection.send(cell)
    worker.cell = cell
    worker.watch(time_limit)
    return worker


def _start() -> _Worker:
    context = _context()
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    kept = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)  # the libraries read these when they are imported
    try:
        process.start()
    finally:
        for name, value in kept.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
    theirs.close()
    return _Worker(process, ours)


def _context() -> Any:
    """Return the multiprocessing context: with a fork server, all processes share one import of the library."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["eocc.experiments.cells"])
    return context


def _restart(worker: _Worker) -> _Worker:
    worker.process.kill()
    worker.process.join()
    worker.connection.close()
    return _start()


def _serve(connection: Connection) -> None:
    """Run cells until the parent closes the pipe; end at once if the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_follow_parent, daemon=True).start()
    connection.send(READY)
    while True:
        try:
            connection.send(run_cell(connection.recv()))
        except (EOFError, OSError):
            return


def _follow_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)
