"""The number of threads allowed, a pool of threads, loops over blocks, and workers with workspaces that use them."""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from operator import length_hint
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from eocc.base.blas import one_blas_thread
from eocc.base.progress import current_watch, having, stage, watched_by
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
# The cluster in use in this thread, None if there is none: `eocc.scale.cluster.client` has one for Dask. It has two
# methods: prepare(measure, patterns, prototypes), and evaluator(evaluation), a function that evaluates candidates.
_cluster: ContextVar[Any] = ContextVar("eocc_cluster", default=None)
cluster_in_use: Callable[[], Any] = _cluster.get


def using(cluster: Any) -> AbstractContextManager[None]:
    """Use the cluster in this thread inside the block."""
    return having(_cluster, cluster)


def threads(count: int) -> AbstractContextManager[None]:
    """Allow `count` threads inside the block."""
    return having(_allowed, count)


class Pool:
    """Up to `count` threads that run tasks in their order.

    Unlike those of a ThreadPoolExecutor, they do not keep the process alive: after Ctrl-C it ends in the middle of a
    long matrix product.
    """

    def __init__(self, count: int, name: str) -> None:
        self._count, self._name, self._n_started = count, name, 0
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None] = SimpleQueue()
        self._lock, self._is_stopped = threading.Lock(), False

    def submit(self, function: Callable[..., Result], *arguments: Any) -> "Future[Result]":
        """Return the future of function(*arguments); it is cancelled if the pool has stopped."""
        future: Future[Result] = Future()
        with self._lock:
            if self._is_stopped:
                _cancel(future)
                return future
            self._tasks.put((future, function, arguments))
            if self._n_started < self._count:
                self._n_started += 1
                threading.Thread(target=self._run, name=f"{self._name}-{self._n_started}", daemon=True).start()
        return future

    def stop(self) -> None:
        """Drop the tasks that have not started; those that run end unnoticed."""
        with self._lock:
            self._is_stopped = True
            with suppress(Empty):
                while task := self._tasks.get_nowait():
                    _cancel(task[0])
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


def _cancel(future: "Future[Any]") -> None:
    future.cancel()
    future.set_running_or_notify_cancel()  # whoever waits for it learns of it


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


def await_all(futures: "Sequence[Future[Any]]", tick: Callable[[int], None] = lambda n_pending: None) -> None:
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
    results = map(work, items) if count == 1 else _on_threads(work, items, count)
    total = length_hint(items)
    with stage(name, total) if total else nullcontext() as report:
        for done, result in enumerate(results, 1):
            if report:
                report(done)
            yield result


def _on_threads(work: Callable[[Item], Result], items: Iterator[Item], count: int) -> Iterator[Result]:
    pool, waiting = Pool(count, "eocc-in-order"), deque[Future[Result]]()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            # Two items per thread: no thread is idle while the next item is read.
            while waiting and (waiting[0].done() or len(waiting) > 2 * count):
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.stop()


@contextmanager
def workers(make_workspace: Callable[[], Workspace], n_threads: int) -> Iterator["Workers[Workspace]"]:
    """Yield a pool; at the end of the block, also after Ctrl-C, tasks that have not started are dropped."""
    pool = Pool(n_threads, "eocc")
    with one_blas_thread():
        try:
            yield Workers(make_workspace, n_threads, pool)
        finally:
            pool.stop()


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

        with nullcontext() if is_single else stage("evaluating candidates", len(tasks)) as report:
            futures = [self._pool.submit(work, task) for task in tasks]
            try:
                await_all(futures, lambda n_pending: report(len(tasks) - n_pending) if report else None)
            finally:
                for future in futures:
                    future.cancel()
        return [future.result() for future in futures]
