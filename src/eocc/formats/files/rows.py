"""The chunks of a source -> rows as a classifier takes them: all at once to learn from, or part by part to score."""

import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from eocc.base.printing import complaint, quoted
from eocc.base.types import Flags
from eocc.base.wording import counted
from eocc.formats.files.chunk import Chunk, join_chunks
from eocc.measures import measures_of
from eocc.measures.auto import kind_of
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.judge import BadCellError, Fault, listed_reasons, remedy_for
from eocc.tables.reading import NothingLeftError, Read, Reading, fit_reading, shown
from eocc.tables.sources import column_of_cells
from eocc.tables.spelling import PLAIN, Spelling
from eocc.tables.table import NUMBER, Column, Table, gaps_in, rows_with

SINGULAR = {
    "numbers": "list of {} numbers", "records": "record of {} values", "strings": "text",
    "series": "series of numbers", "tokens": "list of texts", "graphs": "graph",
}  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """What the user says about a source: columns to leave out, their kinds, and which rows to skip.

    All columns are compared but those `apart`, by name or number, and those that name the rows, unless the model
    `keeps_all`. Columns without a kind have the `usual` one. Only rows whose column `where[0]` holds `where[1]` are
    used.
    """

    apart: Sequence[Any] = ()
    kinds: Mapping[Any, str] = field(default_factory=dict)
    usual: str = ""
    keeps_all: bool = False
    skips_incomplete: bool = False
    skips_bad: bool = False
    has_label: bool = False
    where: tuple[Any, Any] | None = None

    def table(self, chunk: Chunk) -> Table:
        """Return the columns of a chunk that may be compared, with the kinds that the user declared."""
        table = chunk.table
        if table is None:
            raise complaint(chunk.where, None, "holds no table; only tables are read part by part")
        kinds = {chunk.named(column): kind for column, kind in self.kinds.items()}
        columns = [one.changed(declared=kinds.get(str(one.name), self.usual)) for one in table.columns]
        return replace(table, columns=tuple(columns))

    def chosen(self, chunk: Chunk) -> Chunk:
        """Return the rows of a chunk that are used."""
        if self.where is None or not len(chunk):
            return chunk
        return chunk.some(rows_with(chunk.columns[chunk.named(self.where[0])].cells(), self.where[1]))


