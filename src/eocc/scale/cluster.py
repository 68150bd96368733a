"""Fits and scores on a Dask cluster. Dask is imported when it is used.

A client gets data, candidates of a search and blocks of an expensive dissimilarity matrix as tasks. Dask arrays, frames
and bags are scored by partition, materialised, or folded for a fit.
"""

import secrets
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, nullcontext, suppress
from copy import copy, deepcopy
from functools import partial
from itertools import cycle, pairwise
from threading import RLock
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from eocc.base.estimator import check_is_fitted
from eocc.base.progress import having
from eocc.base.registry import needed
from eocc.base.threads import cluster_in_use, one_blas_thread
from eocc.base.types import Flags, Matrix
from eocc.base.vocabulary import completed
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Prepared
from eocc.scale.passes import READING, Part
from eocc.tables.sources import without_columns

Result = TypeVar("Result")
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
    with client.as_current(), having(cluster_in_use, DaskCluster(client)):
        yield client


def _matrix(client: Any, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return the components (u, n, r), block by block; without prototypes a block also gives its transpose."""
    n, r = len(patterns), len(patterns if prototypes is None else prototypes)
    futures: list[Any] = []
    matrix: Matrix | None = None
    with reached(client, futures):
        blocks = _blocks(n, None if prototypes is None else r, n_slots(client))
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


def _blocks(n: int, r: int | None, slots: int) -> list[Block]:
    """Return blocks of some rows and all r columns; for None, blocks that cover all pairs with their transposes.

    Four blocks per slot: more would balance better, but a measure prepares each pattern once per block. So a side has
    at least 16 patterns. The cheaper diagonal blocks come last.
    """
    if r is not None:
        return [(rows, slice(0, r)) for rows in _slices(n, max(1, min(4 * slots, n // 16)))]
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


# Attributes that scoring does not need and that need not travel.
NOT_FOR_SCORING = ("labels_", "regions_", "spanning_tree_", "modularity_curve_", "history_", "structure_")


def lazily(model: Any, name: str, X: Any, dtype: DTypeLike, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Return what a method of a fitted estimator gives for each partition, as a lazy array.

    Every partition is one call of the method. The model is sent to each worker once.
    """
    import dask
    import dask.array
    from sklearn.utils.validation import validate_data

    check_is_fitted(model)
    is_table = model.reading_ is not None and not model.reading_.is_numbers  # whose columns may be in any order
    if hasattr(model, "n_features_in_") and hasattr(X, "ndim") and not is_table:  # raise now, not when it is computed
        first = without_columns(X._meta, model.ignored_columns_) if hasattr(X, "columns") else X
        validate_data(model, first, reset=False, skip_check_array=True)
    empty = np.empty((0, model._n_features_out) if name == "transform" else 0, dtype)
    slim = copy(model)
    slim.__dict__ = {key: value for key, value in vars(model).items() if key not in NOT_FOR_SCORING}
    call = Pickled(partial(getattr(slim, name), *arguments, **named))
    sent = _sent(call, "eocc-model")
    work = dask.delayed(_of_block, pure=False)
    parts = [
        dask.array.from_delayed(work(sent, part, empty), shape=(length, *empty.shape[1:]), dtype=dtype)
        for part, length in partitions_of(X)
    ]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


def _sent(data: Pickled, name: str) -> Any:
    """Return data as a task of a graph: the scheduler keeps it, so it survives the death of a worker."""
    import dask

    return dask.delayed(data, name=f"{name}-{secrets.token_hex(8)}", traverse=False)


def _of_block(call: Pickled, block: Any, empty: NDArray[Any]) -> NDArray[Any]:
    patterns = block if hasattr(block, "shape") else list(block)
    return np.asarray(call.open()(patterns), empty.dtype) if len(patterns) else empty


def partitions_of(X: Any) -> list[tuple[Any, float]]:
    """Return the partitions, each with all columns, and their lengths (NaN if unknown)."""
    if not hasattr(X, "chunks"):
        return [(part, np.nan) for part in X.to_delayed()]
    whole = X.rechunk(dict.fromkeys(range(1, X.ndim), -1)) if X.ndim > 1 else X
    return list(zip(whole.to_delayed().ravel(), whole.chunks[0], strict=True))


def contents(X: Any, check: Callable[[int, int], object] | None = None) -> Any:
    """Return the contents of a Dask collection; before anything is loaded, check(n_rows, n_columns) may raise an error.

    If the length is not known, all partitions are counted first. Bags have 1 column.
    """
    if check is not None:
        check(sum(lengths_of(partitions_of(X))), int(X.shape[1]) if getattr(X, "ndim", 1) > 1 else 1)
    return computed(X)[0]


def lengths_of(parts: list[tuple[Any, float]]) -> list[int]:
    """Return the length of every partition; those that Dask does not know are counted. Refuse to have no rows."""
    import dask

    found: Any = [length for _, length in parts]
    if any(map(np.isnan, found)):
        found = computed(*(dask.delayed(_length)(part) for part, _ in parts))
    if not sum(found):
        raise ValueError("X holds no rows; at least 1 is required")
    return list(map(int, found))


def _length(block: Any) -> int:
    return len(block if hasattr(block, "shape") else list(block))


class DaskPasses:
    """Passes over a Dask array or dataframe of numbers, which is never gathered.

    Tasks are pure: if a worker dies, the scheduler computes its parts again. If the lengths of the partitions are not
    known, they are counted once.
    """

    def __init__(self, X: Any) -> None:
        parts = partitions_of(X)
        self._parts, self._lengths = [part for part, _ in parts], lengths_of(parts)
        self.n_rows, self.n_columns = sum(self._lengths), int(X.shape[1])
        self._wanted = np.ones(self.n_rows, bool)

    def some(self, wanted: Flags) -> "DaskPasses":
        """Return passes over the rows that are `wanted` (n,); their numbers stay."""
        found = copy(self)
        found._wanted, found.n_rows = wanted, int(wanted.sum())
        return found

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all partitions, joined in order as a tree of tasks; Dask shows the progress."""
        import dask

        called = f"eocc-{name.replace(' ', '-')}"
        sent = [_sent(Pickled(function), called) for function in (work, join)]
        of_part, of_pair = dask.delayed(_worked, pure=False), dask.delayed(_joined, pure=False)
        stops = np.cumsum(self._lengths)
        places = zip(self._parts, (stops - self._lengths).tolist(), np.split(self._wanted, stops[:-1]), strict=True)
        tasks = [of_part(sent[0], part, start, wanted) for part, start, wanted in places if len(wanted)]
        while len(tasks) > 1:
            pairs = [of_pair(sent[1], *tasks[k : k + 2]) for k in range(0, len(tasks) - 1, 2)]
            tasks = pairs + tasks[2 * len(pairs) :]
        with large_tasks():  # they hold the model
            return cast(Result, computed(tasks[0])[0])


def _worked(work: Pickled, block: Any, first: int, wanted: Flags) -> Any:
    values, n = _numbers(block, first), len(wanted)
    if len(values) != n:
        raise ValueError(f"the partition from row {first} had {n} rows, then {len(values)}; X must not change")
    some = values if wanted.all() else np.ascontiguousarray(values[wanted])
    with one_blas_thread():
        return work.open()(Part(some, first + np.flatnonzero(wanted)))


def _joined(join: Pickled, left: Any, right: Any) -> Any:
    return join.open()(deepcopy(left), right)  # if a worker dies, `left` may be needed again


def _numbers(block: Any, first: int) -> Matrix:
    """Return a partition as rows of numbers; raise a ValueError that names the row of a value that is none."""
    is_frame = hasattr(block, "to_numpy")
    values = np.ascontiguousarray(block.to_numpy(np.float64, na_value=np.nan) if is_frame else block, np.float64)
    for row, column in np.argwhere(~np.isfinite(values))[:1]:
        name = block.columns[column] if is_frame else int(column)
        what = f"row {first + row} of X holds {values[row, column]} in column {name!r}, which is not a finite number"
        raise ValueError(f"{what}; drop such rows, fill them in, or fit X.compute(), which compares around gaps")
    return values


__all__ = ["DaskPasses", "contents", "lazily", "on"]
for _name in __all__:
    completed(globals()[_name])
