"""Chunks of rows, arrays or frames -> rows of numbers; columns are told by their names, or by their numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import quoted
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.io.files import GapError
from eocc.io.files.cells import are_missing, is_missing
from eocc.streaming.chosen import EVERY_ROW, Chosen

Label = str | int
Places = Mapping[Label, int]

# The stratum of the rows whose cell holds no value.
NO_VALUE = ""
# What pandas has in such a cell.
PANDAS_MISSING = ("<NA>", "NaT")


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `first`, `first` + 1, ... of a source; `strata` says what each is of, where that was asked.

    `names` are those of the columns, where they have any. Where not all rows of a source count, those that do are
    counted, and `numbers` are theirs among all.
    """

    first: int
    values: Any
    strata: Sequence[str] = ()
    names: Sequence[str] | None = None
    numbers: NDArray[np.int64] | None = None

    @property
    def places(self) -> NDArray[np.int64]:
        """The numbers of the rows in their source, from 0."""
        return self.first + np.arange(len(self.values)) if self.numbers is None else self.numbers


@dataclass(frozen=True, eq=False)
class Arrays:
    """Chunks of rows from `parts`, which can be called again; `n_rows` in all, if known.

    Columns are told by their names in the first chunk, or by their numbers where it has none. A chunk with names gives
    the `columns` asked for, else those of the `model_names`, else all but that of the strata.

    >>> source = Arrays(lambda: iter([np.arange(6).reshape(3, 2)]), columns=[1])
    >>> [part.values.tolist() for part in source.rows()]
    [[[1.0], [3.0], [5.0]]]
    """

    parts: Callable[[], Iterator[Any]]
    columns: Sequence[Any] | None = None
    stratify: Any = None
    n_rows: int | None = None
    model_names: Sequence[str] | None = None
    chosen: Chosen = EVERY_ROW

    @property
    def has_strata(self) -> bool:
        """Whether rows are told by strata."""
        return self.stratify is not None

    def rows(self) -> Iterator[Rows]:
        """Yield all rows, a part at a time, from the first."""
        first, n_seen, wanted = 0, 0, None
        for part in self.parts():
            cells = _cells(part, n_seen)
            places = _places(part, cells.shape[1])
            wanted = self._wanted(places) if wanted is None else wanted
            wanted.check(places, n_seen)
            numbers = n_seen + np.arange(len(cells))
            n_seen += len(cells)
            if not self.chosen.are_all:
                kept = self._kept(cells, places, wanted)
                cells, numbers = cells[kept], numbers[kept]
            if len(cells):
                strata = () if wanted.stratum is None else strata_of(cells[:, places[wanted.stratum]], is_text=False)
                values = _numbers(cells, [places[label] for label in wanted.compared], numbers)
                yield Rows(first, values, strata, wanted.names, None if self.chosen.are_all else numbers)
            first += len(cells)

    def _kept(self, cells: NDArray[Any], places: Places, wanted: "_Wanted") -> NDArray[np.bool_]:
        """Say which rows of a chunk count; what is missing in the others does not matter."""
        kept = np.ones(len(cells), bool)
        if wanted.kind is not None:
            kept &= self.chosen.of_kind(cells[:, places[wanted.kind]])
        if self.chosen.skips:
            for label in wanted.compared:
                kept &= ~are_missing(cells[:, places[label]], is_text=False)
        return kept

    def _wanted(self, places: Places) -> "_Wanted":
        """Return the columns that count, by what tells them in the first chunk."""
        stratum = None if self.stratify is None else _label(self.stratify, places)
        asked = self.model_names if self.columns is None and _are_names(places) else self.columns
        compared = places if asked is None else [_label(column, places) for column in asked]
        kind = None if self.chosen.where is None else _label(self.chosen.where[0], places)
        kept = [label for label in compared if asked is not None or label not in (stratum, kind)]
        return _Wanted(kept, stratum, kind, len(places))


@dataclass(frozen=True)
class _Wanted:
    """The columns to compare, that of the strata and that of the kind; `width` is that of the first chunk."""

    compared: Sequence[Label]
    stratum: Label | None
    kind: Label | None
    width: int

    @property
    def names(self) -> list[str] | None:
        return [str(label) for label in self.compared] if _are_names(self.compared) else None

    def check(self, places: Places, first: int) -> None:
        """Raise a ValueError if a chunk has other columns than the first."""
        if not _are_names(places) and len(places) != self.width:
            raise ValueError(f"row {first} (the first is 0) has {len(places)} columns, those before {self.width}")
        labels = [*self.compared, *(label for label in (self.stratum, self.kind) if label is not None)]
        absent = next((label for label in labels if label not in places), None)
        if absent is not None:
            known = f"it has {_listed(places)}" if _are_names(places) else "it has no names"
            raise ValueError(f"the chunk from row {first} (the first is 0) has no column {absent!r}; {known}")


