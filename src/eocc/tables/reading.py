"""How a fitted model reads tables: which columns it compares, what each holds, and how its text is written."""

import shlex
import warnings
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import hashable, instance, mapping, optional, real, tuple_of
from eocc.foundation.printing import printable, quoted
from eocc.foundation.registry import listed
from eocc.foundation.wording import counted
from eocc.tables import TableWarning
from eocc.tables.judge import (
    BadCellError,
    Fault,
    Judgement,
    converted,
    holds_text,
    judge,
    meanings_of,
    plain_numbers,
    remedy_for,
)
from eocc.tables.naming import (
    CLOCK,
    DAY,
    MOMENT,
    RUNS_ON,
    WEEKDAY,
    listed_reasons,
    may_name,
    parts_of_dates,
    why_naming,
)
from eocc.tables.spelling import PLAIN, Dialect, Spelling
from eocc.tables.table import BOOLEAN, DATE, EMPTY, KINDS, NUMBER, PLURALS, TEXT, TIME, Column, Table

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Kinds that a user declares: by --kind, or to Gower. None of them are left out.
DECLARED = {
    "number": NUMBER, "text": TEXT, "category": TEXT, "date": DATE, "numeric": NUMBER, "boolean": BOOLEAN,
    "calendar": DATE, "categorical": TEXT,
}  # fmt: skip
CALENDAR = "calendar"
# Kinds for which text is categories, and anything else remains what it is; and for which the column is judged.
GIVEN, ANY = "ordered", "any"


class GapError(BadCellError):
    """A row of numbers has a missing value, which the measure does not allow."""


@dataclass(frozen=True)
class ReadColumn:
    """A compared column of the training table: its kind, and the parts of dates that count.

    `low` and `high` are the least and the largest training value, `labels` the training categories. If the user
    declared it text, it `keeps_words` such as NA, which mean a gap in any other column.
    """

    name: Hashable
    kind: str
    parts: tuple[str, ...] = (MOMENT,)
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    keeps_words: bool = False
    stored: ClassVar = {
        "name": hashable, "kind": lambda value: value in (EMPTY, *KINDS),
        "parts": lambda value: type(value) is tuple and set(value) <= {MOMENT, CLOCK, WEEKDAY},
        "low": optional(real()), "high": optional(real()),
        "labels": tuple_of(instance(str)), "keeps_words": instance(bool),
    }  # fmt: skip

    def part_name(self, part: str) -> Hashable:
        """Return the name of the column that a part of a date becomes."""
        return self.name if part == MOMENT else f"{self.name} ({part})"


@dataclass(frozen=True)
class Remark:
    """What the user should know about a column: `text`, with {place} where `row` is named, and what to do about it.

    `remedy` is for Python, `option` for the command line.
    """

    text: str
    remedy: str = ""
    option: str = ""
    row: int | None = None
    name: Hashable = None

    def said(self, remedy: str, place: str = "") -> str:
        """Return the sentence without its full stop."""
        return "; ".join(filter(None, [self.text.replace("{place}", place), remedy]))

    def warn(self, stacklevel: int) -> None:
        """Warn, if the user can do something about it."""
        if self.remedy:
            warning = TableWarning(self.said(self.remedy), self.said(self.option))
            warnings.warn(warning, stacklevel=stacklevel + 1)


