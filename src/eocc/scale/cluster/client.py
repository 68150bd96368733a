"""How a cluster gets data and tasks: if a worker dies, its tasks run again elsewhere."""

import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import cycle, pairwise
from typing import Any

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.scale.cluster.pickled import Pickled

# Tasks per slot in every batch of candidates: more would balance better, but each costs milliseconds.
SHARE = 2
# Seconds without any worker: until a warning, and by default until the work fails.
WARNED_AFTER = 5.0
MAX_WAIT = 300.0
# Seconds between two looks at the workers.
LOOK_EVERY = 1.0
# The `max_wait` of clients; a context variable would not reach the threads of a fit.
max_waits: "weakref.WeakKeyDictionary[Any, float]" = weakref.WeakKeyDictionary()


def n_slots(client: Any) -> int:
    """Return how many tasks the workers run at once, at least 1: all workers may be restarting."""
    return max(1, int(sum(client.nthreads().values())))


def given(client: Any, data: Any) -> Any:
    """Return a future of the pickled data: a task, which runs again if a worker dies with its copy."""
    with large_tasks():
        return client.submit(_itself, Pickled(data), pure=False)


@contextmanager
def large_tasks() -> Iterator[None]:
    """Keep Dask from warning of large tasks, which are intended."""
    import dask

    with suppress(ImportError):
        import distributed  # noqa: F401  (its settings would be lost if they were first loaded inside the block)
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        yield


def given_tasks(client: Any, function: Any, tasks: list[tuple[Any, ...]]) -> list[Any]:
    """Return a future of function(*task) for every task; large arguments are passed as futures.

    Tasks are dealt to the workers in turn. Else Dask would send all tasks to the worker that has the data. Workers that
    finish early, or whose neighbour dies, still take over tasks.
    """
    slots = [address for address, count in sorted(client.nthreads().items()) for _ in range(count)]
    turns = cycle(slots or [None])
    return [
        client.submit(function, *task, pure=False, workers=turn, allow_other_workers=turn is not None)
        for task, turn in zip(tasks, turns, strict=False)
    ]


@contextmanager
def reached(client: Any) -> Iterator[None]:
    """Raise one clear error if the scheduler goes away inside the block."""
    from distributed.comm import CommClosedError

    address = getattr(client.scheduler, "address", "its address")
    try:
        yield
    except Exception as error:
        if client.status == "running" and not isinstance(error, CancelledError | CommClosedError):
            raise
        remedy = "start it again and repeat the call"
        raise ConnectionError(f"the scheduler at {address} went away or dropped the work; {remedy}") from error


@contextmanager
def cancelled_on_error(client: Any, futures: list[Any]) -> Iterator[None]:
    """Cancel the futures if the block ends with an error or Ctrl-C."""
    try:
        with reached(client):
            yield
    except BaseException:
        if client.status == "running":
            client.cancel(futures)
        raise


def gathered(client: Any, futures: list[Any]) -> list[Any]:
    """Return the results of futures; raise a TimeoutError if there is no worker for `max_wait` seconds."""
    from distributed import wait

    lonely_since: float | None = None
    is_warned, most = False, max_waits.get(client, MAX_WAIT)
    while not all(future.done() for future in futures):
        try:
            wait(futures, timeout=LOOK_EVERY)
        except TimeoutError:
            lonely_since = None if client.nthreads() else lonely_since or time.monotonic()
        lonely = 0.0 if lonely_since is None else time.monotonic() - lonely_since
        if lonely > min(WARNED_AFTER, most / 2) and not is_warned:
            is_warned, said = True, f"the cluster has no worker: waiting for one, at most {most:g} s"
            warnings.warn(said, RuntimeWarning, stacklevel=2)
        if lonely > most:
            remedy = "start workers with 'dask worker', or wait longer: cluster.on(client, max_wait=...)"
            raise TimeoutError(f"the cluster has had no worker for {lonely:.0f} s; {remedy}")
    found: list[Any] = client.gather(futures)
    return found


def computed(*collections: Any) -> tuple[Any, ...]:
    """Return the contents of Dask collections, computed where Dask would: on its default client, if it has one."""
    import dask

    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    if not hasattr(client, "nthreads"):
        return tuple(dask.compute(*collections))
    with reached(client):
        futures = client.compute(list(collections))
    with cancelled_on_error(client, futures):
        return tuple(gathered(client, futures))


def _itself(data: Pickled) -> Pickled:
    return data


class Remote:
    """Evaluates candidates of a search on a cluster. Each worker gets the function once, then only candidates.

    `evaluation(candidate, workspace)` reuses what `evaluation.workspace()` allocates.
    """

    def __init__(self, client: Any, evaluation: Any) -> None:
        self._client, self._evaluation = client, given(client, evaluation)

    def map(self, candidates: Sequence[Any]) -> list[Any]:
        """Return the value of every candidate, in order."""
        with reached(self._client):
            count = min(SHARE * n_slots(self._client), len(candidates))
            bounds = np.linspace(0, len(candidates), count + 1).astype(int).tolist()
            parts = [candidates[start:stop] for start, stop in pairwise(bounds)]
            futures = given_tasks(self._client, _evaluated, [(self._evaluation, part) for part in parts])
        with cancelled_on_error(self._client, futures):
            return [result for part in gathered(self._client, futures) for result in part]


# Workspaces of a worker, by function and thread; they live as long as the function.
_workspaces: "weakref.WeakKeyDictionary[Any, dict[int, Any]]" = weakref.WeakKeyDictionary()


def _evaluated(pickled: Pickled, candidates: Sequence[Any]) -> list[Any]:
    evaluation = pickled.open()
    own, me = _workspaces.setdefault(evaluation, {}), threading.get_ident()
    with one_blas_thread():
        if me not in own:
            own[me] = evaluation.workspace()
        return [evaluation(candidate, own[me]) for candidate in candidates]
