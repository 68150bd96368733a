"""The rows of files for the commands, also windows of series: which columns, which rows, and what users should know."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np

from eocc.base.printing import printable, quoted
from eocc.base.progress import stage
from eocc.base.registry import SOME, listed
from eocc.base.types import Flags
from eocc.base.wording import counted
from eocc.cli.app import say
from eocc.cli.options import DataFiles, DataOptions, names_in
from eocc.formats.files.formats import TEXT_TABLES, guess_format, open_files
from eocc.formats.files.rows import (
    Choices,
    Chunk,
    Part,
    join_chunks,
    learn,
    placed_remarks,
    placing,
    read_first,
    read_part,
    read_table,
)
from eocc.tables.judge import Fault
from eocc.tables.reading import ANY, Read, Reading
from eocc.tables.spelling import PLAIN, Spelling
from eocc.tables.table import DATE, NUMBER, TEXT, Column, Table, encoded, rows_with
from eocc.tables.windows import Windowing, Windows

# A page names this many rows that cannot be read.
MOST_NOTES = 5
# What --keep takes for every column.
ALL = "all"


@dataclass
class Named:
    """Counts rows, and keeps the names of the first few."""

    count: int = 0
    first: list[str] = field(default_factory=list)

    def add(self, names: Sequence[Any]) -> "Named":
        """Count some more rows."""
        self.count += len(names)
        self.first += [printable(str(name)) for name in names[: SOME - len(self.first)]]
        return self

    def __str__(self) -> str:
        """Return the names of the first rows, and how many more there are."""
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")

    def say(self, have: str) -> None:
        """Print which rows these are, if there are any."""
        if self.count:
            have = have.replace("have", "has") if self.count == 1 else have
            say(f"Note: {counted(self.count, 'row')} {have}: row {self}.")


@dataclass(frozen=True, eq=False, kw_only=True)
class Rows(Part):
    """Rows of files, what they are called, and which of the good ones are normal and which known outliers.

    Rows are named by their id or file if `are_named`, else by their number; `names` are those of the good rows. If rows
    are windows of a series, `windowing` says how a training series was cut, and `windows` are those of a new one.
    """

    all_names: list[Any]
    names: list[Any]
    are_named: bool
    is_normal: Flags
    is_outlier: Flags
    windowing: Windowing | None = None
    windows: Windows | None = None

    @cached_property
    def bad(self) -> dict[Any, str]:
        """The names of the rows that cannot be read, each with the reason."""
        return {self.all_names[row]: why for row, why in self.faults.items()}

    @property
    def signs(self) -> Any:
        """The labels as numbers: +1 for normal rows, -1 for all others."""
        return np.where(self.is_normal, 1, -1)

    def unread(self) -> list[str]:
        """Return sentences about the rows that cannot be read."""
        notes = [f"Row {name} cannot be read, so it is rejected: {why}." for name, why in self.bad.items()][:MOST_NOTES]
        return [*notes, *([f"{len(self.bad):,} rows cannot be read."] if len(self.bad) > MOST_NOTES else [])]

    def some(self, rows: Any) -> Any:
        """Return some of the rows."""
        return self.X[np.asarray(rows, np.int64)] if isinstance(self.X, Read) else [self.X[row] for row in rows]

    def with_bad(self, columns: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the columns of a result for all rows: a bad row is rejected, and its note says why."""
        faults, places, notes = self.faults, np.cumsum(self.good) - 1, columns["notes"]
        rows = range(len(self.all_names))
        found = {name: [None if row in faults else columns[name][places[row]].item() for row in rows] for name in names}
        found["decision"] = [value or -1 for value in found["decision"]]
        return {**found, "notes": [faults[row] if row in faults else notes[places[row]] for row in rows]}


def choices_of(about: DataOptions) -> Choices:
    """Return what the options say about files to learn from."""
    return Choices(
        about.apart, about.kinds, ANY if about.all_columns else "", skips_incomplete=about.skip_incomplete,
        skips_bad=about.skip_bad, has_label=bool(about.label),
    )  # fmt: skip


def read_training(data: DataFiles, about: DataOptions, measure: str) -> Rows:
    """Read files to learn from, and print what they hold."""
    chunks = open_files(data.paths, about.input_format, about.dialect, about.sheet)
    chunk, windowing = join_chunks(list(chunks), str(data)), None
    if about.drop and chunk.table is None:
        raise ValueError(f"{data} has no columns; leave --drop out")
    if about.window:
        chunk, about, windowing = training_windows(chunk, about, choices_of(about))
    part = learn([chunk], str(data), None if measure == "auto" else measure, choices_of(about))
    rows = _rows(part, data, about, windowing=windowing)
    chosen = f", {int(rows.is_normal.sum())} with {about.label} = {about.target!r}" if about.label else ""
    say(f"{_form(data, about, chunk, part.known.spelling)}: {counted(len(rows.names), 'row')}{chosen}: "
        f"{part.known.describe()}.")  # fmt: skip
    for note in part.remarks:
        say(f"Note: {note}.")
    if part.incomplete is not None:
        Named().add(names_of(part.incomplete, about)).say("with missing values left out")
    say_bad(rows.bad, "with cells that cannot be read left out ({})")
    return rows


