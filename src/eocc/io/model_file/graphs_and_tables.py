"""How graphs and tables, which several measures may compare, are stored: their fields, and what must fit together."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from eocc.foundation.checks import Check, array_of, hashable, instance, integer, optional, tuple_of
from eocc.measures.columns import Column, Table
from eocc.measures.labelled_graph import LabelledGraph


def _is_column(value: Any) -> bool:
    """Accept numbers with gaps, which are NaN."""
    return type(value) is np.ndarray and value.dtype == np.float64 and value.ndim == 1 and not np.isinf(value).any()


GRAPHS_AND_TABLES: dict[type, Mapping[str, Check]] = {
    LabelledGraph: {
        "n_vertices": integer(0, 2**40),
        "edges": array_of(np.int64, 2),
        "vertex_attributes": instance(dict),
        "edge_attributes": instance(dict),
        "directed": instance(bool),
    },
    Table: {"columns": tuple_of(instance(Column), 1)},
    Column: {
        "name": hashable,
        "contents": instance(frozenset),
        "values": _is_column,
        "labels": optional(instance(tuple)),
        "levels": optional(instance(tuple)),
    },
}


def has_its_labels(column: Column) -> bool:
    """Say whether the values of a column with labels are indices into them."""
    present = column.values[~np.isnan(column.values)]
    if column.labels is None:
        return True
    return bool(((present >= 0) & (present < len(column.labels)) & (present == np.floor(present))).all())


def has_equal_columns(table: Table) -> bool:
    """Say whether all columns of a table are equally long and have different names."""
    lengths = {len(column.values) for column in table.columns}
    return len(lengths) == 1 and len(set(table.names)) == len(table.columns)


FITS: dict[type, Callable[[Any], bool]] = {Column: has_its_labels, Table: has_equal_columns}
