"""A Dask cluster in use: how it gets data, tasks, candidates of a search and blocks of a dissimilarity matrix."""

import re
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from itertools import cycle, pairwise
from threading import RLock
from typing import Any

import numpy as np

from eocc.base.arguments import check_number
from eocc.base.blas import one_blas_thread
from eocc.base.printing import warn_user
from eocc.base.threads import using
from eocc.base.types import Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Prepared

_one_at_a_time = RLock()


class Pickled:
    """Data, also functions and classes of a script, that are pickled when sent and unpickled when `open` is called."""

    def __init__(self, data: Any) -> None:
        self._data, self._package, self._is_open = data, b"", True

    def __getstate__(self) -> bytes:
        import cloudpickle

        return self._package or bytes(cloudpickle.dumps(self._data, protocol=5))

    def __setstate__(self, package: bytes) -> None:
        self._data, self._package, self._is_open = None, package, False

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._package)  # Dask asks how much memory a worker uses

    def open(self) -> Any:
        """Return the data, unpickled once per worker."""
        import cloudpickle

        with _one_at_a_time:
            if not self._is_open:
                try:
                    self._data = cloudpickle.loads(self._package)
                except (ImportError, AttributeError) as error:
                    if isinstance(error, AttributeError) and "Can't get attribute" not in str(error):
                        raise  # raised by the data themselves
                    raise ImportError(
                        f"a worker cannot load the measure, the data or the model: {error}; install the module on all "
                        "workers, or send it to them with client.upload_file('module.py')"
                    ) from None
                self._is_open = True
        return self._data


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
            warn_user(said, RuntimeWarning)
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
            # Two tasks per slot: more would balance better, but each costs milliseconds.
            count = min(2 * n_slots(self._client), len(candidates))
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


# Addresses that Dask accepts: a host and its port, or a scheduler in this process.
ADDRESS = re.compile(r"inproc://.+|(\w+://)?[^\s/]+:\d+/?")
# Tasks per slot: more would balance better, but each block prepares its patterns again.
SHARE = 4
# The smallest side of a block: a measure prepares each pattern once per block.
LEAST_SIDE = 16

Block = tuple[slice, slice]


class DaskCluster:
    """The workers of a Dask client."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def prepare(self, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Prepared:
        """Return measure.prepare(patterns, prototypes), by blocks of pairs if they are many and expensive."""
        n_pairs = len(patterns) * len(patterns if prototypes is None else prototypes)
        # A few thousand pairs are not worth sending.
        if n_pairs < 2**12 or not measure.is_costly or measure.knows(patterns, prototypes):
            return measure.prepare(patterns, prototypes)
        return LinearPrepared(_matrix(self._client, measure, patterns, prototypes))

    def evaluator(self, evaluation: Any) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a function that evaluates candidates on the workers."""
        return Remote(self._client, evaluation).map


@contextmanager
def on(client: Any, *, max_wait: float = MAX_WAIT) -> Iterator[Any]:
    """Fit on a cluster inside the block: a ``distributed.Client``, or the address of a scheduler. Yields the client.

    Candidates of a search and blocks of expensive dissimilarities become tasks of the workers. The model is the same as
    without a cluster. If there is no worker for `max_wait` seconds, the fit fails; a warning comes after 5 seconds.
    Needs the extra ``cluster``.
    """
    check_number("max_wait", max_wait, "(0, inf]")
    try:
        from distributed import Client
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("a cluster needs Dask: pip install 'dask[complete]' cloudpickle") from error
    if isinstance(client, str):
        with _connected(Client, client) as made, on(made, max_wait=max_wait):
            yield made
        return
    if not isinstance(client, Client):
        raise ValueError(f"pass a distributed.Client or the address of a scheduler, not {client!r}")
    if client.asynchronous:
        raise ValueError("the client is asynchronous; pass Client(asynchronous=False)")
    max_waits[client] = max_wait
    with client.as_current(), using(DaskCluster(client)):
        yield client


def _connected(make: Any, address: str) -> Any:
    remedy = "start one with 'dask scheduler' and pass the address that it prints, for example tcp://host:8786"
    if not ADDRESS.fullmatch(address):  # a client would try for half a minute
        raise ValueError(f"{address!r} is not the address of a scheduler; {remedy}")
    try:
        return make(address, set_as_default=False)
    except OSError as error:
        raise ValueError(f"no scheduler answers at {address!r} ({error}); {remedy}") from None


def _matrix(client: Any, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return the components (u, n, r), block by block; without prototypes a block also gives its transpose."""
    n, r = len(patterns), len(patterns if prototypes is None else prototypes)
    with reached(client):
        blocks = _triangle(n, n_slots(client)) if prototypes is None else _strips(n, r, n_slots(client))
        held = [given(client, data) for data in (measure, patterns, prototypes)]
        tasks = given_tasks(client, _block, [(*held, block) for block in blocks])
    matrix: Matrix | None = None
    with cancelled_on_error(client, tasks):
        for (rows, columns), task in zip(blocks, tasks, strict=True):
            ((forth, back),) = gathered(client, [task])
            task.release()
            matrix = np.empty((len(forth), n, r)) if matrix is None else matrix
            matrix[:, rows, columns] = forth
            if back is not None:
                matrix[:, columns, rows] = back
    assert matrix is not None
    return matrix


def _strips(n: int, r: int, slots: int) -> list[Block]:
    """Return blocks of some rows and all columns."""
    return [(rows, slice(0, r)) for rows in _slices(n, max(1, min(SHARE * slots, n // LEAST_SIDE)))]


def _triangle(n: int, slots: int) -> list[Block]:
    """Return blocks that cover all pairs together with their transposes; the cheaper diagonal blocks come last."""
    count = max(1, min(int(np.ceil(np.sqrt(2 * SHARE * slots))), n // LEAST_SIDE))
    sides = _slices(n, count)
    return [(rows, columns) for k, rows in enumerate(sides) for columns in sides[:k]] + [(side, side) for side in sides]


def _slices(n: int, count: int) -> list[slice]:
    bounds = np.linspace(0, n, count + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]


def _block(
    pickled_measure: Pickled, pickled_patterns: Pickled, pickled_prototypes: Pickled, block: Block
) -> tuple[Matrix, Matrix | None]:
    """Compute a block on a worker, and without prototypes also its transpose."""
    measure, patterns, prototypes = pickled_measure.open(), pickled_patterns.open(), pickled_prototypes.open()
    rows, columns = block
    if prototypes is not None:
        return _components(measure, patterns[rows], prototypes[columns]), None
    if rows == columns:
        return _components(measure, patterns[rows], None), None
    forth = _components(measure, patterns[rows], patterns[columns])
    return forth, measure.mirrored(forth, patterns[rows], patterns[columns])


def _components(measure: Any, patterns: Any, prototypes: Any) -> Matrix:
    components: Matrix = measure.prepare(patterns, prototypes).components
    return components
