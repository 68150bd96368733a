"""A Dask cluster in use: candidates of a search, and blocks of an expensive dissimilarity matrix, as tasks."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np

from eocc.foundation.arguments import check_number
from eocc.foundation.cluster import using
from eocc.foundation.types import Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Prepared
from eocc.scale.cluster.client import (
    MAX_WAIT,
    Remote,
    cancelled_on_error,
    gathered,
    given,
    given_tasks,
    max_waits,
    n_slots,
    reached,
)
from eocc.scale.cluster.pickled import Pickled

# Addresses that Dask accepts: a host and its port, or a scheduler in this process.
ADDRESS = re.compile(r"inproc://.+|(\w+://)?[^\s/]+:\d+/?")
# Fewer pairs than this are not worth sending.
WORTH_SENDING = 2**12
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
        if n_pairs < WORTH_SENDING or not measure.is_costly or measure.knows(patterns, prototypes):
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
    check_number("max_wait", max_wait, "above 0", lambda value: value > 0)
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
