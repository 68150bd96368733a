"""Stand-ins for eocc.measures.schema, measures_of, kind_of and FittedMeasure.schema; delete once these are merged."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

_MEASURES_OF = {
    "numbers": ("euclidean", "standardised", "tanimoto"),
    "records": ("gower",),
    "strings": ("string-edit",),
    "tokens": ("jaccard", "cosine-bags", "string-edit"),
    "series": ("dtw",),
    "graphs": ("graph-edit",),
}


@dataclass(frozen=True)
class DataSchema:
    """What a file must hold to be scored."""

    kind: str
    columns: tuple[tuple[Hashable, str], ...] = ()
    is_named: bool = True
    n_channels: int = 0


def measures_of(kind: str) -> tuple[str, ...]:
    """Return the measures of a kind of data."""
    return _MEASURES_OF.get(kind, ())


def kind_of(X: Any) -> str:
    """Return the kind of data."""
    from eocc.measures.labelled_graph import LabelledGraph

    if isinstance(X, np.ndarray):
        return "numbers"
    first = X[0]
    if isinstance(first, LabelledGraph):
        return "graphs"
    if isinstance(first, str | dict):
        return "strings" if isinstance(first, str) else "records"
    if all(isinstance(item, str) for row in X for item in row):
        return "tokens"
    flat = all(not hasattr(item, "__len__") for row in X for item in row)
    return "numbers" if flat and len({len(row) for row in X}) == 1 else "series"


def schema_of(fitted: Any, prototypes: Any, names: Any) -> DataSchema:
    """Return fitted.schema(prototypes, names)."""
    from eocc.measures import columns

    cells = {columns.NUMBERS: "number", columns.BOOLEANS: "boolean", columns.LABELS: "text", columns.DATES: "date",
             columns.DURATIONS: "duration", columns.TIMES: "time of day"}  # fmt: skip
    name = type(fitted).__name__
    if name in ("FittedEuclidean", "FittedTanimoto"):
        width = fitted.n_bits if name == "FittedTanimoto" else fitted.n_parameters
        known = range(1, width + 1) if names is None else names
        return DataSchema("numbers", tuple((str(one), "number") for one in known), names is not None)
    if name == "FittedGower":
        kinds = [cells[next(iter(c.contents))] if len(c.contents) == 1 else "text" for c in fitted.columns]
        return DataSchema("records", tuple((c.name, kind) for c, kind in zip(fitted.columns, kinds, strict=True)))
    if name == "FittedDTW":
        return DataSchema("series", n_channels=fitted.n_parameters)
    if name == "FittedStringEdit":
        return DataSchema("strings" if isinstance(prototypes[0], str) else "tokens")
    if name in ("FittedJaccard", "FittedCosineBags"):
        return DataSchema("tokens")
    if name == "FittedGraphEdit":
        return DataSchema("graphs")
    raise ValueError(f"a model with the measure {name} takes no rows from files; score in Python")
