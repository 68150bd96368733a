"""Patterns for commands: which file, which columns, which rows."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.cli.app import one_of, say
from eocc.foundation.printing import has_instead, quoted
from eocc.foundation.registry import MOST_LISTED, listed
from eocc.foundation.wording import counted
from eocc.io.files import (
    FORMATS,
    Chunk,
    Schema,
    guess_format,
    guess_schema,
    ignored_columns,
    open_chunks,
    schema_of_model,
)
from eocc.io.files.cells import complete_rows, is_same
from eocc.streaming import files_of, matrix_of
from eocc.streaming.chosen import REFUSE, SKIP, Chosen

Data = Annotated[
    Path,
    typer.Argument(
        help="CSV, TSV, Parquet, Arrow, .npy, JSON lines, JSON, text; a folder, zip or CXL index of GXL; "
        "- for standard input."
    ),
]
Model = Annotated[Path, typer.Argument(help="A model file, written by eocc fit.")]
InputFormat = Annotated[
    str, typer.Option(help="The format, where the suffix does not tell it.", callback=one_of("format", FORMATS))
]
Label = Annotated[str, typer.Option(help="The column (or, of a CXL index, 'class') that says what a pattern is.")]
Target = Annotated[str, typer.Option(help="Its value for targets.")]
SkipIncomplete = Annotated[
    bool, typer.Option("--skip-incomplete", help="Leave out rows that miss a value, and say how many.")
]
Drop = Annotated[str, typer.Option(help="Columns that do not count, with commas between them.")]

CLASS = "class"


@dataclass(frozen=True, eq=False)
class Read:
    """All patterns of a file, what they hold, and which are targets (all, where no label was named)."""

    patterns: Any
    schema: Schema
    is_target: np.ndarray[Any, Any]
    names: Sequence[str]

    def some(self, rows: Sequence[int]) -> Any:
        """Return the patterns of these rows."""
        is_matrix = isinstance(self.patterns, np.ndarray)
        return self.patterns[rows] if is_matrix else [self.patterns[row] for row in rows]


def read_all(
    path: Path, form: str, label: str, target: str, drop: str, measure: str | None, left_out: "Named | None" = None
) -> Read:
    """Read a file to train on, and say aloud what it holds.

    Rows that miss a value are left out and counted in `left_out`, where that is given.
    """
    kind = form or guess_format(path)
    apart = names_in(drop)
    chunks = list(open_chunks(path, kind))
    in_table = bool(chunks) and bool(chunks[0].columns)
    if apart and chunks and not in_table:
        raise ValueError(f"{path} has no columns; leave --drop out")
    apart += [label] if label and in_table else []
    if left_out is not None:
        chunks = [whole_rows(chunk, complete_rows(chunk, chunk.columns.keys() - apart), left_out) for chunk in chunks]
    schema = guess_schema(chunks, str(path), apart, measure)
    read = _read(chunks, schema, path, label, target)
    chosen = f", {int(read.is_target.sum())} with {label} = {target!r}" if label else ""
    say(f"{path} ({kind}): {counted(len(read.names), 'pattern')}{chosen}: {schema.describe()}.")
    say_remarks(schema)
    say_left_out(left_out)
    return read


def say_remarks(schema: Schema) -> None:
    """Say aloud what a user should know about a file's columns."""
    for remark in schema.remarks:
        say(f"Note: {remark}.")


def names_in(drop: str) -> list[str]:
    """Return the names that --drop lists.

    >>> names_in("id, colour,")
    ['id', 'colour']
    """
    return [name.strip() for name in drop.split(",") if name.strip()]


@dataclass(frozen=True)
class Stream:
    """A table too large to be read at once: the `columns` to compare, None for all, and the `chosen` rows."""

    path: Path
    sample: int
    columns: list[str | int] | None
    chosen: Chosen


def stream_of(path: Path, sample: int, drop: str, label: str, target: str, skip_incomplete: bool) -> Stream:
    """Return which rows and columns of a table to learn from."""
    by_number = guess_format(files_of(path)[0]) == "npy"
    labels = [label] if label else []
    columns = _columns_but(path, names_in(drop) + labels) if drop or labels else None
    where = (int(label) if by_number else label, target) if label else None
    return Stream(path, sample, columns, Chosen(where, SKIP if skip_incomplete else REFUSE))


def _columns_but(path: Path, dropped: Sequence[str]) -> list[str | int]:
    first = files_of(path)[0]
    kind = guess_format(first)
    chunk = next(iter(open_chunks(first, kind)), None)
    names = [] if chunk is None else list(chunk.columns)
    absent = next((name for name in dropped if name not in names), None)
    if absent is not None:
        raise ValueError(f"{first} has no column {absent!r}; {has_instead(absent, names)}")
    return [int(name) if kind == "npy" else name for name in names if name not in dropped]


