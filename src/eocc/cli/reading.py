"""The rows of files for the commands: which columns, which rows, and what the user should know about them."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np

from eocc.base.printing import complaint, has_instead, printable, quoted
from eocc.base.progress import stage
from eocc.base.registry import SOME, listed
from eocc.base.types import Flags
from eocc.base.wording import counted
from eocc.cli.app import say
from eocc.cli.options import DataFiles, DataOptions, names_in
from eocc.cli.series import training_windows, windows_for
from eocc.formats.files.chunk import Chunk
from eocc.formats.files.formats import guess_format, open_files
from eocc.formats.files.rows import Choices, Part, Places, describe, learn, read_part, remarks_on
from eocc.formats.files.tables import in_words
from eocc.tables.reading import ANY, Read, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import NUMBER, Table, join_tables, rows_with
from eocc.tables.windows import Windowing, Windows

CLASS = "class"
# A page names this many rows that cannot be read.
MOST_NOTES = 5
# What --keep takes for every column.
ALL = "all"


class Named:
    """Counts rows, and keeps the names of the first few."""

    def __init__(self, names: Sequence[Any] = ()) -> None:
        self.count = 0
        self.first: list[str] = []
        self.add(names)

    def add(self, names: Sequence[Any]) -> None:
        """Count some more rows."""
        self.count += len(names)
        self.first += [printable(str(name)) for name in names[: SOME - len(self.first)]]

    def __str__(self) -> str:
        """Return the names of the first rows, and how many more there are."""
        more = self.count - len(self.first)
        return ", ".join(self.first) + (f" and {more:,} more" if more else "")

    def say(self, have: str) -> None:
        """Print which rows these are, if there are any."""
        if self.count:
            have = have.replace("have", "has") if self.count == 1 else have
            say(f"Note: {counted(self.count, 'row')} {have}: row {self}.")


@dataclass(frozen=True, eq=False)
class NamedPart:
    """Some rows of a file, and what they are called. Rows that are windows of a series come with them all."""

    part: Part
    names: list[Any]
    windows: Windows | None = None

    @property
    def good_names(self) -> list[Any]:
        """The names of the rows that can be read."""
        return list(compress(self.names, self.part.good))

    @property
    def bad(self) -> list[tuple[Any, str]]:
        """The names of the rows that cannot be read, each with the reason."""
        return [(self.names[row], why) for row, why in self.part.faults.items()]

    def with_bad(self, columns: dict[str, Any], notes: list[str], names: Sequence[str]) -> dict[str, Any]:
        """Return the columns of a result for all rows: a bad row is rejected, and its note says why."""
        faults, places = self.part.faults, np.cumsum(self.part.good) - 1
        if not faults:
            return {**columns, "notes": notes}
        rows = range(len(self.names))
        found = {name: [None if row in faults else columns[name][places[row]].item() for row in rows] for name in names}
        found["decision"] = [value or -1 for value in found["decision"]]
        return {**found, "notes": [faults[row] if row in faults else notes[places[row]] for row in rows]}


@dataclass(frozen=True, eq=False)
class Rows:
    """All rows of files: as the classifier takes them, their names, and which are normal and which known outliers.

    Rows are named by their id or file if `are_named`, else by their number. `bad` are the rows that cannot be read,
    each with the reason, `unknown` the columns that the model does not know. If rows are windows of a series,
    `windowing` says how a training series was cut, and `windows` are those of a new one. `all_names` are those of all
    rows to score, of which the `good` can be read.
    """

    X: Any
    kind: str
    names: Sequence[Any]
    is_normal: Flags
    is_outlier: Flags
    are_named: bool
    described: str = ""
    bad: dict[Any, str] = field(default_factory=dict)
    unknown: Sequence[str] = ()
    windowing: Windowing | None = None
    windows: Windows | None = None
    all_names: Sequence[Any] = ()
    good: Flags = field(default_factory=lambda: np.zeros(0, bool))

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


def opened(data: DataFiles, about: DataOptions, usual: Spelling | None = None) -> Iterator[Chunk]:
    """Yield the chunks of all files, whose rows are numbered on from file to file."""
    dialect = about.dialect if usual is None else replace(about.dialect, usual=usual)
    columns = None
    for chunk in open_files(data.paths, about.input_format, about.two_classes, dialect, about.sheet):
        names = list(chunk.columns)
        columns = names if columns is None else columns
        for odd in (name for name in [*names, *columns] if (name in names) != (name in columns)):
            raise complaint(chunk.where, None, f"has other columns than {data.paths[0]}: {quoted(str(odd))}")
        if chunk.table is not None and names != columns:  # in another order
            ordered = tuple(chunk.columns[name] for name in columns)
            chunk = replace(chunk, table=replace(chunk.table, columns=ordered))
        yield chunk
    if columns is None:
        raise ValueError(f"{data} holds no rows; at least 1 is required")


def choices_of(about: DataOptions) -> Choices:
    """Return what the options say about files to learn from."""
    return Choices(
        about.apart, about.kinds, ANY if about.all_columns else "", skips_incomplete=about.skip_incomplete,
        skips_bad=about.skip_bad, has_label=bool(about.label),
    )  # fmt: skip


def read_training(data: DataFiles, about: DataOptions, measure: str) -> Rows:
    """Read files to learn from, and print what they hold."""
    chunks = list(opened(data, about))
    if about.drop and chunks[0].table is None:
        raise ValueError(f"{data} has no columns; leave --drop out")
    windowing = None
    if about.window:
        chunks, about, windowing = training_windows(chunks, str(data), about, choices_of(about))
    choices = choices_of(about) if chunks[0].table is not None else None
    learnt = learn(chunks, str(data), None if measure == "auto" else measure, choices)
    is_normal, is_outlier = (flags[learnt.kept] for flags in _labelled(chunks, data, about))
    chosen = f", {int(is_normal.sum())} with {about.label} = {about.target!r}" if about.label else ""
    form = _form(data, about, chunks[0], learnt.reading)
    say(f"{data} ({form}): {counted(len(learnt.kept), 'row')}{chosen}: {learnt.described}.")
    for note in remarks_on(learnt, chunks, bool(about.label), measure == "auto"):
        say(f"Note: {note}.")
    every = [name for chunk in chunks for name in names_of(chunk, about)]
    Named([every[row] for row in learnt.incomplete]).say("with missing values left out")
    if learnt.faults:
        bad = sorted({fault.row for fault in learnt.faults})
        why = f"{Places(chunks).name(bad[0])}: {min(learnt.faults)}"
        Named([every[row] for row in bad]).say(f"with cells that cannot be read left out ({printable(why)})")
    names = [every[row] for row in learnt.kept]
    are_named = _are_named(names, about)
    return Rows(learnt.X, learnt.kind, names, is_normal, is_outlier, are_named, learnt.described, windowing=windowing)


def _form(data: DataFiles, about: DataOptions, chunk: Chunk, reading: Reading | None) -> str:
    form = about.input_format or guess_format(data.paths[0])
    spelled = in_words(reading.spelling) if reading is not None and form in ("csv", "tsv") else ""
    return ", ".join(filter(None, [form, chunk.layout, spelled]))


def read_for(classifier: Any, data: DataFiles, about: DataOptions) -> Rows:
    """Read files to score with a model."""
    parts = list(stream_for(classifier, data, about, says_form=False))
    bad = {name: why for one in parts for name, why in one.bad}
    say_bad(bad)
    good = np.concatenate([one.part.good for one in parts])
    if not good.any():
        raise ValueError(f"{data} holds no readable rows; at least 1 is required")
    X = _whole([one.part.X for one in parts if one.part.good.any()])
    all_names = [name for one in parts for name in one.names]
    chunks = [one.part.chunk for one in parts]
    is_normal, is_outlier = _labelled(chunks, data, about)
    names = list(compress(all_names, good))
    reading = classifier._table_reading
    known = {about.id_column, about.label, *map(str, () if reading is None else (*reading.names, *reading.left_out))}
    unknown = [name for name in map(str, chunks[0].columns) if name not in known] if chunks[0].is_named else []
    return Rows(
        X, "", names, is_normal[good], is_outlier[good], _are_named(names, about), bad=bad, unknown=unknown,
        windows=parts[0].windows, all_names=all_names, good=good,
    )  # fmt: skip


def _are_named(names: Sequence[Any], about: DataOptions) -> bool:
    return bool(about.id_column) or isinstance(names[0], str)


def _whole(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Read):
        patterns = [part.patterns for part in parts]
        return Read(join_tables(patterns) if isinstance(patterns[0], Table) else np.concatenate(patterns))
    return [one for part in parts for one in part]


def say_bad(bad: dict[Any, str]) -> None:
    """Print which rows are rejected because a cell cannot be read."""
    if bad:
        why = printable(next(iter(bad.values())))
        Named(list(bad)).say(f"rejected, with a cell that cannot be read ({why}; --strict stops there)")


def stream_for(classifier: Any, data: DataFiles, about: DataOptions, says_form: bool = True) -> Iterator[NamedPart]:
    """Yield the rows of files to score, one part at a time.

    Print what the first part holds, once how the text of the files differs from that of the training table, and which
    column can name the rows.
    """
    known, windowing = classifier._known_data, classifier._windowing_
    reading, spelling, windows = known if isinstance(known, Reading) else None, None, None
    skipped, has_rows, said = Named(), False, set[str]()
    with stage(f"scoring {data.name}", 1):
        usual = windowing.series if windowing else reading
        chunks: Iterable[Chunk] = opened(data, about, usual.spelling if usual else None)
        if windowing:
            chunks, about, windows = windows_for(windowing, list(chunks), about)
        apart = [] if not about.id_column or (reading and about.id_column in reading.names) else [about.id_column]
        choices = Choices(apart, skips_incomplete=about.skip_incomplete, skips_bad=not about.strict)
        for number, chunk in enumerate(chunks):
            part, names = read_part(chunk, known, choices, classifier._fills_gaps, spelling), names_of(chunk, about)
            spelling = part.spelling
            if len(part.good) < len(names):
                is_kept = np.isin(chunk.numbers, part.chunk.numbers)
                skipped.add(list(compress(names, ~is_kept)))
                names = list(compress(names, is_kept))
            notes = reading.differences(part.compared, spelling) if reading else []
            ignored = part.ignored if windows is None else []  # the model needs no more of a window than its numbers
            if number == 0:
                notes += _hint_at_id(ignored, about)
            if number == 0 and says_form:
                unknown = listed(ascii(str(column.name)) for column in ignored)
                note = f"; not in the model, ignored: {unknown}" if unknown else ""
                holds = reading.describe() if reading else describe(known)
                say(f"{data} ({_form(data, about, chunk, None)}): {holds}{note}.")
            for note in (note for note in dict.fromkeys(notes) if note not in said):
                say(f"Note: {note}.")
                said.add(note)
            if names:
                has_rows = True
                yield NamedPart(part, names, windows)
    if not has_rows:
        raise ValueError(f"{data} holds no complete rows; at least 1 is required")
    skipped.say("with missing values left out")


def _hint_at_id(ignored: Iterable[Any], about: DataOptions) -> list[str]:
    """Return that a column which is not compared, and differs in all rows, could name them."""
    if about.id_column:
        return []
    found = [column.name for column in ignored if len(column) > 1 and len(column.labelled().labels) == len(column)]
    return [f"rows are numbered from 0; --id {printable(shlex.quote(str(found[0])))} names them"] if found else []


def names_of(chunk: Chunk, about: DataOptions) -> list[Any]:
    """Return what --id says of each row, or its file, or its number from 0; the number also where the id is missing."""
    numbers = chunk.numbers.tolist()
    if not about.id_column:
        return list(chunk.names) or numbers
    cells = chunk.column(about.id_column, "--id").cells()
    kind = str if any(isinstance(cell, str) for cell in cells) else int
    return [kind(number) if cell in (None, "") else _plain(cell) for cell, number in zip(cells, numbers, strict=True)]


def _plain(cell: Any) -> Any:
    """Return the cell of an id: text without blanks around it, and whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell.strip()
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def kept_columns(chunk: Chunk, wanted: str, reading: Reading | None, is_typed: bool) -> dict[str, Sequence[Any]]:
    """Return the columns that --keep names, or "all": as in the file, unless typed and numbers to the model."""
    names = list(chunk.columns) if wanted == ALL else names_in(wanted)
    kinds = {one.name: one for one in reading.columns} if reading is not None and is_typed else {}
    kept = dict[str, Sequence[Any]]()
    for name in names:
        column = chunk.column(name, "--keep")
        if name in kinds and kinds[name].kind == NUMBER and reading is not None:
            column = replace(reading, columns=(kinds[name],)).table(Table((column,)), []).columns[0]
        kept[name] = column.cells()
    return kept


