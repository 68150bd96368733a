"""Two batches of patterns -> one batch."""

from typing import Any

import numpy as np

from eocc.measures.objects import Objects
from eocc.measures.precomputed import PrecomputedRows
from eocc.tables.table import Table, join_tables


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
        return join_tables([first, second])
    if hasattr(first, "parts"):
        return type(first)({name: joined(part, second.parts[name]) for name, part in first.parts.items()})
    assert isinstance(first, PrecomputedRows)
    return PrecomputedRows(
        np.concatenate([first.block, second.block]), np.concatenate([first.columns, second.columns]), first.n_read
    )
