"""The number of threads allowed, a pool of threads, loops over blocks, and workers with workspaces that use them."""

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from operator import length_hint
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from threadpoolctl import ThreadpoolController

from eocc.base.checks import THREADS
from eocc.base.progress import current_watch, track, watched_by
from eocc.base.types import Matrix

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = TypeVar("Task")
Workspace = TypeVar("Workspace")

# A block of rows holds about this many numbers, 2 MiB.
BLOCK_SIZE = 2**18
# Less than this many numbers are worked through before other threads have started.
FEW_NUMBERS = 2**21
# New threads start from the default of 1, so that a worker starts no threads of its own.
_allowed: ContextVar[int] = ContextVar("eocc_threads", default=1)
# The cluster in use in this thread, None if there is none: `eocc.scale.cluster` has one for Dask. It has two
# methods: prepare(measure, patterns, prototypes), and evaluator(evaluation), a function that evaluates candidates.
cluster_in_use: ContextVar[Any] = ContextVar("eocc_cluster", default=None)
_blas_lock = threading.Lock()
_blas_limits: list[Any] = []  # one entry per active block of one_blas_thread; the first holds the original limits


def n_threads(n_jobs: Any) -> int:
    """Return the number of threads: 1 for None; all cores for -1, all but one for -2, and so on."""
    if n_jobs is None:
        return 1
    THREADS("n_jobs", n_jobs)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + int(n_jobs))


@contextmanager
def threads(n_jobs: Any) -> Iterator[None]:
    """Allow `n_threads(n_jobs)` threads inside the block."""
    token = _allowed.set(n_threads(n_jobs))
    try:
        yield
    finally:
        _allowed.reset(token)


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg.blas  # noqa: F401  (the controller sees loaded libraries only)

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread, in the whole process: a product then has the same bits for any number of workers.

    The last of overlapping blocks restores the original limit.
    """
    with _blas_lock:
        _blas_limits.append(None if _blas_limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _blas_lock:
            if len(_blas_limits) == 1:
                _blas_limits[0].restore_original_limits()
            _blas_limits.pop()


class Pool:
    """Up to `count` threads that run tasks in their order, until the end of the block.

    Unlike those of a ThreadPoolExecutor, they do not keep the process alive: after Ctrl-C it ends in the middle of a
    long matrix product.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name, self._n_started = count, name, 0
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[Any], Any], Any] | None] = SimpleQueue()
        self._lock, self._is_stopped = threading.Lock(), False

    def __enter__(self) -> "Pool":
        return self

    def __exit__(self, *error: Any) -> None:
        """Drop the tasks that have not started; those that run end unnoticed."""
        with self._lock:
            self._is_stopped = True
            with suppress(Empty):
                while task := self._tasks.get_nowait():
                    task[0].cancel()
            for _ in range(self._n_started):
                self._tasks.put(None)

    def map(self, work: Callable[[Item], Result], items: Iterable[Item], ahead: float = math.inf) -> Iterator[Result]:
        """Yield work(item) of every item in order; the caller reads the items, at most `ahead` of them in advance."""
        waiting = deque[Future[Result]]()
        try:
            for item in items:
                waiting.append(self._submit(work, item))
                while waiting and (waiting[0].done() or len(waiting) > ahead):
                    yield _result_of(waiting.popleft())
            while waiting:
                yield _result_of(waiting.popleft())
        finally:
            for future in waiting:
                future.cancel()

    def _submit(self, work: Callable[[Item], Result], item: Item) -> "Future[Result]":
        future: Future[Result] = Future()
        with self._lock:
            if self._is_stopped:
                future.cancel()
                return future
            self._tasks.put((future, work, item))
            if self._n_started < self._count:
                self._n_started += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._n_started}", daemon=True).start()
        return future

    def _run(self) -> None:
        while task := self._tasks.get():
            future, work, item = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work(item))
                except BaseException as error:
                    future.set_exception(error)
            del task, future, work, item  # so that their memory is not held until the next task


def _result_of(future: "Future[Result]") -> Result:
    # A signal that arrives just before a wait does not interrupt it, so every wait is short.
    while not future.done():
        with suppress(TimeoutError):
            future.exception(timeout=0.1)
    return future.result()


def for_each_block(n_rows: int, block: int, work: Callable[[int, int], None], name: str = "comparing rows") -> None:
    """Call work(start, stop) for blocks of rows, on all threads allowed; the caller only waits: Ctrl-C works.

    `name` says what is being done, for whoever watches the progress.
    """
    starts = range(0, n_rows, block)
    with Pool(_allowed.get(), "eocc-blocks") as pool:
        for _ in track(name, pool.map(lambda start: work(start, min(start + block, n_rows)), starts), len(starts)):
            pass


def interruptibly(work: Callable[[], None], size: int) -> None:
    """Call work(), which takes about `size` steps; unless they are few, the caller only waits: Ctrl-C works."""
    if size <= FEW_NUMBERS:
        work()
    else:
        for_each_block(1, 1, lambda start, stop: work())


def in_blocks(rows: Matrix, work: Callable[[slice], None]) -> None:
    """Call work(some) for blocks of rows of about 2 MiB, on all threads allowed; at once if the rows are few."""
    step = max(1, BLOCK_SIZE // max(1, rows.shape[1]))
    if rows.size <= FEW_NUMBERS:
        work(slice(0, len(rows)))
    else:
        for_each_block(len(rows), step, lambda start, stop: work(slice(start, stop)))


def in_order(
    work: Callable[[Item], Result], items: Iterator[Item], count: int, name: str = "scoring rows"
) -> Iterator[Result]:
    """Yield work(item) of every item in order, computed on `count` threads; the caller reads the items.

    `name` says what is being done, for whoever watches the progress; it needs items whose number is known.
    """
    total = length_hint(items)
    with Pool(count, "eocc-in-order") as pool:
        # Two items per thread: no thread is idle while the next item is read.
        results = map(work, items) if count == 1 else pool.map(work, items, 2 * count)
        yield from track(name, results, total) if total else results


@contextmanager
def workers(make_workspace: Callable[[], Workspace], n_threads: int) -> Iterator["Workers[Workspace]"]:
    """Yield a pool; at the end of the block, also after Ctrl-C, tasks that have not started are dropped."""
    with one_blas_thread(), Pool(n_threads, "eocc") as pool:
        yield Workers(make_workspace, n_threads, pool)


class Workers(Generic[Workspace]):
    """A pool of threads. The caller only waits, so that Ctrl-C returns at once and running tasks end unnoticed."""

    def __init__(self, make_workspace: Callable[[], Workspace], n_threads: int, pool: Pool) -> None:
        self._make_workspace, self._n_threads, self._pool = make_workspace, n_threads, pool
        self._spare = SimpleQueue[Workspace]()
        self._n_made = 0

    def map(self, function: Callable[[Task, Workspace], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return function(task, workspace) of every task, in the order of the tasks."""
        while self._n_made < min(self._n_threads, len(tasks)):
            # Allocated here: memory that a thread frees may stay reserved for that thread.
            self._spare.put(self._make_workspace())
            self._n_made += 1
        is_single = len(tasks) == 1  # its progress is that of the stages inside it
        watch = current_watch() if is_single else None

        def work(task: Task) -> Result:
            workspace = self._spare.get()
            try:
                with watched_by(watch):
                    return function(task, workspace)
            finally:
                self._spare.put(workspace)

        results = self._pool.map(work, tasks)
        return list(results if is_single else track("evaluating candidates", results, len(tasks)))
