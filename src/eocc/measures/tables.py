"""Mixed records: Gower's dissimilarity, a weight per column."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.registry import choose, listed
from eocc.foundation.types import Matrix
from eocc.kernels.gower import gower_cross_dissimilarities, gower_pairwise_dissimilarities
from eocc.measures.columns import BOOLEANS, LABELS, MOST_NAMED, Column, Table, read_table
from eocc.measures.unit import CONSTANT, FARTHEST


@dataclass(frozen=True)
class Gower:
    """d(x, y; p) = sum_k p_k c_k(x_k, y_k) / u over the u columns of a table, one weight p_k per column.

    Patterns are the rows of a pandas or polars frame (these need the extra ``tables``), of a list of dicts, or of a
    2-D array, whose columns are called 0, 1, ... The dtype of a column, or else its values, decide its kind:

    ===========  ================================  ==========================================================
    kind         found where                       component c
    ===========  ================================  ==========================================================
    numeric      numbers, dates, durations, times  abs(x - y) / range in training; 0 where that range is 0
    boolean      booleans                          0 or 1
    categorical  strings, categories               0 or 1
    ordered      ordered categories, enumerations  abs(rank of x - rank of y) / (number of levels - 1)
    ===========  ================================  ==========================================================

    `kinds` overrules: ``kinds={"floor": "ordered", "size": ["S", "M", "L"]}``, where a list gives the levels of an
    ordered column, the lowest first. Numbers and dates declared "ordered" have their training values as levels;
    strings need the list. A number that never varied in training has no unit, and counts 0 also in new rows:
    declared "categorical", any other number differs.

    Missing values (None, NaN, NaT, NA, null): c = 0 between two of them, so that equal rows are 0 apart; between one
    and a value, c = the mean of c over all pairs of training rows that have both values, or 0 if there are none.
    A missing value is thus as far from any other as values of its column are on the average: it makes a row neither
    normal nor strange. c = 1, the other simple choice, would put it at the far end of the range, beyond nearly every
    number there is, and what rows lack would outweigh what they hold. Gower's own rule, to leave the column out,
    divides by a number that depends on the pair: d would no longer be linear in p, and rows that share no column
    would have none.
    Who knows that absence tells something adds a boolean column that says so.

    New rows may be farther than 1 apart from training rows in numeric columns. A category unknown in training differs
    from all known ones; an unknown level is an error.

    >>> rows = [{"age": 20, "city": "Oslo"}, {"age": 60, "city": "Rome"}, {"age": 30, "city": "Rome"}]
    >>> frozen = Gower().fit(rows)
    >>> frozen.prepare(rows).evaluate(np.ones(2))
    array([[0.   , 1.   , 0.625],
           [1.   , 0.   , 0.375],
           [0.625, 0.375, 0.   ]])
    >>> frozen.names, frozen.kinds
    (['age', 'city'], ['numeric', 'categorical'])
    """

    kinds: Mapping[Any, str | Sequence[Any]] | None = None

    def __post_init__(self) -> None:
        for name, kind in (self.kinds or {}).items():
            if isinstance(kind, list | tuple) and 0 < len(set(kind)) == len(kind):
                continue
            if isinstance(kind, list | tuple):
                raise ValueError(f"the levels of column {name!r} must be different and at least 1, not {kind!r}")
            choose("kind", _CODERS, kind, otherwise="pass a list of levels, the lowest first")

    def read(self, X: Any) -> Table:
        """Return X as a table of plain columns, or say what is wrong with it."""
        return read_table(X, {name for name, kind in (self.kinds or {}).items() if kind not in _OF_NUMBERS})

    def fit(self, training: Any) -> "FittedGower":
        """Fix each column's kind, range, levels, and what a missing value costs."""
        table, kinds = self.read(training), self.kinds or {}
        unknown = [name for name in kinds if name not in table.names]
        if unknown:
            raise ValueError(
                f"unknown column {unknown[0]!r} in kinds; known: {listed(map(repr, table.names), MOST_NAMED)}"
            )
        return FittedGower(self, tuple(_freeze_column(column, kinds.get(column.name)) for column in table.columns))


