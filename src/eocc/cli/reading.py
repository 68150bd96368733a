"""The rows of a file for the commands: which columns, which rows, and what the user should know about them."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any

import numpy as np

from eocc.cli.app import say
from eocc.cli.options import DataOptions, names_in
from eocc.foundation.printing import has_instead, printable, quoted
from eocc.foundation.progress import stage
from eocc.foundation.registry import MOST_LISTED, listed
from eocc.foundation.types import Flags, Indices
from eocc.foundation.wording import counted
from eocc.io.files import Chunk, Schema, guess_format, guess_schema, open_chunks, schema_of_model
from eocc.io.files.cells import are_missing, complete_rows, empty_columns, is_same, values_in
from eocc.measures.spelling import PLAIN, Spelling

CLASS = "class"
# What --keep takes for every column.
ALL = "all"
# A note says that the rows are those the model was trained on if more than this share of them are.
MANY_KNOWN = 0.2
MOST_COMPARED = 1000


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of a file, their schema and names, and which are normal and which are known outliers.

    Rows are named by their id or file if `are_named`, else by their number.
    """

    patterns: Any
    schema: Schema
    names: Sequence[Any]
    is_normal: Flags
    is_outlier: Flags
    are_named: bool

    @property
    def signs(self) -> Any:
        """The labels as numbers: +1 for normal rows, -1 for all others."""
        return np.where(self.is_normal, 1, -1)

    def some(self, rows: Any) -> Any:
        """Return some of the rows."""
        return self.patterns[rows] if isinstance(self.patterns, np.ndarray) else [self.patterns[row] for row in rows]


