"""A path, an array on disk or chunks of rows -> rows, a part at a time, as often as wanted."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.arguments import check_count
from eocc.datasets.archive import complaint, quoted
from eocc.files import Chunk, Schema, guess_format, open_chunks
from eocc.files.cells import NUMBER
from eocc.files.source import STDIN, check_regular

Matrix = NDArray[np.float64]

CHUNK_ROWS = 8192


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows `first`, `first` + 1, ... of a source; `strata` says what each is of, where that was asked."""

    first: int
    values: Any
    strata: Sequence[str] = ()


class Source(Protocol):
    """Rows that can be read again and again."""

    @property
    def names(self) -> Sequence[str] | None:
        """The columns' names, which tables know."""
        ...

    @property
    def has_strata(self) -> bool:
        """Whether rows are told by strata."""
        ...

    def rows(self) -> Iterator[Rows]:
        """Yield all rows, a part at a time, from the first."""
        ...


def source_of(
    source: Any,
    columns: Sequence[Any] | None = None,
    stratify: Any = None,
    chunk_rows: int = CHUNK_ROWS,
    schema: Schema | None = None,
) -> Source:
    """Return what reads a path, an array or chunks of rows; of tables what the `schema` asks for, numbers if none.

    >>> [part.values.tolist() for part in source_of(np.arange(6).reshape(3, 2), chunk_rows=2).rows()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    check_count("chunk_rows", chunk_rows)
    if isinstance(source, str | os.PathLike):
        paths = files_of(Path(source))
        if paths[0].suffix.lower() != ".npy":
            return _Tables(paths, _schema(paths, columns, stratify) if schema is None else schema, stratify)
        arrays = [_mapped(path) for path in paths]
        return _Arrays(lambda: (part for array in arrays for part in _slices(array, chunk_rows)), columns, stratify)
    if hasattr(source, "shape") and hasattr(source, "__getitem__"):
        return _Arrays(lambda: _slices(source, chunk_rows), columns, stratify)
    if not isinstance(source, Iterable):
        raise ValueError(f"a source is a path, an array or chunks of rows, not a {type(source).__name__}")
    if isinstance(source, Iterator):
        raise ValueError("an iterator can be read once only; pass a list, or an object whose __iter__ starts anew")
    return _Arrays(lambda: iter(source), columns, stratify)


def files_of(path: Path) -> list[Path]:
    """Return the file, or those of a folder in the order of their names; hidden ones and _marks do not count.

    >>> Path("day1.csv").touch()
    >>> files_of(Path("day1.csv"))[0].name
    'day1.csv'
    """
    if path == STDIN:
        raise ValueError("standard input cannot be read twice; pass a path")
    if not path.is_dir():
        check_regular(path)
        return [path]
    found = [inside for inside in sorted(path.rglob("*")) if inside.is_file()]
    found = [inside for inside in found if not any(part[0] in "._" for part in inside.relative_to(path).parts)]
    if not found:
        raise complaint(str(path), None, "holds no files; at least 1 is required")
    suffixes = sorted({inside.suffix.lower() for inside in found})
    if len(suffixes) > 1:
        raise complaint(str(path), None, f"holds files of several kinds, {', '.join(map(quoted, suffixes))}; keep one")
    return found


def _mapped(path: Path) -> Any:
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        said = (str(error).splitlines() or [""])[0]
        raise complaint(str(path), None, f"cannot be read: {said}; is it an array that numpy saved?") from None


def _slices(array: Any, step: int) -> Iterator[Any]:
    shape = array.shape
    if len(shape) != 2:
        raise ValueError(f"an array of rows has 2 dimensions, not {len(shape)}")
    for start in range(0, shape[0], step):
        yield array[start : start + step]


@dataclass(frozen=True, eq=False)
class _Arrays:
    """Chunks of rows from `parts`, which can be called again; columns are told by their numbers."""

    parts: Callable[[], Iterator[Any]]
    columns: Sequence[int] | None
    stratify: int | None
    names: Sequence[str] | None = None

    @property
    def has_strata(self) -> bool:
        return self.stratify is not None

    def rows(self) -> Iterator[Rows]:
        first, width = 0, -1
        for part in self.parts():
            whole = _numbers(part, first)
            if width not in (-1, whole.shape[1]):
                raise ValueError(f"row {first} (the first is 0) has {whole.shape[1]} columns, those before {width}")
            width = whole.shape[1]
            if len(whole):
                kinds = () if self.stratify is None else list(map(str, whole[:, self._known(self.stratify, width)]))
                yield Rows(first, _finite(whole, self._compared(width), first), kinds)
            first += len(whole)

    def _compared(self, width: int) -> list[int]:
        if self.columns is None:
            return [k for k in range(width) if k != self.stratify]
        return [self._known(k, width) for k in self.columns]

    @staticmethod
    def _known(column: Any, width: int) -> int:
        if isinstance(column, bool) or not isinstance(column, int | np.integer) or not 0 <= column < width:
            raise ValueError(f"there is no column {column!r}; columns of arrays are numbers from 0 to {width - 1}")
        return int(column)


def _numbers(part: Any, first: int) -> Matrix:
    try:
        whole = np.asarray(part, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the chunk from row {first} (the first is 0) holds no numbers: {error}") from None
    if whole.ndim != 2:
        raise ValueError(f"a chunk of rows has 2 dimensions; the one from row {first} on has {whole.ndim}")
    return whole


def _finite(whole: Matrix, columns: Sequence[int], first: int) -> Matrix:
    """Return these columns, or say which cell is no finite number."""
    rows = np.ascontiguousarray(whole[:, columns])
    if not np.isfinite(rows).all():
        i, k = np.argwhere(~np.isfinite(rows))[0]
        said = f"row {first + i}, column {columns[k]} (both counted from 0) holds {rows[i, k]}, no finite number"
        raise ValueError(f"{said}; correct it, or leave the row out")
    return rows


@dataclass(frozen=True, eq=False)
class _Tables:
    """The rows of files, one after the other."""

    paths: Sequence[Path]
    schema: Schema
    stratify: str | None

    @property
    def names(self) -> Sequence[str] | None:
        return self.schema.names if self.schema.is_named else None

    @property
    def has_strata(self) -> bool:
        return self.stratify is not None

    def rows(self) -> Iterator[Rows]:
        first = 0
        for chunk in _filled(self.paths):
            kinds = () if self.stratify is None else _kinds(chunk, self.stratify)
            yield Rows(first, matrix_of(self.schema, chunk), kinds)
            first += len(chunk)


def _filled(paths: Sequence[Path]) -> Iterator[Chunk]:
    """Yield the chunks that hold anything."""
    return (chunk for path in paths for chunk in open_chunks(path, guess_format(path)) if len(chunk))


def _schema(paths: Sequence[Path], columns: Sequence[Any] | None, stratify: Any) -> Schema:
    """Return rows of numbers in the columns named, or in all that the first chunk has but the one of the strata."""
    chunk = next(_filled(paths), None)
    if chunk is None:
        raise complaint(str(paths[0]), None, "holds no rows; at least 1 is required")
    if not chunk.columns:
        raise complaint(chunk.where, None, "holds no table; only rows of numbers can be learnt from a part at a time")
    names = [name for name in chunk.columns if name != stratify] if columns is None else columns
    if not names:
        raise complaint(chunk.where, None, "has no columns left to compare; name some in columns")
    return Schema("numbers", tuple((name, NUMBER) for name in names))


def _kinds(chunk: Chunk, name: str) -> list[str]:
    if name not in chunk.columns:
        raise complaint(chunk.where, None, f"has no column {quoted(str(name))} to stratify by")
    cells = chunk.columns[name]
    return [str(cell).strip() for cell in (cells.tolist() if isinstance(cells, np.ndarray) else cells)]


def matrix_of(schema: Schema, chunk: Chunk) -> Any:
    """Return the chunk as patterns: where all columns are arrays of finite numbers at once, else cell by cell.

    >>> numbers = Schema("numbers", (("x", NUMBER), ("y", NUMBER)))
    >>> matrix_of(numbers, Chunk("a.parquet", 0, {"y": np.array([3, 4]), "x": np.array([1.0, 2.0])}))
    array([[1., 3.],
           [2., 4.]])
    """
    names = schema.names if schema.is_named else list(chunk.columns)
    cells = [chunk.columns.get(name) for name in names]
    is_plain = schema.kind == "numbers" and len(names) == len(schema.columns)
    if is_plain and all(isinstance(column, np.ndarray) for column in cells):
        rows = np.empty((len(chunk), len(names)))
        for k, column in enumerate(cells):
            rows[:, k] = column
        if np.isfinite(rows).all():
            return rows
    return schema.patterns(chunk)
