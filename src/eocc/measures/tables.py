"""Gower's dissimilarity of mixed records, one weight per column, and how each kind of column is encoded as numbers."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, get_args

import numpy as np

from eocc.foundation.checks import Check, hashable, instance, integer, mapping, optional, real, tuple_of
from eocc.foundation.registry import choose, listed
from eocc.foundation.types import Flags, Matrix
from eocc.foundation.wording import format_value, named_values, to_json
from eocc.kernels.gower import gower_cross_dissimilarities, gower_pairwise_dissimilarities
from eocc.measures import columns as reading
from eocc.measures.base import RegisteredFitted, RegisteredMeasure
from eocc.measures.columns import BOOLEANS, CELLS, LABELS, MOST_NAMED, Column, Table, read_table
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.mean_difference import MeanDifference
from eocc.measures.schema import TEXT, DataSchema
from eocc.measures.unit import CONSTANT, EXPONENTS, FARTHEST


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, how it is encoded, and what a missing value counts."""

    name: Hashable
    contents: frozenset[str]
    coder: "Coder"
    gap: MeanDifference
    stored: ClassVar = {
        "name": hashable, "contents": instance(frozenset), "coder": lambda value: type(value) in STORED_CODERS,
        "gap": instance(MeanDifference),
    }  # fmt: skip

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Encode the column of this name in another table, which must hold the same kind of values."""
        if not column.contents:
            return np.full(len(column.values), np.nan)
        # Levels are known, as strings or as categories; text that is no truth value is one more category of a boolean.
        known = self.contents | {BOOLEANS, LABELS} if self.coder.kind == "boolean" else self.contents
        column = reading.read_as(column, self.contents)
        if not (column.contents <= known or self.coder.kind in ("ordered", "empty")):
            held, holds = _together(self.contents), _together(column.contents)
            raise ValueError(f"column {self.name!r} holds {holds}, but held {held} in training")
        return self.coder.encode(column, unseen)

    def mean_differences(self, encoded: Matrix) -> Matrix:
        """Return the mean of c(x, t) over the training values t, for encoded x; of two training values if missing."""
        return self.gap.at(np.minimum(encoded, self.coder.n_codes) if self.coder.n_codes else encoded)


def fit_column(column: Column, declared: str | Sequence[Any] | None) -> FittedColumn:
    """Return a training column with its coder and what a missing value counts."""
    coder = _coder(column, declared) if column.contents else _Empty()
    encoded = coder.encode(column, {})
    present = encoded[~np.isnan(encoded)]
    gap = MeanDifference.of_codes(present, coder.n_codes) if coder.n_codes else MeanDifference.of_numbers(present)
    return FittedColumn(column.name, column.contents, coder, gap)


def _coder(column: Column, declared: str | Sequence[Any] | None) -> "Coder":
    """Return the coder of the declared kind, or of the kind that follows from the contents."""
    if isinstance(declared, str):
        return CODERS[declared](column)
    if declared is not None:
        return _Ordered(tuple(declared))
    if len(column.contents) > 1:
        mix = _together(column.contents)
        raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
    if LABELS in column.contents:
        return _Ordered(column.levels) if column.levels else _Categorical.of(column)
    return _Boolean.of(column) if BOOLEANS in column.contents else _Numeric.of(column)


@dataclass(frozen=True)
class _Empty:
    """A column without any value in training. It never counts."""

    kind, n_codes = "empty", 0
    stored: ClassVar[Mapping[str, Check]] = {}

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        return np.full(len(column.values), np.nan)


@dataclass(frozen=True)
class _Numeric:
    """(x - low) / span, with low and span in units of 2**exponent, so that the range of huge numbers stays finite.

    If the column is constant in training, any other number differs from it by 1.
    """

    exponent: int
    low: float
    span: float
    kind, n_codes = "numeric", 0
    stored: ClassVar = {"exponent": integer(-EXPONENTS, EXPONENTS), "low": real(), "span": real(0)}

    @classmethod
    def of(cls, column: Column) -> "_Numeric":
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        exponent = int(np.frexp(max(abs(low), abs(high)))[1])
        least, most = np.ldexp([low, high], -exponent).tolist()
        return cls(exponent, least, most - least)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        with np.errstate(over="ignore"):
            gaps = np.ldexp(column.values, -self.exponent) - self.low
            if self.span == 0:
                return np.where(np.isnan(gaps), np.nan, np.abs(gaps) > CONSTANT)
            return np.clip(gaps / self.span, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class _Boolean:
    """0 and 1, or the code of another category."""

    kind, n_codes = "boolean", 2
    stored: ClassVar[Mapping[str, Check]] = {}

    @classmethod
    def of(cls, column: Column) -> "_Boolean":
        for odd in (value for value in reading.meanings_of(column) if value not in (0, 1)):
            raise ValueError(f"column {column.name!r} is declared boolean, but holds {format_value(odd)}")
        return cls()

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        meanings = reading.meanings_of(column)
        for value in (value for value in meanings if value not in (0, 1)):
            unseen.setdefault(value, 2 + len(unseen))
        codes, labelled = {0: 0, 1: 1, **unseen}, column.labelled()
        return _translated(labelled, {k: codes[v] for k, v in zip(labelled.labels or (), meanings, strict=True)})


@dataclass(frozen=True, eq=False)
class _Ordered:
    """rank / (number of levels - 1)."""

    levels: tuple[Any, ...]
    kind, n_codes = "ordered", 0
    stored: ClassVar = {"levels": tuple_of(hashable, 1)}

    @classmethod
    def of(cls, column: Column) -> "_Ordered":
        levels = column.levels if column.labels is not None else column.labelled().labels
        if levels is None:
            hint = f"pass kinds={{{column.name!r}: [levels, the lowest first]}}"
            raise ValueError(f"column {column.name!r} is declared ordered, but its values have no order: {hint}")
        return cls(levels)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        labelled = column.labelled()
        rank = {level: number for number, level in enumerate(self.levels)}
        for label in (label for label in labelled.labels or () if label not in rank):
            known = listed(map(repr, self.levels), MOST_NAMED)
            raise ValueError(f"column {column.name!r} holds the unknown level {label!r}; known: {known}")
        return _translated(labelled, rank) / max(len(self.levels) - 1, 1)


@dataclass(frozen=True, eq=False)
class _Categorical:
    """One code per category."""

    codes: dict[Any, int]
    kind = "categorical"
    stored: ClassVar = {"codes": mapping(hashable, integer(0, 2**40))}

    @property
    def n_codes(self) -> int:
        return len(self.codes)

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
    """Return the code of each row's label, NaN if missing."""
    codes = np.array([*(code[label] for label in column.labels or ()), np.nan])
    return codes[np.where(np.isnan(column.values), -1, column.values).astype(np.int64)]


