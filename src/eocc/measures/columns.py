"""Mixed records as columns: read from pandas or polars frames, lists of dicts, or 2-D arrays."""

import math
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.measures.naming import DAY
from eocc.measures.objects import is_missing
from eocc.measures.schema import BOOLEAN, DATE, DURATION, NUMBER, TEXT, TIME
from eocc.measures.spelling import (
    MISSING,
    PLAIN,
    Judgement,
    Spelling,
    date_of,
    judge,
    kind_of_stored_text,
    number_of,
    truth_of,
    unit_of,
)

# What a column may hold, in the words of the error messages.
NUMBERS, BOOLEANS, LABELS = "numbers", "booleans", "strings or categories"
DATES, DURATIONS, TIMES = "dates", "durations", "times of day"
# The order matters: numpy's durations, and booleans, are integers to Python.
_CONTENTS: dict[str, tuple[type, ...]] = {
    BOOLEANS: (bool, np.bool_), DURATIONS: (timedelta, np.timedelta64), DATES: (date, np.datetime64), TIMES: (time,),
    NUMBERS: (Real, Decimal),
}  # fmt: skip
# What a file calls them.
CELLS = {NUMBERS: NUMBER, BOOLEANS: BOOLEAN, LABELS: TEXT, DATES: DATE, DURATIONS: DURATION, TIMES: TIME}
# Kinds that a user, or measure="auto", declares. Columns declared so are read as numbers if possible; the values of
# others are kept as labels. A calendar is a date of which hour and weekday count too.
DATE_KINDS = DECLARED_DATE, CALENDAR = ("date", "calendar")
OF_NUMBERS = ("numeric", "boolean", "ordered", *DATE_KINDS)
# What text means -> the kind to declare for it.
DECLARED = {NUMBER: "numeric", DATE: DECLARED_DATE, BOOLEAN: "boolean"}
READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "numeric": (number_of, "number"), DECLARED_DATE: (date_of, "date"), CALENDAR: (date_of, "date")
}  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
# How many columns or levels a message names.
MOST_NAMED = 12
WANTED = "a pandas or polars frame, a list of records (dicts) or a 2-D array"


