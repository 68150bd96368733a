"""Two batches of patterns -> one batch."""

from dataclasses import replace
from typing import Any

import numpy as np

from eocc.measures.columns import Column, Table
from eocc.measures.objects import Objects
from eocc.measures.precomputed import PrecomputedRows


def joined(first: Any, second: Any) -> Any:
    """Return the patterns of both batches, which one measure read: the first batch, then the second.

    >>> list(joined(Objects(["oak"]), Objects(["elm", "ash"])))
    ['oak', 'elm', 'ash']
    """
    if isinstance(first, np.ndarray):
        return np.concatenate([first, second])
    if isinstance(first, Objects):
        return Objects([*first, *second])
    if isinstance(first, Table):
        return Table(tuple(map(_joined_columns, first.columns, second.columns)))
    if hasattr(first, "parts"):
        return type(first)({name: joined(part, second.parts[name]) for name, part in first.parts.items()})
    assert isinstance(first, PrecomputedRows)
    return PrecomputedRows(
        np.concatenate([first.block, second.block]), np.concatenate([first.columns, second.columns]), first.n_read
    )


def _joined_columns(first: Column, second: Column) -> Column:
    contents = first.contents | second.contents
    if first.labels is None and second.labels is None:
        return replace(first, contents=contents, values=np.concatenate([first.values, second.values]))
    known = [column.labelled() for column in (first, second)]
    labels = {
        label: k for k, label in enumerate(dict.fromkeys([label for column in known for label in column.labels or ()]))
    }
    values = [_recoded(column, labels) for column in known]
    return replace(first, contents=contents, values=np.concatenate(values), labels=tuple(labels))


def _recoded(column: Column, labels: dict[Any, int]) -> Any:
    """Return the values as indices into other labels; NaN remains."""
    codes = np.array([*map(float, map(labels.__getitem__, column.labels or ())), np.nan])
    missing = np.isnan(column.values)
    return codes[np.where(missing, -1, column.values).astype(np.int64)]