def _form(data: DataFiles, about: DataOptions, chunk: Chunk, spelling: Spelling = PLAIN) -> str:
    said = [about.input_format or guess_format(data.paths[0]), chunk.layout]
    if said[0] in TEXT_TABLES:
        said += ["decimal commas"] if spelling.decimal == "," else []
        said += [f"dates with the {'day' if spelling.day_first else 'month'} first"] * (spelling.day_first is not None)
    return f"{data} ({', '.join(filter(None, said))})"


def read_for(classifier: Any, data: DataFiles, about: DataOptions) -> Rows:
    """Read files to score with a model, all rows at once."""
    (rows,) = stream_for(classifier, data, about, is_whole=True)
    say_bad(rows.bad)
    if not rows.good.any():
        raise ValueError(f"{data} holds no readable rows; at least 1 is required")
    return rows


def say_bad(
    bad: dict[Any, str], what: str = "rejected, with a cell that cannot be read ({}; --strict stops there)"
) -> None:
    """Print which rows have a cell that cannot be read, with the first reason, and what happens to them."""
    Named().add(list(bad)).say(what.format(printable(next(iter(bad.values()), ""))))


def _rows(part: Part, data: DataFiles, about: DataOptions, **more: Any) -> Rows:
    """Return rows with their names and labels; without labels, all are normal."""
    chunk, good = part.chunk, part.good
    is_normal, is_outlier = _labelled(chunk, data, about) if about.label else (good, ~good)
    are_named = bool(about.id_column or chunk.names)
    names, known = names_of(chunk, about), {**vars(part), **more}
    named: Any = {"all_names": names, "names": list(compress(names, good)), "are_named": are_named}
    return Rows(**named, **known, is_normal=is_normal[good], is_outlier=is_outlier[good])


def stream_for(classifier: Any, data: DataFiles, about: DataOptions, is_whole: bool = False) -> Iterator[Rows]:
    """Yield the rows of files to score, one part at a time, or all at once.

    Print what the first part holds.
    """
    known, windowing = classifier._known_data, classifier._windowing_
    spelling, windows, skipped, has_rows = None, None, Named(), False
    dialect = replace(about.dialect, usual=(windowing.series if windowing else known).spelling)
    with stage(f"scoring {data.name}", 1):
        chunks: Iterable[Chunk] = open_files(data.paths, about.input_format, dialect, about.sheet)
        if windowing:
            chunk, about, windows = windows_for(windowing, join_chunks(list(chunks), str(data)), about)
            chunks = [chunk]
        elif is_whole:
            chunks = [join_chunks(list(chunks), str(data))]
        apart = [about.id_column] if about.id_column and about.id_column not in known.names else []
        choices = Choices(apart, skips_incomplete=about.skip_incomplete, skips_bad=not about.strict)
        for number, chunk in enumerate(chunks):
            part = read_part(chunk, known, choices, classifier.measure_.fills_gaps, spelling)
            spelling = part.spelling
            if part.incomplete is not None:
                skipped.add(names_of(part.incomplete, about))
            if number == 0 and not is_whole:
                ignored = part.ignored if windows is None else []  # a model needs no more of a window than its numbers
                unknown = listed(ascii(str(column.name)) for column in ignored)
                note = f"; not in the model, ignored: {unknown}" if unknown else ""
                say(f"{_form(data, about, chunk)}: {known.describe()}{note}.")
            if len(part.chunk):
                has_rows = True
                yield _rows(part, data, about, windows=windows)
    if not has_rows:
        raise ValueError(f"{data} holds no {'complete ' if skipped.count else ''}rows; at least 1 is required")
    skipped.say("with missing values left out")


def names_of(chunk: Chunk, about: DataOptions) -> list[Any]:
    """Return what --id says of each row, or its file, or its number from 0; the number also where the id is missing."""
    numbers = list(map(int, chunk.rows))
    if not about.id_column:
        return list(chunk.names) or numbers
    cells = chunk.column(about.id_column, "--id").cells()
    kind = str if any(isinstance(cell, str) for cell in cells) else int
    names = [kind(number) if cell in (None, "") else cell for cell, number in zip(cells, numbers, strict=True)]
    names = [name.strip() if isinstance(name, str) else name for name in names]
    return [int(name) if isinstance(name, float) and name.is_integer() else name for name in names]


