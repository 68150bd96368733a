"""What the chunks of a file hold, and how they become patterns that a measure takes."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.classifier import EntropicOneClassClassifier
from eocc.files.chunk import Chunk
from eocc.measures import LabelledGraph
from eocc.measures.euclidean import FrozenEuclidean
from eocc.measures.tables import FrozenGower

NUMBER, BOOLEAN, TEXT = "number", "boolean", "text"
# What a cell of text may say instead of a value.
MISSING = {"", "na", "n/a", "nan", "null", "none", "?"}
TRUTHS = {"true": True, "false": False, "yes": True, "no": False}

# kind of data -> the measure that compares it unless another is asked for
MEASURE_OF = {
    "numbers": "euclidean",
    "records": "gower",
    "strings": "string-edit",
    "series": "dtw",
    "tokens": "jaccard",
    "graphs": "graph-edit",
}


@dataclass(frozen=True)
class Schema:
    """The kind of data and, of tables, the columns that count with what each holds: number, boolean or text."""

    kind: str
    columns: tuple[tuple[str, str], ...] = ()

    @property
    def names(self) -> list[str]:
        """The columns that count."""
        return [name for name, _ in self.columns]

    @property
    def measure(self) -> str:
        """The measure for this kind of data."""
        return MEASURE_OF[self.kind]

    def describe(self) -> str:
        """Return the schema in words.

        >>> Schema("records", (("load", "number"), ("state", "text"))).describe()
        'records of 2 columns (load: number, state: text)'
        """
        if not self.columns:
            return self.kind
        listed = ", ".join(f"{name}: {holds}" for name, holds in self.columns[:8])
        more = f", and {len(self.columns) - 8} more" if len(self.columns) > 8 else ""
        what = "rows of numbers in" if self.kind == "numbers" else "records of"
        return f"{what} {len(self.columns)} columns ({listed}{more})"

    def patterns(self, chunk: Chunk, where: str) -> Any:
        """Return the chunk as patterns: an array of rows, a list of records, or a list of objects."""
        if self.kind not in ("numbers", "records"):
            return [_object(value, self.kind, chunk.first + index, where) for index, value in enumerate(chunk.objects)]
        if not chunk.columns and len(chunk):
            return self._rows_of_objects(chunk, where)
        absent = [name for name in self.names if name not in chunk.columns]
        if absent:
            found = ", ".join(list(chunk.columns)[:12])
            raise ValueError(f"{where} has no column {absent[0]!r}, which the model needs; its columns are {found}")
        cells = {name: _convert(chunk.columns[name], holds, name, chunk.first, where) for name, holds in self.columns}
        if self.kind == "numbers":
            return self._matrix(cells, chunk, where)
        return [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]

    def _matrix(self, cells: Mapping[str, Any], chunk: Chunk, where: str) -> Any:
        rows = np.column_stack([_floats(column) for column in cells.values()])
        bad = np.argwhere(~np.isfinite(rows))
        if len(bad):
            row, column = bad[0]
            raise ValueError(
                f"{where}, row {chunk.first + row + 1}, column {self.names[column]!r}: a number is missing or not "
                "finite; drop or impute such rows"
            )
        return rows

    def _rows_of_objects(self, chunk: Chunk, where: str) -> Any:
        """Return lists of numbers, all as long as the model's rows, as a matrix."""
        try:
            rows = np.array(chunk.objects, dtype=np.float64)
        except (TypeError, ValueError):
            rows = np.empty(0)
        if rows.ndim != 2 or (self.columns and rows.shape[1] != len(self.columns)):
            wanted = f"{len(self.columns)} numbers" if self.columns else "equally many numbers"
            raise ValueError(f"{where}: every pattern must be a list of {wanted}")
        return rows


def guess_schema(chunks: Sequence[Chunk], where: str, apart: Iterable[str] = (), measure: str | None = None) -> Schema:
    """Return what all the chunks of a file hold; columns named in `apart` (labels, names) do not count.

    A table whose columns are all numbers without gaps is "numbers", any other "records".
    """
    if not any(len(chunk) for chunk in chunks):
        raise ValueError(f"{where} holds no patterns; at least 1 is required")
    if chunks[0].columns:
        return _table_schema(chunks, where, set(apart), measure)
    objects = [value for chunk in chunks for value in chunk.objects]
    kind = _kind_of_objects(objects, where)
    if kind == "series" and measure == "euclidean":
        return Schema("numbers", tuple((str(index + 1), NUMBER) for index in range(len(objects[0]))))
    return Schema(kind)


def _table_schema(chunks: Sequence[Chunk], where: str, apart: set[str], measure: str | None) -> Schema:
    names = list(dict.fromkeys(name for chunk in chunks for name in chunk.columns))
    unknown = sorted(apart - set(names))
    if unknown:
        raise ValueError(f"{where} has no column {unknown[0]!r}; its columns are {', '.join(names[:12])}")
    kept = [name for name in names if name not in apart]
    if not kept:
        raise ValueError(f"{where} has no columns left to compare")
    found = [(name, *_holds([chunk.columns.get(name, [None] * len(chunk)) for chunk in chunks])) for name in kept]
    columns = tuple((name, holds) for name, holds, _ in found)
    whole = all(holds == NUMBER and not has_gaps for _, holds, has_gaps in found)
    is_numbers = whole if measure is None else measure == "euclidean"
    odd = [name for name, holds in columns if holds != NUMBER]
    if is_numbers and odd:
        raise ValueError(f"{where}: column {odd[0]!r} does not hold numbers; leave it out, or use the measure gower")
    return Schema("numbers" if is_numbers else "records", columns)


