"""Which cluster is used, and how data and tasks are given to it so that a worker's death costs a retry only."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import cycle
from typing import Any

from eocc.scale.cluster.pickled import Pickled

# What dask takes: a host and its port, or a place in this process.
ADDRESS = re.compile(r"inproc://.+|(\w+://)?[^\s/]+:\d+/?")
_client: ContextVar[Any] = ContextVar("eocc_client", default=None)


@contextmanager
def on(client: Any) -> Iterator[Any]:
    """Fit on this cluster inside the block: a ``distributed.Client``, or the address of a scheduler.

    Candidates of a search and blocks of expensive dissimilarities become tasks of its workers; the model is the same
    as without. Yields the client. Needs the extra ``cluster``.

    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> setosa = load_iris().data[:50]
    >>> classifier = EntropicOneClassClassifier(resolution="single", random_state=0)
    >>> with Client(processes=False, n_workers=1, dashboard_address=":0") as client, on(client):
    ...     found = classifier.fit(setosa).objective_
    >>> found == classifier.fit(setosa).objective_
    True
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
        raise ValueError(f"a distributed.Client or the address of a scheduler is needed, not {client!r}")
    if client.asynchronous:
        raise ValueError("an asynchronous client cannot be waited for; pass Client(asynchronous=False)")
    with client.as_current(), using(client):
        yield client


def _connected(make: Any, address: str) -> Any:
    """Return a client of the scheduler there, or say that there is none."""
    remedy = "start one with 'dask scheduler' and pass the address that it tells, tcp://host:8786 say"
    if not ADDRESS.fullmatch(address):  # a client would try for half a minute, and once more when it is let go
        raise ValueError(f"{address!r} is no address of a scheduler; {remedy}")
    try:
        return make(address, set_as_default=False)
    except OSError as error:
        raise ValueError(f"no scheduler answers at {address!r} ({error}); {remedy}") from None


@contextmanager
def using(client: Any) -> Iterator[None]:
    """Use the client, or none where it is None, in this thread inside the block."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


def current() -> Any:
    """Return the client in use, None without a cluster."""
    return _client.get()


def n_slots(client: Any) -> int:
    """Return how many tasks the cluster's workers run at once; they may all be away for a moment."""
    return max(1, int(sum(client.nthreads().values())))


def given(client: Any, data: Any) -> Any:
    """Return a future of the data, `Pickled`: the tasks that need them open them.

    It is the result of a task that returns what the scheduler keeps for it: where a worker dies with its copy, the task
    is run again. Data that were scattered would be lost.
    """
    import dask

    # The one large task is meant; dask would warn of it.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
        return client.submit(_itself, Pickled(data), key=_key("data"))


def given_tasks(client: Any, function: Any, tasks: list[tuple[Any, ...]]) -> list[Any]:
    """Return a future of function(*task) for every task; none of these is large, their data are futures.

    Workers have their turns. Else all tasks would go where the data are, and others would idle until they take some
    over; so they still do when they have done theirs, or where a worker dies.
    """
    slots = [address for address, count in sorted(client.nthreads().items()) for _ in range(count)]
    turns = cycle(slots or [None])
    return [
        client.submit(function, *task, key=_key(function.__name__), workers=turn, allow_other_workers=turn is not None)
        for task, turn in zip(tasks, turns, strict=False)
    ]


@contextmanager
def cancelled_on_error(client: Any, futures: list[Any]) -> Iterator[None]:
    """Cancel the futures when the block ends by an error or Ctrl-C."""
    try:
        yield
    except BaseException:
        client.cancel(futures)
        raise


def _key(name: str) -> str:
    """Return a name that no other task has: results of another fit must not be taken for this one's."""
    return f"eocc-{name.strip('_')}-{secrets.token_hex(8)}"


def _itself(data: Pickled) -> Pickled:
    return data
