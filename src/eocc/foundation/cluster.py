"""The cluster in use, for rooms that send work to it and need not know what it is."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol


class Cluster(Protocol):
    """Machines that compare patterns and evaluate candidates; `eocc.scale.cluster` has one for Dask."""

    def prepare(self, measure: Any, patterns: Any, prototypes: Any) -> Any:
        """Return measure.prepare(patterns, prototypes)."""

    def evaluator(self, evaluation: Any) -> Callable[[Sequence[Any]], list[Any]]:
        """Return a function that evaluates candidates; `evaluation(candidate, workspace)` evaluates one."""


_cluster: ContextVar[Cluster | None] = ContextVar("eocc_cluster", default=None)
# Returns the cluster in use in this thread, None if there is none.
cluster_in_use: Callable[[], Cluster | None] = _cluster.get


@contextmanager
def using(cluster: Cluster | None) -> Iterator[None]:
    """Use the cluster in this thread inside the block."""
    token = _cluster.set(cluster)
    try:
        yield
    finally:
        _cluster.reset(token)
