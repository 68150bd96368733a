"""Dask arrays, dataframes and bags: scored one partition at a time; materialised or sampled for a fit."""

import secrets
from collections.abc import Callable
from copy import copy
from functools import partial, wraps
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from eocc.foundation.arguments import check_count, generator
from eocc.scale.cluster.pickled import Pickled

Method = TypeVar("Method", bound=Callable[..., Any])

# A fit loads no more than this, unless Dask's setting "eocc.gather-limit" is another.
GATHER_LIMIT = "1 GiB"
# Attributes that scoring does not need and that need not travel.
NOT_FOR_SCORING = ("labels_", "regions_", "spanning_tree_", "modularity_curve_", "history_", "structure_")


def is_dask(X: Any) -> bool:
    """Return whether X is a Dask array, dataframe or bag."""
    return hasattr(X, "__dask_graph__") and hasattr(X, "to_delayed")


def dask_lazy(dtype: DTypeLike) -> Callable[[Method], Method]:
    """Make a method of a fitted estimator return a lazy Dask array for a Dask collection.

    Every partition is one call of the method. The model is sent to each worker once.
    """

    def widened(method: Method) -> Method:
        @wraps(method)
        def either(self: Any, X: Any, *arguments: Any, **named: Any) -> Any:
            if not is_dask(X):
                return method(self, X, *arguments, **named)
            return _lazily(self, method.__name__, X, dtype, arguments, named)

        return either  # type: ignore[return-value]

    return widened


def _lazily(model: Any, name: str, X: Any, dtype: DTypeLike, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
    import dask
    import dask.array

    check_is_fitted(model)
    if hasattr(model, "n_features_in_") and hasattr(X, "ndim"):  # raise now, not during the computation
        validate_data(model, X._meta if hasattr(X, "columns") else X, reset=False, skip_check_array=True)
    empty = np.empty((0, len(model.prototypes_)) if name == "transform" else 0, dtype)
    slim = copy(model)
    slim.__dict__ = {key: value for key, value in vars(model).items() if key not in NOT_FOR_SCORING}
    call = Pickled(partial(getattr(slim, name), *arguments, **named))
    # The scheduler keeps the data of a graph, so they survive the death of a worker.
    sent = dask.delayed(call, name=f"eocc-model-{secrets.token_hex(8)}", traverse=False)
    work = dask.delayed(_of_block, pure=False)
    parts = [
        dask.array.from_delayed(work(sent, part, empty), shape=(length, *empty.shape[1:]), dtype=dtype)
        for part, length in _partitions(X)
    ]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


def _of_block(call: Pickled, block: Any, empty: NDArray[Any]) -> NDArray[Any]:
    patterns = block if hasattr(block, "shape") else list(block)
    return np.asarray(call.open()(patterns), empty.dtype) if len(patterns) else empty


def _partitions(X: Any) -> list[tuple[Any, float]]:
    """Return the partitions, each with all columns, and their lengths (NaN if unknown)."""
    if not hasattr(X, "chunks"):
        return [(part, np.nan) for part in X.to_delayed()]
    whole = X.rechunk(dict.fromkeys(range(1, X.ndim), -1)) if X.ndim > 1 else X
    return list(zip(whole.to_delayed().ravel(), whole.chunks[0], strict=True))


def materialised(X: Any, check: Callable[[int, int], object] | None = None) -> Any:
    """Return the contents of a Dask collection, if it is not too large; return anything else unchanged.

    Before anything is loaded, check(n_rows, n_columns) may raise an error. If the length is not known, all partitions
    are counted first. Bags have 1 column.
    """
    if not is_dask(X):
        return X
    import dask
    from dask.utils import format_bytes, parse_bytes

    limit = parse_bytes(dask.config.get("eocc.gather-limit", GATHER_LIMIT))
    size, n_patterns = np.sum(_extents(X), axis=0).tolist()
    if check is not None:
        check(n_patterns, int(X.shape[1]) if getattr(X, "ndim", 1) > 1 else 1)
    if size > limit:
        raise ValueError(
            f"X takes {format_bytes(size)} in memory, more than the limit of {format_bytes(limit)}; fit a sample, "
            "eocc.scale.cluster.sample(X, 100_000), or raise 'eocc.gather-limit' with dask.config.set"
        )
    return X.compute()


def _extents(X: Any) -> list[tuple[int, int]]:
    """Return the bytes and the length of every partition; those that Dask does not know are measured."""
    import dask

    parts = _partitions(X)
    if hasattr(X, "chunks") and not np.isnan(X.nbytes):
        return [(int(X.nbytes / max(1, len(X)) * length), int(length)) for _, length in parts]
    return list(dask.compute(*(dask.delayed(_extent)(part) for part, _ in parts)))


def _extent(block: Any) -> tuple[int, int]:
    from dask.sizeof import sizeof

    whole = block if hasattr(block, "shape") else list(block)
    return int(sizeof(whole)), len(whole)


def sample(X: Any, size: int, random_state: Any = None) -> Any:
    """Return `size` random rows of a Dask collection, in order and without repetition; all rows if there are fewer.

    The rows depend on the seed and on the number of rows, not on the partitions. The result is an array, a frame with
    its names, or a list.
    """
    if not is_dask(X):
        raise ValueError(f"sample takes Dask arrays, dataframes and bags, not {type(X).__name__}")
    check_count("size", size)
    import dask

    parts, lengths = [part for part, _ in _partitions(X)], [length for _, length in _extents(X)]
    starts = np.cumsum([0, *lengths])
    n = int(starts[-1])
    if not n:
        raise ValueError("X holds no rows; at least 1 is required")
    rows = np.sort(generator(random_state).choice(n, min(int(size), n), replace=False))
    wanted = np.split(rows, np.searchsorted(rows, starts[1:-1]))
    chosen = [
        dask.delayed(_taken)(part, own - start)
        for part, own, start in zip(parts, wanted, starts[:-1], strict=True)
        if len(own)
    ]
    return _joined(dask.compute(*chosen))


def _taken(block: Any, rows: NDArray[np.int64]) -> Any:
    if hasattr(block, "iloc"):
        return block.iloc[rows]
    if hasattr(block, "shape"):
        return block[rows]
    patterns = list(block)
    return [patterns[row] for row in rows]


def _joined(parts: Any) -> Any:
    if hasattr(parts[0], "iloc"):
        import pandas

        return pandas.concat(parts)
    return np.concatenate(parts) if hasattr(parts[0], "shape") else [pattern for part in parts for pattern in part]
