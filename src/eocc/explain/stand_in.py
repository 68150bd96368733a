"""What explanations ask of measures, before and after the measures say it themselves. To be removed then."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

try:
    from eocc.measures.difference import description_of, difference_of, grouped  # type: ignore[attr-defined]
    from eocc.measures.schema import DataSchema  # type: ignore[import-not-found]
except ImportError:
    from eocc.explain.differences import description_of, difference_of
    from eocc.measures.difference import _grouped as grouped

    @dataclass(frozen=True)
    class DataSchema:  # type: ignore[no-redef]
        """The kind of data, and name and kind of its columns."""

        kind: str
        columns: tuple[tuple[str, str], ...] = ()
        is_named: bool = True
        n_channels: int = 0


__all__ = ["DataSchema", "description_of", "difference_of", "grouped", "measure_schema", "measure_weight_names"]


def measure_schema(measure: Any, prototypes: Any, names: Sequence[str] | None) -> DataSchema:
    """Return the schema of the data that a fitted measure compares; of kind "" if that is not known."""
    if hasattr(measure, "schema"):
        try:
            return measure.schema(prototypes, names)
        except ValueError:  # no file can hold such data
            return DataSchema("")
    kinds = {"FittedEuclidean": "numbers", "FittedGraphEdit": "graphs", "FittedDTW": "series", "FittedGower": "records"}
    kind = kinds.get(type(measure).__name__, "strings" if type(measure).__name__ == "FittedStringEdit" else "")
    if kind == "numbers":
        called = names or [f"feature {k}" for k in range(prototypes.shape[1])]
        return DataSchema(kind, tuple((name, "number") for name in called), names is not None)
    if kind == "records":
        return DataSchema(kind, tuple(zip(map(str, measure.names), measure.kinds, strict=True)))
    return DataSchema(kind)


def measure_weight_names(measure: Any, prototypes: Any, names: Sequence[str] | None) -> list[str]:
    """Return what each weight belongs to; [] if the measure does not say."""
    if hasattr(measure, "weight_names"):
        return list(measure.weight_names(names))
    edits = {"FittedStringEdit": ["insertion", "deletion", "substitution"],
             "FittedGraphEdit": ["substitution", "insertion", "deletion"]}  # fmt: skip
    columns = [str(name) for name, _ in measure_schema(measure, prototypes, names).columns]
    return columns or edits.get(type(measure).__name__, [])