@dataclass(frozen=True)
class Objects:
    """What a model compares that reads no tables: the kind of data and, of series, the number of channels."""

    kind: str
    n_channels: int = 0
    names: Sequence[str] = ()
    spelling: Spelling = PLAIN
    is_numbers: bool = False

    def describe(self) -> str:
        """Return what is compared, in words."""
        return f"series of {counted(self.n_channels, 'channel')}" if self.n_channels else self.kind

    def read(self, chunk: Chunk) -> list[Any]:
        """Return the objects of a chunk; raise if one is not of the kind that a model compares."""
        if chunk.table is not None:
            wanted = f"write one {SINGULAR[self.kind]} per line"
            raise complaint(chunk.where, None, f"holds a table, but the model compares {self.kind}; {wanted}")
        for index, value in enumerate(chunk.objects):
            if kind_of_object(value) != self.kind:
                wanted = f"not a {SINGULAR[self.kind]}, which the model compares"
                raise chunk.fault(index, f"{described(value)} is {wanted}; correct it, or leave it out")
            if self.n_channels and channels_of(value) != self.n_channels:
                here = counted(channels_of(value), "channel")
                raise chunk.fault(index, f"a series of {here}, but the model compares {self.n_channels}; correct it")
        is_series = self.kind == "series"
        return [np.array(one, np.float64) for one in chunk.objects] if is_series else list(chunk.objects)


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows: their chunk, with the columns that are not compared too, which are `good`, and those as X.

    A row that is not good has a cell that cannot be read; `faults` say which and why. Rows of `incomplete` were left
    out because of gaps. `known` says how the rows were read. Rows to learn from have remarks; rows of a table to score
    are written in a `spelling`, and the model does not use their columns that are `ignored`.
    """

    chunk: Chunk
    good: Flags
    X: Any
    faults: Mapping[int, str] = field(default_factory=dict)
    incomplete: Chunk | None = None
    known: Any = None
    remarks: Sequence[str] = ()
    spelling: Any = None
    ignored: Sequence[Column] = ()


@contextmanager
def placing(chunk: Chunk, spelling: Spelling = PLAIN) -> Iterator[None]:
    """Raise errors about cells with the file and line, and the option that would read them, if there is one."""
    try:
        yield
    except BadCellError as error:
        remedy = remedy_for(error.fault, spelling) or error.remedy
        error.args = chunk.fault(error.fault.row, f"{error.fault}; {remedy}").args
        raise
    except NothingLeftError as error:
        keeping = f"--all-columns compares {'them' if len(error.left_out) > 1 else 'it'}"
        why = f"{listed_reasons(error.left_out)}; {keeping}" if error.left_out else "drop fewer"
        raise complaint(chunk.where, None, f"has no columns left to compare; {why}") from None
    except ValueError as error:
        raise complaint(chunk.where, None, str(error)) from None


def learn(chunks: Sequence[Chunk], where: str, measure: str | None = None, choices: Choices | None = None) -> Part:
    """Return the rows of all chunks as a classifier takes them.

    A table of numbers without gaps is "numbers", any other table is "records", unless the `measure` compares only one
    of the two. Objects are of the kind that "auto" finds, unless the measure compares another.
    """
    choices = choices or Choices()
    if not chunks:
        raise complaint(where, None, "holds no rows; at least 1 is required")
    chunk = join_chunks(chunks)
    if chunk.table is None:
        known = known_objects(chunk, measure)
        if known.kind != "numbers":
            _check_measure(known, where, measure)
            return Part(chunk, np.ones(len(chunk), bool), known.read(chunk), known=known)
        chunk = as_table(chunk, len(chunk.objects[0]), True, known.describe())
    reading, table, faults = read_first(chunk, choices)
    part, table = _selected(chunk, table, faults, choices)
    if not len(table):
        raise complaint(where, None, "holds no complete rows; at least 1 is required")
    is_numbers = all(one.kind == NUMBER and not np.isnan(one.values).any() for one in table.columns)
    if measure in (*measures_of("numbers"), *measures_of("records")):
        is_numbers = measure in measures_of("numbers")
        with placing(chunk):
            reading = reading.for_numbers(is_numbers, str(measure))
        if is_numbers and not choices.has_label:  # with labels, rows that are not used may have gaps
            with placing(part.chunk.some(part.good)):
                reading.patterns(table, allows_gaps=False)
    reading = replace(reading, is_numbers=is_numbers)
    _check_measure(reading, where, measure)
    remarks = list(placed_remarks(reading, chunk))
    remarks += _why_records(reading, table, choices.has_label) if measure is None else ()
    return replace(part, X=Read(table, reading), known=reading, remarks=remarks)


def read_first(chunk: Chunk, choices: Choices) -> tuple[Reading, Table, list[Fault]]:
    """Return how a table to learn from is read, all its rows so read, and the cells that cannot be read."""
    apart, raw, faults = list(map(chunk.named, choices.apart)), choices.table(chunk), list[Fault]()
    if not (chunk.is_named or apart):  # if some are left out, the others go by their numbers
        raw = replace(raw, columns=tuple(column.changed(name=k) for k, column in enumerate(raw.columns)))
    keeps_all = choices.keeps_all or not chunk.is_named
    with placing(chunk):
        return *fit_reading(raw, keeps_all, faults=faults if choices.skips_bad else None, apart=apart), faults


def placed_remarks(reading: Reading, chunk: Chunk) -> Iterator[str]:
    """Yield what the user should know about the columns of a training table, with the options that change it."""
    for remark in reading.remarks:
        yield remark.said(remark.option, "" if remark.row is None else f" ({chunk.place(remark.row)})")


def read_part(
    chunk: Chunk, known: Reading | Objects, choices: Choices, allows_gaps: bool, spelling: Spelling | None = None
) -> Part:
    """Return the rows of a chunk as a model takes them. Without a spelling, text shows how it is written.

    With `skips_bad`, rows with cells that cannot be read are not good; else the first one is an error.
    """
    if isinstance(known, Objects):
        return Part(chunk, np.ones(len(chunk), bool), known.read(chunk))
    if chunk.table is None:
        chunk = as_table(chunk, len(known.columns), known.is_numbers, known.describe())
    table, faults, spelling, ignored = read_table(chunk, known, choices, spelling)
    part, table = _selected(chunk, table, faults, choices)
    with placing(part.chunk.some(part.good)):
        X = Read(known.patterns(table, allows_gaps))
    return replace(part, X=X, spelling=spelling, ignored=ignored)


def read_table(
    chunk: Chunk, known: Reading, choices: Choices, spelling: Spelling | None = None
) -> tuple[Table, list[Fault], Spelling, list[Column]]:
    """Return a chunk as the model reads it, the cells that cannot be read, the spelling, and the columns left over."""
    given, faults = choices.table(chunk).without(map(chunk.named, choices.apart)), list[Fault]()
    with placing(chunk):
        raw, ignored = known.matched(given, chunk.is_named)
        spelling = spelling or (raw.dialect.spelling(raw.columns) if raw.dialect else known.spelling)
    with placing(chunk, spelling):
        return known.table(raw, faults if choices.skips_bad else None, spelling), faults, spelling, ignored


def _selected(chunk: Chunk, table: Table, faults: Sequence[Fault], choices: Choices) -> tuple[Part, Table]:
    """Return the rows of a chunk that are used, without X, and the good ones of them in the table so read."""
    good = np.ones(len(table), bool)
    good[[fault.row for fault in faults]] = False
    kept = ~good | (gaps_in(table) == 0) if choices.skips_incomplete else np.ones_like(good)
    reasons, places = dict[int, str](), np.cumsum(kept) - 1
    for fault in sorted(faults):
        reasons.setdefault(int(places[fault.row]), f"{chunk.place(fault.row)}: {fault}")
    used, incomplete = kept & good, None if kept.all() else chunk.some(~kept)
    part = Part(chunk.some(kept), good[kept], None, reasons, incomplete)
    return part, table if used.all() else table[np.flatnonzero(used)]


def _check_measure(known: Reading | Objects, where: str, measure: str | None) -> None:
    """Refuse a measure that does not compare data of this kind."""
    names = measures_of(known.kind)
    if measure is not None and measure not in names:
        names = (*names, *(measures_of("records") if known.is_numbers else ()))
        use = " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
        raise complaint(where, None, f"holds {known.describe()}, which {quoted(measure)} does not compare; use {use}")


def _why_records(reading: Reading, table: Table, has_label: bool) -> Iterator[str]:
    """Yield why a table that is nearly numbers is compared as records: gaps, or one column that is not numbers."""
    texts, use = [one for one in reading.columns if one.kind != NUMBER], measures_of("records")[0]
    gaps = [column.name for column in table.columns if np.isnan(column.values).any()]
    if gaps and not texts:
        more = f" and {counted(len(gaps) - 1, 'more column')}" if len(gaps) > 1 else ""
        yield f"values are missing in column {quoted(str(gaps[0]))}{more}, so rows are compared by {use}"
    odd = {remark.name for remark in reading.remarks}
    if len(texts) == 1 and len(reading.columns) > 1 and texts[0].name not in odd and not texts[0].keeps_words:
        name, option = quoted(str(texts[0].name)), shlex.quote(shown(texts[0].name))
        labels = "" if has_label else f"if it holds labels pass --label {option}, "
        why = f"column {name} holds {texts[0].kind}, so rows are compared by {use}"
        yield f"{why}; {labels}if it does not matter pass --drop {option}"


def known_objects(chunk: Chunk, measure: str | None) -> Objects:
    """Return what the objects to learn from are: what "auto" finds, unless the measure compares another kind."""
    values = chunk.objects
    kind = kind_of_object(values[0])
    for index, value in enumerate(values):
        found = kind_of_object(value)
        if not found:
            wanted = "records, texts, lists of numbers (steps of one length), lists of texts or node-link graphs"
            raise chunk.fault(index, f"{described(value)} cannot be compared; write {wanted}")
        if found != kind:
            one = f"{described(value)} is one of {found}, but the first object is one of {kind}"
            raise chunk.fault(index, f"{one}; all must be of one kind")
    if measure is None:
        kind = kind_of(list(values))
    elif kind == "series" and measure in measures_of("numbers"):
        kind = "numbers"
    for index, value in enumerate(values if kind == "numbers" else ()):
        if len(value) != len(values[0]):
            counts = f"has {len(value)} values, but the first has {len(values[0])}"
            raise chunk.fault(index, f"{described(value)} {counts}")
    return Objects(kind, channels_of(values[0]) if kind == "series" else 0)


def as_table(chunk: Chunk, width: int, is_numbers: bool, compared: str) -> Chunk:
    """Return lists, all as long as the model's rows, as a table whose columns have no names."""
    for index, value in enumerate(chunk.objects):
        is_row = isinstance(value, list) and len(value) == width
        if not is_row or (is_numbers and channels_of(value) != 1):
            wanted = SINGULAR["numbers" if is_numbers else "records"].format(width)
            raise chunk.fault(index, f"{described(value)} is not a {wanted}; the model compares {compared}")
    columns = [column_of_cells(str(k), list(cells)) for k, cells in enumerate(zip(*chunk.objects, strict=True))]
    return replace(chunk, table=Table(tuple(columns)), objects=(), is_named=False)


def kind_of_object(value: Any) -> str:
    """Return the kind of data that an object is; "" if it is none."""
    if isinstance(value, LabelledGraph):
        return "graphs"
    if isinstance(value, str):
        return "strings"
    if channels_of(value):
        return "series"
    return "tokens" if isinstance(value, list) and all(isinstance(item, str) for item in value) else ""


def channels_of(value: Any) -> int:
    """Return the number of channels of a series; 0 if the value is not a series."""
    if not isinstance(value, list) or not value:
        return 0
    if all(map(_is_number, value)):
        return 1
    if not all(isinstance(step, list) and step and all(map(_is_number, step)) for step in value):
        return 0
    return len(value[0]) if len({len(step) for step in value}) == 1 else 0


def _is_number(item: Any) -> bool:
    return isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)


def described(value: Any) -> str:
    """Return an object in a few words, for an error."""
    if isinstance(value, LabelledGraph):
        return "a graph"
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, Mapping):
        return "an object" if value else "an object without keys"
    text = str(value)
    text = text if len(text) <= 40 else text[:37] + "..."
    return f"the {'list' if isinstance(value, list) else 'number'} {text}"
