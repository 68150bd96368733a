"""A Dask cluster in use: how it gets data, tasks, candidates of a search and blocks of a dissimilarity matrix."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from itertools import cycle, pairwise
from threading import RLock
from typing import Any

import numpy as np

from eocc.base.registry import needed
from eocc.base.threads import one_blas_thread, using
from eocc.base.types import Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Prepared

_one_at_a_time = RLock()


class Pickled:
    """Data, also functions and classes of a script, that are pickled when sent and unpickled when `open` is called."""

    def __init__(self, data: Any) -> None:
        self._data, self._package = [data], b""  # the data are in a list if they are unpickled

    def __getstate__(self) -> bytes:
        import cloudpickle

        return self._package or bytes(cloudpickle.dumps(self._data[0], protocol=5))

    def __setstate__(self, package: bytes) -> None:
        self._data, self._package = [], package

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self._package)  # Dask asks how much memory a worker uses

    def open(self) -> Any:
        """Return the data, unpickled once per worker."""
        import cloudpickle

        with _one_at_a_time:
            if not self._data:
                try:
                    self._data.append(cloudpickle.loads(self._package))
                except (ImportError, AttributeError) as error:
                    if isinstance(error, AttributeError) and "Can't get attribute" not in str(error):
                        raise  # raised by the data themselves
                    raise ImportError(
                        f"a worker cannot load the measure, the data or the model: {error}; install the module on all "
                        "workers, or send it to them with client.upload_file('module.py')"
                    ) from None
        return self._data[0]


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
def reached(client: Any, futures: Sequence[Any] = ()) -> Iterator[None]:
    """Cancel the futures if the block ends with an error or Ctrl-C; say in one clear error if the scheduler is gone."""
    from distributed.comm import CommClosedError

    address = getattr(client.scheduler, "address", "its address")
    try:
        yield
    except BaseException as error:
        is_running = client.status == "running"
        if is_running:
            client.cancel(list(futures))
        is_lost = not is_running or isinstance(error, CancelledError | CommClosedError)
        if not is_lost or not isinstance(error, Exception):
            raise
        remedy = "start it again and repeat the call"
        raise ConnectionError(f"the scheduler at {address} went away or dropped the work; {remedy}") from error


def computed(*collections: Any) -> tuple[Any, ...]:
    """Return the contents of Dask collections, computed where Dask would: on its default client, if it has one."""
    import dask

    client: Any = getattr(dask.base.get_scheduler(), "__self__", None)
    with reached(client) if hasattr(client, "nthreads") else nullcontext():
        return tuple(dask.compute(*collections))


def _itself(data: Pickled) -> Pickled:
    return data


def _evaluated(pickled: Pickled, candidates: Sequence[Any]) -> list[Any]:
    evaluation = pickled.open()
    with one_blas_thread():
        workspace = evaluation.workspace()
        return [evaluation(candidate, workspace) for candidate in candidates]


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
        """Return a function that evaluates candidates on the workers; each gets `evaluation` once.

        `evaluation(candidate, workspace)` reuses what `evaluation.workspace()` allocates.
        """
        client, held = self._client, given(self._client, evaluation)

        def evaluate(candidates: Sequence[Any]) -> list[Any]:
            futures: list[Any] = []
            with reached(client, futures):
                # Two tasks per slot: more would balance better, but each costs milliseconds.
                parts = _slices(len(candidates), min(2 * n_slots(client), len(candidates)))
                futures += given_tasks(client, _evaluated, [(held, candidates[part]) for part in parts])
                return [value for part in client.gather(futures) for value in part]

        return evaluate


@contextmanager
def on(client: Any) -> Iterator[Any]:
    """Fit on a cluster inside the block, given its ``distributed.Client``. Yields the client.

    Candidates of a search and blocks of expensive dissimilarities become tasks of the workers. The model is the same as
    without a cluster. Without workers, the fit waits for them. Needs the extra ``cluster``.
    """
    distributed = needed("distributed", "a cluster needs Dask: pip install 'dask[complete]' cloudpickle")
    if not isinstance(client, distributed.Client):
        raise ValueError(f"pass a distributed.Client, for example Client('tcp://host:8786'), not {client!r}")
    if client.asynchronous:
        raise ValueError("the client is asynchronous; pass Client(asynchronous=False)")
    if not client.nthreads():
        remedy = "start workers, or let client.wait_for_workers(1, timeout=60) raise an error"
        warnings.warn(f"the cluster has no worker: fits wait for one; {remedy}", RuntimeWarning, stacklevel=3)
    with client.as_current(), using(DaskCluster(client)):
        yield client


def _matrix(client: Any, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return the components (u, n, r), block by block; without prototypes a block also gives its transpose."""
    n, r = len(patterns), len(patterns if prototypes is None else prototypes)
    futures: list[Any] = []
    matrix: Matrix | None = None
    with reached(client, futures):
        blocks = _triangle(n, n_slots(client)) if prototypes is None else _strips(n, r, n_slots(client))
        held = [given(client, data) for data in (measure, patterns, prototypes)]
        futures += given_tasks(client, _block, [(*held, block) for block in blocks])
        for (rows, columns), future in zip(blocks, futures, strict=True):
            forth, back = client.gather(future)
            future.release()
            matrix = np.empty((len(forth), n, r)) if matrix is None else matrix
            matrix[:, rows, columns] = forth
            if back is not None:
                matrix[:, columns, rows] = back
    assert matrix is not None
    return matrix


# Four blocks per slot: more would balance better, but a measure prepares each pattern once per block. So a side has at
# least 16 patterns.
def _strips(n: int, r: int, slots: int) -> list[Block]:
    """Return blocks of some rows and all columns."""
    return [(rows, slice(0, r)) for rows in _slices(n, max(1, min(4 * slots, n // 16)))]


def _triangle(n: int, slots: int) -> list[Block]:
    """Return blocks that cover all pairs together with their transposes; the cheaper diagonal blocks come last."""
    sides = _slices(n, max(1, min(int(np.ceil(np.sqrt(8 * slots))), n // 16)))
    return [(rows, columns) for k, rows in enumerate(sides) for columns in sides[:k]] + [(side, side) for side in sides]


def _slices(n: int, count: int) -> list[slice]:
    bounds = np.linspace(0, n, count + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]


def _block(held_measure: Pickled, held_patterns: Pickled, held_prototypes: Pickled, block: Block) -> tuple[Any, Any]:
    """Compute a block on a worker, and without prototypes also its transpose."""
    measure, patterns, prototypes = held_measure.open(), held_patterns.open(), held_prototypes.open()
    rows, columns = block
    if prototypes is not None:
        return measure.prepare(patterns[rows], prototypes[columns]).components, None
    if rows == columns:
        return measure.prepare(patterns[rows], None).components, None
    forth = measure.prepare(patterns[rows], patterns[columns]).components
    return forth, measure.mirrored(forth, patterns[rows], patterns[columns])
