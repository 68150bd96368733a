"""The cluster in use, and how it gets data and tasks: if a worker dies, its tasks run again elsewhere."""

import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import cycle, pairwise
from typing import Any

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.scale.cluster.pickled import Pickled

# Addresses that Dask accepts: a host and its port, or a scheduler in this process.
ADDRESS = re.compile(r"inproc://.+|(\w+://)?[^\s/]+:\d+/?")
# Tasks per slot in every batch of candidates: more would balance better, but each costs milliseconds.
SHARE = 2
_client: ContextVar[Any] = ContextVar("eocc_client", default=None)
# Returns the client in use, or None without a cluster.
current: Callable[[], Any] = _client.get


@contextmanager
def on(client: Any) -> Iterator[Any]:
    """Fit on a cluster inside the block: a ``distributed.Client``, or the address of a scheduler. Yields the client.

    Candidates of a search and blocks of expensive dissimilarities become tasks of the workers. The model is the same as
    without a cluster. Needs the extra ``cluster``.
    """
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("a cluster needs the package distributed: pip install 'eocc[cluster]'") from error
    if isinstance(client, str):
        with _connected(Client, client) as made, on(made):
            yield made
        return
    if not isinstance(client, Client):
        raise ValueError(f"pass a distributed.Client or the address of a scheduler, not {client!r}")
    if client.asynchronous:
        raise ValueError("the client is asynchronous; pass Client(asynchronous=False)")
    with client.as_current(), using(client):
        yield client


def _connected(make: Any, address: str) -> Any:
    remedy = "start one with 'dask scheduler' and pass the address that it prints, for example tcp://host:8786"
    if not ADDRESS.fullmatch(address):  # a client would try for half a minute
        raise ValueError(f"{address!r} is not the address of a scheduler; {remedy}")
    try:
        return make(address, set_as_default=False)
    except OSError as error:
        raise ValueError(f"no scheduler answers at {address!r} ({error}); {remedy}") from None


@contextmanager
def using(client: Any) -> Iterator[None]:
    """Use the client (None: no cluster) in this thread inside the block."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def n_slots(client: Any) -> int:
    """Return how many tasks the workers run at once, at least 1: all workers may be restarting."""
    return max(1, int(sum(client.nthreads().values())))


def given(client: Any, data: Any) -> Any:
    """Return a future of the pickled data: a task, which runs again if a worker dies with its copy."""
    import dask

    # Dask warns of large tasks; this one is intended.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        return client.submit(_itself, Pickled(data), pure=False)


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
def cancelled_on_error(client: Any, futures: list[Any]) -> Iterator[None]:
    """Cancel the futures if the block ends with an error or Ctrl-C."""
    try:
        yield
    except BaseException:
        client.cancel(futures)
        raise


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
        count = min(SHARE * n_slots(self._client), len(candidates))
        bounds = np.linspace(0, len(candidates), count + 1).astype(int).tolist()
        parts = [candidates[start:stop] for start, stop in pairwise(bounds)]
        futures = given_tasks(self._client, _evaluated, [(self._evaluation, part) for part in parts])
        with cancelled_on_error(self._client, futures):
            return [result for part in self._client.gather(futures) for result in part]


# Workspaces of a worker, by function and thread; they live as long as the function.
_workspaces: "weakref.WeakKeyDictionary[Any, dict[int, Any]]" = weakref.WeakKeyDictionary()


def _evaluated(pickled: Pickled, candidates: Sequence[Any]) -> list[Any]:
    evaluation = pickled.open()
    own, me = _workspaces.setdefault(evaluation, {}), threading.get_ident()
    with one_blas_thread():
        if me not in own:
            own[me] = evaluation.workspace()
        return [evaluation(candidate, own[me]) for candidate in candidates]
