"""What a file must hold so that a fitted measure can compare its rows."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from eocc.tables.table import NUMBER


@dataclass(frozen=True)
class DataSchema:
    """The kind of data, and the columns of a table as (name, what the column holds).

    `kind` is one of eocc.measures.KINDS. Without names (`is_named` is false) columns are found by their order.
    `n_channels` is the number of channels of a series. `allows_gaps` says whether numbers may be missing in rows of
    numbers; in records they always may.
    """

    kind: str
    columns: tuple[tuple[Hashable, str], ...] = ()
    is_named: bool = True
    n_channels: int = 0
    allows_gaps: bool = False


def rows_schema(n_columns: int, names: Sequence[str] | None) -> DataSchema:
    """Return the schema of rows of numbers; columns without names are called 1, 2, ...

    >>> rows_schema(2, None).columns, rows_schema(2, None).is_named
    ((('1', 'number'), ('2', 'number')), False)
    """
    called = range(1, n_columns + 1) if names is None else names
    return DataSchema("numbers", tuple((str(name), NUMBER) for name in called), is_named=names is not None)
