"""Dask arrays, dataframes and bags: scored one partition at a time, or materialised."""

import secrets
from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from eocc.foundation.estimator import check_is_fitted
from eocc.scale.cluster.client import computed
from eocc.scale.cluster.pickled import Pickled
from eocc.tables.sources import without_columns

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
    empty = np.empty((0, model._n_dimensions) if name == "transform" else 0, dtype)
    slim = copy(model)
    slim.__dict__ = {key: value for key, value in vars(model).items() if key not in NOT_FOR_SCORING}
    call = Pickled(partial(getattr(slim, name), *arguments, **named))
    # The scheduler keeps the data of a graph, so they survive the death of a worker.
    sent = dask.delayed(call, name=f"eocc-model-{secrets.token_hex(8)}", traverse=False)
    work = dask.delayed(_of_block, pure=False)
    parts = [
        dask.array.from_delayed(work(sent, part, empty), shape=(length, *empty.shape[1:]), dtype=dtype)
        for part, length in partitions_of(X)
    ]
    return dask.array.concatenate(parts, allow_unknown_chunksizes=True)


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
