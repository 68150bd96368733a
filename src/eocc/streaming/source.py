"""A path, an array on disk or chunks of rows -> rows, one part at a time, as often as needed."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from eocc.classifiers.base import OneClassClassifier
from eocc.foundation.arguments import check_count
from eocc.foundation.printing import complaint, has_instead, quoted
from eocc.foundation.types import Flags
from eocc.io.files import Chunk, Schema, count_rows, guess_format, open_chunks
from eocc.io.files.arrays import mapped
from eocc.io.files.cells import NUMBER
from eocc.io.files.source import STDIN, check_regular
from eocc.streaming.arrays import Arrays, Rows, length_of, sliced, strata_of
from eocc.streaming.chosen import EVERY_ROW, Chosen

CHUNK_ROWS = 8192


class Source(Protocol):
    """Rows that can be read more than once."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if it is known before they are read."""
        ...

    @property
    def has_strata(self) -> bool:
        """Whether each row has a stratum."""
        ...

    def rows(self) -> Iterator[Rows]:
        """Yield all rows from the first, one part at a time."""
        ...


def source_of(
    source: Any,
    columns: Sequence[Any] | None = None,
    stratify: Any = None,
    chunk_rows: int = CHUNK_ROWS,
    schema: Schema | None = None,
    model_names: Sequence[str] | None = None,
    chosen: Chosen = EVERY_ROW,
) -> Source:
    """Return the source of a path, an array or chunks of rows. Tables are read by the `schema`, as numbers without one.

    >>> [part.values.tolist() for part in source_of(np.arange(6).reshape(3, 2), chunk_rows=2).rows()]
    [[[0.0, 1.0], [2.0, 3.0]], [[4.0, 5.0]]]
    """
    check_count("chunk_rows", chunk_rows)
    asked = {"columns": columns, "stratify": stratify, "model_names": model_names, "chosen": chosen}
    if isinstance(source, str | os.PathLike):
        paths = files_of(Path(source))
        if holds_tables(paths):
            apart = [] if chosen.where is None else [chosen.where[0]]
            apart += [] if stratify is None else [stratify]
            return _Tables(paths, _schema(paths, columns, apart) if schema is None else schema, stratify, chosen)
        return _of_arrays([mapped(path) for path in paths], chunk_rows, asked)
    if hasattr(source, "shape") and hasattr(source, "__getitem__"):
        return _of_arrays([source], chunk_rows, asked)
    if not isinstance(source, Iterable):
        raise ValueError(f"a source is a path, an array or chunks of rows, not a {type(source).__name__}")
    if isinstance(source, Iterator):
        raise ValueError("an iterator can be read only once; pass a list, or an object whose __iter__ starts again")
    return Arrays(lambda: iter(source), **asked)


def _of_arrays(arrays: Sequence[Any], step: int, asked: dict[str, Any]) -> Arrays:
    n_rows = sum(map(length_of, arrays)) if asked["chosen"].are_all else None
    return Arrays(lambda: (part for array in arrays for part in sliced(array, step)), n_rows=n_rows, **asked)


def check_classifier(function: str, classifier: Any) -> None:
    """Raise a ValueError unless the first argument is a classifier.

    >>> check_classifier("fit_stream", "big.npy")
    Traceback (most recent call last):
    ...
    ValueError: the first argument of fit_stream is a classifier, not 'big.npy'; write fit_stream(clf, source, ...)
    """
    if not isinstance(classifier, OneClassClassifier):
        is_path = isinstance(classifier, str | os.PathLike)
        passed = repr(str(classifier)) if is_path else f"a {type(classifier).__name__}"
        order = f"write {function}(clf, source, ...)"
        raise ValueError(f"the first argument of {function} is a classifier, not {passed}; {order}")


