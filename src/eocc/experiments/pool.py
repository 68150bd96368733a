"""Cells on several processes. A cell that hangs is stopped at its time limit; a process that dies loses one cell."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from typing import Any

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
        context = _context()
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


def _context() -> Any:
    """Return the multiprocessing context: with a fork server, all processes share one import of the library."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["eocc.experiments.cells"])
    return context


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
