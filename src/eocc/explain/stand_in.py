"""What explanations ask of measures, until the measures say it themselves: only `eocc.explain.data` imports this."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eocc.explain.differences import description_of, difference_of
from eocc.measures.euclidean import FittedEuclidean
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.series import FittedDTW
from eocc.measures.strings import FittedStringEdit
from eocc.measures.tables import FittedGower

__all__ = ["DataSchema", "description_of", "difference_of", "measure_schema", "measure_weight_names"]


@dataclass(frozen=True)
class DataSchema:
    """The kind of data, and name and kind of its columns."""

    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    is_named: bool = True
    n_channels: int = 0


def measure_schema(measure: Any, prototypes: Any, names: Sequence[str] | None) -> DataSchema:
    """Return the schema of the data that a fitted measure compares; of kind "" if that is not known."""
    if isinstance(measure, FittedEuclidean):
        called = names or [f"feature {k}" for k in range(prototypes.shape[1])]
        return DataSchema("numbers", tuple((name, "number") for name in called), names is not None)
    if isinstance(measure, FittedGower):
        return DataSchema("records", tuple(zip(map(str, measure.names), measure.kinds, strict=True)))
    kinds = {FittedGraphEdit: "graphs", FittedDTW: "series", FittedStringEdit: "strings"}
    return DataSchema(kinds.get(type(measure), ""))


def measure_weight_names(measure: Any) -> tuple[str, ...]:
    """Return what each weight belongs to, if that is not a column."""
    if isinstance(measure, FittedStringEdit):
        return ("insertion", "deletion", "substitution")
    return ("substitution", "insertion", "deletion") if isinstance(measure, FittedGraphEdit) else ()
