"""Columns of one length: numbers, dates, truth values or texts, with their gaps."""

import math
import re
from collections.abc import Hashable, Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np

from eocc.base.checks import Sizes, demand, instance, numbers, tuple_of
from eocc.base.registry import listed
from eocc.base.stored import Unstored
from eocc.base.types import Flags, Indices, Matrix

# What a column may hold. One without values is EMPTY; one of several kinds has their names joined by AND.
NUMBER, BOOLEAN, TEXT, DATE, DURATION, TIME = "number", "boolean", "text", "date", "duration", "time of day"
KINDS = (NUMBER, BOOLEAN, TEXT, DATE, DURATION, TIME)
# Dates and durations are at most the largest double below 2^63, times of day at most a day.
MOST_MICROSECONDS = {DATE: 2.0**63 - 1024, DURATION: 2.0**63 - 1024, TIME: 24 * 3600e6}
# What a column is declared that holds another one's values relative to their groups.
RELATIVE = "relative"
EMPTY, AND, NESTED = "", " and ", "list or object"
PLURALS = {
    NUMBER: "numbers", BOOLEAN: "booleans", TEXT: "text", DATE: "dates", DURATION: "durations", TIME: "times of day",
    NESTED: "lists or objects",
}  # fmt: skip
# Text that means a missing value, in upper or lower case.
MISSING = frozenset({"", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none", "?"})
GAP = "|".join(map(re.escape, MISSING))
# Patterns of what no numeral holds.
MARKS = COMMA_MARK, DATE_MARK = (",", r"\d[/-]\d{1,2}[/-]\d{4}")
# How many columns or levels a message names.
MOST_NAMED = 12


@dataclass(frozen=True, eq=False)
class Column:
    """One column: `values` are numbers, or indices into `labels` if there are labels; NaN if missing.

    Dates, durations and times of day are in microseconds. `levels` are those of an ordered categorical dtype, the
    lowest first, and empty for categories without an order. `declared` is the kind that the user wants it to have.
    """

    name: Hashable
    kind: str
    values: Annotated[Matrix, numbers("n", gaps=True)]
    labels: tuple[Any, ...] | None = None
    levels: tuple[Any, ...] | None = None
    declared: Unstored[str] = ""
    # The numbers of a column of text that holds nothing else, NaN if missing; None for any other column.
    plain: ClassVar[Any] = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Any) -> Any:
        """Return the number or label of a row, None if missing; for any other index, a column."""
        if not isinstance(index, int | np.integer):
            return replace(self, values=self.values[index])
        value = float(self.values[index])
        if math.isnan(value):
            return None
        return value if self.labels is None else self.labels[int(value)]

    def changed(self, **changes: Any) -> "Column":
        """Return the column with another name, or declared to be of another kind."""
        found = copy(self)
        vars(found).update(changes)
        return found

    def cell(self, index: int) -> Any:
        """Return a value as it was given, dates and times as text; None if missing."""
        value = self[index]
        return self.given(value) if isinstance(value, float) and self.labels is None else value

    def given(self, value: float) -> Any:
        """Return the value that a number of a column without labels encodes."""
        if self.kind == BOOLEAN:
            return bool(value)
        if self.kind == DURATION:
            return str(timedelta(microseconds=value))
        if self.kind == TIME:
            return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=value)).time())
        if self.kind == DATE:
            return str(np.datetime64(int(value), "us")).removesuffix(".000000").removesuffix("T00:00:00")
        return value

    def cells(self) -> list[Any]:
        """Return all values, each as it was given."""
        return [self.cell(index) for index in range(len(self))]

    @property
    def codes(self) -> Indices:
        """The index of each row's label, -1 if missing."""
        return np.where(np.isnan(self.values), -1, self.values).astype(np.int64)

    def texts_with(self, pattern: str) -> Sequence[str]:
        """Return the different texts in which a pattern is found."""
        found = re.compile(pattern, re.ASCII).search
        return [label for label in self.labels or () if isinstance(label, str) and found(label)]

    def labelled(self) -> "Column":
        """Return the column with its different values as labels; numbers in ascending order."""
        if self.labels is not None:
            return self
        present = ~np.isnan(self.values)
        labels, codes = np.unique(self.values[present], return_inverse=True)
        values = np.full(len(self.values), np.nan)
        values[present] = codes
        return replace(self, values=values, labels=tuple(labels.tolist()))


