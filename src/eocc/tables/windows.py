"""One long series -> windows of equal length as rows, and decisions on windows -> times."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eocc.base.checks import integer
from eocc.base.printing import warn_user
from eocc.base.registry import listed
from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted
from eocc.tables import TableWarning
from eocc.tables.judge import converted, judge
from eocc.tables.reading import Reading
from eocc.tables.sources import table_of
from eocc.tables.spelling import PLAIN
from eocc.tables.table import DATE, NUMBER, Column, Table

# Two values are one step apart if their times differ by at most this many usual steps; a longer time is a gap.
LONGEST_STEP = 1.5
# A series is irregular if more than this share of its steps is shorter or longer than the usual one by TOLERANCE.
MOST_IRREGULAR, TOLERANCE = 0.1, 0.25
FEATURES = ("mean", "deviation", "least", "largest", "change", "mean step")


class Alarm(NamedTuple):
    """A stretch of rejected windows that share rows or adjoin: the group, the first and the last time."""

    group: Any
    start: Any
    end: Any


@dataclass(frozen=True)
class Windowing:
    """How a model cuts the series of a file into its rows: the arguments of `windows`, and how the file is read."""

    length: Annotated[int, integer(1, 2**53)]
    step: Annotated[int, integer(1, 2**53)]
    by: str | None
    time: str | None
    features: bool
    series: Reading

    def __str__(self) -> str:
        series = f" of each {self.by}" if self.by else ""
        order = f", ordered by {self.time}" if self.time else ""
        return f"{self.length:,} rows{series}, every {self.step:,}{order}{', as features' if self.features else ''}"

    def cut(self, table: Table) -> "Windows":
        """Return the windows of a table that was read as `series` says."""
        return windows(table, self.length, self.step, self.by, self.time, self.features)


@dataclass(frozen=True, eq=False)
class Windows:
    """Windows of a series as rows of numbers: `X` (m, d), whose columns have `names`.

    `places` (m, length) are the rows of the frame in each window, `groups` (m,) the group of each, `times` (n,) the
    times of all rows of the frame, or their numbers. `series` (n, c) holds the values of the frame. `positions` (m,)
    are where windows begin if the series follow each other in the order of time, with one place free at each gap.
    `columns` (c,) are the names of the columns of the series.
    """

    X: Matrix
    names: tuple[str, ...]
    places: Indices
    groups: tuple[Any, ...]
    times: tuple[Any, ...]
    series: Matrix
    positions: Indices
    columns: tuple[str, ...]

    def __repr__(self) -> str:
        n_series = len(set(self.groups))
        return f"<Windows: {len(self):,} of {counted(self.places.shape[1], 'row')}, from {n_series:,} series>"

    def __len__(self) -> int:
        return len(self.X)

    @property
    def overlap(self) -> bool:
        """Whether windows share rows, so that they depend on each other."""
        return bool((np.diff(self.positions) < self.places.shape[1]).any())

    def ends(self) -> tuple[list[Any], list[Any]]:
        """Return the first and the last time of each window, whole numbers without a decimal point."""
        times = [int(one) if isinstance(one, float) and one.is_integer() else one for one in self.times]
        return [times[row] for row in self.places[:, 0]], [times[row] for row in self.places[:, -1]]

    def per_row(self, values: ArrayLike) -> Matrix:
        """Return the least of the values (m,) of all windows that hold a row, for each row of the frame; else NaN."""
        found = np.full(len(self.times), np.inf)
        given = np.asarray(values, np.float64)
        np.minimum.at(found, self.places.ravel(), np.repeat(given, self.places.shape[1]))
        return np.where(np.isinf(found), np.nan, found)

    def alarms(self, decisions: ArrayLike) -> list[Alarm]:
        """Return the stretches of time in which windows are rejected (-1), without a break, in each group."""
        rejected = np.flatnonzero(np.asarray(decisions) < 0)
        breaks = np.flatnonzero(np.diff(self.positions[rejected]) > self.places.shape[1]) + 1
        return [
            Alarm(self.groups[run[0]], self.times[self.places[run[0], 0]], self.times[self.places[run[-1], -1]])
            for run in (np.split(rejected, breaks) if len(rejected) else [])
        ]


def windows(
    frame: Any, length: int, step: int = 1, by: Any = None, time: Any = None, features: bool = False
) -> Windows:
    """Cut one long series into windows of equal length, which are rows of numbers.

    A window never spans a gap in time. Windows with missing values are left out, with a warning. Irregular times are
    refused. docs/guides/one_long_series.md has more.

    Parameters
    ----------
    frame : table or series of any library, dict of columns, or array
        The series; all columns of numbers become part of the windows.
    length : int
        The number of values in a window.
    step : int, default=1
        A window begins every `step` values.
    by : str or None, default=None
        Rows with the same value in this column are one series each.
    time : str or None, default=None
        The column of dates, also written as 2031-01-31 14:30, or numbers that orders the rows. None means as they are.
    features : bool, default=False
        Whether six numbers per column replace its values: mean, deviation, least, largest, change from the first to
        the last value, and mean absolute step.

    Returns
    -------
    Windows
        `X` (m, d) are the windows. `alarms(decisions)` gives the times of rejected windows, and `per_row(scores)` the
        least score of the windows that hold each row.

    Examples
    --------
    >>> found = windows({"x": [1.0, 2.0, 3.0, 4.0, 5.0]}, 3, 2)
    >>> found.X.tolist(), found.alarms([1, -1])
    ([[1.0, 2.0, 3.0], [3.0, 4.0, 5.0]], [Alarm(group=None, start=2, end=4)])
    """
    integer(1)("length", length)
    integer(1)("step", step)
    table = _table(frame)
    moments, groups = _column(table, time, "time"), _column(table, by, "by")
    columns = [one for one in table.columns if one.name not in (time, by) and one.kind == NUMBER]
    if not columns:
        raise ValueError("a series needs a column of numbers, beside those of time and by")
    values = np.column_stack([one.values for one in columns])
    places, owners, positions, position = list[Indices](), list[Any](), list[int](), 0
    rows_of = dict[Any, list[int]]()
    for row, label in enumerate([None] * len(table) if groups is None else groups.cells()):
        rows_of.setdefault(label, []).append(row)
    if groups is not None and None in rows_of:
        raise ValueError(f"{counted(len(rows_of[None]), 'row')} without a {by}; drop or fill them")
    longest = 0
    for label, rows in rows_of.items():
        for part in _unbroken(np.array(rows), moments, label):
            longest = max(longest, len(part))
            starts = np.arange(0, len(part) - length + 1, step)
            places += [part[start : start + length] for start in starts.tolist()]
            owners += [label] * len(starts)
            positions += (position + starts).tolist()
            position += len(part) + 1
    if not places:
        raise ValueError(f"windows of {length} values are longer than any series without a gap, of {longest} at most")
    kept = np.array(places)
    is_whole = np.asarray(np.isfinite(values[kept]).all(axis=(1, 2)))
    if not is_whole.any():
        raise ValueError("every window has missing values; fill them, or choose shorter windows")
    if not is_whole.all():
        left_out = counted(int((~is_whole).sum()), "window")
        warn_user(f"{left_out} with missing values left out", TableWarning)
    kept, names = kept[is_whole], [str(one.name) for one in columns]
    X, called = _features(values[kept], names) if features else _values(values[kept], names)
    times = range(len(table)) if moments is None else moments.cells()
    owned = tuple(one for one, is_kept in zip(owners, is_whole, strict=True) if is_kept)
    return Windows(X, called, kept, owned, tuple(times), values, np.array(positions)[is_whole], tuple(names))


def _table(frame: Any) -> Table:
    if isinstance(frame, dict):
        return table_of([dict(zip(frame, row, strict=True)) for row in zip(*frame.values(), strict=True)])
    if hasattr(frame, "to_frame"):  # one column of pandas or polars
        frame = frame.to_frame()
    is_series = isinstance(frame, np.ndarray | list) and np.ndim(frame) == 1
    return table_of(np.asarray(frame)[:, None] if is_series else frame)


def _column(table: Table, name: Any, argument: str) -> Column | None:
    if name is None:
        return None
    if name not in table.names:
        raise ValueError(f"{argument}={name!r} is no column of the series; it has {listed(map(repr, table.names))}")
    found = table.column(name)
    if argument == "by" or found.kind in (NUMBER, DATE):
        return found
    if found.labels is None or judge(found, PLAIN).kind != DATE:
        raise ValueError(f"the column {name!r} holds no times; pass dates or numbers")
    return converted(found, DATE, PLAIN, [])


def _unbroken(rows: Indices, moments: Column | None, label: Any) -> list[Indices]:
    """Return the rows of one series in the order of time, cut where time is missing; refuse irregular times."""
    if moments is None or len(rows) < 2:
        return [rows]
    where = "" if label is None else f" of {label!r}"
    times = moments.values[rows]
    if n_unknown := int((~np.isfinite(times)).sum()):
        raise ValueError(f"{counted(n_unknown, 'row')}{where} without a time; drop or fill them")
    rows = rows[np.argsort(times, kind="stable")]
    steps = np.diff(moments.values[rows])
    usual = float(np.median(steps))
    if (steps == 0).any():
        same = moments.cell(int(rows[np.argmin(steps)]))
        raise ValueError(f"two rows{where} have the time {same}; name the series by a column, or drop one")
    is_gap = steps > LONGEST_STEP * usual
    irregular = np.abs(steps[~is_gap] / usual - 1) > TOLERANCE
    if is_gap.mean() + irregular.mean() > MOST_IRREGULAR:
        count = f"{irregular.sum() + is_gap.sum():,} of {len(steps):,} steps"
        raise ValueError(f"the times{where} are irregular: {count} are not as long as usual; resample the series first")
    return np.split(rows, np.flatnonzero(is_gap) + 1)


def _values(cut: Matrix, names: Sequence[str]) -> tuple[Matrix, tuple[str, ...]]:
    m, length, n_columns = cut.shape
    called = tuple(f"{name} {k}" for name in names for k in range(length))
    return np.ascontiguousarray(cut.transpose(0, 2, 1)).reshape(m, n_columns * length), called


def _features(cut: Matrix, names: Sequence[str]) -> tuple[Matrix, tuple[str, ...]]:
    steps = np.abs(np.diff(cut, axis=1)).mean(axis=1) if cut.shape[1] > 1 else np.zeros((len(cut), cut.shape[2]))
    found = [cut.mean(axis=1), cut.std(axis=1), cut.min(axis=1), cut.max(axis=1), cut[:, -1] - cut[:, 0], steps]
    called = tuple(f"{name} {feature}" for feature in FEATURES for name in names)
    return np.ascontiguousarray(np.hstack(found)), called