@dataclass(frozen=True, eq=False)
class Column:
    """One column: `values` are numbers, or indices into `labels` if there are labels; NaN if missing.

    `contents` says what the column holds, for example {"numbers"}; it is empty if all values are missing, and has
    several entries if types are mixed. Dates, durations and times are in microseconds. `levels` are those of an ordered
    categorical dtype, the lowest first, and empty for categories without an order.
    """

    name: Hashable
    contents: frozenset[str]
    values: Matrix
    labels: tuple[Any, ...] | None = None
    levels: tuple[Any, ...] | None = None

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, int | np.integer):
            return replace(self, values=self.values[index])
        value = float(self.values[index])
        if math.isnan(value):
            return None
        return value if self.labels is None else self.labels[int(value)]

    def cell(self, index: int) -> Any:
        """Return a value as it was given, dates and times as text; None if missing."""
        value = self[index]
        if value is None or self.labels is not None:
            return value
        return bool(value) if self.contents == {BOOLEANS} else _moment(value, next(iter(self.contents)))

    def labelled(self) -> "Column":
        """Return the column with its distinct values as labels; numbers in ascending order."""
        if self.labels is not None:
            return self
        present = ~np.isnan(self.values)
        labels, codes = np.unique(self.values[present], return_inverse=True)
        values = np.full(len(self.values), np.nan)
        values[present] = codes
        return replace(self, values=values, labels=tuple(labels.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Records as columns of equal length. An integer index gives one record, any other index a table.

    >>> table = read_table([{"age": 31, "city": "Oslo"}, {"age": None, "city": "Rome"}])
    >>> table[1], table[np.array([1, 0, 0])]
    ({'age': None, 'city': 'Rome'}, <Table of 3 rows: 'age', 'city'>)
    """

    columns: tuple[Column, ...]

    @property
    def names(self) -> list[Hashable]:
        """The columns' names, in order."""
        return [column.name for column in self.columns]

    def __len__(self) -> int:
        return len(self.columns[0].values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int | np.integer):
            return {column.name: column[index] for column in self.columns}
        return Table(tuple(column[index] for column in self.columns))

    def __repr__(self) -> str:
        return f"<Table of {len(self)} rows: {listed(map(repr, self.names), MOST_NAMED)}>"


def read_table(X: Any, kinds: Mapping[Any, Any] = MappingProxyType({})) -> Table:
    """Return X as a table; `kinds` are those declared for its columns. A calendar gets two more columns."""
    if isinstance(X, Table):
        return X
    X, as_labels = eager(X), {name for name, kind in kinds.items() if kind not in OF_NUMBERS}
    if isinstance(X, np.ndarray):
        read: Callable[..., list[Column]] = _columns_of_array
    elif isinstance(X, list | tuple):
        read = _columns_of_records if any(isinstance(row, Mapping) for row in X) else _columns_of_rows
    else:
        read = _columns_of_frame
    columns = read(X, as_labels)
    if not columns or not len(columns[0].values):
        raise ValueError(f"X {'holds no rows' if columns else 'has no columns'}; at least 1 is required")
    columns = [read_text(column, kinds.get(column.name)) for column in columns]
    times = [column for column in columns if kinds.get(column.name) == CALENDAR]
    for twice in (column.name for column in columns if column.name in parts_of(kinds)):
        raise ValueError(f"X has a column {twice!r}, a name that a calendar gives; rename it, or declare a date")
    return Table((*columns, *(part for column in times for part in _parts_of_dates(column))))


def eager(X: Any) -> Any:
    """Return a frame with its data, also of a lazy one, and anything else as it is; refuse names that occur twice."""
    if hasattr(type(X), "collect_schema") and hasattr(type(X), "collect"):
        X = X.collect()
    if hasattr(type(X), "columns") and not isinstance(X, Table):
        twice = [name for name, count in Counter(getattr(X, "column_names", X.columns)).items() if count > 1]
        if twice:
            raise ValueError(f"X has two columns named {twice[0]!r}; rename one")
    return X


def with_columns(X: Any, new: Mapping[str, tuple[Any, Any]]) -> Any:
    """Return a frame with other columns of these names, given by their values and their narwhals dtypes."""
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, eager_only=True)
    backend = nw.get_native_namespace(frame)
    series = [nw.new_series(name, values, dtype, backend=backend) for name, (values, dtype) in new.items()]
    for one in series if hasattr(X, "index") else ():
        one.to_native().index = X.index
    return frame.with_columns(*series).to_native() if series else X


def holds_text(column: Column) -> bool:
    """Return whether a column holds text, and no categories."""
    labels = column.labels or ()
    return column.contents == {LABELS} and column.levels is None and all(isinstance(label, str) for label in labels)


def judged(column: Column, spelling: Spelling = PLAIN) -> Judgement:
    """Return what the texts of a column are; the kind is "" if it holds anything but text."""
    if not holds_text(column):
        return Judgement("")
    labels = column.labels or ()
    counts, first, units = dict[str, int](), dict[str, str](), set[str]()
    present = column.values[~np.isnan(column.values)].astype(np.int64)
    for label, count in zip(labels, np.bincount(present, minlength=len(labels)).tolist(), strict=True):
        kind = kind_of_stored_text(label.strip(), spelling)
        counts[kind] = counts.get(kind, 0) + count
        first.setdefault(kind, label)
        units |= {unit_of(label.strip(), spelling)} if kind == NUMBER else set()
    return judge(counts, first, units)


def by_content(column: Column) -> tuple[str, Column]:
    """Return the kind to declare for text that holds only numbers, dates or truth values, and the column read so.

    The kind is "" for any other column.
    """
    kind = DECLARED.get(judged(column).kind, "")
    return kind, read_text(column, kind)


def read_text(column: Column, kind: Any) -> Column:
    """Return the column with its text read as the declared kind, if that is numbers or dates."""
    if column.labels is None or not isinstance(kind, str) or kind not in READERS:
        return column
    read, wanted = READERS[kind]
    meant = [read(label.strip()) if isinstance(label, str) else label for label in column.labels]
    for label in (label for label, value in zip(column.labels, meant, strict=True) if value is None):
        if label.strip().lower() not in MISSING:
            fault = f"column {column.name!r} holds {label!r}, which is not a {wanted}"
            raise ValueError(f"{fault}; correct it or leave it out")
    numbers = np.array([*map(_number, meant), np.nan])
    values = numbers[np.where(np.isnan(column.values), -1, column.values).astype(np.int64)]
    return _column_of_numbers(column.name, NUMBERS if kind == "numeric" else DATES, values)


def read_as(column: Column, contents: frozenset[str]) -> Column:
    """Return a column of text read as numbers or dates, if these are the contents."""
    if column.contents != {LABELS} or len(contents) != 1:
        return column
    return read_text(column, DECLARED.get(CELLS[next(iter(contents))]))


def meanings_of(column: Column) -> list[Any]:
    """Return what each label of a boolean column means: a truth value, or else the label itself."""
    labels = column.labelled().labels or ()
    truths = [truth_of(label) if isinstance(label, str) else None for label in labels]
    return [label if truth is None else truth for label, truth in zip(labels, truths, strict=True)]


def parts_of(kinds: Mapping[Any, Any]) -> list[str]:
    """Return the names of the columns that calendars get, an hour and a weekday each."""
    names = [name for name, kind in kinds.items() if kind == CALENDAR]
    return [part for name in names for part in (f"{name} (hour)", f"{name} (weekday)")]


def _parts_of_dates(column: Column) -> list[Column]:
    """Return the hours and the weekdays of a column of dates."""
    parts = (column.values % DAY // (DAY // 24), (column.values // DAY + 3) % 7)  # 1970 began on a Thursday
    return [
        Column(name, column.contents and frozenset({LABELS}), values, labels)
        for name, values, labels in zip(
            parts_of({column.name: CALENDAR}), parts, (tuple(range(24)), WEEKDAYS), strict=True
        )
    ]


def _columns_of_frame(X: Any, as_labels: Collection[Hashable]) -> list[Column]:
    # Ask the class: a lazy frame would compute its columns.
    if isinstance(X, Mapping) or not hasattr(type(X), "columns"):
        hint = "; for a single record write [record]" if isinstance(X, Mapping) else ""
        raise ValueError(f"X must be {WANTED}, not {type(X).__name__}{hint}")
    try:
        import narwhals.stable.v2 as nw
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("frames need the package narwhals: pip install 'eocc[tables]'") from error
    try:
        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
    except TypeError as error:
        raise ValueError(f"X must be {WANTED}, not {type(X).__name__}") from error
    return [_column_of_series(name, frame.get_column(name), name in as_labels) for name in names]


def _column_of_series(name: Hashable, series: Any, as_label: bool) -> Column:
    """Return the column; its dtype decides what it holds, or its values if the dtype says nothing."""
    import narwhals.stable.v2 as nw

    dtype = series.dtype
    if dtype in (nw.Enum, nw.Categorical, nw.String):
        levels = tuple(dtype.categories) if dtype == nw.Enum else None  # pandas' ordered categories too
        levels = () if dtype == nw.Categorical else levels
        return _column_of_cells(name, series.to_list(), True, LABELS, levels)
    if not as_label and (dtype.is_numeric() or dtype == nw.Boolean):
        values = series.cast(nw.Float64).to_numpy()
        return _column_of_numbers(name, BOOLEANS if dtype == nw.Boolean else NUMBERS, values)
    if not as_label and dtype in (nw.Datetime, nw.Date, nw.Duration):
        return _column_of_moments(name, series.to_numpy())
    return _column_of_cells(name, series.to_list(), as_label)


def _columns_of_array(X: NDArray[Any], as_labels: Collection[Hashable]) -> list[Column]:
    if X.ndim != 2:
        raise ValueError(f"X must be {WANTED}, not a {X.ndim}-D array")
    return [_column_of_array(k, values, k in as_labels) for k, values in enumerate(X.T)]


def _column_of_array(name: Hashable, array: NDArray[Any], as_label: bool) -> Column:
    if as_label or array.dtype.kind not in "mMbiuf":
        return _column_of_cells(name, list(array), as_label)
    if array.dtype.kind in "mM":
        return _column_of_moments(name, array)
    return _column_of_numbers(name, BOOLEANS if array.dtype.kind == "b" else NUMBERS, array)


def _columns_of_rows(X: Sequence[Any], as_labels: Collection[Hashable]) -> list[Column]:
    for odd in (row for row in X if not isinstance(row, list | tuple | np.ndarray)):
        raise ValueError(f"X must be {WANTED}, not a list of {type(odd).__name__}")
    lengths = {len(row) for row in X}
    if len(lengths) > 1:
        raise ValueError(f"the rows of X must be equally long; found {min(lengths)} and {max(lengths)} values")
    width = lengths.pop() if lengths else 1
    return [_column_of_cells(k, [row[k] for row in X], k in as_labels) for k in range(width)]


def _columns_of_records(X: Sequence[Any], as_labels: Collection[Hashable]) -> list[Column]:
    """Return one column per key. Every record must have every key, so that misspelt keys are noticed."""
    names = list(X[0]) if isinstance(X[0], Mapping) else []
    for number, record in enumerate(X):
        if not isinstance(record, Mapping):
            raise ValueError(f"X must be {WANTED}; row {number} is {type(record).__name__}, others are dicts")
        if record.keys() != X[0].keys():
            odd = next(iter(record.keys() ^ X[0].keys()))
            without = number if odd in X[0] else 0
            raise ValueError(f"record {without} has no {odd!r}, others have: write None for a missing value")
    return [_column_of_cells(name, [record[name] for record in X], name in as_labels) for name in names]


def _column_of_numbers(name: Hashable, content: str, values: Any) -> Column:
    numbers = np.asarray(values, dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"column {name!r} holds infinity, or a number too large for a float")
    contents = frozenset[str]() if np.isnan(numbers).all() else frozenset({content})
    return Column(name, contents, np.ascontiguousarray(numbers))


def _column_of_moments(name: Hashable, values: NDArray[Any]) -> Column:
    """Return numpy's dates or durations in microseconds, which a float holds exactly for 285 years around 1970."""
    content, unit = (DATES, "datetime64[us]") if values.dtype.kind == "M" else (DURATIONS, "timedelta64[us]")
    counts = values.astype(unit).astype(np.int64)
    return _column_of_numbers(name, content, np.where(np.isnat(values), np.nan, counts))


def _column_of_cells(
    name: Hashable, values: Sequence[Any], as_label: bool, content: str = "", levels: tuple[Any, ...] | None = None
) -> Column:
    """Return a column of Python values, whose types say what it holds unless `content` does."""
    cells = [None if is_missing(value) else value for value in values]
    contents = frozenset(content or content_of(kind) for kind in {type(cell) for cell in cells if cell is not None})
    if not as_label and len(contents) == 1 and LABELS not in contents:
        return _column_of_numbers(name, next(iter(contents)), [_number(cell) for cell in cells])
    codes: dict[Any, int] = {}
    try:
        indices = [math.nan if cell is None else codes.setdefault(cell, len(codes)) for cell in cells]
    except TypeError as error:
        raise ValueError(f"column {name!r}: {error}; expected numbers, booleans, strings or dates") from error
    return Column(name, contents, np.array(indices, dtype=np.float64), tuple(codes), levels)


def _moment(microseconds: float, content: str) -> Any:
    if content == DURATIONS:
        return str(timedelta(microseconds=microseconds))
    if content == TIMES:
        return str((datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds)).time())
    if content == DATES:
        return str(np.datetime64(int(microseconds), "us")).removesuffix(".000000").removesuffix("T00:00:00")
    return microseconds


def content_of(kind: type) -> str:
    """Return what values of a Python type are to a table."""
    return next((content for content, known in _CONTENTS.items() if issubclass(kind, known)), LABELS)


def _number(cell: Any) -> float:
    if cell is None:
        return math.nan
    if isinstance(cell, time):
        return float(((cell.hour * 60 + cell.minute) * 60 + cell.second) * 10**6 + cell.microsecond)
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    if isinstance(cell, date | np.datetime64 | timedelta | np.timedelta64):
        unit = "datetime64[us]" if isinstance(cell, date | np.datetime64) else "timedelta64[us]"
        return float(np.asarray(cell, unit).astype(np.int64))
    try:
        return float(cell)
    except OverflowError:
        return math.inf