class Named:
    """Counts rows, and keeps the names of the first few."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[str] = []

    def add(self, names: Sequence[Any]) -> None:
        """Count some more rows."""
        self.count += len(names)
        self.first += [printable(str(name)) for name in names[: MOST_LISTED - len(self.first)]]

    def __str__(self) -> str:
        """Return the names of the first rows, and how many more there are."""
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")


class Skipped(Named):
    """The rows that are left out because of missing values."""

    def complete(
        self, chunks: Iterable[Chunk], path: Path, about: DataOptions, are_complete: Callable[[Chunk], Flags]
    ) -> Iterator[Chunk]:
        """Yield the chunks that have rows; --skip-incomplete leaves rows with missing values out and counts them."""
        has_rows = False
        for chunk in chunks:
            if about.skip_incomplete:
                kept = are_complete(chunk)
                self.add(list(compress(names_of(chunk, about), ~kept)))
                chunk = chunk.some(kept)
            if len(chunk):
                has_rows = True
                yield chunk
        if not has_rows:
            raise ValueError(f"{path} holds no {'complete ' if self.count else ''}rows; at least 1 is required")

    def training_chunks(
        self, path: Path, about: DataOptions, files: Sequence[Path] = (), n_ahead: int | None = None
    ) -> Iterator[Chunk]:
        """Yield the chunks to learn from: labels and dropped columns may have missing values.

        So may columns without a value in the first `n_ahead` chunks, or in all.
        """
        chunks = _opened(path, about, files)
        ahead = list(islice(chunks, n_ahead)) if about.skip_incomplete else []
        apart = {*about.apart, *empty_columns(ahead)}
        read = chain(ahead, chunks)
        return self.complete(read, path, about, lambda chunk: complete_rows(chunk, chunk.columns.keys() - apart))

    def scored_chunks(self, path: Path, about: DataOptions, schema: Schema) -> Iterator[Chunk]:
        """Yield the chunks to score: columns that the model does not compare may have missing values.

        Print once how the text of the file differs from that of the training file, and which column can name the rows.
        """
        said = set[str]()
        compared = partial(without_id, schema=schema, about=about)
        usual = schema.text_format.spelling
        chunks = self.complete(
            _opened(path, about, usual=usual), path, about, lambda chunk: schema.complete(compared(chunk))
        )
        for number, chunk in enumerate(chunks):
            yield chunk
            hint = _hint_at_id(chunk, schema, about) if number == 0 else []
            for note in dict.fromkeys([*schema.differences(compared(chunk)), *hint]):
                if note not in said:
                    say(f"Note: {note}.")
                    said.add(note)

    def say(self) -> None:
        """Print which rows were left out."""
        if self.count:
            say(f"Note: {counted(self.count, 'row')} with missing values left out: row {self}.")


def _opened(path: Path, about: DataOptions, files: Sequence[Path] = (), usual: Spelling = PLAIN) -> Iterator[Chunk]:
    """Yield the chunks of a file, or of several."""
    dialect = replace(about.dialect, usual=usual)
    for file in files or [path]:
        yield from open_chunks(file, about.input_format, about.two_classes, dialect)


def _hint_at_id(chunk: Chunk, schema: Schema, about: DataOptions) -> list[str]:
    """Return that a column which is not compared, and differs in all rows, could name them."""
    ignored = () if about.id_column or len(chunk) < 2 else schema.ignored(chunk)
    found = [name for name in ignored if len(set(map(str, chunk.columns[name]))) == len(chunk)]
    return [f"rows are numbered from 0; --id {printable(shlex.quote(found[0]))} names them"] if found else []


def read_training(path: Path, about: DataOptions, measure: str) -> Rows:
    """Read a file to learn from, and print what it holds."""
    skipped = Skipped()
    chunks = list(skipped.training_chunks(path, about))
    if about.drop and not chunks[0].columns:
        raise ValueError(f"{path} has no columns; leave --drop out")
    schema = schema_of_training(chunks, path, about, measure)
    rows = _rows(chunks, schema, path, about)
    chosen = f", {int(rows.is_normal.sum())} with {about.label} = {about.target!r}" if about.label else ""
    form = _form(path, about, chunks[0])
    say(f"{path} ({form}): {counted(len(rows.names), 'row')}{chosen}: {schema.describe()}.")
    for remark in schema.remarks:
        say(f"Note: {remark}.")
    skipped.say()
    _say_odd_columns(rows)
    return rows


def schema_of_training(chunks: Sequence[Chunk], path: Path, about: DataOptions, measure: str) -> Schema:
    """Return the schema of rows to learn from, without the columns that are not compared."""
    apart = about.apart if chunks[0].columns else []
    chosen = None if measure == "auto" else measure
    return guess_schema(chunks, str(path), apart, chosen, about.all_columns, bool(about.label))


def _form(path: Path, about: DataOptions, chunk: Chunk) -> str:
    form = about.input_format or guess_format(path)
    return f"{form}, {chunk.layout}" if chunk.layout else form


def read_for(classifier: Any, path: Path, about: DataOptions) -> Rows:
    """Read a file to score with a model."""
    schema, skipped = schema_of_model(classifier), Skipped()
    chunks = list(skipped.scored_chunks(path, about, schema))
    skipped.say()
    return _rows(chunks, schema, path, about)


def stream_for(schema: Schema, path: Path, about: DataOptions, skipped: Skipped) -> Iterator[tuple[Chunk, Any]]:
    """Yield (chunk, its rows) of a file to score, one chunk at a time, and print what the first chunk holds."""
    with stage(f"scoring {path.name}", 1):
        for number, chunk in enumerate(skipped.scored_chunks(path, about, schema)):
            compared = without_id(chunk, schema, about)
            patterns = schema.patterns(compared)
            if number == 0:
                ignored = listed(map(ascii, schema.ignored(compared)))
                note = f"; not in the model, ignored: {ignored}" if ignored else ""
                say(f"{path} ({_form(path, about, chunk)}): {schema.describe()}{note}.")
            yield chunk, patterns


def names_of(chunk: Chunk, about: DataOptions) -> list[Any]:
    """Return what --id says of each row, or its file, or its number from 0; the number also where the id is missing."""
    if not about.id_column:
        are_files = chunk.names and not chunk.columns
        return chunk.row_names if are_files else list(map(int, chunk.row_names))
    cells = cells_of(chunk, about.id_column, "--id")
    missing, kind = are_missing(cells, chunk.is_text), str if any(isinstance(cell, str) for cell in cells) else int
    named = zip(cells, chunk.row_names, missing, strict=True)
    return [kind(number) if absent else _plain(cell) for cell, number, absent in named]


def _plain(cell: Any) -> Any:
    """Return the cell of an id: text without blanks around it, and whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell.strip()
    value = cell.item() if isinstance(cell, np.generic) else cell
    return int(value) if isinstance(value, float) and value.is_integer() else value


def without_id(chunk: Chunk, schema: Schema, about: DataOptions) -> Chunk:
    """Return the chunk without the column of --id, unless the model compares it."""
    if not about.id_column or (schema.is_named and about.id_column in schema.names):
        return chunk
    return replace(chunk, columns={name: cells for name, cells in chunk.columns.items() if name != about.id_column})


