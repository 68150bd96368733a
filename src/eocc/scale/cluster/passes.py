"""Passes over a Dask collection: every partition is a task, and results are joined on the workers."""

import secrets
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Matrix
from eocc.scale.cluster.client import computed, large_tasks
from eocc.scale.cluster.partitions import lengths_of, partitions_of
from eocc.scale.cluster.pickled import Pickled
from eocc.scale.passes import READING, Part

Result = TypeVar("Result")


class DaskPasses:
    """Passes over a Dask array or dataframe of numbers, which is never gathered.

    Tasks are pure: if a worker dies, the scheduler computes its parts again. If the lengths of the partitions are not
    known, they are counted once.
    """

    def __init__(self, X: Any) -> None:
        parts = partitions_of(X)
        self._parts, self._lengths = [part for part, _ in parts], lengths_of(parts)
        labels = list(getattr(X, "columns", ()))
        has_names = bool(labels) and all(isinstance(label, str) for label in labels)
        self.names: Sequence[str] | None = labels if has_names else None
        self.n_columns = int(X.shape[1])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self._lengths)

    def fold(
        self, work: Callable[[Part], Result], join: Callable[[Result, Result], Result], name: str = READING
    ) -> Result:
        """Return the results of all partitions, joined in order as a tree of tasks; Dask shows the progress."""
        import dask

        # The scheduler keeps the data of a graph, so they survive the death of a worker.
        sent = [
            dask.delayed(
                Pickled(function), name=f"eocc-{name.replace(' ', '-')}-{secrets.token_hex(8)}", traverse=False
            )
            for function in (work, join)
        ]
        of_part, of_pair = dask.delayed(_worked, pure=False), dask.delayed(_joined, pure=False)
        starts = (np.cumsum(self._lengths) - self._lengths).tolist()
        places = zip(self._parts, starts, self._lengths, strict=True)
        tasks = [of_part(sent[0], part, start, length) for part, start, length in places if length]
        while len(tasks) > 1:
            pairs = [of_pair(sent[1], *tasks[k : k + 2]) for k in range(0, len(tasks) - 1, 2)]
            tasks = pairs + tasks[2 * len(pairs) :]
        with large_tasks():  # they hold the model
            (result,) = computed(tasks[0])
        found: Result = result
        return found


def _worked(work: Pickled, block: Any, first: int, length: int) -> Any:
    values = _numbers(block, first)
    if len(values) != length:
        raise ValueError(f"the partition from row {first} had {length} rows, then {len(values)}; X must not change")
    with one_blas_thread():
        return work.open()(Part(values, np.arange(first, first + length)))


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
