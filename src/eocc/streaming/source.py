"""A path, an array or chunks of rows -> rows, one part at a time, as often as needed."""

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eocc.classifiers.base import OneClassClassifier
from eocc.foundation.arguments import check_count
from eocc.foundation.printing import complaint, has_instead, quoted
from eocc.foundation.progress import track
from eocc.foundation.registry import choose
from eocc.foundation.types import Flags, Indices
from eocc.foundation.wording import counted
from eocc.io.files import Chunk, count_rows, guess_format, open_chunks
from eocc.io.files.objects import as_table, checked_objects
from eocc.io.files.source import STDIN, regular
from eocc.measures.schema import DataSchema
from eocc.tables import TableWarning
from eocc.tables.judge import BadCellError, Fault
from eocc.tables.matching import is_same, matched, used_rows
from eocc.tables.reading import Read, Reading, fit_reading
from eocc.tables.sources import column_of_array, table_of
from eocc.tables.spelling import Dialect
from eocc.tables.table import NUMBER, Table, join_tables

CHUNK_ROWS = 8192
# What happens to rows with a missing value, or a cell that cannot be read.
REFUSE, SKIP = "refuse", "skip"
# What errors call data that are in no file.
NO_FILE = "the source"


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows: `first` is the number of the first one among the rows used, `numbers` are those in the source."""

    first: int
    values: Any
    numbers: Indices


@dataclass(frozen=True, eq=False)
class Source:
    """The rows of `chunks()`, read by the `reading`, or objects as the `schema` says.

    `n_rows` is their number, if it is known before they are read. Only the `columns` are compared, by default all but
    those of `drop` and `where`; only rows whose column `where[0]` holds `where[1]` are used. `kinds` declares what
    columns hold. Rows with a missing value (`incomplete`) or a cell that cannot be read (`unreadable`) may be skipped.
    """

    chunks: Callable[[], Iterator[Chunk]]
    n_rows: int | None = None
    reading: Reading | None = None
    schema: DataSchema | None = None
    columns: Sequence[Any] | None = None
    drop: Sequence[Any] = ()
    where: tuple[Any, Any] | None = None
    incomplete: str = REFUSE
    unreadable: str = REFUSE
    kinds: Mapping[str, str] = field(default_factory=dict)
    allows_gaps: bool = False

    def rows(self) -> Iterator[Rows]:
        """Yield all rows from the first, one part at a time."""
        first, n_seen, source, bad = 0, 0, self, dict[str, str]()
        for chunk in self.chunks():
            if not len(chunk):
                continue
            if source.reading is None and self.schema is None:  # rows of numbers, in all columns
                source = replace(self, reading=reading_of(self, chunk, True)[0].for_numbers(True, "a stream"))
            kept = self._chosen(chunk)
            values, complete = source._values(chunk.some(kept), bad)
            numbers = n_seen + np.flatnonzero(kept)[complete]
            n_seen += len(chunk)
            if len(numbers):
                yield Rows(first, values, numbers)
            first += len(numbers)
        say_left_out(bad)

    def whole(self) -> tuple[Table, Indices]:
        """Return the chosen rows as one raw table, and their numbers in the source."""
        found, numbers, n_seen = list[Table](), list[Indices](), 0
        for chunk in self.chunks():
            kept = self._chosen(chunk) if len(chunk) else np.zeros(0, bool)
            if kept.any():
                found.append(self.table(chunk.some(kept)))
                numbers.append(n_seen + np.flatnonzero(kept))
            n_seen += len(chunk)
        if not found:
            raise ValueError(f"the source holds no rows{self.in_words()}; at least 1 is required")
        return join_tables(found), np.concatenate(numbers)

    def table(self, chunk: Chunk) -> Table:
        """Return the columns of a chunk that may be compared."""
        if chunk.table is None and self.reading is not None:
            chunk = as_table(chunk, len(self.reading.columns), self.reading.is_numbers, self.reading.describe())
        if chunk.table is None:
            raise complaint(chunk.where, None, "holds no table; fit_stream takes tables only")
        kinds = {_name(chunk, column): kind for column, kind in self.kinds.items()}
        names = chunk.table.names if self.columns is None else [_name(chunk, column) for column in self.columns]
        columns = (chunk.table.column(name).declare(kinds.get(str(name), "")) for name in names)
        return replace(chunk.table, columns=tuple(columns))

    def apart(self, chunk: Chunk) -> list[str]:
        """Return the columns of a chunk that are not compared."""
        return [_name(chunk, column) for column in (*self.drop, *(() if self.where is None else [self.where[0]]))]

    def in_words(self) -> str:
        """Return a phrase that says which rows are used."""
        kind = ""
        if self.where is not None:
            kind = f" with {self.where[0]} = {' or '.join(repr(one) for one in texts_of(self.where[1]))}"
        return kind + (" without missing values" if self.incomplete == SKIP else "")

    def _chosen(self, chunk: Chunk) -> Flags:
        if self.where is None:
            return np.ones(len(chunk), bool)
        return rows_with(chunk.columns[_name(chunk, self.where[0])].cells(), self.where[1])

    def _values(self, chunk: Chunk, bad: dict[str, str]) -> tuple[Any, Indices]:
        """Return the rows of a chunk as the classifier takes them, and which these are; add others to `bad`."""
        if self.reading is None and self.schema is not None:
            return checked_objects(chunk, self.schema), np.arange(len(chunk))
        assert self.reading is not None
        raw = self.table(chunk)
        try:
            table, _ = matched(raw, self.reading, chunk.is_named)
        except ValueError as error:
            raise complaint(chunk.where, None, str(error)) from None
        faults: list[Fault] | None = [] if self.unreadable == SKIP else None
        complete = np.arange(len(table))
        try:
            read = self.reading.table(table, faults)
            bad |= {f"{chunk.where}: {chunk.place(fault.row)}": str(fault) for fault in faults or ()}
            complete = used_rows(read, faults, self.incomplete == SKIP)
            return Read(self.reading.patterns(read[complete], self.allows_gaps)), complete
        except BadCellError as error:
            row = int(complete[error.fault.row]) if len(complete) > error.fault.row else error.fault.row
            raise error.placed(chunk.fault(row, str(error))) from None
        except ValueError as error:
            raise complaint(chunk.where, None, str(error)) from None


def say_left_out(bad: Mapping[str, str]) -> None:
    """Warn of rows with cells that cannot be read, given by their places, which are left out."""
    for place, why in list(bad.items())[:1]:
        rows = counted(len(bad), "row")
        warnings.warn(f"{rows} with cells that cannot be read left out ({place}: {why})", TableWarning, stacklevel=2)


def first_reading(source: Source, keeps_all: bool = False) -> tuple[Reading, bool]:
    """Return how the first rows of a source are read, and whether all columns hold numbers."""
    chunk = next((chunk for chunk in source.chunks() if len(chunk)), None)
    if chunk is None:
        raise ValueError(f"the source holds no rows{source.in_words()}; at least 1 is required")
    return reading_of(source, chunk, keeps_all)


def reading_of(source: Source, chunk: Chunk, keeps_all: bool) -> tuple[Reading, bool]:
    """Return how a chunk of a source is read, and whether all columns hold numbers."""
    table, apart = source.table(chunk), source.apart(chunk) if source.columns is None else []
    if {*table.names} <= {*apart}:
        raise complaint(chunk.where, None, "has no columns left to compare; pass columns")
    if not chunk.is_named and source.columns is None and not apart:
        table = replace(table, columns=tuple(column.rename(k) for k, column in enumerate(table.columns)))
    keeps_all = keeps_all or not chunk.is_named or source.columns is not None
    try:
        reading, _ = fit_reading(table, keeps_all, faults=[] if source.unreadable == SKIP else None, apart=apart)
    except BadCellError as error:
        raise error.placed(chunk.fault(error.fault.row, str(error))) from None
    return reading, all(column.kind in (NUMBER, "") for column in reading.columns)


def source_of(
    source: Any,
    chunk_rows: int = CHUNK_ROWS,
    where: tuple[Any, Any] | None = None,
    incomplete: str = REFUSE,
    dialect: Dialect | None = None,
    unreadable: str = REFUSE,
    **options: Any,
) -> Source:
    """Return the source of a path, an array or chunks of rows; `options` are other fields of Source.

    >>> [part.values.patterns.tolist() for part in source_of(np.arange(6).reshape(3, 2), chunk_rows=2).rows()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    check_count("chunk_rows", chunk_rows)
    choose("value of incomplete", dict.fromkeys((REFUSE, SKIP)), incomplete)
    choose("value of unreadable", dict.fromkeys((REFUSE, SKIP)), unreadable)
    if where is not None and not (isinstance(where, tuple) and len(where) == 2):
        raise ValueError(f"where must be a column and its value, for example ('state', 'good'), not {where!r}")
    n_rows: int | None = None
    given = source if isinstance(source, list) and source else [source]
    if all(isinstance(one, str | os.PathLike) for one in given):
        paths = [path for one in given for path in files_of(Path(one))]
        counts = [count_rows(path, guess_format(path)) for path in paths]
        n_rows = None if None in counts else sum(filter(None, counts))
        chunks: Callable[[], Iterator[Chunk]] = partial(_of_files, paths, dialect)
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        n_rows, chunks = _length(source), partial(_of_array, source, chunk_rows)
    elif isinstance(source, Iterable):
        chunks = partial(_of_parts, source)
    else:
        raise ValueError(f"a source is a path, an array or chunks of rows, not a {type(source).__name__}")
    n_rows = n_rows if where is None and incomplete == unreadable == REFUSE else None
    return Source(chunks, n_rows, where=where, incomplete=incomplete, unreadable=unreadable, **options)


def _of_files(paths: Sequence[Path], dialect: Dialect | None) -> Iterator[Chunk]:
    several = paths if len(paths) == 1 else track(f"reading {len(paths):,} files", paths)
    return (chunk for path in several for chunk in open_chunks(path, dialect=dialect))


def _of_array(array: Any, step: int) -> Iterator[Chunk]:
    by_place = getattr(array, "iloc", array)  # slices of a frame itself go by its index
    starts = track("reading rows", range(0, _length(array), step))
    return _of_parts(by_place[start : start + step] for start in starts)


def _of_parts(parts: Iterable[Any]) -> Iterator[Chunk]:
    """Yield arrays and frames as chunks; columns are found by name if all names are text, as in scikit-learn."""
    first = 0
    for part in parts:
        chunk = _chunk(part, first)
        yield chunk
        first += len(chunk)


def _chunk(part: Any, first: int) -> Chunk:
    labels = list(getattr(part, "column_names", getattr(part, "columns", ())))  # of Arrow tables or of frames
    is_named = any(isinstance(label, str) for label in labels)
    if is_named:
        odd = next((label for label in labels if not isinstance(label, str)), None)
        if odd is not None:
            raise ValueError(f"the name of column {odd!r} is not text, other names are; rename it")
        if not len(part):
            return Chunk(NO_FILE, first)
        return Chunk(NO_FILE, first, table_of(part))
    cells = np.asarray(part)
    if cells.ndim != 2:
        remedy = "pass rows as one array, or chunks of many rows each"
        raise ValueError(f"the chunk from row {first} has {cells.ndim} dimensions, not 2; {remedy}")
    if cells.dtype.kind == "c":
        raise ValueError("the source holds complex numbers; pass real and imaginary parts as separate columns")
    columns = tuple(column_of_array(str(k), column) for k, column in enumerate(cells.T))
    return Chunk(NO_FILE, first, Table(columns) if len(cells) else None, is_named=False)


def _length(array: Any) -> int:
    shape = array.shape
    if len(shape) != 2:
        raise ValueError(f"an array of rows has 2 dimensions, not {len(shape)}")
    if not isinstance(shape[0], int | np.integer):
        kind = f"{type(array).__module__.partition('.')[0]} {type(array).__name__}"
        remedy = "pass it to fit, or pass a list of chunks of rows"
        raise ValueError(f"the length of this {kind} is not known; {remedy}")
    return int(shape[0])


def _name(chunk: Chunk, column: Any) -> str:
    """Return the name of a column that the user gave by name or number."""
    names = list(chunk.columns)
    if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
        return str(names[int(column)])
    if column not in names:
        has = has_instead(str(column), names)
        raise complaint(chunk.where, None, f"has no column {quoted(str(column))}; {has}")
    return str(column)


def rows_with(cells: Iterable[Any], value: Any) -> Flags:
    """Return which cells hold the value, or one of a list of values: the same text, number or truth value."""
    wanted = texts_of(value)
    return np.array([any(is_same(cell, one) for one in wanted) for cell in cells], bool)


def texts_of(value: Any) -> list[str]:
    """Return a value, or each of a list of values, as text."""
    return [str(one) for one in (value if isinstance(value, list) else [value])]


def check_classifier(function: str, classifier: Any) -> None:
    """Raise a ValueError unless the first argument of the function is a classifier."""
    if not isinstance(classifier, OneClassClassifier):
        is_path = isinstance(classifier, str | os.PathLike)
        passed = repr(str(classifier)) if is_path else f"a {type(classifier).__name__}"
        wanted = f"the first argument of {function} is a classifier"
        raise ValueError(f"{wanted}, not {passed}; write {function}(clf, source, ...)")


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files of a folder sorted by name, without those that start with . or _."""
    if path == STDIN:
        raise ValueError("standard input cannot be read twice; pass a path")
    if not path.is_dir():
        regular(path)
        return [path]
    found = [inside for inside in sorted(path.rglob("*")) if inside.is_file()]
    found = [inside for inside in found if not any(part[0] in "._" for part in inside.relative_to(path).parts)]
    if not found:
        raise complaint(str(path), None, "holds no files")
    suffixes = sorted({inside.suffix.lower() for inside in found})
    if len(suffixes) > 1:
        kinds = ", ".join(map(quoted, suffixes))
        raise complaint(str(path), None, f"holds files of several kinds, {kinds}; keep one kind")
    return found
