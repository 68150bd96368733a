"""A path, an array or chunks of rows -> rows, one part at a time, as often as needed."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
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
from eocc.io.files import Chunk, Schema, count_rows, guess_format, guess_schema, open_chunks
from eocc.io.files.cells import NUMBER, code_in, is_same
from eocc.io.files.dialect import Dialect
from eocc.io.files.formats import FOUND
from eocc.io.files.source import STDIN, check_regular

CHUNK_ROWS = 8192
# What happens to rows with a missing value.
REFUSE, SKIP = "refuse", "skip"
# What errors call data that are in no file.
NO_FILE = "the source"


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows: `first` is the number of the first one among the rows used, `numbers` are those in the source.

    `names` are those of the columns, if they have any.
    """

    first: int
    values: Any
    numbers: Indices
    names: Sequence[str] | None


@dataclass(frozen=True, eq=False)
class Source:
    """The rows of `chunks()`, read by the `schema`, or as numbers in the `columns` of the first chunk.

    `n_rows` is their number, if it is known before they are read. Only rows whose column `where[0]` holds `where[1]`
    are used.
    """

    chunks: Callable[[], Iterator[Chunk]]
    n_rows: int | None = None
    schema: Schema | None = None
    columns: Sequence[Any] | None = None
    where: tuple[Any, Any] | None = None
    incomplete: str = REFUSE

    def rows(self) -> Iterator[Rows]:
        """Yield all rows from the first, one part at a time."""
        first, n_seen, schema = 0, 0, self.schema
        for chunk in self.chunks():
            if not len(chunk):
                continue
            schema = self._schema(chunk) if schema is None else schema
            kept = self._kept(chunk, schema)
            some, numbers = chunk.some(kept), n_seen + np.flatnonzero(kept)
            n_seen += len(chunk)
            if len(some):
                names = schema.names if schema.is_named and chunk.is_named else None
                yield Rows(first, schema.patterns(some), numbers, names)
            first += len(some)

    def in_words(self) -> str:
        """Return a phrase that says which rows are used."""
        kind = ""
        if self.where is not None:
            kind = f" with {self.where[0]} = {' or '.join(repr(one) for one in texts_of(self.where[1]))}"
        return kind + (" without missing values" if self.incomplete == SKIP else "")

    def _kept(self, chunk: Chunk, schema: Schema) -> Flags:
        kept = np.ones(len(chunk), bool)
        if self.where is not None:
            kept &= rows_with(chunk.columns[_name(chunk, self.where[0])], self.where[1])
        return kept & schema.complete(chunk) if self.incomplete == SKIP else kept

    def _schema(self, chunk: Chunk) -> Schema:
        """Return the schema of rows of numbers, by default in all columns but that of `where`."""
        if not chunk.columns:
            raise complaint(chunk.where, None, "holds no table; fit_stream takes rows of numbers only")
        apart = None if self.where is None else _name(chunk, self.where[0])
        names = [name for name in chunk.columns if name != apart]
        if self.columns is not None:
            names = [_name(chunk, column) for column in self.columns]
        if not names:
            raise complaint(chunk.where, None, "has no columns left to compare; pass columns")
        is_named = chunk.is_named or names != list(chunk.columns)  # all columns without names are found by their order
        return Schema("numbers", tuple((name, NUMBER) for name in names), is_named)


def first_schema(source: Source, apart: Iterable[str], keeps_names: bool = False) -> Schema:
    """Return what the first rows show: the columns that are not compared, also `apart`, and how text is written.

    Raise if a column holds codes such as 01067: a stream holds numbers only.
    """
    chunk = next((chunk for chunk in source.chunks() if len(chunk)), None)
    names = {_name(chunk, column) for column in apart if chunk is not None and chunk.columns}
    if chunk is None or not (names or chunk.is_named):
        return Schema("numbers")  # what may be wrong with the source, a fit says
    schema = guess_schema([chunk], chunk.where, names, keeps_names=keeps_names)
    for name in schema.names:
        if code := code_in([chunk], name):
            why = f"{quoted(str(chunk.columns[name][code[1]]).strip())} begins with 0, so it is no number"
            raise chunk.fault(code[1], f"column {quoted(name)}: {why}; drop the column, or read the file at once")
    return schema


def source_of(
    source: Any,
    chunk_rows: int = CHUNK_ROWS,
    where: tuple[Any, Any] | None = None,
    incomplete: str = REFUSE,
    dialect: Dialect = FOUND,
    **options: Any,
) -> Source:
    """Return the source of a path, an array or chunks of rows; `options` are other fields of Source.

    >>> [part.values.tolist() for part in source_of(np.arange(6).reshape(3, 2), chunk_rows=2).rows()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    check_count("chunk_rows", chunk_rows)
    choose("value of incomplete", dict.fromkeys((REFUSE, SKIP)), incomplete)
    if where is not None and not (isinstance(where, tuple) and len(where) == 2):
        raise ValueError(f"where must be a column and its value, for example ('state', 'good'), not {where!r}")
    n_rows: int | None = None
    if isinstance(source, str | os.PathLike):
        paths = files_of(Path(source))
        counts = [count_rows(path, guess_format(path)) for path in paths]
        n_rows = None if None in counts else sum(filter(None, counts))
        chunks: Callable[[], Iterator[Chunk]] = partial(_of_files, paths, dialect)
    elif hasattr(source, "shape") and hasattr(source, "__getitem__"):
        n_rows, chunks = _length(source), partial(_of_array, source, chunk_rows)
    elif isinstance(source, Iterable):
        chunks = partial(_of_parts, source)
    else:
        raise ValueError(f"a source is a path, an array or chunks of rows, not a {type(source).__name__}")
    n_rows = n_rows if where is None and incomplete == REFUSE else None
    return Source(chunks, n_rows, where=where, incomplete=incomplete, **options)


def _of_files(paths: Sequence[Path], dialect: Dialect) -> Iterator[Chunk]:
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
        twice = next((label for k, label in enumerate(labels) if label in labels[:k]), None)
        if twice is not None:
            raise ValueError(f"two columns have the name {quoted(twice)}; rename one")
        columns = {label: part[label] for label in labels}
    else:
        cells = np.asarray(part)
        if cells.ndim != 2:
            remedy = "pass rows as one array, or chunks of many rows each"
            raise ValueError(f"the chunk from row {first} has {cells.ndim} dimensions, not 2; {remedy}")
        columns = {str(k): column for k, column in enumerate(cells.T)}
    return Chunk(NO_FILE, first, {name: _cells(column) for name, column in columns.items()}, is_named=is_named)


def _cells(column: Any) -> Any:
    cells = np.asarray(column)
    if cells.dtype.kind == "c":
        raise ValueError("the source holds complex numbers; pass real and imaginary parts as separate columns")
    with np.errstate(over="ignore"):  # numbers beyond doubles become infinite, and are refused later
        return cells.astype(np.float64) if cells.dtype.kind in "biuf" else np.asarray(column, object).tolist()


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
        return names[int(column)]
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
        check_regular(path)
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
