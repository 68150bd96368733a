"""Dask arrays, dataframes and bags: scored one partition at a time, materialised, or folded in passes."""

import secrets
from collections.abc import Callable
from copy import copy, deepcopy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from eocc.base.estimator import check_is_fitted
from eocc.base.threads import one_blas_thread
from eocc.base.types import Flags, Matrix
from eocc.scale.cluster.client import Pickled, computed, large_tasks
from eocc.scale.passes import READING, Part
from eocc.tables.sources import without_columns

Result = TypeVar("Result")

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
            (result,) = computed(tasks[0])
        found: Result = result
        return found


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