def read_for(
    classifier: EntropicOneClassClassifier,
    path: Path,
    form: str,
    skip_incomplete: bool,
    label: str = "",
    target: str = "",
) -> Read:
    """Read a file to judge with a model; say aloud which rows were left out."""
    schema, left_out = schema_of_model(classifier), Named()
    chunks = [chunk for chunk in open_chunks(path, form or None) if len(chunk)]
    if skip_incomplete:
        chunks = [whole_rows(chunk, schema.complete(chunk), left_out) for chunk in chunks]
    if not sum(map(len, chunks)):
        raise ValueError(f"{path} holds no {'complete ' if left_out.count else ''}patterns; at least 1 is required")
    say_left_out(left_out)
    return _read(chunks, schema, path, label, target)


def check_label(label: str, target: str) -> None:
    """Refuse the command unless both or neither of --label and --target are given."""
    if target and not label:
        raise typer.BadParameter("--target needs --label, the column that holds it")
    if label and not target:
        raise typer.BadParameter(f"--label {label} needs --target, its value for targets")


def _read(chunks: Sequence[Chunk], schema: Schema, path: Path, label: str, target: str) -> Read:
    filled = [chunk for chunk in chunks if len(chunk)]
    parts = [matrix_of(schema, chunk) for chunk in filled]
    whole = np.concatenate(parts) if schema.kind == "numbers" else [pattern for part in parts for pattern in part]
    is_target = np.ones(len(whole), bool)
    if label:
        labels = [cell for chunk in filled for cell in labels_of(chunk, path, label)]
        is_target = np.array([is_same(cell, target) for cell in labels])
        if not is_target.any():
            found = listed(map(quoted, sorted({str(cell) for cell in labels})))
            raise ValueError(f"{path} has no pattern with {label} = {target!r}; its values are {found}")
    return Read(whole, schema, is_target, [name for chunk in filled for name in names_of(chunk)])


def labels_of(chunk: Chunk, path: Path, label: str) -> Sequence[Any]:
    """Return what the label's column, or the index of graphs, says of each pattern of a chunk."""
    if label in chunk.columns:
        return chunk.columns[label]
    if chunk.labels and label == CLASS:
        return chunk.labels
    known = list(chunk.columns) or ([CLASS] if chunk.labels else [])
    has = has_instead(label, known) if known else "only tables and CXL indices have labels"
    raise ValueError(f"{path} has no column {label!r}; {has}")


def names_of(chunk: Chunk) -> list[str]:
    """Return what to call the patterns: their files, or their numbers from 0, as in Python."""
    return list(chunk.names) or [str(chunk.first + index) for index in range(len(chunk))]


class Named:
    """Patterns to tell of: how many there are, and the names of the first."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, names: Sequence[str]) -> None:
        """Count some more."""
        self.count += len(names)
        self.first += names[: MOST_LISTED - len(self.first)]

    def __str__(self) -> str:
        """Return the names of the first, and how many more there are."""
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")


def stream_for(
    classifier: EntropicOneClassClassifier, path: Path, form: str, left_out: Named | None = None
) -> Iterator[tuple[list[str], Any]]:
    """Yield (names, patterns) of a file, a chunk at a time; say aloud what the first is taken for.

    Rows that miss a value are left out and counted in `left_out`; where that is None, those of numbers are refused.
    """
    schema, kind = schema_of_model(classifier), form or guess_format(path)
    is_first = True
    for chunk in open_chunks(path, kind):
        kept = chunk if left_out is None else whole_rows(chunk, schema.complete(chunk), left_out)
        if len(kept):
            patterns = matrix_of(schema, kept)
            if is_first:
                _tell(schema, kept, f"{path} ({kind})")
            is_first = False
            yield names_of(kept), patterns
    if is_first:
        of_what = "complete patterns" if left_out is not None and left_out.count else "patterns"
        raise ValueError(f"{path} holds no {of_what}; at least 1 is required")


def say_left_out(left_out: Named | None) -> None:
    """Say aloud which rows were left out, if any were."""
    if left_out is not None and left_out.count:
        say(f"Note: {counted(left_out.count, 'row')} left out, for values that are missing: pattern {left_out}.")


def whole_rows(chunk: Chunk, kept: NDArray[np.bool_], left_out: Named) -> Chunk:
    """Return the rows to keep, which miss no value, and count the others."""
    if not kept.all():
        left_out.add(list(compress(names_of(chunk), ~kept)))
    return chunk.some(kept)


def _tell(schema: Schema, chunk: Chunk, name: str) -> None:
    ignored = listed(map(ascii, ignored_columns(schema, chunk)))
    say(f"{name}: {schema.describe()}" + (f"; not in the model, so ignored: {ignored}." if ignored else "."))


@contextmanager
def without_names() -> Iterator[None]:
    """Let arrays whose columns were matched by name already pass without scikit-learn's doubts about names."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield
