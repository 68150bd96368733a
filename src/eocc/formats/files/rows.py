"""The rows of a file: raw in chunks, and as a classifier takes them, all at once to learn from or part by part."""

import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np

from eocc.base.printing import complaint, has_instead, printable, quoted
from eocc.base.types import Flags, Indices
from eocc.base.wording import counted
from eocc.measures import measures_of
from eocc.measures.auto import channels_of, kind_of, kind_of_object
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.judge import BadCellError, Fault, remedy_for
from eocc.tables.reading import Read, Reading, fit_reading, shown
from eocc.tables.sources import column_of_cells
from eocc.tables.spelling import PLAIN, Spelling
from eocc.tables.table import NUMBER, Column, Table, gaps_in, join_tables, rows_with

# A chunk ends at this many rows, or when its rows took this many bytes in the file, or are this many cells.
CHUNK_ROWS = 2**13
CHUNK_BYTES = 2**20


def rows_per_chunk(n_columns: int) -> int:
    """Return how many rows of a table with this number of columns make a chunk."""
    return max(1, min(CHUNK_ROWS, CHUNK_BYTES // max(1, n_columns)))


def portions(items: Iterable[tuple[Any, ...]], size: Callable[[], int]) -> Iterator[Iterator[Any]]:
    """Yield what all items hold at each place, in portions of the size of a chunk.

    `size` is in bytes, up to an item.
    """
    part, begin = list[tuple[Any, ...]](), size()
    for item in items:
        part.append(item)
        if len(part) == CHUNK_ROWS or size() - begin > CHUNK_BYTES:
            yield zip(*part, strict=True)
            part, begin = [], size()
    if part:
        yield zip(*part, strict=True)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Rows of the file `where`, whose numbers are `rows`: a raw table, else `objects`.

    Each row has a line in `lines`, a name in `names`, and if chunks were joined, a file in `files`; each may be empty.
    Columns without names (`is_named` is False) have numbers from 0 as keys. `layout` says how the file is written, if
    not as usual, and `file_rows` how many rows it has, if it says so.
    """

    where: str
    table: Table | None = None
    objects: Sequence[Any] = ()
    names: Sequence[str] = ()
    lines: Sequence[int] | Indices = ()
    is_named: bool = True
    layout: str = ""
    file_rows: int = 0
    rows: Sequence[int] | Indices = ()
    files: Sequence[str] = ()

    def __len__(self) -> int:
        return len(self.objects if self.table is None else self.table)

    @property
    def columns(self) -> dict[Any, Column]:
        """The columns of the table by name; none if the chunk holds objects."""
        return {} if self.table is None else {column.name: column for column in self.table.columns}

    def whole(self) -> Table:
        """Return the table; raise if the chunk holds objects."""
        if self.table is None:
            raise complaint(self.where, None, "has no columns; pass a table, or fit without --window and --stream")
        return self.table

    def named(self, column: Any) -> str:
        """Return the name of a column that the user gave by name or number."""
        names = list(map(str, self.columns))
        if isinstance(column, int | np.integer) and not isinstance(column, bool) and 0 <= column < len(names):
            return names[int(column)]
        if column not in names:
            raise complaint(self.where, None, f"has no column {quoted(str(column))}; {has_instead(str(column), names)}")
        return str(column)

    def column(self, name: str, option: str) -> Column:
        """Return a column of a table that an option names."""
        if self.table is None:
            raise ValueError(f"{self.where} has no columns; leave {option} out")
        return self.columns[self.named(name)]

    def some(self, kept: Flags) -> "Chunk":
        """Return some of the rows, with the numbers that they have in the source."""
        if kept.all():
            return self
        table = None if self.table is None else self.table[np.flatnonzero(kept)]
        lists = ("objects", "names", "lines", "files", "rows")
        some: Any = {name: list(compress(getattr(self, name), kept)) for name in lists}
        return replace(self, table=table, **some)

    def place(self, index: int) -> str:
        """Return where in its file a row is."""
        if len(self.lines) and self.lines[index]:
            return f"line {self.lines[index]}"
        return printable(self.names[index] if self.names and self.names[index] else f"row {self.rows[index] + 1}")

    def fault(self, index: int, message: str) -> ValueError:
        """Return an error about one row, on one line."""
        line = int(self.lines[index]) if len(self.lines) else 0
        where = self.files[index] if self.files else self.where
        return complaint(where, line, message if line else f"{self.place(index)}: {message}")


def join_chunks(chunks: Sequence[Chunk], where: str) -> Chunk:
    """Return the rows of all chunks as one, at least 1; their columns are the same, in any order."""
    if not chunks:
        raise complaint(where, None, "holds no rows; at least 1 is required")
    if len(chunks) == 1:
        return chunks[0]
    first = chunks[0]
    columns, tables = list(first.columns), list[Table]()
    for chunk in chunks:
        known = chunk.columns
        for odd in (name for name in [*known, *columns] if (name in known) != (name in columns)):
            raise complaint(chunk.where, None, f"has other columns than {first.where}: {quoted(str(odd))}")
        if chunk.table is not None:
            tables.append(replace(chunk.table, columns=tuple(known[name] for name in columns)))
    wheres = dict.fromkeys(chunk.where for chunk in chunks)
    has_names, has_lines = (any(len(getattr(chunk, one)) for chunk in chunks) for one in ("names", "lines"))
    return replace(
        first,
        where=first.where if len(wheres) == 1 else f"{first.where} and {len(wheres) - 1} more",
        table=join_tables(tables) if tables else None,
        objects=[one for chunk in chunks for one in chunk.objects],
        names=[one for chunk in chunks for one in chunk.names or [""] * len(chunk)] if has_names else (),
        lines=np.concatenate([chunk.lines or [0] * len(chunk) for chunk in chunks]) if has_lines else (),
        files=[chunk.where for chunk in chunks for _ in range(len(chunk))] if len(wheres) > 1 else (),
        rows=np.concatenate([chunk.rows for chunk in chunks]),
    )


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

    def read(self, chunk: Chunk, whose: str = "which the model compares") -> list[Any]:
        """Return the objects of a chunk; raise if one is not of this kind, `whose` says why it should be."""
        if chunk.table is not None:
            wanted = f"write one {SINGULAR[self.kind]} per line"
            raise complaint(chunk.where, None, f"holds a table, but the model compares {self.kind}; {wanted}")
        for index, value in enumerate(chunk.objects):
            is_right = kind_of_object(value) == self.kind
            if not (is_right and self.n_channels in (0, channels_of(value))):
                wanted = f"{self.describe()[:-1]}" if is_right else SINGULAR[self.kind]
                raise chunk.fault(index, f"{described(value)} is not a {wanted}, {whose}; correct it, or leave it out")
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
    except ValueError as error:
        raise complaint(chunk.where, None, str(getattr(error, "on_command_line", error))) from None


def learn(chunks: Sequence[Chunk], where: str, measure: str | None = None, choices: Choices | None = None) -> Part:
    """Return the rows of all chunks as a classifier takes them.

    A table of numbers without gaps is "numbers", any other table is "records", unless the `measure` compares only one
    of the two. Objects are of the kind that "auto" finds, unless the measure compares another.
    """
    choices = choices or Choices()
    chunk = join_chunks(chunks, where)
    if chunk.table is None:
        known = known_objects(chunk, measure)
        if known.kind != "numbers":
            _check_measure(known, where, measure)
            return Part(chunk, np.ones(len(chunk), bool), known.read(chunk), known=known)
        chunk = as_table(chunk, len(chunk.objects[0]), True)
    reading, table, faults = read_first(chunk, choices)
    part, table = _selected(chunk, table, faults, choices)
    if not len(table):
        raise complaint(where, None, "holds no complete rows; at least 1 is required")
    of_numbers, is_numbers = measures_of("numbers"), table.holds_numbers
    if measure in (*of_numbers, *measures_of("records")):
        is_numbers = measure in of_numbers
    with placing(chunk):
        reading = reading.for_numbers(is_numbers, str(measure))
    if is_numbers and not choices.has_label:  # with labels, rows that are not used may have gaps
        with placing(part.chunk.some(part.good)):
            reading.patterns(table, allows_gaps=False)
    _check_measure(reading, where, measure)
    remarks = list(placed_remarks(reading, chunk))
    remarks += _why_records(reading, table, choices.has_label) if measure is None else ()
    return replace(part, X=Read(table, reading), known=reading, remarks=remarks)


def read_first(chunk: Chunk, choices: Choices) -> tuple[Reading, Table, list[Fault]]:
    """Return how a table to learn from is read, all its rows so read, and the cells that cannot be read."""
    apart, raw, faults = list(map(chunk.named, choices.apart)), chunk.whole(), list[Fault]()
    kinds = {chunk.named(column): kind for column, kind in choices.kinds.items()}
    is_named = chunk.is_named or apart  # if some are left out, the others go by their numbers
    columns = [
        one.changed(name=one.name if is_named else k, declared=kinds.get(str(one.name), choices.usual))
        for k, one in enumerate(raw.columns)
    ]
    raw = replace(raw, columns=tuple(columns))
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
        chunk = as_table(chunk, len(known.columns), known.is_numbers, f"; the model compares {known.describe()}")
    table, faults, spelling, ignored = read_table(chunk, known, choices, spelling)
    part, table = _selected(chunk, table, faults, choices)
    with placing(part.chunk.some(part.good) if part.faults else part.chunk):
        X = Read(known.patterns(table, allows_gaps))
    return replace(part, X=X, spelling=spelling, ignored=ignored)


def read_table(
    chunk: Chunk, known: Reading, choices: Choices, spelling: Spelling | None = None
) -> tuple[Table, list[Fault], Spelling, list[Column]]:
    """Return a chunk as the model reads it, the cells that cannot be read, the spelling, and the columns left over."""
    given, faults = chunk.whole(), list[Fault]()
    given = given.without(map(chunk.named, choices.apart)) if choices.apart else given
    with placing(chunk):
        raw, ignored = known.matched(given, chunk.is_named)
        spelling = spelling or (raw.dialect.spelling(raw.columns) if raw.dialect else known.spelling)
    with placing(chunk, spelling):
        return known.table(raw, faults if choices.skips_bad else None, spelling), faults, spelling, ignored


def _selected(chunk: Chunk, table: Table, faults: Sequence[Fault], choices: Choices) -> tuple[Part, Table]:
    """Return the rows of a chunk that are used, without X, and the good ones of them in the table so read."""
    good = np.ones(len(table), bool)
    if not (faults or choices.skips_incomplete):
        return Part(chunk, good, None), table
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
    first = chunk.objects[0]
    kind = kind_of_object(first)
    if not kind:
        wanted = "records, texts, lists of numbers (steps of one length), lists of texts or node-link graphs"
        raise chunk.fault(0, f"{described(first)} cannot be compared; write {wanted}")
    known = Objects(kind, channels_of(first) if kind == "series" else 0)
    known.read(chunk, "as the first object is")
    is_rows = measure in measures_of("numbers") if measure else kind_of(list(chunk.objects)) == "numbers"
    return Objects("numbers") if is_rows and kind == "series" else known


def as_table(chunk: Chunk, width: int, is_numbers: bool, whose: str = ", as the first object is") -> Chunk:
    """Return lists, all as long as the model's rows, as a table whose columns have no names."""
    for index, value in enumerate(chunk.objects):
        is_row = isinstance(value, list) and len(value) == width
        if not is_row or (is_numbers and channels_of(value) != 1):
            wanted = SINGULAR["numbers" if is_numbers else "records"].format(width)
            raise chunk.fault(index, f"{described(value)} is not a {wanted}{whose}")
    columns = [column_of_cells(str(k), list(cells)) for k, cells in enumerate(zip(*chunk.objects, strict=True))]
    return replace(chunk, table=Table(tuple(columns)), objects=(), is_named=False)


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
