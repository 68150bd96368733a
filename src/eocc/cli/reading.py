"""The rows of files for the commands: which columns, which rows, and what the user should know about them."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import Any

import numpy as np

from eocc.cli.app import say
from eocc.cli.options import DataFiles, DataOptions, names_in
from eocc.cli.series import training_windows, windows_for
from eocc.foundation.printing import complaint, has_instead, printable, quoted
from eocc.foundation.progress import stage
from eocc.foundation.registry import MOST_LISTED, listed
from eocc.foundation.types import Flags
from eocc.foundation.wording import counted
from eocc.io.files import Chunk, guess_format, open_chunks
from eocc.io.files.objects import as_table, checked_objects, describe
from eocc.io.files.rows import Choices, Places, learn, remarks_on
from eocc.io.files.tables import in_words
from eocc.tables.judge import BadCellError, Fault
from eocc.tables.matching import gaps_in, is_same, matched
from eocc.tables.reading import Read, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import NUMBER, Table, join_tables
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
        self.first += [printable(str(name)) for name in names[: MOST_LISTED - len(self.first)]]

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
class Part:
    """Some rows of a file: its chunk with `whole` columns, the names of the rows, which are `good`, and those as X.

    A row that is not good has a cell that cannot be read; `faults` say which and why. Rows that are windows of a series
    come with them all.
    """

    whole: Chunk
    names: list[Any]
    good: Flags
    X: Any
    faults: dict[int, str]
    windows: Windows | None = None

    @property
    def good_names(self) -> list[Any]:
        """The names of the good rows."""
        return list(compress(self.names, self.good))

    def with_bad(self, columns: dict[str, Any], notes: list[str], names: Sequence[str]) -> dict[str, Any]:
        """Return the columns of a result for all rows: a bad row is rejected, and its note says why."""
        if not self.faults:
            return {**columns, "notes": notes}
        places = np.cumsum(self.good) - 1
        found: dict[str, Any] = {name: [None] * len(self.names) for name in names}
        for row, is_good in enumerate(self.good.tolist()):
            for name in names if is_good else ():
                found[name][row] = columns[name][places[row]].item()
        found["decision"] = [value or -1 for value in found["decision"]]
        said = [notes[places[row]] if good else self.faults[row] for row, good in enumerate(self.good.tolist())]
        return {**found, "notes": said}


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
    first, columns = 0, None
    for path in data.paths:
        for chunk in open_chunks(path, about.input_format, about.two_classes, dialect, about.sheet):
            names = list(chunk.columns)
            if columns not in (None, names):
                odd = next(
                    (name for name in [*names, *(columns or ())] if (name in names) != (name in (columns or ()))), ""
                )
                raise complaint(chunk.where, None, f"has other columns than {data.paths[0]}: {quoted(str(odd))}")
            columns = names
            yield replace(chunk, first=first)
            first += len(chunk)
    if not first:
        raise ValueError(f"{data} holds no rows; at least 1 is required")


def choices_of(about: DataOptions) -> Choices:
    """Return what the options say about files to learn from."""
    return Choices(
        about.apart, about.kinds, about.all_columns, about.skip_incomplete, about.skip_bad, bool(about.label)
    )


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
    are_named = bool(about.id_column) or isinstance(names[0], str)
    return Rows(learnt.X, learnt.kind, names, is_normal, is_outlier, are_named, learnt.described, windowing=windowing)


def _form(data: DataFiles, about: DataOptions, chunk: Chunk, reading: Reading | None) -> str:
    form = about.input_format or guess_format(data.paths[0])
    spelled = in_words(reading.spelling) if reading is not None and form in ("csv", "tsv") else ""
    return ", ".join(filter(None, [form, chunk.layout, spelled]))


def read_for(classifier: Any, data: DataFiles, about: DataOptions) -> Rows:
    """Read files to score with a model."""
    parts = list(stream_for(classifier, data, about, says_form=False))
    bad = {part.names[row]: why for part in parts for row, why in part.faults.items()}
    say_bad(bad)
    if not any(part.good.any() for part in parts):
        raise ValueError(f"{data} holds no readable rows; at least 1 is required")
    X = _whole([part.X for part in parts if part.good.any()])
    all_names = [name for part in parts for name in part.names]
    is_normal, is_outlier = _labelled([part.whole for part in parts], data, about)
    good = np.concatenate([part.good for part in parts])
    names = list(compress(all_names, good))
    are_named = bool(about.id_column) or isinstance(names[0], str)
    reading, given = classifier._table_reading, [str(name) for name in parts[0].whole.columns]
    known = {about.id_column, about.label, *map(str, () if reading is None else (*reading.names, *reading.left_out))}
    unknown = [name for name in given if name not in known] if parts[0].whole.is_named else []
    return Rows(
        X, "", names, is_normal[good], is_outlier[good], are_named, bad=bad, unknown=unknown, windows=parts[0].windows,
        all_names=all_names, good=good,
    )  # fmt: skip


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


def stream_for(classifier: Any, data: DataFiles, about: DataOptions, says_form: bool = True) -> Iterator[Part]:
    """Yield the rows of files to score, one part at a time.

    Print what the first part holds, once how the text of the files differs from that of the training table, and which
    column can name the rows.
    """
    reading, said, spelling = classifier._table_reading, set[str](), None
    skipped, has_rows = Named(), False
    with stage(f"scoring {data.name}", 1):
        windowing, windows = classifier._windowing_, None
        usual = windowing.series if windowing else reading
        chunks: Iterable[Chunk] = opened(data, about, usual and usual.spelling)
        if windowing:
            chunks, about, windows = windows_for(windowing, list(chunks), about)
        for number, chunk in enumerate(chunks):
            names, notes = names_of(chunk, about), list[str]()
            if reading is None:
                schema = classifier.measure_.schema(classifier.prototypes_, classifier._feature_names)
                part = Part(chunk, names, np.ones(len(chunk), bool), checked_objects(chunk, schema), {})
                if number == 0 and says_form:
                    say(f"{data} ({_form(data, about, chunk, None)}): {describe(schema)}.")
            else:
                whole = chunk
                chunk, ignored = _matched(chunk, reading, about)
                ignored = ignored if windows is None else []  # the model needs no more of a window than its numbers
                raw: Any = chunk.table
                if number == 0 or about.dialect.decimal:
                    spelling = raw.dialect.spelling(raw.columns) if raw.dialect else reading.spelling
                part = replace(_part(classifier, whole, chunk, names, about, spelling), windows=windows)
                if about.skip_incomplete:
                    skipped.add(list(compress(part.names, ~_complete(part))))
                    part = _without_gaps(part)
                notes = reading.differences(raw, spelling)
                if number == 0:
                    notes += _hint_at_id(ignored, about)
                    if says_form:
                        _say_form(data, about, chunk, reading, ignored)
            for note in (note for note in dict.fromkeys(notes) if note not in said):
                say(f"Note: {note}.")
                said.add(note)
            has_rows = has_rows or bool(len(part.names))
            if len(part.names):
                yield part
    if not has_rows:
        raise ValueError(f"{data} holds no complete rows; at least 1 is required")
    skipped.say("with missing values left out")


def _say_form(data: DataFiles, about: DataOptions, chunk: Chunk, reading: Reading, ignored: Sequence[Any]) -> None:
    unknown = listed(ascii(str(column.name)) for column in ignored)
    note = f"; not in the model, ignored: {unknown}" if unknown else ""
    say(f"{data} ({_form(data, about, chunk, None)}): {reading.describe()}{note}.")


def _matched(chunk: Chunk, reading: Reading, about: DataOptions) -> tuple[Chunk, list[Any]]:
    """Return the chunk with the columns of the model, and the others."""
    if chunk.table is None:
        chunk = as_table(chunk, len(reading.columns), reading.is_numbers, reading.describe())
    assert chunk.table is not None
    apart = [about.id_column] if about.id_column and about.id_column not in reading.names else []
    try:
        table, ignored = matched(chunk.table.without(apart), reading, chunk.is_named)
    except ValueError as error:
        raise complaint(chunk.where, None, str(error)) from None
    return replace(chunk, table=table), ignored


def _part(classifier: Any, whole: Chunk, chunk: Chunk, names: list[Any], about: DataOptions, spelling: Any) -> Part:
    faults: list[Fault] | None = None if about.strict else []
    try:
        patterns = classifier._patterns_of_table(chunk.table, faults, spelling)
    except BadCellError as error:
        raise Places([chunk]).fault(error, spelling) from None
    except ValueError as error:
        raise complaint(chunk.where, None, str(error)) from None
    reasons = dict[int, str]()
    for fault in sorted(faults or ()):
        reasons.setdefault(fault.row, f"{printable(chunk.place(fault.row))}: {fault}")
    good = np.ones(len(chunk), bool)
    good[list(reasons)] = False
    return Part(whole, names, good, Read(patterns if good.all() else patterns[np.flatnonzero(good)]), reasons)


def _complete(part: Part) -> Flags:
    """Return, for each row of a part, whether it has no gaps, or a cell that cannot be read."""
    complete = np.ones(len(part.good), bool)
    complete[part.good] = gaps_in(part.X.patterns) == 0
    return complete


def _without_gaps(part: Part) -> Part:
    kept, places = _complete(part), np.cumsum(_complete(part)) - 1
    patterns = part.X.patterns[np.flatnonzero(kept[part.good])]
    faults = {int(places[row]): why for row, why in part.faults.items()}
    return Part(part.whole.some(kept), list(compress(part.names, kept)), part.good[kept], Read(patterns), faults)


def _hint_at_id(ignored: Iterable[Any], about: DataOptions) -> list[str]:
    """Return that a column which is not compared, and differs in all rows, could name them."""
    if about.id_column:
        return []
    found = [column.name for column in ignored if len(column) > 1 and len(column.labelled().labels) == len(column)]
    return [f"rows are numbered from 0; --id {printable(shlex.quote(str(found[0])))} names them"] if found else []


def names_of(chunk: Chunk, about: DataOptions) -> list[Any]:
    """Return what --id says of each row, or its file, or its number from 0; the number also where the id is missing."""
    if not about.id_column:
        are_files = chunk.names and chunk.table is None
        return chunk.row_names if are_files else list(map(int, chunk.row_names))
    cells = chunk.column(about.id_column, "--id").cells()
    kind = str if any(isinstance(cell, str) for cell in cells) else int
    return [
        kind(number) if cell in (None, "") else _plain(cell)
        for cell, number in zip(cells, chunk.row_names, strict=True)
    ]


def _plain(cell: Any) -> Any:
    """Return the cell of an id: text without blanks around it, and whole numbers without a decimal point."""
    if isinstance(cell, str):
        return cell.strip()
    return int(cell) if isinstance(cell, float) and cell.is_integer() else cell


def kept_columns(part: Part, wanted: str, reading: Reading | None, is_typed: bool) -> dict[str, Sequence[Any]]:
    """Return the columns that --keep names, or "all": as in the file, unless typed and numbers to the model."""
    names = list(part.whole.columns) if wanted == ALL else names_in(wanted)
    kinds = {one.name: one for one in reading.columns} if reading is not None and is_typed else {}
    kept = dict[str, Sequence[Any]]()
    for name in names:
        column = part.whole.column(name, "--keep")
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
    found = np.array([is_same(cell, value) for cell in labels], bool)
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