@dataclass(frozen=True)
class Reading:
    """The fitted memory of how a model reads tables.

    `left_out` are the columns of the training table that are not compared, each with the reason. Patterns are rows of
    numbers if `is_numbers`, else tables. `remarks` are about the training table, and are not stored.
    """

    columns: tuple[ReadColumn, ...]
    left_out: Mapping[Hashable, str] = field(default_factory=dict)
    spelling: Spelling = PLAIN
    is_numbers: bool = False
    remarks: tuple[Remark, ...] = field(default=(), compare=False)
    stored: ClassVar = {
        "columns": tuple_of(instance(ReadColumn), 1), "left_out": mapping(hashable, instance(str)),
        "spelling": instance(Spelling), "is_numbers": instance(bool),
    }  # fmt: skip

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns that are read."""
        return [column.name for column in self.columns]

    @property
    def n_compared(self) -> int:
        """The number of columns that are compared, with the parts of dates."""
        return sum(len(column.parts) for column in self.columns)

    def for_numbers(self, wants_numbers: bool, measure: str = "the measure") -> "Reading":
        """Return the reading for a measure that wants rows of numbers, or tables; refuse columns of other kinds."""
        for odd in (one for one in self.columns if wants_numbers and one.kind != NUMBER):
            held = PLURALS.get(odd.kind, "no values")
            raise ValueError(
                f"column {odd.name!r} holds {held}, but {measure} compares numbers; measure='gower' takes text"
            )
        return replace(self, is_numbers=wants_numbers)

    def describe(self) -> str:
        """Return what is compared, in words: "records of 2 columns (number: load; text: state)"."""
        count = counted(len(self.columns), "column")
        if self.is_numbers:
            names = f" ({listed(map(shown, self.names))})" if all(isinstance(one, str) for one in self.names) else ""
            return f"rows of numbers in {count}{names}"
        by_kind = dict[str, list[str]]()
        for column in self.columns:
            by_kind.setdefault(column.kind or TEXT, []).append(shown(column.name))
        return f"records of {count} ({'; '.join(f'{kind}: {listed(names)}' for kind, names in by_kind.items())})"

    def table(self, raw: Table, faults: list[Fault] | None = None, spelling: Spelling | None = None) -> Table:
        """Return the compared columns of a raw table; a cell that cannot be read is a gap and one of the `faults`.

        Without a list of faults the first one is raised.
        """
        known, found = {column.name: column for column in raw.columns}, list[Fault]()
        for absent in (name for name in self.names if name not in known):
            raise ValueError(f"X lacks column {absent!r}, which the training table had")
        columns = [self._read(one, known[one.name], spelling or self.spelling, found) for one in self.columns]
        if found and faults is None:
            raise BadCellError(min(found))
        if faults is not None:
            faults += found
        return Table(tuple(part for some in columns for part in some))

    def _read(self, known: ReadColumn, column: Column, spelling: Spelling, faults: list[Fault]) -> list[Column]:
        numbers = plain_numbers(column, spelling) if known.kind == NUMBER else None
        if numbers is not None:
            return [Column(known.name, NUMBER, numbers)]
        meanings = meanings_of(column, spelling, known.keeps_words) if column.labels is not None else None
        return parts_of(converted(column, known.kind, spelling, meanings, faults), known)

    def patterns(self, table: Table, allows_gaps: bool = True) -> Any:
        """Return a table of compared columns as the measure takes it: as rows of numbers, or as it is."""
        if not self.is_numbers:
            return table
        rows = np.empty((len(table), len(table.columns)))
        for k, column in enumerate(table.columns):
            rows[:, k] = column.values
        for row, k in [] if allows_gaps else np.argwhere(np.isnan(rows))[:1].tolist():
            fault = Fault(row, self.names[k], "", "has no number here")
            raise GapError(fault, "fill it in, or drop the row")
        return rows

    def having_seen(self, patterns: Any) -> "Reading":
        """Return the reading with the ranges and categories of these training patterns."""
        if isinstance(patterns, Table):
            found = {column.name: column for column in patterns.columns}
            columns = [replace(one, **_seen(found[one.name])) if one.name in found else one for one in self.columns]
        else:
            lows, highs = patterns.min(axis=0).tolist(), patterns.max(axis=0).tolist()
            ends = zip(self.columns, lows, highs, strict=True)
            columns = [replace(column, low=low, high=high) for column, low, high in ends]
        return replace(self, columns=tuple(columns))

    def differences(self, raw: Table, spelling: Spelling) -> list[str]:
        """Return how the text of a table differs from that of the training table: decimal mark, order of dates."""
        notes = list[str]()
        if (spelling.decimal, self.spelling.decimal) == (".", ",") and any(map(holds_text, raw.columns)):
            notes.append("numbers have decimal points, but commas in training")
        orders = spelling.day_first, self.spelling.day_first
        if None not in orders and orders[0] != orders[1]:
            first, second = ("day", "month") if spelling.day_first else ("month", "day")
            notes.append(f"dates have the {first} first, but the {second} in training")
        return notes


@dataclass(frozen=True, eq=False)
class Read:
    """Rows that were read already: `patterns` as the measure takes them; of training rows also the `reading`."""

    patterns: Any
    reading: Reading | None = None

    def __len__(self) -> int:
        return len(self.patterns)

    def rows(self) -> Any:
        """Return the patterns, which are training rows of numbers, as one array."""
        assert self.reading is not None
        return self.reading.patterns(self.patterns, allows_gaps=False)

    def __getitem__(self, rows: Any) -> "Read":
        return replace(self, patterns=self.patterns[rows])


def _seen(column: Column) -> dict[str, Any]:
    present = column.values[~np.isnan(column.values)]
    if column.labels is not None:
        labels = tuple(str(column.labels[int(code)]) for code in np.unique(present))
        return {"labels": labels} if column.kind == TEXT else {}
    return {"low": float(present.min()), "high": float(present.max())} if len(present) else {}


def parts_of(column: Column, known: ReadColumn) -> list[Column]:
    """Return the columns that a column becomes: a date may be a moment, a time of day and a weekday."""
    if column.kind != DATE or known.parts == (MOMENT,):
        return [column]
    found = {
        MOMENT: lambda: column,
        CLOCK: lambda: Column(known.part_name(CLOCK), TIME, column.values % DAY),
        WEEKDAY: lambda: Column(  # 1970 began on a Thursday
            known.part_name(WEEKDAY), TEXT, (column.values // DAY + 3) % 7, WEEKDAYS
        ),
    }
    return [found[part]() for part in known.parts]


def fit_reading(
    raw: Table,
    keeps_all: bool = False,
    kinds: Mapping[Any, Any] = MappingProxyType({}),
    faults: list[Fault] | None = None,
    apart: Collection[Hashable] = (),
) -> tuple[Reading, Table]:
    """Return how a model reads tables like this one, and the table so read.

    Columns that name the rows, or hold no values, are left out, unless they are declared or the model `keeps_all`.
    So are those that the user set `apart`. `kinds` are those declared to a measure. With a list of `faults`, text that
    is nearly numbers or dates is read as such, and cells that are none are added to the list.
    """
    texts = [column for column in raw.columns if holds_text(column) and column.name not in apart]
    spelling = (raw.dialect or Dialect()).spelling(texts)
    columns, read, left_out = list[ReadColumn](), list[Column](), dict[Hashable, str]()
    remarks, found = list[Remark](), list[Fault]()
    names = set(raw.names)
    for column in raw.columns:
        if column.name in apart:
            left_out[column.name] = ""
            continue
        declared = kinds.get(column.name, column.declared)
        judgement, typed = _judged(column, declared, spelling, found, faults is not None)
        may_leave_out = not (keeps_all or declared)
        is_odd = bool(judgement.fault and judgement.wanted)  # nearly numbers or dates: they name nothing
        why = "" if not may_leave_out or is_odd else why_naming(typed)
        if why:
            left_out[column.name] = why
            continue
        if may_leave_out and may_name(typed):
            remarks.append(_may_be_name(column.name))
        remarks += _remarks_on(judgement, column, spelling)
        keeps_words = DECLARED.get(column.declared) == TEXT
        known = ReadColumn(column.name, judgement.kind, keeps_words=keeps_words)
        if judgement.kind == DATE:
            known = _with_parts(known, typed, declared, names)
            remarks += _remark_on_parts(known)
        columns.append(known)
        read += parts_of(typed, known)
    if found and faults is None:
        raise BadCellError(min(found))
    if faults is not None:
        faults += found
    if not columns:
        raise NothingLeftError({name: why for name, why in left_out.items() if why})
    is_numbers = all(one.kind == NUMBER and not np.isnan(one.values).any() for one in read)
    named = {name: why for name, why in left_out.items() if why}
    remarks = [*([_not_compared(named)] if named else []), *remarks]
    in_text = {column.name for column in texts}
    written = any(one.kind in (NUMBER, DATE) and one.name in in_text for one in columns)
    reading = Reading(tuple(columns), left_out, spelling if written else PLAIN, is_numbers, tuple(remarks))
    return reading, Table(tuple(read))


class NothingLeftError(ValueError):
    """A table has no column to compare; `left_out` says why."""

    def __init__(self, left_out: Mapping[Hashable, str]) -> None:
        which = listed_reasons(left_out) or "all are set apart"
        remedy = "pass a column of texts by itself to compare them letter by letter, or measure=Gower()"
        super().__init__(f"X has no column left to compare: {which}; {remedy}")
        self.left_out = left_out


def _judged(
    column: Column, declared: Any, spelling: Spelling, faults: list[Fault], allows_faults: bool
) -> tuple[Judgement, Column]:
    """Return what a column holds, and its values as such."""
    wanted = DECLARED.get(declared, "") if isinstance(declared, str) else ""
    numbers = plain_numbers(column, spelling) if wanted in ("", NUMBER) else None
    if numbers is not None:
        return Judgement(NUMBER), Column(column.name, NUMBER, numbers)
    if not holds_text(column):
        kind = wanted or (TEXT if column.labels is not None and column.kind != NUMBER else column.kind)
        return Judgement(kind), converted(column, kind, spelling, None, faults)
    meanings = meanings_of(column, spelling, DECLARED.get(column.declared) == TEXT)
    judgement = judge(column, spelling, meanings) if not wanted else Judgement(wanted)
    if declared == GIVEN or isinstance(declared, list | tuple):
        judgement = Judgement(TEXT)
    if allows_faults and judgement.wanted:
        judgement = Judgement(judgement.wanted)
    return judgement, converted(column, judgement.kind, spelling, meanings, faults)


def _with_parts(known: ReadColumn, typed: Column, declared: Any, names: set[Hashable]) -> ReadColumn:
    parts: tuple[str, ...] = parts_of_dates(typed) or (MOMENT,)
    if declared == CALENDAR:
        parts = (MOMENT, CLOCK, WEEKDAY)
    elif declared or any(known.part_name(part) in names for part in (CLOCK, WEEKDAY)):
        parts = (MOMENT,)  # the table has hours or weekdays itself
    for twice in (known.part_name(part) for part in parts if known.part_name(part) in names - {known.name}):
        raise ValueError(f"X has a column {twice!r}, a name that a calendar gives; rename it, or declare a date")
    return replace(known, parts=parts)


def _remarks_on(judgement: Judgement, column: Column, spelling: Spelling) -> list[Remark]:
    name = quoted(str(column.name))
    if judgement.signs:
        remedy = "write all in one unit" if len(judgement.signs) > 1 else ""
        signs = " and ".join(f"with {sign}" if sign else "without a sign" for sign in judgement.signs)
        return [Remark(f"column {name} holds numbers {signs}; signs are left out", remedy, remedy, name=column.name)]
    if not judgement.fault:
        return []
    text = f"column {name} counts as text because"
    codes = [k for k, label in enumerate(column.labels or ()) if str(label).strip() == judgement.odd]
    row = int(np.flatnonzero(column.codes == codes[0])[0])
    text = f"{text} {quoted(judgement.odd)}{{place}} {judgement.fault}"
    convert = option = ""
    if judgement.wanted:
        convert = f"correct it, make it None, or convert the column to {judgement.wanted}s"
        option = remedy_for(Fault(row, column.name, judgement.odd, judgement.fault), spelling)
        option = option or f"correct it, leave it empty, or --drop {shlex.quote(shown(column.name))}"
    return [Remark(text, convert, option, row, column.name)]


def _may_be_name(name: Hashable) -> Remark:
    text = f"column {quoted(str(name))} has a different integer in every row"
    return Remark(text, "drop it if it only names the rows", f"if it names them, --drop {shlex.quote(shown(name))}")


def _remark_on_parts(known: ReadColumn) -> list[Remark]:
    if known.parts == (MOMENT,):
        return []
    *others, last = known.parts
    which = f"{', '.join(others)} and {last}" if others else last
    why = "" if MOMENT in known.parts else f", not by its moment, which {RUNS_ON}"
    return [Remark(f"{quoted(str(known.name))} is compared by its {which}{why}")]


def _not_compared(left_out: Mapping[Hashable, str]) -> Remark:
    them = "them" if len(left_out) > 1 else "it"
    remedy = "to compare all columns, pass a measure as an object, for example measure=Gower()"
    return Remark(f"not compared: {listed_reasons(left_out)}", remedy, f"--all-columns compares {them}")


def shown(name: Hashable) -> str:
    """Return the name of a column on one line."""
    return printable(str(name)[:60])