class TextColumn(Column):
    """A column of text as a pyarrow array, null if missing. Its different texts are found when they are needed."""

    texts: Any

    def __init__(self, name: Hashable, texts: Any, declared: str = "") -> None:
        vars(self).update(name=name, kind=TEXT, texts=texts, levels=None, declared=declared)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            return self.texts[int(index)].as_py()
        return TextColumn(self.name, self.texts.take(np.arange(len(self))[index]), self.declared)

    def cells(self) -> list[Any]:
        """Return all texts."""
        return list(self.texts.to_pylist())

    @cached_property
    def labels(self) -> tuple[Any, ...]:
        """The different texts, in the order in which they first occur; the `values` are found with them."""
        encoded = self.texts.dictionary_encode()
        vars(self)["values"] = _as_numpy(encoded.indices)
        return tuple(encoded.dictionary.to_pylist())

    @cached_property
    def values(self) -> Matrix:
        """The index of each row's text among `labels`, NaN if missing."""
        return vars(self)["values"] if self.labels else np.full(len(self), np.nan)

    @cached_property
    def plain(self) -> Matrix | None:
        """The numbers of a column that holds nothing else, read at once; None for any other column."""
        import pyarrow
        import pyarrow.compute as compute

        for texts in (self.texts.slice(0, 20), self.texts):  # the first texts mostly show it
            try:
                numbers = texts.cast(pyarrow.float64())
            except pyarrow.ArrowInvalid:
                trimmed = compute.utf8_trim_whitespace(texts)
                is_gap = compute.match_substring_regex(trimmed, f"^({GAP})$", ignore_case=True)
                nulls = pyarrow.nulls(len(texts), pyarrow.string())  # to convert None imports pandas, which takes long
                try:
                    numbers = compute.if_else(is_gap, nulls, trimmed).cast(pyarrow.float64())
                except pyarrow.ArrowInvalid:
                    return None
        values = _as_numpy(numbers)
        n_gaps = np.isnan(values).sum()
        # The texts nan and inf would be numbers too.
        return values if n_gaps == numbers.null_count and n_gaps < len(values) and not np.isinf(values).any() else None

    def texts_with(self, pattern: str) -> Sequence[str]:
        """Return the different texts in which a pattern is found."""
        if pattern in MARKS and self.plain is not None:
            return []
        import pyarrow.compute as compute

        found = self.texts.filter(compute.match_substring_regex(self.texts, pattern))
        return list(found.unique().to_pylist())


def _as_numpy(numbers: Any) -> Matrix:
    """Return numbers of pyarrow, null as NaN; its own method imports pandas, which takes long."""
    found = numbers.cast("float64")
    values = np.full(len(found), np.nan)
    known: Any = np.from_dlpack(found.is_valid().cast("uint8")) == 1 if found.null_count else slice(None)
    values[known] = np.from_dlpack(found.drop_null())
    return values


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Columns of equal length. An integer index gives one record, any other index a table.

    `dialect` is what the user said about how its text is written.

    >>> table = Table((Column("age", NUMBER, np.array([31, np.nan])), Column("city", TEXT, np.zeros(2), ("Oslo",))))
    >>> table[1], table[np.array([1, 0, 0])]
    ({'age': None, 'city': 'Oslo'}, <Table of 3 rows: 'age', 'city'>)
    """

    columns: Annotated[tuple[Column, ...], tuple_of(instance(Column), 1)]
    dialect: Unstored[Any] = None

    def check_parts(self, sizes: Sizes) -> None:
        """Demand columns of one length and of different names, whose values are indices into labels or of the kind."""
        for one in self.columns:
            present, n_labels = one.values[~np.isnan(one.values)], len(one.labels or ())
            is_right = ((present >= 0) & (present < n_labels) & (present == np.floor(present))).all()
            if one.labels is None:
                is_right = {*one.kind.split(AND)} <= {EMPTY, *KINDS} and (one.kind != EMPTY or len(present) == 0)
                is_right &= bool((np.abs(present) <= MOST_MICROSECONDS.get(one.kind, np.inf)).all())
            demand(is_right, "the fields of a Column do not fit together")
        is_right = len({len(column.values) for column in self.columns}) == 1
        is_right &= len({column.name for column in self.columns}) == len(self.columns)
        demand(is_right, "the fields of a Table do not fit together")

    @property
    def names(self) -> list[Hashable]:
        """The columns' names, in order."""
        return [column.name for column in self.columns]

    @property
    def holds_numbers(self) -> bool:
        """Whether the rows are numbers, without gaps."""
        return all(one.kind == NUMBER and not np.isnan(one.values).any() for one in self.columns)

    def column(self, name: Hashable) -> Column:
        """Return the column of this name."""
        return next(column for column in self.columns if column.name == name)

    def without(self, names: Iterable[Hashable]) -> "Table":
        """Return the table without the columns of these names."""
        left_out = set(names)
        return replace(self, columns=tuple(column for column in self.columns if column.name not in left_out))

    def __len__(self) -> int:
        return len(self.columns[0])

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            return {column.name: column[index] for column in self.columns}
        return replace(self, columns=tuple(column[index] for column in self.columns))

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {listed(map(repr, self.names), MOST_NAMED)}>"