def _together(contents: frozenset[str]) -> str:
    return " and ".join(sorted(contents))


# Each encodes a column as one number per row, NaN if missing; c is their absolute difference, or 0 or 1 for `n_codes`.
Coder = _Boolean | _Categorical | _Empty | _Numeric | _Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
CODERS: dict[str, Callable[[Column], Coder]] = {
    "numeric": _Numeric.of, "boolean": _Boolean.of, "ordered": _Ordered.of, "categorical": _Categorical.of,
    **dict.fromkeys(reading.DATE_KINDS, _Numeric.of),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class FittedGower(RegisteredFitted):
    """Gower's measure with the training table's columns fixed."""

    measure: "Gower"
    columns: tuple[FittedColumn, ...]
    stored: ClassVar = {"measure": lambda value: type(value) is Gower, "columns": tuple_of(instance(FittedColumn), 1)}

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
        """The columns' kinds, in the order of p; "empty" means no value in training."""
        return [column.coder.kind for column in self.columns]

    def prepare(self, patterns: Any, prototypes: Any = None) -> "MixedRows":
        """Encode patterns and prototypes as numbers: shares of the range, or codes."""
        is_code = np.array([column.coder.n_codes > 0 for column in self.columns])
        # Categories unknown in training get new codes, the same for patterns and prototypes.
        unseen: list[dict[Any, int]] = [{} for _ in self.columns]
        rows = self._encode(patterns, unseen)
        columns = rows if prototypes is None else self._encode(prototypes, unseen)
        own, other = self._if_missing(rows, columns), self._if_missing(columns, rows)
        kind = _MixedSquare if prototypes is None else MixedRows
        return kind(rows, own, np.ascontiguousarray(columns.T), np.ascontiguousarray(other.T), is_code)

    def _if_missing(self, encoded: Matrix, others: Matrix) -> Matrix:
        """Return the mean differences (n, u) of encoded values, in columns where a value of `others` is missing."""
        found = np.zeros(encoded.shape)
        for k in np.flatnonzero(np.isnan(others).any(axis=0)).tolist():
            found[:, k] = self.columns[k].mean_differences(encoded[:, k])
        return found

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name in self.names]

    def difference(self, pair: Pair) -> Difference:
        """Return p_k c_k / u for each of the u columns, with both values."""
        prepared = self.prepare(pair.pattern, pair.prototype)
        here, there = (self._cells(table) for table in (pair.pattern, pair.prototype))
        contributions = []
        for column, value, other, alone in zip(self.columns, here, there, np.diag(pair.weights), strict=True):
            values = f"{format_value(value)}, {pair.called} {format_value(other)}"
            text = f"{column.name}: {values}{_remark(column, value, other)}"
            details = {"column": to_json(column.name), "value": to_json(value), "prototype": to_json(other)}
            details["weight"] = float(alone.sum())
            contributions.append(Contribution(float(prepared.evaluate(alone)[0, 0]), text, details))
        return Difference(pair.dissimilarity, tuple(contributions), "by column")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the values by column, for example "age = missing, city = Rome"."""
        return named_values(self.weight_names(), self._cells(pattern))

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return the columns with what they held in training; text if that was nothing or several things."""
        held = [CELLS[next(iter(c.contents))] if len(c.contents) == 1 else TEXT for c in self.columns]
        parts = reading.parts_of(self.measure.kinds or {})
        return DataSchema("records", tuple(both for both in zip(self.names, held, strict=True) if both[0] not in parts))

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are a table."""
        return type(patterns) is Table

    def _cells(self, table: Table) -> list[Any]:
        known = {column.name: column for column in table.columns}
        return [known[name].cell(0) for name in self.names]

    def _encode(self, patterns: Any, unseen: list[dict[Any, int]]) -> Matrix:
        """Return (n, u) numbers, the columns found by name."""
        table = self.measure.read(patterns)
        known = {column.name: column for column in table.columns}
        for name in (name for name in self.names if name not in known):
            raise ValueError(f"X lacks column {name!r}, which the training table had")
        for name in (name for name in known if name not in self.names):
            raise ValueError(f"X has a column {name!r}, which the training table did not have")
        encoded = [fitted.encode(known[fitted.name], new) for fitted, new in zip(self.columns, unseen, strict=True)]
        return np.ascontiguousarray(np.array(encoded).T)


@dataclass(frozen=True)
class Gower(RegisteredMeasure):
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

    `kinds` overrides this: ``kinds={"floor": "ordered", "size": ["S", "M", "L"]}``. A list gives the levels of an
    ordered column, the lowest first. Numbers and dates declared "ordered" have their training values as levels; strings
    need the list. A number that is constant in training has no range: any other number then differs by 1, as a category
    does. Text declared "numeric", "date" or "boolean" is read as such. "calendar" adds a date's hour and weekday.

    Missing values are None, NaN, NaT, NA or null. Between a missing value and a value, c is the mean of c between that
    value and the training values of the column; between two missing values, the mean of c between two training values.
    So a gap on one side does not hide a strange value on the other. d(x, x) is then above 0 for a row x with a gap.
    Gower's own rule, to leave the column out, would hide strange values and make d nonlinear in p. If absence itself is
    informative, add a boolean column for it.

    In numeric columns new rows may be farther than 1 from training rows. A category unknown in training differs from
    all known ones, also in a boolean column; an unknown level is an error.

    >>> rows = [{"age": 20, "city": "Oslo"}, {"age": 60, "city": "Rome"}, {"age": 30, "city": "Rome"}]
    >>> fitted = Gower().fit(rows)
    >>> fitted.prepare(rows).evaluate(np.ones(2))
    array([[0.   , 1.   , 0.625],
           [1.   , 0.   , 0.375],
           [0.625, 0.375, 0.   ]])
    >>> fitted.names, fitted.kinds
    (['age', 'city'], ['numeric', 'categorical'])
    """

    kinds: Mapping[Any, str | Sequence[Any]] | None = None
    stored: ClassVar = {"kinds": optional(mapping(hashable, instance(str, list, tuple)))}
    fitted_class: ClassVar = FittedGower
    stored_classes: ClassVar = (FittedColumn, MeanDifference, *STORED_CODERS)

    def __post_init__(self) -> None:
        for name, kind in (self.kinds or {}).items():
            if not isinstance(kind, list | tuple):
                choose("kind", CODERS, kind, otherwise="pass a list of levels, the lowest first")
            elif not 0 < len(set(kind)) == len(kind):
                raise ValueError(f"the levels of column {name!r} must be different and at least 1, not {kind!r}")

    def read(self, X: Any) -> Table:
        """Return X as a table."""
        return read_table(X, self.kinds or {})

    def fit(self, training: Any) -> FittedGower:
        """Fix each column's kind, range, levels and what a missing value counts."""
        table, kinds = self.read(training), self.kinds or {}
        for unknown in (name for name in kinds if name not in table.names):
            known = listed(map(repr, table.names), MOST_NAMED)
            raise ValueError(f"unknown column {unknown!r} in kinds; known: {known}")
        return FittedGower(self, tuple(fit_column(column, kinds.get(column.name)) for column in table.columns))


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Encoded rows (n, u) against prototypes (u, r), each row by itself.

    A cell counts its entry in `rows_if_missing` or `prototypes_if_missing` where the other side is missing.
    """

    rows: Matrix
    rows_if_missing: Matrix
    prototype_columns: Matrix
    prototypes_if_missing: Matrix
    is_code: Flags
    kernel: ClassVar = staticmethod(gower_cross_dissimilarities)

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k c_k / u (n, r)."""
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        own, other = (self.rows, self.rows_if_missing), (self.prototype_columns, self.prototypes_if_missing)
        self.kernel(own, other, self.is_code, p, out)
        return out

    @property
    def strict(self) -> "MixedRows | None":
        """The pairs with c = 0 between two gaps and c = 1 between a gap and a value; None if no prototype has a gap."""
        if not np.isnan(self.prototype_columns).any():
            return None
        own, other = (1.0 - np.isnan(cells) for cells in (self.rows, self.prototype_columns))
        return replace(self, rows_if_missing=own, prototypes_if_missing=other)


class _MixedSquare(MixedRows):
    """All pairs of one table."""

    kernel: ClassVar = staticmethod(gower_pairwise_dissimilarities)


def _remark(column: FittedColumn, here: Any, there: Any) -> str:
    present = [format_value(value) for value in (here, there) if value is not None]
    if column.coder.kind == "empty":
        return " (no value in training: counts nothing)"
    if len(present) == 2:
        return ""
    two = f"{present[0]} and the training values" if present else "two training values"
    return f" (counted as the mean difference between {two})"
