"""Arrays, frames and chunks of them -> rows of numbers. Columns have names, or numbers from 0."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.printing import quoted
from eocc.foundation.registry import listed
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.io.files import GapError
from eocc.io.files.cells import are_missing, is_missing
from eocc.streaming.chosen import EVERY_ROW, Chosen

Label = str | int
Places = Mapping[Label, int]

# The stratum of rows without a value, and how pandas writes such a cell.
NO_VALUE = ""
PANDAS_MISSING = ("<NA>", "NaT")


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows of a source: `first` is the number of the first one among the rows used.

    `strata` holds the stratum of each row if the source has any, `names` those of the columns. If not all rows of the
    source are used, `numbers` are the numbers of these among all.
    """

    first: int
    values: Any
    strata: Sequence[str] = ()
    names: Sequence[str] | None = None
    numbers: Indices | None = None

    @property
    def places(self) -> Indices:
        """The numbers of the rows in their source, from 0."""
        return self.first + np.arange(len(self.values)) if self.numbers is None else self.numbers


@dataclass(frozen=True, eq=False)
class Arrays:
    """Chunks of rows from `parts`, which can be called again; `n_rows` in all, if known.

    The first chunk decides the columns: those asked for in `columns`, else those of the model (`model_names`) if the
    chunk has names, else all but the columns of strata and kind.

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
        """Whether each row has a stratum."""
        return self.stratify is not None

    def rows(self) -> Iterator[Rows]:
        """Yield all rows from the first, one part at a time."""
        first, n_seen, layout = 0, 0, None
        for part in self.parts():
            cells = _cells(part, n_seen)
            places = _places(part, cells.shape[1])
            layout = self._layout(places) if layout is None else layout
            layout.check(places, n_seen)
            numbers = n_seen + np.arange(len(cells))
            n_seen += len(cells)
            if not self.chosen.are_all:
                kept = self._kept(cells, places, layout)
                cells, numbers = cells[kept], numbers[kept]
            if len(cells):
                strata = () if layout.stratum is None else strata_of(cells[:, places[layout.stratum]], is_text=False)
                values = _numbers(cells, [places[label] for label in layout.compared], numbers)
                yield Rows(first, values, strata, layout.names, None if self.chosen.are_all else numbers)
            first += len(cells)

    def _kept(self, cells: NDArray[Any], places: Places, layout: "_Layout") -> Flags:
        """Return which rows of a chunk are used."""
        kept = np.ones(len(cells), bool)
        if layout.kind is not None:
            kept &= self.chosen.of_kind(cells[:, places[layout.kind]])
        if self.chosen.skips:
            for label in layout.compared:
                kept &= ~are_missing(cells[:, places[label]], is_text=False)
        return kept

    def _layout(self, places: Places) -> "_Layout":
        """Return the columns to use, given those of the first chunk."""
        stratum = None if self.stratify is None else _label(self.stratify, places)
        kind = None if self.chosen.where is None else _label(self.chosen.where[0], places)
        asked = self.model_names if self.columns is None and _are_names(places) else self.columns
        if asked is None:
            return _Layout([label for label in places if label not in (stratum, kind)], stratum, kind, len(places))
        return _Layout([_label(column, places) for column in asked], stratum, kind, len(places))


@dataclass(frozen=True)
class _Layout:
    """The columns to compare, those of stratum and kind, and the `width` of the first chunk."""

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
            raise ValueError(f"row {first} (counted from 0) has {len(places)} columns, the rows before {self.width}")
        labels = [*self.compared, *(label for label in (self.stratum, self.kind) if label is not None)]
        absent = next((label for label in labels if label not in places), None)
        if absent is not None:
            known = f"it has {_listed(places)}" if _are_names(places) else "it has no names"
            raise ValueError(f"the chunk from row {first} (counted from 0) has no column {absent!r}; {known}")


def _are_names(labels: Iterable[Label]) -> bool:
    return isinstance(next(iter(labels), None), str)


def _listed(labels: Iterable[Label]) -> str:
    return listed(quoted(str(label)) for label in labels)


def _label(column: Any, places: Places) -> Label:
    """Return the label of a column that the user gave by name or number."""
    if isinstance(column, str) and column in places:
        return column
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(places):
        return list(places)[int(column)]
    known = f"known: {_listed(places)}" if _are_names(places) else (
        f"columns of arrays are numbers from 0 to {len(places) - 1}"
    )  # fmt: skip
    raise ValueError(f"there is no column {column!r}; {known}")


def _places(part: Any, width: int) -> Places:
    """Return the position of each column: by name if all names are text, as in scikit-learn, else by number."""
    labels = list(getattr(part, "column_names", getattr(part, "columns", ())))  # of Arrow tables or of frames
    named = [label for label in labels if isinstance(label, str)]
    if not named:
        return {k: k for k in range(width)}
    if len(named) < width:
        odd = next(label for label in labels if not isinstance(label, str))
        raise ValueError(f"the name of column {odd!r} is not text, other names are; rename it")
    places: dict[Label, int] = {name: k for k, name in enumerate(named)}
    if len(places) < width:
        twice = next(name for k, name in enumerate(named) if places[name] != k)
        raise ValueError(f"two columns have the name {quoted(twice)}; rename one")
    return places


def _cells(part: Any, first: int) -> NDArray[Any]:
    cells = np.asarray(part)
    if cells.ndim != 2:
        remedy = "pass rows as one array, or chunks of many rows each"
        raise ValueError(f"the chunk from row {first} has {cells.ndim} dimensions, not 2; {remedy}")
    return cells


def _numbers(cells: NDArray[Any], columns: Sequence[int], places: Indices) -> Matrix:
    """Return these columns as finite numbers, or raise a ValueError that names the first cell without one."""
    if cells.dtype.kind == "c":
        i, k = np.unravel_index(np.argmax(cells.imag != 0), cells.shape)
        found = f"{_cell_name(places[i], k)} holds {cells[i, k]}, a complex number"
        raise ValueError(f"{found}; pass real and imaginary parts as separate columns")
    try:
        with np.errstate(over="ignore"):  # numbers beyond doubles become infinite, and are reported below
            rows = np.ascontiguousarray(cells[:, columns], np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the chunk from row {places[0]} (counted from 0) holds no numbers: {error}") from None
    if not np.isfinite(rows).all():
        i, k = np.argwhere(~np.isfinite(rows))[0]
        found = f"{_cell_name(places[i], columns[k])} holds {rows[i, k]}, not a finite number"
        kind = GapError if np.isnan(rows[i, k]) else ValueError
        raise kind(f"{found}; correct it, or leave the row out")
    return rows


def _cell_name(row: Any, column: Any) -> str:
    return f"row {row}, column {column} (both counted from 0)"


def strata_of(cells: Iterable[Any], is_text: bool) -> list[str]:
    """Return the stratum of each cell: its text, and NO_VALUE for missing values.

    >>> strata_of([1.0, np.nan, None], is_text=False), strata_of(["day", " NA "], is_text=True)
    (['1.0', '', ''], ['day', ''])
    """
    return [_stratum(cell, is_text) for cell in (cells.tolist() if isinstance(cells, np.ndarray) else cells)]


def _stratum(cell: Any, is_text: bool) -> str:
    text = str(cell + 0.0 if isinstance(cell, float) else cell).strip()  # -0.0 is 0.0
    is_absent = not isinstance(cell, str) and text in PANDAS_MISSING
    return NO_VALUE if is_absent or is_missing(cell, is_text) else text


def length_of(array: Any) -> int:
    """Return the number of rows of an array or frame."""
    shape = array.shape
    if len(shape) != 2:
        raise ValueError(f"an array of rows has 2 dimensions, not {len(shape)}")
    if not isinstance(shape[0], int | np.integer):
        kind = f"{type(array).__module__.partition('.')[0]} {type(array).__name__}"
        remedy = "fit a sample, eocc.scale.cluster.sample(X, n), or pass a list of chunks of rows"
        raise ValueError(f"the length of this {kind} is not known; {remedy}")
    return int(shape[0])


def sliced(array: Any, step: int) -> Iterator[Any]:
    """Yield the rows of an array or frame, `step` at a time."""
    by_place = getattr(array, "iloc", array)  # slices of a frame itself go by its index
    return (by_place[start : start + step] for start in range(0, length_of(array), step))