def join_tables(tables: Sequence[Table]) -> Table:
    """Return the rows of all tables, which have the same columns, one after another."""
    if len(tables) == 1:
        return tables[0]
    columns = zip(*(table.columns for table in tables), strict=True)
    return replace(tables[0], columns=tuple(map(_joined_column, columns)))


def _joined_column(parts: Sequence[Column]) -> Column:
    first = parts[0]
    if all(isinstance(part, TextColumn) for part in parts):
        import pyarrow

        return TextColumn(first.name, pyarrow.concat_arrays([vars(part)["texts"] for part in parts]), first.declared)
    kinds = sorted({kind for part in parts for kind in part.kind.split(AND) if kind})
    codes, values, labels = dict[Any, int](), [part.values for part in parts], None
    if len(kinds) > 1 or not all(part.labels is None or part.kind == EMPTY for part in parts):
        for number, part in enumerate(parts):
            labelled = part.labelled()
            given = labelled.labels if part.labels is not None else [part.given(one) for one in labelled.labels or ()]
            known = [codes.setdefault((type(label), label), len(codes)) for label in given or ()]  # True is no 1
            values[number] = np.array([*known, np.nan])[labelled.codes]
        labels = tuple(label for _, label in codes)
    return Column(first.name, AND.join(kinds), np.concatenate(values), labels, first.levels, first.declared)


def encoded(cells: Sequence[Any]) -> tuple[Matrix, tuple[Any, ...]]:
    """Return the index of each cell among the different ones, NaN for None, and these."""
    codes = dict[Any, int]()  # by type and value: True is no 1
    places = [math.nan if cell is None else codes.setdefault((type(cell), cell), len(codes)) for cell in cells]
    return np.array(places, np.float64), tuple(cell for _, cell in codes)


def text_column(name: Hashable, texts: Sequence[str | None]) -> Column:
    """Return a column of texts, None if missing."""
    try:
        import pyarrow
    except ModuleNotFoundError:
        return Column(name, TEXT, *encoded(texts))
    return TextColumn(name, pyarrow.array(texts, pyarrow.string()))


def names_of_kinds(kind: str) -> str:
    """Return what a column holds, in words: "numbers and text"."""
    return " and ".join(PLURALS[one] for one in kind.split(AND))


def columns_of(patterns: Any, names: Iterable[Hashable]) -> Sequence[Column]:
    """Return the columns of a table, or those of rows of numbers, which have these names; none of other patterns."""
    if isinstance(patterns, Table):
        return patterns.columns
    return [Column(name, NUMBER, patterns[:, k]) for k, name in enumerate(names)]


def gaps_in(patterns: Any) -> Indices:
    """Return how many values each row of numbers or of a table lacks."""
    if isinstance(patterns, np.ndarray):
        return np.asarray(np.isnan(patterns).sum(axis=1))
    gaps = [np.isnan(one.values) for one in patterns.columns if one.declared != RELATIVE]
    return np.asarray(np.sum(gaps, axis=0))


def rows_with(cells: Iterable[Any], value: Any) -> Flags:
    """Return which cells hold the value, or one of a list of values: the same text, number or truth value.

    >>> rows_with([" good ", 1.0, True, "1.0", False], ["good", "1", "true"]).tolist()
    [True, True, True, False, False]
    """
    texts, numbers = {str(one).strip() for one in (value if isinstance(value, list) else [value])}, list[float]()
    for text in texts:
        with suppress(ValueError):
            numbers.append(float(text))
    truths = {text.lower() for text in texts}

    def is_wanted(cell: Any) -> bool:
        text = str(cell).strip()
        if text in texts or isinstance(cell, str):
            return text in texts
        return text.lower() in truths if isinstance(cell, bool | np.bool_) else cell in numbers

    return np.array([is_wanted(cell) for cell in cells], bool)