def _labelled(chunks: Sequence[Chunk], data: DataFiles, about: DataOptions) -> tuple[Flags, Flags]:
    """Return which rows are normal, and which are known outliers."""
    n_rows = sum(map(len, chunks))
    is_normal, is_outlier = np.ones(n_rows, bool), np.zeros(n_rows, bool)
    if about.label:
        labels = [cell for chunk in chunks for cell in labels_of(chunk, data, about.label)]
        is_normal = _are_labelled(labels, about.target, about.label, data)
        for value in names_in(about.outliers):
            is_outlier |= _are_labelled(labels, value, about.label, data)
    return is_normal, is_outlier


def _are_labelled(labels: Sequence[Any], value: str, label: str, data: DataFiles) -> Flags:
    found = rows_with(labels, value)
    if not found.any():
        values = listed(map(quoted, sorted({str(cell) for cell in labels})))
        raise ValueError(f"{data} has no row with {label} = {value!r}; its values are {values}")
    return found


def labels_of(chunk: Chunk, data: DataFiles, label: str) -> Sequence[Any]:
    """Return the labels of a chunk: a column of a table, or the classes of a CXL index."""
    columns = chunk.columns
    if label in columns:
        return columns[label].cells()
    if chunk.labels and label == CLASS:
        return chunk.labels
    known = list(columns) or ([CLASS] if chunk.labels else [])
    has = has_instead(label, known) if known else "only tables and CXL indices have labels"
    raise ValueError(f"{data} has no column {label!r}; {has}")