def kept_columns(chunk: Chunk, wanted: str, schema: Schema, is_typed: bool) -> dict[str, Sequence[Any]]:
    """Return the columns that --keep names, or "all": text as in the file, unless typed and compared by the model."""
    names = list(chunk.columns) if wanted == ALL else names_in(wanted)
    kinds, kept = dict(schema.columns) if schema.is_named else {}, {}
    for name in names:
        cells = cells_of(chunk, name, "--keep")
        kept[name] = values_in(chunk, name, kinds[name]) if is_typed and chunk.is_text and name in kinds else cells
    return kept


def cells_of(chunk: Chunk, name: str, option: str) -> Sequence[Any]:
    """Return a column of a table that an option names."""
    if not chunk.columns:
        raise ValueError(f"{chunk.where} has no columns; leave {option} out")
    if name not in chunk.columns:
        raise ValueError(f"{chunk.where} has no column {name!r}; {has_instead(name, chunk.columns)}")
    return chunk.columns[name]


def gaps_in(patterns: Any) -> tuple[Indices, int]:
    """Return how many values each row of a table lacks, and how many it should have; no object lacks any."""
    if isinstance(patterns, np.ndarray):
        return np.isnan(patterns).sum(axis=1), patterns.shape[1]
    if isinstance(patterns[0], dict):
        return np.array([sum(value is None for value in one.values()) for one in patterns]), len(patterns[0])
    return np.zeros(len(patterns), np.int64), 1


def _rows(chunks: Sequence[Chunk], schema: Schema, path: Path, about: DataOptions) -> Rows:
    parts = [schema.patterns(without_id(chunk, schema, about)) for chunk in chunks]
    patterns = np.concatenate(parts) if schema.kind == "numbers" else [one for part in parts for one in part]
    is_normal, is_outlier = np.ones(len(patterns), bool), np.zeros(len(patterns), bool)
    if about.label:
        labels = [cell for chunk in chunks for cell in labels_of(chunk, path, about.label)]
        is_normal = _are_labelled(labels, about.target, about.label, path)
        for value in names_in(about.outliers):
            is_outlier |= _are_labelled(labels, value, about.label, path)
    names = [name for chunk in chunks for name in names_of(chunk, about)]
    return Rows(patterns, schema, names, is_normal, is_outlier, bool(about.id_column) or isinstance(names[0], str))


def _are_labelled(labels: Sequence[Any], value: str, label: str, path: Path) -> Flags:
    found = np.array([is_same(cell, value) for cell in labels], bool)
    if not found.any():
        values = listed(map(quoted, sorted({str(cell) for cell in labels})))
        raise ValueError(f"{path} has no row with {label} = {value!r}; its values are {values}")
    return found


def labels_of(chunk: Chunk, path: Path, label: str) -> Sequence[Any]:
    """Return the labels of a chunk: a column of a table, or the classes of a CXL index."""
    if label in chunk.columns:
        return chunk.columns[label]
    if chunk.labels and label == CLASS:
        return chunk.labels
    known = list(chunk.columns) or ([CLASS] if chunk.labels else [])
    has = has_instead(label, known) if known else "only tables and CXL indices have labels"
    raise ValueError(f"{path} has no column {label!r}; {has}")


def _say_odd_columns(rows: Rows) -> None:
    """Print which columns of numbers count the rows, or have the same value in every normal row."""
    if rows.schema.kind != "numbers" or len(rows.patterns) < 2:
        return
    for name in compress(rows.schema.names, (np.diff(rows.patterns, axis=0) == 1).all(axis=0)):
        say(f"Note: column {quoted(name)} counts the rows; if it only names them, pass --drop {shlex.quote(name)}.")
    normal = rows.patterns[rows.is_normal]
    constant = [quoted(name) for name in compress(rows.schema.names, (normal == normal[0]).all(axis=0))]
    if constant and len(normal) > 1:
        which = f"column {constant[0]} has" if len(constant) == 1 else f"columns {listed(constant)} have"
        say(f"Note: {which} the same value in every row, so any other value is far away; --drop leaves columns out.")


def say_if_trained_on(classifier: Any, rows: Rows) -> None:
    """Print a note if many of the rows are those that the model was trained on, and score better for it."""
    if classifier.scores_left_out:
        return
    some = np.unique(np.linspace(0, len(rows.names) - 1, MOST_COMPARED).astype(int))
    share = float(np.mean(classifier.transform(rows.some(some)).min(axis=1) == 0))
    if share > MANY_KNOWN:
        say(f"Note: {share:.0%} of the rows equal a row that the model was trained on, so it looks better than it is; "
            "test on rows that were not used for training.")  # fmt: skip
