"""The chunks of a source -> rows as a classifier takes them: all at once to learn from, or part by part to score."""

import math
import shlex
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

import numpy as np

from eocc.base.printing import complaint, printable, quoted
from eocc.base.types import Flags, Indices
from eocc.base.wording import counted
from eocc.formats.files.chunk import Chunk
from eocc.measures import measures_of
from eocc.measures.auto import kind_of
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.schema import DataSchema
from eocc.tables.judge import BadCellError, Fault, listed_reasons, remedy_for
from eocc.tables.reading import GapError, NothingLeftError, Read, Reading, fit_reading, shown
from eocc.tables.sources import column_of_cells
from eocc.tables.spelling import PLAIN, Spelling
from eocc.tables.table import NUMBER, Column, Table, gaps_in, join_tables, rows_with

SINGULAR = {
    "numbers": "list of {} numbers", "records": "record of {} values", "strings": "text",
    "series": "series of numbers", "tokens": "list of texts", "graphs": "graph",
}  # fmt: skip


@dataclass(frozen=True)
class Choices:
    """What the user says about a source: columns to leave out or to use, their kinds, and which rows to skip.

    Only the `columns` are compared, by name or number, by default all but those `apart`, and those that name the rows,
    unless the model `keeps_all`. Columns without a kind have the `usual` one. Only rows whose column `where[0]` holds
    `where[1]` are used.
    """

    apart: Sequence[Any] = ()
    kinds: Mapping[Any, str] = field(default_factory=dict)
    usual: str = ""
    keeps_all: bool = False
    skips_incomplete: bool = False
    skips_bad: bool = False
    has_label: bool = False
    columns: Sequence[Any] | None = None
    where: tuple[Any, Any] | None = None

    def table(self, chunk: Chunk) -> Table:
        """Return the columns of a chunk that may be compared, with the kinds that the user declared."""
        table = chunk.table
        if table is None:
            raise complaint(chunk.where, None, "holds no table; only tables are read part by part")
        kinds = {chunk.named(column): kind for column, kind in self.kinds.items()}
        names = table.names if self.columns is None else map(chunk.named, self.columns)
        columns = [table.column(name).declare(kinds.get(str(name), self.usual)) for name in names]
        return replace(table, columns=tuple(columns))

    def left_out(self, chunk: Chunk) -> list[str]:
        """Return the names of the columns of a chunk that are not compared."""
        return [] if self.columns is not None else list(map(chunk.named, self.apart))

    def chosen(self, chunk: Chunk) -> Chunk:
        """Return the rows of a chunk that are used."""
        if self.where is None or not len(chunk):
            return chunk
        return chunk.some(rows_with(chunk.columns[chunk.named(self.where[0])].cells(), self.where[1]))


@dataclass(frozen=True, eq=False)
class Learnt:
    """Rows to learn from: X, their kind, a description, the reading of a table, and which rows of the files these are.

    `incomplete` are the rows that were left out because of gaps, `faults` the cells that could not be read.
    """

    X: Any
    kind: str
    described: str
    reading: Reading | None
    kept: Indices
    incomplete: Indices = field(default_factory=lambda: np.empty(0, np.int64))
    faults: Sequence[Fault] = ()


@dataclass(frozen=True, eq=False)
class Part:
    """Some rows to score: their chunk, with the columns that are not compared too, which are `good`, and those as X.

    A row that is not good has a cell that cannot be read; `faults` say which and why. Of a table, `compared` are the
    raw columns of the model, written in this `spelling`, and `ignored` all others.
    """

    chunk: Chunk
    good: Flags
    X: Any
    faults: Mapping[int, str] = field(default_factory=dict)
    compared: Any = None
    spelling: Any = None
    ignored: Sequence[Column] = ()