def _holds(parts: Sequence[Sequence[Any]]) -> tuple[str, bool]:
    """Return what a column holds, and whether a cell is missing."""
    arrays: list[Any] = [part for part in parts if isinstance(part, np.ndarray)]
    if len(arrays) == len(parts):  # only numbers without gaps come as arrays
        return NUMBER, any(bool(np.isnan(array).any()) for array in arrays if array.dtype.kind == "f")
    cells = [cell for part in parts for cell in part]
    present = [cell for cell in cells if not _is_missing(cell)]
    has_gaps = len(present) < len(cells)
    if present and all(_is_number(cell) for cell in present):
        return NUMBER, has_gaps
    if present and all(_is_truth(cell) for cell in present):
        return BOOLEAN, has_gaps
    return TEXT, has_gaps


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING) or cell != cell


def _is_number(cell: Any) -> bool:
    if isinstance(cell, bool):
        return False
    try:
        return math.isfinite(float(cell))
    except (TypeError, ValueError, OverflowError):
        return False


def _is_truth(cell: Any) -> bool:
    return isinstance(cell, bool) or (isinstance(cell, str) and cell.strip().lower() in TRUTHS)


def _convert(cells: Sequence[Any], holds: str, name: str, first: int, where: str) -> Sequence[Any]:
    if isinstance(cells, np.ndarray):
        return cells if holds == NUMBER else [str(cell) for cell in cells]
    change = CHANGES[holds]
    changed = []
    for index, cell in enumerate(cells):
        try:
            changed.append(None if _is_missing(cell) else change(cell))
        except (TypeError, ValueError, KeyError, OverflowError):
            raise ValueError(
                f"{where}, row {first + index + 1}, column {name!r}: {cell!r} is no {holds}, which the column holds"
            ) from None
    return changed


def _finite(cell: Any) -> float:
    if not _is_number(cell):
        raise ValueError
    return float(cell)


CHANGES: dict[str, Callable[[Any], Any]] = {
    NUMBER: _finite,
    BOOLEAN: lambda cell: cell if isinstance(cell, bool) else TRUTHS[cell.strip().lower()],
    TEXT: lambda cell: cell.strip() if isinstance(cell, str) else str(cell),
}


def _floats(cells: Sequence[Any]) -> Any:
    if isinstance(cells, np.ndarray):
        return cells.astype(np.float64)
    return np.array([np.nan if cell is None else cell for cell in cells], np.float64)


def _kind_of_objects(objects: Sequence[Any], where: str) -> str:
    for kind, accepts in KINDS.items():
        if all(accepts(value) for value in objects):
            return kind
    raise ValueError(
        f"{where}: patterns must all be of one kind: records, strings, lists of numbers (series), lists of strings "
        "(tokens) or node-link graphs"
    )


def _is_series(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and (
        all(_is_plain_number(item) for item in value)
        or all(isinstance(item, list) and item and all(map(_is_plain_number, item)) for item in value)
    )  # fmt: skip


def _is_plain_number(item: Any) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)


KINDS: dict[str, Callable[[Any], bool]] = {
    "graphs": lambda value: isinstance(value, LabelledGraph),
    "strings": lambda value: isinstance(value, str),
    "series": _is_series,
    "tokens": lambda value: isinstance(value, list) and all(isinstance(item, str) for item in value),
}


def _object(value: Any, kind: str, index: int, where: str) -> Any:
    if not KINDS[kind](value):
        raise ValueError(f"{where}: pattern {index + 1} is no {SINGULAR[kind]}, which the model compares")
    return np.array(value, np.float64) if kind == "series" else value


SINGULAR = {"graphs": "graph", "strings": "string", "series": "series of numbers", "tokens": "list of strings"}
KIND_OF_MEASURE = {
    "FrozenStringEdit": "strings",
    "FrozenDTW": "series",
    "FrozenJaccard": "tokens",
    "FrozenCosineBags": "tokens",
    "FrozenGraphEdit": "graphs",
}
HOLDS_OF_KIND = {"numeric": NUMBER, "boolean": BOOLEAN, "categorical": TEXT, "ordered": TEXT, "empty": TEXT}


def schema_of_model(classifier: EntropicOneClassClassifier) -> Schema:
    """Return what a fitted model needs to see in a file."""
    frozen = classifier.measure_
    if isinstance(frozen, FrozenEuclidean):
        names = getattr(classifier, "feature_names_in_", [str(index + 1) for index in range(frozen.n_parameters)])
        return Schema("numbers", tuple((str(name), NUMBER) for name in names))
    if isinstance(frozen, FrozenGower):
        pairs = zip(frozen.names, frozen.kinds, strict=True)
        return Schema("records", tuple((str(name), HOLDS_OF_KIND[kind]) for name, kind in pairs))
    kind = KIND_OF_MEASURE.get(type(frozen).__name__)
    if kind is None:
        raise ValueError(
            f"a model with the measure {type(frozen).__name__} takes no patterns from files; score in Python"
        )
    return Schema(kind)