def kept_columns(chunk: Chunk, wanted: str, reading: Any, is_typed: bool) -> dict[str, Sequence[Any]]:
    """Return the columns that --keep names, or "all": as in the file, unless typed and numbers to the model."""
    names = list(chunk.columns) if wanted == ALL else names_in(wanted)
    kinds = {one.name: one for one in reading.columns} if is_typed and isinstance(reading, Reading) else {}
    kept = dict[str, Sequence[Any]]()
    for name in names:
        column = chunk.column(name, "--keep")
        if name in kinds and kinds[name].kind == NUMBER:
            column = replace(reading, columns=(kinds[name],)).table(Table((column,)), []).columns[0]
        kept[name] = column.cells()
    return kept


def _labelled(chunk: Chunk, data: DataFiles, about: DataOptions) -> tuple[Flags, Flags]:
    """Return which rows are normal, and which are known outliers."""
    labels, is_outlier = chunk.column(about.label, "--label").cells(), np.zeros(len(chunk), bool)

    def rows_of(value: str) -> Flags:
        found = rows_with(labels, value)
        if not found.any():
            values = listed(map(quoted, sorted({str(cell) for cell in labels})))
            raise ValueError(f"{data} has no row with {about.label} = {value!r}; its values are {values}")
        return found

    for value in names_in(about.outliers):
        is_outlier |= rows_of(value)
    return rows_of(about.target), is_outlier


# The columns that say which window of a series a row is; the first names it.
ENDS = ("window", "group", "first", "last")


def places_in(chunk: Chunk) -> list[str]:
    """Return the columns of a chunk of windows that say when each begins and ends, and in which group."""
    return [name for name in ENDS[1:] if name in chunk.columns]


def training_windows(chunk: Chunk, about: DataOptions, choices: Choices) -> tuple[Chunk, DataOptions, Windowing]:
    """Return the windows of a series to learn from as one chunk, what is said about it, and how they are cut."""
    given = {about.time: ANY, about.by: "category"}
    kinds = {name: kind for name, kind in given.items() if name} | about.kinds
    reading, table, faults = read_first(chunk, replace(choices, kinds=kinds))
    dates = tuple(f"{quoted(str(one.name))} is compared" for one in reading.columns if one.kind == DATE)
    said = tuple(one for one in reading.remarks if one.name not in given and not one.text.startswith(dates))
    for note in placed_remarks(replace(reading, remarks=said), chunk):
        say(f"Note: {note}.")
    kept = tuple(one for one in reading.columns if one.kind == NUMBER or one.name in given)
    if others := [ascii(str(one.name)) for one in reading.columns if one not in kept]:
        say(f"Note: only numbers are part of windows, so these columns are not: {listed(others)}.")
    reading = replace(reading, columns=kept, remarks=())
    assert about.window
    windowing = Windowing(about.window, about.step or 1, about.by or None, about.time or None, about.features, reading)
    table = Table(tuple(table.column(one.name) for one in kept))
    cut, about, _ = _cut(chunk, table, faults, windowing, about)
    return cut, about, windowing


def windows_for(windowing: Windowing, chunk: Chunk, about: DataOptions) -> tuple[Chunk, DataOptions, Windows]:
    """Return the windows of a new series as one chunk, what is said about it, and the windows as they are."""
    about = replace(about, window=windowing.length)  # refuses labels and ids
    table, faults, *_ = read_table(chunk, windowing.series, Choices(skips_bad=not about.strict))
    return _cut(chunk, table, faults, windowing, about)


def _cut(
    chunk: Chunk, table: Table, faults: Sequence[Fault], windowing: Windowing, about: DataOptions
) -> tuple[Chunk, DataOptions, Windows]:
    """Return the windows of a series as one chunk of numbers with the columns of ENDS, its options, and as they are."""
    if faults:
        first = min(faults)
        say(f"Note: {counted(len(faults), 'cell')} taken for missing, as they cannot be read: "
            f"{chunk.place(first.row)}: {printable(str(first))}.")  # fmt: skip
    with placing(chunk):
        found = windowing.cut(table)
    n_series = len({*found.groups})
    series = f" of {counted(n_series, 'series', 'series')}" if windowing.by else ""
    say(f"{counted(len(table), 'row')}{series}: {counted(len(found), 'window')} of {windowing.length:,}.")
    if windowing.step < windowing.length:
        say("Note: the windows overlap, so drift and discoveries, which take rows for independent, mean little.")
    starts, ends = found.ends()
    named = [f"{start} to {end}" for start, end in zip(starts, ends, strict=True)]
    known = {"first": starts, "last": ends}
    if windowing.by:
        named = [f"{group}: {name}" for group, name in zip(found.groups, named, strict=True)]
        known["group"] = list(found.groups)
    places = [Column(name, TEXT, *encoded(cells)) for name in ENDS if (cells := {"window": named, **known}.get(name))]
    numbers = [Column(name, NUMBER, found.X[:, k]) for k, name in enumerate(found.names)]
    cut = Chunk(chunk.where, Table((*places, *numbers)), layout=chunk.layout, rows=range(len(found)))
    drop, form = ",".join(places_in(cut)), about.input_format
    return cut, DataOptions(drop=drop, all_columns=True, id_column=ENDS[0], input_format=form), found