def _are_names(labels: Iterable[Label]) -> bool:
    return isinstance(next(iter(labels), None), str)


def _listed(labels: Iterable[Label]) -> str:
    return listed(quoted(str(label)) for label in labels)


def _label(column: Any, places: Places) -> Label:
    """Return what tells a column that a user named, or told by its number."""
    is_number = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if isinstance(column, str) and column in places:
        return column
    if is_number and 0 <= column < len(places):
        return list(places)[int(column)]
    known = f"there are {_listed(places)}" if _are_names(places) else (
        f"columns of arrays are numbers from 0 to {len(places) - 1}"
    )  # fmt: skip
    raise ValueError(f"there is no column {column!r}; {known}")


def _places(part: Any, width: int) -> Places:
    """Return where the columns are: by their names if all are text, which scikit-learn asks too, else by number."""
    labels = list(getattr(part, "column_names", getattr(part, "columns", ())))  # as Arrow's tables or frames tell
    named = [label for label in labels if isinstance(label, str)]
    if not named:
        return {k: k for k in range(width)}
    if len(named) < width:
        odd = next(label for label in labels if not isinstance(label, str))
        raise ValueError(f"the column {odd!r} has no text for a name, others have; rename it")
    places: dict[Label, int] = {name: k for k, name in enumerate(named)}
    if len(places) < width:
        twice = next(name for k, name in enumerate(named) if places[name] != k)
        raise ValueError(f"the column {quoted(twice)} occurs twice; rename one")
    return places


def _cells(part: Any, first: int) -> NDArray[Any]:
    cells = np.asarray(part)
    if cells.ndim != 2:
        remedy = "pass rows as one array, or chunks of many rows each"
        raise ValueError(f"a chunk of rows has 2 dimensions; the one from row {first} on has {cells.ndim}: {remedy}")
    return cells


def _numbers(cells: NDArray[Any], columns: Sequence[int], places: NDArray[np.int64]) -> Matrix:
    """Return these columns as finite numbers, or say which cell is none."""
    if cells.dtype.kind == "c":
        i, k = np.unravel_index(np.argmax(cells.imag != 0), cells.shape)
        said = f"{_told(places[i], k)} holds {cells[i, k]}, a complex number"
        raise ValueError(f"{said}; pass real and imaginary parts as columns of their own")
    try:
        with np.errstate(over="ignore"):  # what is beyond doubles becomes infinite, and is told below
            rows = np.ascontiguousarray(cells[:, columns], np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the chunk from row {places[0]} (the first is 0) holds no numbers: {error}") from None
    if not np.isfinite(rows).all():
        i, k = np.argwhere(~np.isfinite(rows))[0]
        said = f"{_told(places[i], columns[k])} holds {rows[i, k]}, no finite number; correct it, or leave the row out"
        raise GapError(said) if np.isnan(rows[i, k]) else ValueError(said)
    return rows


def _told(row: Any, column: Any) -> str:
    return f"row {row}, column {column} (both counted from 0)"


def strata_of(cells: Iterable[Any], is_text: bool) -> list[str]:
    """Return the strata that cells tell: their text, and NO_VALUE for all that are missing.

    >>> strata_of([1.0, np.nan, None], is_text=False), strata_of(["day", " NA "], is_text=True)
    (['1.0', '', ''], ['day', ''])
    """
    values = cells.tolist() if isinstance(cells, np.ndarray) else cells
    return [_stratum(cell, is_text) for cell in values]


def _stratum(cell: Any, is_text: bool) -> str:
    told = str(cell + 0.0 if isinstance(cell, float) else cell).strip()  # -0.0 is 0.0
    is_absent = not isinstance(cell, str) and told in PANDAS_MISSING
    return NO_VALUE if is_absent or is_missing(cell, is_text) else told


def length_of(array: Any) -> int:
    """Return how many rows an array or frame has, if it is one of rows."""
    shape = array.shape
    if len(shape) != 2:
        raise ValueError(f"an array of rows has 2 dimensions, not {len(shape)}")
    if not isinstance(shape[0], int | np.integer):
        said = f"a {type(array).__module__.partition('.')[0]} {type(array).__name__} does not tell how many rows it has"
        raise ValueError(f"{said}; fit to eocc.scale.cluster.sample(X, n) of it, or pass a list of chunks of rows")
    return int(shape[0])


def sliced(array: Any, step: int) -> Iterator[Any]:
    """Yield the rows of an array or frame, `step` at a time."""
    by_place = getattr(array, "iloc", array)  # a frame's own slices go by its index
    return (by_place[start : start + step] for start in range(0, length_of(array), step))