class Places:
    """Where the rows of several chunks are, by their number among all."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks, self._ends = chunks, list(accumulate(map(len, chunks)))

    def at(self, row: int) -> tuple[Chunk, int]:
        """Return the chunk of a row, and its index there."""
        number = bisect_right(self._ends, row)
        return self._chunks[number], row - (self._ends[number - 1] if number else 0)

    def name(self, row: int) -> str:
        """Return the line or the number of a row."""
        chunk, index = self.at(row)
        return printable(chunk.place(index))

    def fault(self, error: BadCellError, spelling: Spelling = PLAIN) -> ValueError:
        """Return the error about a cell with its file and line, and the option that would read it, if there is one."""
        chunk, index = self.at(error.fault.row)
        remedy = next(filter(None, (remedy_for(error.fault, spelling), error.remedy)))
        return error.placed(chunk.fault(index, f"{error.fault}; {remedy}"))


def learn(chunks: Sequence[Chunk], where: str, measure: str | None = None, choices: Choices | None = None) -> Learnt:
    """Return the rows of all chunks as a classifier takes them.

    A table of numbers without gaps is "numbers", any other table is "records", unless the `measure` compares only one
    of the two. Objects are of the kind that "auto" finds, unless the measure compares another.
    """
    choices = choices or Choices()
    if not chunks:
        raise complaint(where, None, "holds no rows; at least 1 is required")
    if chunks[0].table is None:
        schema = schema_of_objects(chunks, measure)
        if schema.kind not in ("numbers", "records"):
            _check_measure(schema.kind, describe(schema), where, measure)
            X = [one for chunk in chunks for one in checked_objects(chunk, schema)]
            return Learnt(X, schema.kind, describe(schema), None, np.arange(len(X)))
        width = len(chunks[0].objects[0])
        chunks = [as_table(chunk, width, schema.kind == "numbers", describe(schema)) for chunk in chunks]
    faults: list[Fault] | None = [] if choices.skips_bad else None
    reading, table = read_first(chunks, where, choices, faults)
    readable = np.ones(len(table), bool)
    readable[[fault.row for fault in faults or ()]] = False
    kept = readable & (gaps_in(table) == 0) if choices.skips_incomplete else readable
    if not kept.any():
        raise complaint(where, None, "holds no complete rows; at least 1 is required")
    table = table if kept.all() else table[np.flatnonzero(kept)]
    is_numbers = all(one.kind == NUMBER and not np.isnan(one.values).any() for one in table.columns)
    if measure in (*measures_of("numbers"), *measures_of("records")):
        is_numbers = measure in measures_of("numbers")
        _check_numbers(reading, is_numbers, where, str(measure))
        if is_numbers and not choices.has_label:  # with labels, rows that are not used may have gaps
            try:
                replace(reading, is_numbers=True).patterns(table, allows_gaps=False)
            except BadCellError as error:
                raise Places(chunks).fault(error) from None
    reading, kind = replace(reading, is_numbers=is_numbers), "numbers" if is_numbers else "records"
    _check_measure(kind, reading.describe(), where, measure)
    rows, incomplete = np.flatnonzero(kept), np.flatnonzero(readable & ~kept)
    return Learnt(Read(table, reading), kind, reading.describe(), reading, rows, incomplete, faults or ())


def read_first(
    chunks: Sequence[Chunk], where: str, choices: Choices, faults: list[Fault] | None
) -> tuple[Reading, Table]:
    """Return how a table to learn from is read, and all its rows so read."""
    first = chunks[0]
    apart = choices.left_out(first)
    raw = join_tables(list(map(choices.table, chunks)))
    if not (first.is_named or apart or choices.columns):  # if some are left out, the others go by their numbers
        raw = replace(raw, columns=tuple(column.rename(k) for k, column in enumerate(raw.columns)))
    keeps_all = choices.keeps_all or not first.is_named or choices.columns is not None
    try:
        return fit_reading(raw, keeps_all, faults=faults, apart=apart)
    except BadCellError as error:
        raise Places(chunks).fault(error) from None
    except NothingLeftError as error:
        keeping = f"--all-columns compares {'them' if len(error.left_out) > 1 else 'it'}"
        why = f"{listed_reasons(error.left_out)}; {keeping}" if error.left_out else "drop fewer"
        raise complaint(where, None, f"has no columns left to compare; {why}") from None
    except ValueError as error:
        raise complaint(where, None, str(error)) from None


def read_part(
    chunk: Chunk,
    known: Reading | DataSchema,
    choices: Choices,
    allows_gaps: bool,
    spelling: Spelling | None = None,
) -> Part:
    """Return the rows of a chunk as a model takes them. Without a spelling, text shows how it is written.

    With `skips_bad`, rows with cells that cannot be read are not good; else the first one is an error.
    """
    if isinstance(known, DataSchema):
        return Part(chunk, np.ones(len(chunk), bool), checked_objects(chunk, known))
    whole, faults = chunk, list[Fault]() if choices.skips_bad else None
    if chunk.table is None:
        chunk = as_table(chunk, len(known.columns), known.is_numbers, known.describe())
    given = choices.table(chunk).without(choices.left_out(chunk))
    try:
        raw, ignored = known.matched(given, chunk.is_named)
        spelling = spelling or (raw.dialect.spelling(raw.columns) if raw.dialect else known.spelling)
        table = known.table(raw, faults, spelling)
        good = np.ones(len(table), bool)
        good[[fault.row for fault in faults or ()]] = False
        kept = ~good | (gaps_in(table) == 0) if choices.skips_incomplete else np.ones_like(good)
        used = kept & good
        patterns = known.patterns(table if used.all() else table[np.flatnonzero(used)], allows_gaps)
    except GapError as error:
        raise Places([chunk.some(used)]).fault(error) from None
    except BadCellError as error:
        raise Places([chunk]).fault(error, spelling or PLAIN) from None
    except ValueError as error:
        raise complaint(chunk.where, None, str(error)) from None
    reasons, places = dict[int, str](), np.cumsum(kept) - 1
    for fault in sorted(faults or ()):
        reasons.setdefault(int(places[fault.row]), f"{printable(chunk.place(fault.row))}: {fault}")
    return Part(whole.some(kept), good[kept], Read(patterns), reasons, raw, spelling, ignored)


def _check_numbers(reading: Reading, is_numbers: bool, where: str, measure: str) -> None:
    for odd in (one for one in reading.columns if is_numbers and one.kind != NUMBER):
        why = next(
            (one.text for one in reading.remarks if one.name == odd.name),
            f"column {quoted(str(odd.name))} holds {odd.kind}",
        )
        option = f"pass --drop {shlex.quote(shown(odd.name))}"
        raise complaint(where, None, f"{why.replace('{place}', '')}, but {measure} compares numbers; {option}")


def _check_measure(kind: str, described: str, where: str, measure: str | None) -> None:
    """Refuse a measure that does not compare data of this kind."""
    known = measures_of(kind)
    if measure is not None and measure not in known:
        known = (*known, *(measures_of("records") if kind == "numbers" else ()))
        use = " or ".join(filter(None, [", ".join(known[:-1]), known[-1]]))
        raise complaint(where, None, f"holds {described}, which {quoted(measure)} does not compare; use {use}")


def remarks_on(learnt: Learnt, chunks: Sequence[Chunk], has_label: bool, is_auto: bool) -> Iterator[str]:
    """Yield what the user should know about the columns of a training table."""
    if learnt.reading is None:
        return
    places = Places(chunks)
    for remark in learnt.reading.remarks:
        place = "" if remark.row is None else f" ({places.name(remark.row)})"
        yield remark.said(remark.option, place)
    if is_auto:
        yield from _why_records(learnt.reading, learnt.X.patterns, has_label)


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


def describe(schema: DataSchema) -> str:
    """Return the kind of objects in words."""
    return f"series of {counted(schema.n_channels, 'channel')}" if schema.n_channels else schema.kind


def schema_of_objects(chunks: Sequence[Chunk], measure: str | None) -> DataSchema:
    """Return the schema of objects to learn from: the kind that "auto" finds, unless the measure compares another."""
    values = [value for chunk in chunks for value in chunk.objects]
    kind = kind_of_object(values[0])
    for chunk, index, value in _objects(chunks):
        found = kind_of_object(value)
        if not found:
            wanted = "records, texts, lists of numbers (steps of one length), lists of texts or node-link graphs"
            raise chunk.fault(index, f"{described(value)} cannot be compared; write {wanted}")
        if found != kind:
            one = f"{described(value)} is one of {found}, but the first object is one of {kind}"
            raise chunk.fault(index, f"{one}; all must be of one kind")
    if measure is None:
        kind = kind_of(values)
    elif kind == "series" and measure in measures_of("numbers"):
        kind = "numbers"
    if kind in ("numbers", "records"):
        width = len(values[0])
        for chunk, index, value in _objects(chunks):
            if len(value) != width:
                raise chunk.fault(index, f"{described(value)} has {len(value)} values, but the first has {width}")
    return DataSchema(kind, n_channels=channels_of(values[0]) if kind == "series" else 0)


def _objects(chunks: Sequence[Chunk]) -> Iterator[tuple[Chunk, int, Any]]:
    return ((chunk, index, value) for chunk in chunks for index, value in enumerate(chunk.objects))


def checked_objects(chunk: Chunk, schema: DataSchema) -> list[Any]:
    """Return the objects of a chunk; raise if one is not of the kind that a model compares."""
    if chunk.table is not None:
        wanted = f"write one {SINGULAR[schema.kind]} per line"
        raise complaint(chunk.where, None, f"holds a table, but the model compares {schema.kind}; {wanted}")
    for index, value in enumerate(chunk.objects):
        if kind_of_object(value) != schema.kind:
            wanted = f"not a {SINGULAR[schema.kind]}, which the model compares"
            raise chunk.fault(index, f"{described(value)} is {wanted}; correct it, or leave it out")
        if schema.kind == "series" and channels_of(value) != schema.n_channels:
            here = counted(channels_of(value), "channel")
            raise chunk.fault(index, f"a series of {here}, but the model compares {schema.n_channels}; correct it")
    return [np.array(one, np.float64) for one in chunk.objects] if schema.kind == "series" else list(chunk.objects)


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
