"""The rows of a file for the commands: which columns, which rows, and what the user should know about them."""

import shlex
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from eocc.cli.app import say
from eocc.cli.options import names_in
from eocc.foundation.printing import has_instead, quoted
from eocc.foundation.registry import MOST_LISTED, listed
from eocc.foundation.types import Flags
from eocc.foundation.wording import counted
from eocc.io.files import Chunk, Schema, guess_format, guess_schema, open_chunks, schema_of_model
from eocc.io.files.cells import complete_rows, is_same

CLASS = "class"
# A note says that the rows are those the model was trained on if more than this share of them are.
MANY_KNOWN = 0.2
MOST_COMPARED = 1000


@dataclass(frozen=True)
class Columns:
    """The columns that --drop, --label, --target and --outliers name."""

    drop: str = ""
    label: str = ""
    target: str = ""
    outliers: str = ""

    @property
    def apart(self) -> list[str]:
        """The columns that are not compared."""
        return [*names_in(self.drop), *([self.label] if self.label else [])]

    def normal(self, labels: Sequence[Any], path: Path) -> Flags:
        """Return which labels are those of normal rows."""
        found = np.array([is_same(cell, self.target) for cell in labels], bool)
        if not found.any():
            values = listed(map(quoted, sorted({str(cell) for cell in labels})))
            raise ValueError(f"{path} has no row with {self.label} = {self.target!r}; its values are {values}")
        return found

    def outlying(self, labels: Sequence[Any], path: Path) -> Flags:
        """Return which labels are those of known outliers."""
        known = np.zeros(len(labels), bool)
        for value in names_in(self.outliers):
            found = np.array([is_same(cell, value) for cell in labels], bool)
            if not found.any():
                raise ValueError(f"{path} has no row with {self.label} = {value!r}, which --outliers names")
            known |= found
        return known


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a file, their schema and names, and which are normal and which are known outliers."""

    patterns: Any
    schema: Schema
    names: Sequence[str]
    is_normal: Flags
    is_outlier: Flags

    @property
    def signs(self) -> Any:
        """The labels as numbers: +1 for normal rows, -1 for all others."""
        return np.where(self.is_normal, 1, -1)

    def some(self, rows: Sequence[int]) -> Any:
        """Return some of the rows."""
        is_matrix = isinstance(self.patterns, np.ndarray)
        return self.patterns[rows] if is_matrix else [self.patterns[row] for row in rows]


def read_training(path: Path, form: str | None, columns: Columns, measure: str | None, skips: bool) -> Rows:
    """Read a file to learn from, and print what it holds."""
    form = form or guess_format(path)
    chunks, skipped = list(open_chunks(path, form)), Skipped()
    is_table = bool(chunks) and bool(chunks[0].columns)
    if columns.drop and chunks and not is_table:
        raise ValueError(f"{path} has no columns; leave --drop out")
    apart = columns.apart if is_table else []
    if skips:
        chunks = [skipped.complete(chunk, complete_rows(chunk, chunk.columns.keys() - apart)) for chunk in chunks]
    schema = guess_schema(chunks, str(path), apart, measure)
    rows = _rows(chunks, schema, path, columns)
    chosen = f", {int(rows.is_normal.sum())} with {columns.label} = {columns.target!r}" if columns.label else ""
    say(f"{path} ({form}): {counted(len(rows.names), 'row')}{chosen}: {schema.describe()}.")
    for remark in schema.remarks:
        say(f"Note: {remark}.")
    skipped.say()
    _say_odd_columns(rows)
    return rows


def read_for(classifier: Any, path: Path, form: str | None, skips: bool, columns: Columns = Columns()) -> Rows:  # noqa: B008
    """Read a file to score with a model."""
    schema, skipped = schema_of_model(classifier), Skipped()
    chunks = [chunk for chunk in open_chunks(path, form) if len(chunk)]
    if skips:
        chunks = [skipped.complete(chunk, schema.complete(chunk)) for chunk in chunks]
    if not sum(map(len, chunks)):
        raise skipped.no_rows(path)
    skipped.say()
    return _rows(chunks, schema, path, columns)


def stream_for(
    classifier: Any, path: Path, form: str | None, skips: bool, skipped: "Skipped"
) -> Iterator[tuple[list[str], Any]]:
    """Yield (names, rows) of a file to score, one chunk at a time, and print what the first chunk holds."""
    schema, form = schema_of_model(classifier), form or guess_format(path)
    is_first = True
    for chunk in open_chunks(path, form):
        kept = skipped.complete(chunk, schema.complete(chunk)) if skips else chunk
        if not len(kept):
            continue
        patterns = schema.patterns(kept)
        if is_first:
            ignored = listed(map(ascii, schema.ignored(kept)))
            say(
                f"{path} ({form}): {schema.describe()}"
                + (f"; not in the model, ignored: {ignored}." if ignored else ".")
            )
        is_first = False
        yield kept.row_names, patterns
    if is_first:
        raise skipped.no_rows(path)


def _rows(chunks: Sequence[Chunk], schema: Schema, path: Path, columns: Columns) -> Rows:
    filled = [chunk for chunk in chunks if len(chunk)]
    parts = [schema.patterns(chunk) for chunk in filled]
    patterns = np.concatenate(parts) if schema.kind == "numbers" else [one for part in parts for one in part]
    is_normal, is_outlier = np.ones(len(patterns), bool), np.zeros(len(patterns), bool)
    if columns.label:
        labels = [cell for chunk in filled for cell in labels_of(chunk, path, columns.label)]
        is_normal, is_outlier = columns.normal(labels, path), columns.outlying(labels, path)
    return Rows(patterns, schema, [name for chunk in filled for name in chunk.row_names], is_normal, is_outlier)


def labels_of(chunk: Chunk, path: Path, label: str) -> Sequence[Any]:
    """Return the labels of a chunk: a column of a table, or the classes of a CXL index."""
    if label in chunk.columns:
        return chunk.columns[label]
    if chunk.labels and label == CLASS:
        return chunk.labels
    known = list(chunk.columns) or ([CLASS] if chunk.labels else [])
    has = has_instead(label, known) if known else "only tables and CXL indices have labels"
    raise ValueError(f"{path} has no column {label!r}; {has}")


class Named:
    """Counts rows, and keeps the names of the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, names: Sequence[str]) -> None:
        """Count some more rows."""
        self.count += len(names)
        self.first += names[: MOST_LISTED - len(self.first)]

    def __str__(self) -> str:
        """Return the names of the first rows, and how many more there are."""
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")


