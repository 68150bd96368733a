"""A pool of threads, each with its own workspace, with BLAS limited to one thread."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.progress import current_watch, stage, watched_by
from eocc.foundation.threads import Pool, await_all

Task = TypeVar("Task")
Result = TypeVar("Result")
Workspace = TypeVar("Workspace")


@contextmanager
def workers(make_workspace: Callable[[], Workspace], n_threads: int) -> Iterator["Workers[Workspace]"]:
    """Yield a pool; at the end of the block, also after Ctrl-C, tasks that have not started are dropped."""
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
        if len(tasks) == 1:  # its progress is that of the stages inside it
            return self._map(_watched(function), tasks, lambda n_done: None)
        with stage("evaluating candidates", len(tasks)) as report:
            return self._map(function, tasks, report)

    def _map(
        self, function: Callable[[Task, Workspace], Result], tasks: Sequence[Task], tick: Callable[[int], None]
    ) -> list[Result]:
        results: dict[int, Result] = {}
        self._pending.extend(enumerate(tasks))
        n_busy = min(self._n_threads, len(tasks))
        # Allocated here: memory that a thread frees may stay reserved for that thread.
        self._workspaces += [self._make_workspace() for _ in range(len(self._workspaces), n_busy)]
        futures = [self._pool.submit(self._drain, function, results, self._workspaces[k]) for k in range(n_busy)]
        try:
            await_all(futures, lambda n_pending: tick(len(results)))
        except BaseException:
            self._workspaces.clear()  # a running task may still use one of them
            raise
        return [results[index] for index in range(len(tasks))]

    def abandon(self) -> None:
        """Drop the tasks that have not started, and the workspaces."""
        self._pending.clear()
        self._workspaces.clear()
        self._pool.stop()

    def _drain(
        self, function: Callable[[Any, Workspace], Result], results: dict[int, Result], workspace: Workspace
    ) -> None:
        while True:
            try:
                index, task = self._pending.popleft()
            except IndexError:
                return
            try:
                results[index] = function(task, workspace)
            except BaseException:
                self._pending.clear()
                raise


def _watched(function: Callable[[Task, Workspace], Result]) -> Callable[[Task, Workspace], Result]:
    """Return the function with the progress watch of this thread."""
    watch = current_watch()

    def in_thread(task: Task, workspace: Workspace) -> Result:
        with watched_by(watch):
            return function(task, workspace)

    return in_thread