@dataclass(frozen=True, eq=False)
class FittedGower:
    """Gower's measure with the training table's columns fixed."""

    measure: Gower
    columns: tuple["FittedColumn", ...]

    @property
    def n_parameters(self) -> int:
        """One weight per column."""
        return len(self.columns)

    @property
    def names(self) -> list[Hashable]:
        """The columns' names, in the order of p."""
        return [column.name for column in self.columns]

    @property
    def kinds(self) -> list[str]:
        """The columns' kinds, in the order of p; "empty" is a column that had no value in training."""
        return [column.coder.kind for column in self.columns]

    def prepare(self, patterns: Any, prototypes: Any = None) -> "_Square | _Rows":
        """Encode patterns and prototypes as numbers: shares of the range, or codes."""
        is_code = np.array([column.coder.kind == "categorical" for column in self.columns])
        absent = np.array([column.absent for column in self.columns])
        # Categories unknown in training get codes as they come, the same on both sides of a pair.
        unseen: list[dict[Any, int]] = [{} for _ in self.columns]
        rows = self._encode(patterns, unseen)
        if prototypes is None:
            return _Square(rows, np.ascontiguousarray(rows.T), is_code, absent)
        return _Rows(rows, np.ascontiguousarray(self._encode(prototypes, unseen).T), is_code, absent)

    def _encode(self, patterns: Any, unseen: list[dict[Any, int]]) -> Matrix:
        """Return (n, u) numbers, the columns found by name."""
        table = self.measure.read(patterns)
        known = {column.name: column for column in table.columns}
        for name in (name for name in self.names if name not in known):
            raise ValueError(f"X lacks column {name!r}, which the training table had")
        for name in (name for name in known if name not in self.names):
            raise ValueError(f"X has a column {name!r}, which the training table had not")
        encoded = [fitted.encode(known[fitted.name], new) for fitted, new in zip(self.columns, unseen, strict=True)]
        return np.ascontiguousarray(np.array(encoded).T)


@dataclass(frozen=True, eq=False)
class _Square:
    """All pairs of one table."""

    rows: Matrix
    columns: Matrix
    is_code: NDArray[np.bool_]
    absent: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        out = np.empty((len(self.rows), len(self.rows))) if out is None else out
        gower_pairwise_dissimilarities(self.rows, self.columns, self.is_code, self.absent, p, out)
        return out


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows against prototypes, each row by itself."""

    rows: Matrix
    prototype_columns: Matrix
    is_code: NDArray[np.bool_]
    absent: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        gower_cross_dissimilarities(self.rows, self.prototype_columns, self.is_code, self.absent, p, out)
        return out


class Coder(Protocol):
    """Turns a column into numbers whose gaps, or differences if it is categorical, are the components c."""

    @property
    def kind(self) -> str:
        """One of the kinds."""
        ...

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return a number per row, NaN where missing; `unseen` numbers categories unknown in training."""
        ...


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, how it is encoded, and c between a missing value and another."""

    name: Hashable
    contents: frozenset[str]
    coder: Coder
    absent: float

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Encode the column of this name of another table, which must hold the same sort of things."""
        if not column.contents:
            return np.full(len(column.values), np.nan)
        # An ordered column knows all it may hold: a level is the same from a string as from a category.
        if not (column.contents <= self.contents or self.coder.kind in ("ordered", "empty")):
            held, holds = " and ".join(sorted(self.contents)), " and ".join(sorted(column.contents))
            raise ValueError(f"column {self.name!r} holds {holds}, but held {held} in training")
        return self.coder.encode(column, unseen)


def _freeze_column(column: Column, declared: str | Sequence[Any] | None) -> FittedColumn:
    coder = _coder(column, declared) if column.contents else _Empty()
    encoded = coder.encode(column, {})
    present = encoded[~np.isnan(encoded)]
    absent = _mean_unlikeness(present) if coder.kind == "categorical" else _mean_gap(present)
    return FittedColumn(column.name, column.contents, coder, absent)


def _coder(column: Column, declared: str | Sequence[Any] | None) -> Coder:
    """Return the coder of the declared kind, or of the kind that follows from what the column holds."""
    if isinstance(declared, str):
        return _CODERS[declared](column)
    if declared is not None:
        return _Ordered(tuple(declared))
    if len(column.contents) > 1:
        mix = " and ".join(sorted(column.contents))
        raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
    if LABELS in column.contents:
        return _Ordered(column.levels) if column.levels else _Categorical.of(column)
    return _Boolean.of(column) if BOOLEANS in column.contents else _Numeric.of(column)


def _mean_gap(values: Matrix) -> float:
    """Return the mean of |x - y| over all pairs, from the sorted values: sum_i (2 i - n + 1) x_i / (n (n - 1) / 2).

    >>> _mean_gap(np.array([0.0, 1.0, 0.5]))  # (1 + 0.5 + 0.5) / 3
    0.6666666666666666
    """
    n = len(values)
    total = float(np.sum((2.0 * np.arange(n) - n + 1) * np.sort(values)))
    return min(max(total / (n * (n - 1) / 2), 0.0), 1.0) if n > 1 else 0.0


