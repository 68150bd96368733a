"""What a file must hold so that a fitted measure can compare its rows."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from eocc.tables.table import NUMBER


@dataclass(frozen=True)
class DataSchema:
    """The kind of data, and the columns of a table as (name, what the column holds).

    `kind` is one of eocc.measures.KINDS. `n_channels` is the number of channels of a series.
    """

    kind: str
    columns: tuple[tuple[Hashable, str], ...] = ()
    n_channels: int = 0


def rows_schema(n_columns: int, names: Sequence[str] | None) -> DataSchema:
    """Return the schema of rows of numbers; columns without names are called 1, 2, ...

    >>> rows_schema(2, None).columns
    (('1', 'number'), ('2', 'number'))
    """
    called = range(1, n_columns + 1) if names is None else names
    return DataSchema("numbers", tuple((str(name), NUMBER) for name in called))
