"""The number of threads allowed, a pool of threads, loops over blocks, and workers with workspaces that use them."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from operator import length_hint
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from eocc.base.progress import Watch, current_watch, stage, watched_by
from eocc.base.types import Matrix

Item = TypeVar("Item")
Result = TypeVar("Result")
Task = TypeVar("Task")
Workspace = TypeVar("Workspace")

# Items queued per thread: enough that no thread is idle while the next item is read.
QUEUED = 2
# A block of rows holds about this many numbers, 2 MiB.
BLOCK_SIZE = 2**18
# Less than this many numbers are worked through before other threads have started.
FEW_NUMBERS = 2**21
# New threads start from the default of 1, so that a worker starts no threads of its own.
_allowed: ContextVar[int] = ContextVar("eocc_threads", default=1)


# The cluster in use in this thread, None if there is none: `eocc.scale.cluster.client` has one for Dask. It has two
# methods: prepare(measure, patterns, prototypes), and evaluator(evaluation), a function that evaluates candidates.
_cluster: ContextVar[Any] = ContextVar("eocc_cluster", default=None)
cluster_in_use: Callable[[], Any] = _cluster.get


@contextmanager
def using(cluster: Any) -> Iterator[None]:
    """Use the cluster in this thread inside the block."""
    token = _cluster.set(cluster)
    try:
        yield
    finally:
        _cluster.reset(token)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Allow `count` threads inside the block."""
    token = _allowed.set(count)
    try:
        yield
    finally:
        _allowed.reset(token)


class Pool:
    """Up to `count` threads that run tasks in their order.

    Unlike those of a ThreadPoolExecutor, they do not keep the process alive: after Ctrl-C it ends in the middle of a
    long matrix product.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name, self._n_started = count, name, 0
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = SimpleQueue()

    def submit(self, function: Callable[..., Result], *arguments: Any) -> "Future[Result]":
        """Return the future of function(*arguments)."""
        future: Future[Result] = Future()
        self._tasks.put((future, function, arguments))
        if self._n_started < self._count:
            self._n_started += 1
            threading.Thread(target=self._run, name=f"{self._name}-{self._n_started}", daemon=True).start()
        return future

    def stop(self) -> None:
        """Drop the tasks that have not started; those that run end unnoticed."""
        with suppress(Empty):
            while task := self._tasks.get_nowait():
                task[0].cancel()
        for _ in range(self._n_started):
            self._tasks.put(None)

    def _run(self) -> None:
        while task := self._tasks.get():
            future, function, arguments = task
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments))
                except BaseException as error:
                    future.set_exception(error)
            del task, future, function, arguments  # so that their memory is not held until the next task


def for_each_block(n_rows: int, block: int, work: Callable[[int, int], None], name: str = "comparing rows") -> None:
    """Call work(start, stop) for blocks of rows, on all threads allowed; the caller only waits: Ctrl-C works.

    `name` says what is being done, for whoever watches the progress.
    """
    pool, starts = Pool(_allowed.get(), "eocc-blocks"), range(0, n_rows, block)
    try:
        futures = [pool.submit(work, start, min(start + block, n_rows)) for start in starts]
        with stage(name, len(starts)) as report:
            await_all(futures, lambda n_pending: report(len(starts) - n_pending))
    finally:
        pool.stop()


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
    elif _allowed.get() == 1:
        for start in range(0, len(rows), step):
            work(slice(start, start + step))
    else:
        for_each_block(len(rows), step, lambda start, stop: work(slice(start, stop)))


def await_all(futures: "list[Future[None]]", tick: Callable[[int], None] = lambda n_pending: None) -> None:
    """Wait for all futures; raise the first error. Now and then, call `tick` with the number of those not done."""
    pending = set(futures)
    while pending:
        # A signal that arrives just before a wait does not interrupt it, so every wait is short.
        done, pending = wait(pending, timeout=0.1, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
        tick(len(pending))


def in_order(
    work: Callable[[Item], Result], items: Iterator[Item], count: int, name: str = "scoring rows"
) -> Iterator[Result]:
    """Yield work(item) of every item in order, computed on `count` threads; the caller reads the items.

    `name` says what is being done, for whoever watches the progress; it needs items whose number is known.
    """
    total = length_hint(items)
    if total == 0:
        yield from _in_order(work, items, count)
        return
    with stage(name, total) as report:
        for done, result in enumerate(_in_order(work, items, count), 1):
            report(done)
            yield result


def _in_order(work: Callable[[Item], Result], items: Iterator[Item], count: int) -> Iterator[Result]:
    if count == 1:
        yield from map(work, items)
        return
    pool, waiting = Pool(count, "eocc-in-order"), deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            while waiting and (waiting[0].done() or len(waiting) > QUEUED * count):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.stop()


@contextmanager
def workers(make_workspace: Callable[[], Workspace], n_threads: int) -> Iterator["Workers[Workspace]"]:
    """Yield a pool; at the end of the block, also after Ctrl-C, tasks that have not started are dropped."""
    from eocc.base.blas import one_blas_thread  # numba is slow to import

    pool = Workers(make_workspace, n_threads)
    with one_blas_thread():
        try:
            yield pool
        finally:
            pool.abandon()


class Workers(Generic[Workspace]):
    """A pool of threads. The caller only waits, so that Ctrl-C returns at once and running tasks end unnoticed."""

    def __init__(self, make_workspace: Callable[[], Workspace], n_threads: int) -> None:
        self._make_workspace = make_workspace
        self._n_threads = n_threads
        self._pool = Pool(n_threads, "eocc")
        self._workspaces: list[Workspace] = []
        self._pending: deque[tuple[int, Any]] = deque()

    def map(self, function: Callable[[Task, Workspace], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return function(task, workspace) of every task, in the order of the tasks."""
        results: dict[int, Result] = {}
        self._pending.extend(enumerate(tasks))
        n_busy = min(self._n_threads, len(tasks))
        # Allocated here: memory that a thread frees may stay reserved for that thread.
        self._workspaces += [self._make_workspace() for _ in range(len(self._workspaces), n_busy)]
        is_single = len(tasks) == 1  # its progress is that of the stages inside it
        watch = current_watch() if is_single else None
        with nullcontext() if is_single else stage("evaluating candidates", len(tasks)) as report:
            futures = [
                self._pool.submit(self._drain, function, results, workspace, watch)
                for workspace in self._workspaces[:n_busy]
            ]
            try:
                await_all(futures, lambda n_pending: report(len(results)) if report else None)
            except BaseException:
                self._workspaces.clear()  # a running task may still use one of them
                raise
        return [results[index] for index in range(len(tasks))]

    def abandon(self) -> None:
        """Drop the tasks that have not started, and the workspaces."""
        self._pending.clear()
        self._workspaces.clear()
        self._pool.stop()

    def _drain(self, function: Callable[[Any, Workspace], Any], results: dict[int, Any], workspace: Workspace,
               watch: Watch | None) -> None:  # fmt: skip
        while True:
            try:
                index, task = self._pending.popleft()
            except IndexError:
                return
            try:
                with watched_by(watch):
                    results[index] = function(task, workspace)
            except BaseException:
                self._pending.clear()
                raise
