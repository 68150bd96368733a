"""Frames, lists of records or rows, and arrays -> a raw table: values as given, text still to be read."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from numbers import Real
from types import NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.tables.table import (
    AND,
    BOOLEAN,
    DATE,
    DURATION,
    EMPTY,
    NESTED,
    NUMBER,
    TEXT,
    TIME,
    Column,
    Table,
    encoded,
    text_column,
)

# The order matters: numpy's durations, and booleans, are integers to Python.
_TYPES: dict[str, tuple[type, ...]] = {
    NESTED: (list, dict, set, tuple, np.ndarray), BOOLEAN: (bool, np.bool_), DURATION: (timedelta, np.timedelta64),
    DATE: (date, np.datetime64), TIME: (time,), NUMBER: (Real, Decimal),
}  # fmt: skip
# Larger integers would be rounded, which matters if they are names.
EXACT = 2**53
# A larger sparse matrix, 1 GiB as an array, is refused.
MOST_CELLS = 2**27
WANTED = "a pandas or polars frame, a list of records (dicts) or a 2-D array"


def is_frame(X: Any) -> bool:
    """Return whether X is a frame of any library, or a table."""
    return hasattr(type(X), "columns") and not hasattr(X, "toarray")


def table_of(X: Any) -> Table:
    """Return X as a raw table, whose values are copies."""
    if isinstance(X, Table):
        return X
    X = eager(X)
    if isinstance(X, np.ndarray):
        if X.ndim != 2:
            raise ValueError(f"X must be {WANTED}, not a {X.ndim}-D array")
        columns = [column_of_array(k, values) for k, values in enumerate(X.T)]
    elif isinstance(X, list | tuple):
        columns = _columns_of_records(X) if any(isinstance(row, Mapping) for row in X) else _columns_of_rows(X)
    else:
        columns = _columns_of_frame(X)
    if not columns or not len(columns[0]):
        raise ValueError(f"X {'holds no rows' if columns else 'has no columns'}; at least 1 is required")
    if any(is_missing(one.name) and one.name is not None for one in columns):
        raise ValueError("X has a column named NaN; rename it")
    return Table(tuple(columns))


def eager(X: Any) -> Any:
    """Return a frame with its data, also of a lazy one, a matrix as an array, and anything else as it is.

    Refuse names that occur twice, and sparse matrices that are too large for an array.
    """
    if hasattr(X, "toarray") and hasattr(X, "nnz"):
        if np.prod(X.shape, dtype=float) > MOST_CELLS:
            size = " x ".join(f"{n:,}" for n in X.shape)
            raise ValueError(f"X is a sparse matrix of {size} cells, too many; reduce it first, as by TruncatedSVD")
        return X.toarray()
    if isinstance(X, np.matrix):
        return np.asarray(X)
    if isinstance(X, np.ndarray) and X.dtype.names:
        raise ValueError("X is a structured array; pass pandas.DataFrame(X)")
    if hasattr(type(X), "collect_schema") and hasattr(type(X), "collect"):
        X = X.collect()
    if is_frame(X) and not isinstance(X, Table):
        for twice in (name for name, count in Counter(_names(X)).items() if count > 1):
            raise ValueError(f"X has two columns named {twice!r}; rename one")
    return X


def _names(frame: Any) -> Any:
    return getattr(frame, "column_names", frame.columns)  # the columns of Arrow are no names


def without_columns(X: Any, names: Sequence[Hashable]) -> Any:
    """Return a frame without the columns of these names; anything else as it is."""
    if isinstance(X, Table):
        return X.without(names)
    if not (names and is_frame(X)):
        return X
    kept = [name for name in _names(X) if name not in names]
    return X.select(kept) if hasattr(X, "select") else X[kept]


def _columns_of_frame(X: Any) -> list[Column]:
    # Ask the class: a lazy frame would compute its columns.
    if isinstance(X, Mapping) or not hasattr(type(X), "columns"):
        hint = "; for a single record write [record]" if isinstance(X, Mapping) else ""
        raise ValueError(f"X must be {WANTED}, not {type(X).__name__}{hint}")
    dtypes = dict(zip(X.columns, X.dtypes, strict=True)) if hasattr(X, "dtypes") else {}
    plain = [name for name, dtype in dtypes.items() if isinstance(dtype, np.dtype) and dtype.kind in "biufmM"]
    columns = {name: column_of_array(name, np.asarray(X[name])) for name in plain}  # of pandas, without narwhals
    if plain and len(plain) == len(dtypes):
        return list(columns.values())
    try:
        import narwhals.stable.v2 as nw

        frame = nw.from_native(X, eager_only=True)
        names = frame.columns
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError("frames need the package narwhals: pip install narwhals") from error
    except TypeError as error:
        raise ValueError(f"X must be {WANTED}, not {type(X).__name__}") from error
    return [columns[name] if name in columns else _column_of_series(name, frame.get_column(name), nw) for name in names]


def _column_of_series(name: Hashable, series: Any, nw: Any) -> Column:
    """Return the column; its dtype decides what it holds, or its values if the dtype says nothing."""
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        values = (series if dtype == nw.Float64 else series.cast(nw.Float64)).to_numpy()
        if dtype.is_integer() and (np.abs(values) >= EXACT).any():
            return column_of_cells(name, series.to_list())
        return _column_of_numbers(name, BOOLEAN if dtype == nw.Boolean else NUMBER, values)
    if dtype in (nw.Datetime, nw.Date, nw.Duration):
        if getattr(dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return column_of_array(name, series.to_numpy())
    found = column_of_cells(name, series.to_list())
    if dtype not in (nw.Enum, nw.Categorical):
        return found
    levels = tuple(dtype.categories) if dtype == nw.Enum else ()  # pandas' ordered categories too
    labelled = found if found.kind == EMPTY else found.labelled()
    return Column(name, TEXT if found.kind else EMPTY, labelled.values, labelled.labels, levels)


def column_of_array(name: Hashable, array: NDArray[Any]) -> Column:
    """Return a column of an array of numbers, booleans, dates or objects.

    Dates and durations are in microseconds, which a float holds exactly for 285 years around 1970.
    """
    kind = {"M": DATE, "m": DURATION, "b": BOOLEAN, "i": NUMBER, "u": NUMBER, "f": NUMBER}.get(array.dtype.kind)
    if kind is None:
        return column_of_cells(name, list(array))
    if kind in (DATE, DURATION):
        return _column_of_numbers(name, kind, _microseconds(array))
    if array.dtype.kind in "iu" and (np.abs(array.astype(np.float64)) >= EXACT).any():
        return column_of_cells(name, array.tolist())
    with np.errstate(over="ignore"):  # long doubles that are too large become infinite, and are refused
        return _column_of_numbers(name, kind, array)


def _microseconds(array: NDArray[Any]) -> Any:
    """Return dates or durations in microseconds, NaN if missing, infinite beyond the 292,000 years that these hold."""
    unit, counts = np.dtype(f"{array.dtype.kind}8[us]"), array.astype(np.int64)
    # Some versions of numpy raise an error for what a finer unit cannot hold, others wrap around.
    most = None if np.can_cast(unit, array.dtype) else np.array(2**63 - 1, unit).astype(array.dtype).astype(np.int64)
    is_far = False if most is None else np.abs(counts) > most
    counts = np.where(is_far, 0, counts).astype(array.dtype).astype(unit).astype(np.int64)
    return np.where(np.isnat(array), np.nan, np.where(is_far, np.inf, counts))


def _columns_of_rows(X: Sequence[Any]) -> list[Column]:
    for odd in (row for row in X if not isinstance(row, list | tuple | np.ndarray)):
        raise ValueError(f"X must be {WANTED}, not a list of {type(odd).__name__}")
    lengths = {len(row) for row in X}
    if len(lengths) > 1:
        raise ValueError(f"the rows of X must be equally long; found {min(lengths)} and {max(lengths)} values")
    width = lengths.pop() if lengths else 1
    return [column_of_cells(k, [row[k] for row in X]) for k in range(width)]


def _columns_of_records(X: Sequence[Any]) -> list[Column]:
    """Return one column per key. Every record must have every key, so that misspelt keys are noticed."""
    for number, record in enumerate(X):
        if not isinstance(record, Mapping):
            raise ValueError(f"X must be {WANTED}; row {number} is {type(record).__name__}, others are dicts")
        if record.keys() != X[0].keys():
            odd = next(iter(record.keys() ^ X[0].keys()))
            without = number if odd in X[0] else 0
            raise ValueError(f"record {without} has no {odd!r}, others have: write None for a missing value")
    return [column_of_cells(name, [record[name] for record in X]) for name in X[0]]


def _column_of_numbers(name: Hashable, kind: str, values: Any) -> Column:
    numbers = np.array(values, dtype=np.float64)  # a copy: the caller's data may change
    return Column(name, EMPTY if np.isnan(numbers).all() else kind, numbers)


def column_of_cells(name: Hashable, values: Sequence[Any]) -> Column:
    """Return a column of Python values, whose types say what it holds."""
    if (types := {*map(type, values)}) <= {str, NoneType} and str in types:
        return text_column(name, values)
    cells = [None if is_missing(value) else value for value in values]
    kinds = sorted({_kind_of_type(kind) for kind in {type(cell) for cell in cells if cell is not None}})
    if kinds == [TEXT] and all(cell is None or isinstance(cell, str) for cell in cells):
        return text_column(name, cells)
    if len(kinds) <= 1 and not {TEXT, NESTED} & {*kinds}:
        numbers = [_number(cell) for cell in cells]
        if kinds != [NUMBER] or not any(EXACT < abs(number) < math.inf for number in numbers):
            return _column_of_numbers(name, kinds[0] if kinds else EMPTY, numbers)
    try:
        return Column(name, AND.join(kinds), *encoded(cells))
    except TypeError:  # lists and dicts
        return Column(name, NESTED, *encoded([None if cell is None else str(cell) for cell in cells]))


def _kind_of_type(kind: type) -> str:
    """Return what values of a Python type are to a table; anything that no rule knows is a category."""
    return next((name for name, known in _TYPES.items() if issubclass(kind, known)), TEXT)


def value_of_label(label: Any) -> tuple[str, float]:
    """Return the kind of a label that is no text, and its value as a number."""
    kind = _kind_of_type(type(label))
    return kind, math.nan if kind in (TEXT, NESTED) else _number(label)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, or does not equal itself as NaN, NaT and NA."""
    if value is None or type(value).__name__ == "NAType":  # pandas.NA has no truth value
        return True
    if isinstance(value, Decimal):
        return value.is_nan()  # a signaling NaN cannot be compared
    unlike_itself = value != value
    return isinstance(unlike_itself, bool | np.bool_) and bool(unlike_itself)


def _number(cell: Any) -> float:
    if cell is None:
        return math.nan
    if isinstance(cell, time):
        return float(((cell.hour * 60 + cell.minute) * 60 + cell.second) * 10**6 + cell.microsecond)
    if isinstance(cell, datetime) and cell.tzinfo is not None:
        cell = cell.astimezone(UTC).replace(tzinfo=None)
    if isinstance(cell, date | np.datetime64 | timedelta | np.timedelta64):
        unit = "datetime64[us]" if isinstance(cell, date) else "timedelta64[us]"
        return float(_microseconds(np.asarray(cell, None if isinstance(cell, np.generic) else unit)))
    try:
        return float(cell)
    except OverflowError:
        return math.inf