def _mean_unlikeness(codes: Matrix) -> float:
    """Return the share of pairs of different codes.

    >>> _mean_unlikeness(np.array([0.0, 1.0, 1.0]))
    0.6666666666666666
    """
    n, counts = len(codes), np.unique(codes, return_counts=True)[1]
    return float(n * n - np.sum(counts * counts)) / (n * (n - 1)) if n > 1 else 0.0


@dataclass(frozen=True)
class _Empty:
    """A column without a single value in training: it tells nothing, whatever new rows hold."""

    kind = "empty"

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        return np.full(len(column.values), np.nan)


@dataclass(frozen=True)
class _Numeric:
    """(x - low) / span, low and span in units of 2**exponent: so the range of huge numbers stays finite.

    A number that never varied in training is as far as can be from any other, as a category is.
    """

    exponent: int
    low: float
    span: float
    kind = "numeric"

    @classmethod
    def of(cls, column: Column) -> "_Numeric":
        _check_numbers(column, cls.kind)
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        exponent = int(np.frexp(max(abs(low), abs(high)))[1])
        least, most = np.ldexp([low, high], -exponent).tolist()
        return cls(exponent, least, most - least)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        with np.errstate(over="ignore"):
            if self.span == 0:
                scaled = np.ldexp(column.values, -self.exponent)
                is_other = np.abs(scaled - self.low) > CONSTANT
                return np.where(np.isnan(column.values), np.nan, is_other * 1.0)
            shares = (np.ldexp(column.values, -self.exponent) - self.low) / self.span
        return np.clip(shares, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class _Boolean:
    """0 and 1, whose gap is 0 or 1."""

    kind = "boolean"

    @classmethod
    def of(cls, column: Column) -> "_Boolean":
        _check_numbers(column, cls.kind)
        return cls()

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        odd = column.values[~np.isnan(column.values) & (column.values != 0) & (column.values != 1)]
        if len(odd):
            raise ValueError(f"column {column.name!r} is to be boolean, but holds {odd[0]:g}")
        return column.values


@dataclass(frozen=True, eq=False)
class _Ordered:
    """rank / (number of levels - 1)."""

    levels: tuple[Any, ...]
    kind = "ordered"

    @classmethod
    def of(cls, column: Column) -> "_Ordered":
        levels = column.levels if column.labels is not None else column.labelled().labels
        if levels is None:
            raise ValueError(
                f"column {column.name!r} is to be ordered, but its values do not say how: "
                f"pass kinds={{{column.name!r}: [levels, the lowest first]}}"
            )
        return cls(levels)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        labelled = column.labelled()
        rank = {level: number for number, level in enumerate(self.levels)}
        for label in labelled.labels or ():
            if label not in rank:
                known = listed(map(repr, self.levels), MOST_NAMED)
                raise ValueError(f"column {column.name!r} holds the unknown level {label!r}; known: {known}")
        return _translated(labelled, rank) / max(len(self.levels) - 1, 1)


@dataclass(frozen=True, eq=False)
class _Categorical:
    """A code per category."""

    codes: dict[Any, int]
    kind = "categorical"

    @classmethod
    def of(cls, column: Column) -> "_Categorical":
        return cls({label: code for code, label in enumerate(column.labelled().labels or ())})

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        labelled = column.labelled()
        for label in labelled.labels or ():
            if label not in self.codes:
                unseen.setdefault(label, len(self.codes) + len(unseen))
        return _translated(labelled, {**self.codes, **unseen})


def _translated(column: Column, code: Mapping[Any, int]) -> Matrix:
    """Return the code of each row's label, NaN where missing."""
    codes = np.array([*(code[label] for label in column.labels or ()), np.nan])
    return codes[np.where(np.isnan(column.values), -1, column.values).astype(np.int64)]


def _check_numbers(column: Column, kind: str) -> None:
    if column.labels is not None:
        holds = " and ".join(sorted(column.contents))
        raise ValueError(f"column {column.name!r} is to be {kind}, but holds {holds}")


_CODERS: dict[str, Callable[[Column], Coder]] = {
    "numeric": _Numeric.of,
    "boolean": _Boolean.of,
    "ordered": _Ordered.of,
    "categorical": _Categorical.of,
}
# Declared so, a column is read as numbers where it can be; else its values are kept as they are.
_OF_NUMBERS = ("numeric", "boolean", "ordered")