def files_of(path: Path) -> list[Path]:
    """Return the file, or the files of a folder sorted by name, without those that start with . or _.

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
        raise complaint(str(path), None, "holds no files")
    suffixes = sorted({inside.suffix.lower() for inside in found})
    if len(suffixes) > 1:
        raise complaint(
            str(path), None, f"holds files of several kinds, {', '.join(map(quoted, suffixes))}; keep one kind"
        )
    return found


@dataclass(frozen=True, eq=False)
class _Tables:
    """The rows of table files, one file after the other."""

    paths: Sequence[Path]
    schema: Schema
    stratify: str | None
    chosen: Chosen

    @property
    def n_rows(self) -> int | None:
        if not self.chosen.are_all:
            return None
        counts = [count_rows(path, guess_format(path)) for path in self.paths]
        return None if None in counts else sum(filter(None, counts))

    @property
    def has_strata(self) -> bool:
        return self.stratify is not None

    def rows(self) -> Iterator[Rows]:
        first, n_seen, names = 0, 0, self.schema.names if self.schema.is_named else None
        for chunk in _filled(self.paths):
            kept = np.ones(len(chunk), bool) if self.chosen.are_all else self._kept(chunk)
            some, numbers = chunk.some(kept), None if self.chosen.are_all else n_seen + np.flatnonzero(kept)
            n_seen += len(chunk)
            if len(some):
                kinds = () if self.stratify is None else strata_of(_column(some, self.stratify), some.is_text)
                yield Rows(first, matrix_of(self.schema, some), kinds, names, numbers)
            first += len(some)

    def _kept(self, chunk: Chunk) -> Flags:
        """Return which rows of a chunk are used."""
        kept = np.ones(len(chunk), bool)
        if self.chosen.where is not None:
            kept &= self.chosen.of_kind(_column(chunk, self.chosen.where[0]))
        return kept & self.schema.complete(chunk) if self.chosen.skips else kept


def holds_tables(paths: Sequence[Path]) -> bool:
    """Return whether files are read in chunks; .npy files are mapped into memory instead."""
    return guess_format(paths[0]) != "npy"


def _filled(paths: Sequence[Path]) -> Iterator[Chunk]:
    """Yield the chunks that are not empty."""
    return (chunk for path in paths for chunk in open_chunks(path, guess_format(path)) if len(chunk))


def _schema(paths: Sequence[Path], columns: Sequence[Any] | None, apart: Sequence[Any]) -> Schema:
    """Return the schema of rows of numbers: the columns given, or all columns of the first chunk but those `apart`."""
    chunk = next(_filled(paths), None)
    if chunk is None:
        raise complaint(str(paths[0]), None, "holds no rows; at least 1 is required")
    if not chunk.columns:
        raise complaint(chunk.where, None, "holds no table; fit_stream takes rows of numbers only")
    names = [name for name in chunk.columns if name not in apart] if columns is None else columns
    if not names:
        raise complaint(chunk.where, None, "has no columns left to compare; pass columns")
    return Schema("numbers", tuple((name, NUMBER) for name in names))


def _column(chunk: Chunk, name: str) -> Sequence[Any]:
    """Return the cells of the column of strata or kinds."""
    if name not in chunk.columns:
        has = has_instead(str(name), chunk.columns)
        raise complaint(chunk.where, None, f"has no column {quoted(str(name))}; {has}")
    return chunk.columns[name]


def matrix_of(schema: Schema, chunk: Chunk) -> Any:
    """Return the chunk as patterns: at once if all columns are arrays of finite numbers, else cell by cell.

    >>> numbers = Schema("numbers", (("x", NUMBER), ("y", NUMBER)))
    >>> matrix_of(numbers, Chunk("a.parquet", 0, {"y": np.array([3, 4]), "x": np.array([1.0, 2.0])}))
    array([[1., 3.],
           [2., 4.]])
    """
    is_plain = schema.kind == "numbers" and bool(chunk.columns)
    cells = [chunk.columns[name] for name in schema.found(chunk)] if is_plain else []
    if is_plain and all(isinstance(column, np.ndarray) for column in cells):
        rows = np.empty((len(chunk), len(cells)))
        for k, column in enumerate(cells):
            rows[:, k] = column
        if np.isfinite(rows).all():
            return rows
    return schema.patterns(chunk)
