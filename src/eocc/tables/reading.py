"""How a fitted model reads tables: which columns it compares, what each holds, and how its text is written."""

import shlex
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any

import numpy as np

from eocc.base.checks import Sizes, demand, instance, one_of, tuple_of
from eocc.base.printing import has_instead, printable, quoted, warn_user
from eocc.base.registry import listed
from eocc.base.stored import Unstored
from eocc.base.wording import counted
from eocc.tables import TableError, TableWarning, judge
from eocc.tables.judge import CLOCK, MOMENT, WEEKDAY, BadCellError, Fault, Judgement, holds_text
from eocc.tables.spelling import PLAIN, Dialect, Spelling
from eocc.tables.table import (
    BOOLEAN,
    DATE,
    EMPTY,
    KINDS,
    NUMBER,
    PLURALS,
    RELATIVE,
    TEXT,
    TIME,
    Column,
    Table,
    columns_of,
)

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# Kinds that a user declares: by --kind, or to Gower. None of them are left out.
DECLARED = {
    "number": NUMBER, "text": TEXT, "category": TEXT, "date": DATE, "numeric": NUMBER, "boolean": BOOLEAN,
    "calendar": DATE, "hours": DATE, "categorical": TEXT,
}  # fmt: skip
# Columns that a user declares so keep words such as NA, which mean a gap in any other column.
WORDS = ("text", "category")
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
    kind: Annotated[str, one_of(EMPTY, *KINDS)]
    parts: Annotated[tuple[str, ...], tuple_of(one_of(MOMENT, CLOCK, WEEKDAY))] = (MOMENT,)
    low: float | None = None
    high: float | None = None
    labels: tuple[str, ...] = ()
    keeps_words: bool = False

    def check_parts(self, sizes: Sizes) -> None:
        """Demand that a column of this kind can have the ends."""
        ends = np.array([end for end in (self.low, self.high) if end is not None])
        Table((Column(self.name, self.kind, ends),)).check_parts(sizes)
        demand((np.diff(ends) >= 0).all(), f"low of column {self.name!r} must not exceed high")

    def part_name(self, part: str) -> Hashable:
        """Return the name of the column that a part of a date becomes."""
        return self.name if part == MOMENT else f"{self.name} ({part})"

    def parts_of(self, column: Column) -> list[Column]:
        """Return the columns that a column becomes: a date may be a moment, a time of day and a weekday."""
        if column.kind != DATE or self.parts == (MOMENT,):
            return [column]
        clock = Column(self.part_name(CLOCK), TIME, column.values % judge.DAY)
        weekday = (column.values // judge.DAY + 3) % 7  # 1970 began on a Thursday
        found = {MOMENT: column, CLOCK: clock, WEEKDAY: Column(self.part_name(WEEKDAY), TEXT, weekday, WEEKDAYS)}
        return [found[part] for part in self.parts]


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


def say_remarks(remarks: Iterable[Remark]) -> None:
    """Warn of what the user can do something about."""
    for remark in (one for one in remarks if one.remedy):
        warn_user(TableWarning(remark.said(remark.remedy), remark.said(remark.option)))


@dataclass(frozen=True)
class Reading:
    """The fitted memory of how a model reads tables.

    `left_out` are the columns of the training table that are not compared, each with the reason. Patterns are rows of
    numbers if `is_numbers`, else tables. `remarks` are about the training table, and are not stored.
    """

    columns: Annotated[tuple[ReadColumn, ...], tuple_of(instance(ReadColumn), 1)]
    left_out: Mapping[Hashable, str] = field(default_factory=dict)
    spelling: Spelling = PLAIN
    is_numbers: bool = False
    remarks: Unstored[tuple[Remark, ...]] = field(default=(), compare=False)

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns that are read."""
        return [column.name for column in self.columns]

    @property
    def kind(self) -> str:
        """The kind of data that the patterns are."""
        return "numbers" if self.is_numbers else "records"

    def for_numbers(self, wants_numbers: bool, measure: str = "the measure") -> "Reading":
        """Return the reading for a measure that wants rows of numbers, or tables; refuse columns of other kinds."""
        for odd in (one for one in self.columns if wants_numbers and one.kind != NUMBER):
            holds = f"column {quoted(str(odd.name))} holds {PLURALS.get(odd.kind, 'no values')}"
            why = next((one.text.replace("{place}", "") for one in self.remarks if one.name == odd.name), holds)
            remedy = "drop it, or choose the measure 'gower', which takes columns of any kind"
            raise ValueError(f"{why}, but {measure} compares numbers; {remedy}")
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

    def matched(self, table: Table, is_named: bool = True, called: str = "") -> tuple[Table, list[Column]]:
        """Return the columns of a raw table under the names of the model, and those that it does not use.

        Columns are found by name, or by their order if the model or the table, `called` so in errors, has no names.
        """
        known, wanted = {column.name: column for column in table.columns}, self.names
        has_names = all(isinstance(name, str) for name in wanted)
        is_named &= all(isinstance(name, str) for name in known)
        if {*known} != {*wanted} and not (has_names and (is_named or {*wanted} <= {*known})):
            if len(known) == len(wanted):
                columns = [column.changed(name=name) for column, name in zip(table.columns, wanted, strict=True)]
                return replace(table, columns=tuple(columns)), []
            needs = f"but the model needs {len(wanted)}, and one of the two has no names to match"
            raise ValueError(f"{called}has {counted(len(known), 'column')}, {needs}; drop the others")
        for absent in (name for name in wanted if name not in known):
            has = has_instead(str(absent), map(str, known))
            raise ValueError(f"{called}has no column {quoted(str(absent))}, which the model needs; {has}")
        return replace(table, columns=tuple(known.pop(name) for name in wanted)), list(known.values())

    def table(self, raw: Table, faults: list[Fault] | None = None, spelling: Spelling | None = None) -> Table:
        """Return the compared columns of a raw table; a cell that cannot be read is a gap and one of the `faults`.

        Without a list of faults the first one is raised.
        """
        known, spelling = {column.name: column for column in raw.columns}, spelling or self.spelling
        found = list[Fault]() if faults is None else faults
        typed = [judge.converted(known[one.name], one.kind, spelling, found, one.keeps_words) for one in self.columns]
        if found and faults is None:
            raise BadCellError(min(found))
        parts = zip(self.columns, typed, strict=True)
        return Table(tuple(part for one, column in parts for part in one.parts_of(column)))

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
        found = dict[Hashable, dict[str, Any]]()
        for column in columns_of(patterns, self.names):
            present = column.values[~np.isnan(column.values)]
            if column.labels is None and len(present):
                found[column.name] = {"low": float(present.min()), "high": float(present.max())}
            elif column.labels is not None and column.kind == TEXT:
                found[column.name] = {"labels": tuple(str(column.labels[int(code)]) for code in np.unique(present))}
        return replace(self, columns=tuple(replace(one, **found.get(one.name, {})) for one in self.columns))


@dataclass(frozen=True, eq=False)
class Read:
    """Rows that were read already: `patterns` as the measure takes them; of training rows also the `reading`."""

    patterns: Any
    reading: Reading | None = None

    def __len__(self) -> int:
        return len(self.patterns)

    def __getitem__(self, rows: Any) -> "Read":
        return replace(self, patterns=self.patterns[rows])


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
    columns, read, found = list[ReadColumn](), list[Column](), list[Fault]() if faults is None else faults
    remarks, left_out = list[Remark](), dict[Hashable, str]()
    for column in raw.columns:
        if column.name in apart:
            left_out[column.name] = ""
            continue
        declared = kinds.get(column.name, column.declared)
        judgement = _judged(column, declared, spelling)
        if faults is not None and judgement.wanted:
            judgement = Judgement(judgement.wanted)
        known = ReadColumn(column.name, judgement.kind, keeps_words=column.declared in WORDS)
        typed = judge.converted(column, known.kind, spelling, found, known.keeps_words)
        may_leave_out = not (keeps_all or declared)
        is_odd = bool(judgement.fault and judgement.wanted)  # nearly numbers or dates: they name nothing
        if may_leave_out and not is_odd and (why := judge.why_naming(typed)):
            left_out[column.name] = why
            continue
        if judgement.kind == DATE:
            known = _with_parts(known, typed, declared, {*raw.names})
        remarks += _remarks_on(column, judgement, spelling, known, may_leave_out, typed)
        columns.append(known)
        read += known.parts_of(typed)
    if found and faults is None:
        raise BadCellError(min(found))
    named = {name: why for name, why in left_out.items() if why}
    which = ", ".join(f"{quoted(name) if isinstance(name, str) else repr(name)} ({why})" for name, why in named.items())
    option = f"--all-columns compares {'them' if len(named) > 1 else 'it'}"
    if not columns:
        remedy = "pass a column of texts by itself to compare them letter by letter, or measure=Gower()"
        in_file = f"has no columns left to compare; {f'{which}; {option}' if which else 'drop fewer'}"
        raise TableError(f"X has no column left to compare: {which or 'all are set apart'}; {remedy}", in_file)
    if named:
        remedy = "to compare all columns, pass a measure as an object, for example measure=Gower()"
        remarks.insert(0, Remark(f"not compared: {which}", remedy, option))
    in_text = {column.name for column in texts}
    written = any(one.kind in (NUMBER, DATE) and one.name in in_text for one in columns)
    table = Table(tuple(read))
    used = spelling if written else PLAIN
    return Reading(tuple(columns), left_out, used, table.holds_numbers, tuple(remarks)), table


def _judged(column: Column, declared: Any, spelling: Spelling) -> Judgement:
    """Return what a column holds."""
    if isinstance(declared, str) and declared in DECLARED:
        return Judgement(DECLARED[declared])
    if not holds_text(column):
        return Judgement(TEXT if column.labels is not None and column.kind != NUMBER else column.kind)
    if declared == GIVEN or isinstance(declared, list | tuple):
        return Judgement(TEXT)
    return judge.judge(column, spelling, column.declared in WORDS)


def _with_parts(known: ReadColumn, typed: Column, declared: Any, names: set[Hashable]) -> ReadColumn:
    """Return a column of dates with the parts that count."""
    parts = judge.parts_of_dates(typed)
    if declared == "hours":
        parts = tuple(part for part in parts if part != MOMENT)
        if not parts and not np.isnan(typed.values).all():  # without dates, its cells are faults
            raise ValueError(f"column {known.name!r} has no different times of day to compare; drop it")
    elif declared == "calendar":
        parts = (MOMENT, CLOCK, WEEKDAY)
    elif declared or any(known.part_name(part) in names for part in (CLOCK, WEEKDAY)):
        parts = (MOMENT,)  # the table has hours or weekdays itself
    for twice in (known.part_name(part) for part in parts if known.part_name(part) in names - {known.name}):
        raise ValueError(f"X has a column {twice!r}, a name that a calendar gives; rename it, or declare a date")
    return replace(known, parts=parts or (MOMENT,))


def _remarks_on(
    column: Column, judgement: Judgement, spelling: Spelling, known: ReadColumn, is_undeclared: bool, typed: Column
) -> Iterator[Remark]:
    """Yield what the user should know about a compared column."""
    name, option = quoted(str(column.name)), f"--drop {shlex.quote(shown(column.name))}"
    later = "rows later than all training rows will stand out"
    if is_undeclared and judge.may_name(typed):
        text = f"column {name} has a different integer in every row"
        yield Remark(text, "drop it if it only names the rows", f"if it names them, {option}")
    elif is_undeclared and judge.may_count(typed):
        yield Remark(f"{name} {judge.RUNS_ON}: {later}", option=f"{option} leaves it out")
    if judgement.fault:
        code = next(k for k, label in enumerate(column.labels or ()) if str(label).strip() == judgement.odd)
        row, remedies = int(np.flatnonzero(column.codes == code)[0]), ("", "")
        if judgement.wanted:
            better = judge.remedy_for(Fault(row, column.name, judgement.odd, judgement.fault), spelling)
            convert = f"correct it, make it None, or convert the column to {judgement.wanted}s"
            remedies = (convert, better or f"correct it, leave it empty, or {option}")
        text = f"column {name} counts as text because {quoted(judgement.odd)}{{place}} {judgement.fault}"
        yield Remark(text, *remedies, row, column.name)
    if known.parts != (MOMENT,) or (is_undeclared and known.kind == DATE and len(np.unique(column.values)) > 1):
        hours = f"--kind {shlex.quote(f'{shown(column.name)}=hours')} leaves the moment out"
        remedy = hours if CLOCK in known.parts else f"{option} leaves it out"
        said = " and ".join(filter(None, [", ".join(known.parts[:-1]), known.parts[-1]]))
        if MOMENT not in known.parts:
            said, remedy = f"{said}, not by its moment{f', which {judge.RUNS_ON}' if is_undeclared else ''}", ""
        elif is_undeclared:
            said += f": {later}"
        yield Remark(f"{name} is compared by its {said}", option=remedy if is_undeclared else "")


def constant(patterns: Any, names: Collection[Hashable]) -> Iterator[Remark]:
    """Yield which columns of training patterns, a table or rows of numbers under these names, have a single value."""
    for column in columns_of(patterns, names) if len(patterns) > 1 else ():
        if (column.values == column.values[0]).all():
            name, value = shown(column.name), printable(str(column.cell(0)).removesuffix(".0"))
            text, option = "a row with any other value will be rejected", f"--drop {shlex.quote(name)} leaves it out"
            always = f"is always {value}"
            if column.declared == RELATIVE:
                always, option = "never differs within a group", "--drop leaves such a column out"
            yield Remark(f"{name} {always}: {text}", "drop the column if it does not matter", option)


def shown(name: Hashable) -> str:
    """Return the name of a column on one line."""
    return printable(str(name)[:60])