class Skipped(Named):
    """The rows that are left out because of missing values."""

    def complete(self, chunk: Chunk, kept: Flags) -> Chunk:
        """Return the rows to keep, and count the others."""
        if not kept.all():
            self.add(list(compress(chunk.row_names, ~kept)))
        return chunk.some(kept)

    def say(self) -> None:
        """Print which rows were left out."""
        if self.count:
            say(f"Note: {counted(self.count, 'row')} with missing values left out: row {self}.")

    def no_rows(self, path: Path) -> ValueError:
        """Return an error about a file without rows."""
        return ValueError(f"{path} holds no {'complete ' if self.count else ''}rows; at least 1 is required")


@contextmanager
def without_names() -> Iterator[None]:
    """Silence scikit-learn's warning about arrays without names: the columns were matched by name already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def _say_odd_columns(rows: Rows) -> None:
    """Print which columns of numbers count the rows, or have the same value in every normal row."""
    if rows.schema.kind != "numbers" or len(rows.patterns) < 2:
        return
    for name in compress(rows.schema.names, (np.diff(rows.patterns, axis=0) == 1).all(axis=0)):
        say(f"Note: column {quoted(name)} counts the rows; if it only names them, pass --drop {shlex.quote(name)}.")
    normal = rows.patterns[rows.is_normal]
    constant = list(compress(rows.schema.names, (normal == normal[0]).all(axis=0))) if len(normal) > 1 else []
    if constant:
        which = f"column {quoted(constant[0])} has" if len(constant) == 1 else (
            f"columns {listed(map(quoted, constant))} have"
        )  # fmt: skip
        say(f"Note: {which} the same value in every row, so any other value is far away; --drop leaves columns out.")


def say_if_trained_on(classifier: Any, rows: Rows) -> None:
    """Print a note if many of the rows are those that the model was trained on."""
    some = np.unique(np.linspace(0, len(rows.names) - 1, MOST_COMPARED).astype(int))
    with without_names():
        share = float(np.mean(classifier.transform(rows.some(some.tolist())).min(axis=1) == 0))
    if share > MANY_KNOWN:
        say(f"Note: {share:.0%} of the rows equal a row that the model was trained on, so it looks better than it is; "
            "test on rows that were not used for training.")  # fmt: skip
