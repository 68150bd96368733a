"""Gower's dissimilarity of mixed records, one weight per column."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import hashable, instance, mapping, optional, tuple_of
from eocc.foundation.registry import choose, listed
from eocc.foundation.types import Flags, Matrix
from eocc.foundation.wording import format_value, named_values, to_json
from eocc.kernels.gower import gower_cross_dissimilarities, gower_pairwise_dissimilarities
from eocc.measures.base import RegisteredFitted, RegisteredMeasure
from eocc.measures.columns import BOOLEANS, DATES, DURATIONS, LABELS, MOST_NAMED, NUMBERS, TIMES, Table, read_table
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.schema import BOOLEAN, DATE, DURATION, NUMBER, TEXT, TIME, DataSchema
from eocc.measures.tables.coders import CODERS, OF_NUMBERS, STORED_CODERS, FittedColumn, fit_column

CELLS = {NUMBERS: NUMBER, BOOLEANS: BOOLEAN, LABELS: TEXT, DATES: DATE, DURATIONS: DURATION, TIMES: TIME}


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
        is_code = np.array([column.coder.kind == "categorical" for column in self.columns])
        absent = np.array([column.absent for column in self.columns])
        # Categories unknown in training get new codes, the same for patterns and prototypes.
        unseen: list[dict[Any, int]] = [{} for _ in self.columns]
        rows = self._encode(patterns, unseen)
        if prototypes is None:
            return _MixedSquare(rows, np.ascontiguousarray(rows.T), is_code, absent)
        return MixedRows(rows, np.ascontiguousarray(self._encode(prototypes, unseen).T), is_code, absent)

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name in self.names]

    def difference(self, pair: Pair) -> Difference:
        """Return p_k c_k / u for each of the u columns, with both values."""
        prepared = self.prepare(pair.pattern, pair.prototype)
        here, there = (self._cells(table) for table in (pair.pattern, pair.prototype))
        contributions = tuple(
            Contribution(
                float(prepared.evaluate(alone)[0, 0]),
                f"{column.name}: {format_value(value)}, {pair.called} {format_value(other)}"
                + _remark(column, value, other),
                {"column": to_json(column.name), "value": to_json(value), "prototype": to_json(other)}
                | {"weight": float(alone.sum())},
            )
            for column, value, other, alone in zip(self.columns, here, there, np.diag(pair.weights), strict=True)
        )
        return Difference(pair.dissimilarity, contributions, "by column")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the values by column, for example "age = missing, city = Rome"."""
        return named_values(self.weight_names(), self._cells(pattern))

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return the columns with what they held in training; text if that was nothing or several things."""
        held = [CELLS[next(iter(c.contents))] if len(c.contents) == 1 else TEXT for c in self.columns]
        return DataSchema("records", tuple(zip(self.names, held, strict=True)))

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
    does.

    Missing values are None, NaN, NaT, NA or null. Between two missing values c = 0, so that equal rows have d = 0.
    Between a missing value and a value, c is the mean of c over all pairs of training rows that have both values, or 0
    if there are none. So a missing value makes a row neither normal nor strange. Gower's own rule, to leave the column
    out, would make d nonlinear in p. If absence itself is informative, add a boolean column for it.

    In numeric columns new rows may be farther than 1 from training rows. A category unknown in training differs from
    all known ones; an unknown level is an error.

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
    stored_classes: ClassVar = (FittedColumn, *STORED_CODERS)

    def __post_init__(self) -> None:
        for name, kind in (self.kinds or {}).items():
            if isinstance(kind, list | tuple) and 0 < len(set(kind)) == len(kind):
                continue
            if isinstance(kind, list | tuple):
                raise ValueError(f"the levels of column {name!r} must be different and at least 1, not {kind!r}")
            choose("kind", CODERS, kind, otherwise="pass a list of levels, the lowest first")

    def read(self, X: Any) -> Table:
        """Return X as a table."""
        return read_table(X, {name for name, kind in (self.kinds or {}).items() if kind not in OF_NUMBERS})

    def fit(self, training: Any) -> FittedGower:
        """Fix each column's kind, range, levels and the cost of a missing value."""
        table, kinds = self.read(training), self.kinds or {}
        for unknown in (name for name in kinds if name not in table.names):
            known = listed(map(repr, table.names), MOST_NAMED)
            raise ValueError(f"unknown column {unknown!r} in kinds; known: {known}")
        return FittedGower(self, tuple(fit_column(column, kinds.get(column.name)) for column in table.columns))


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Encoded rows (n, u) against prototypes (u, r), each row by itself."""

    rows: Matrix
    prototype_columns: Matrix
    is_code: Flags
    absent: Matrix
    kernel: ClassVar = staticmethod(gower_cross_dissimilarities)

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k c_k / u (n, r)."""
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        self.kernel(self.rows, self.prototype_columns, self.is_code, self.absent, p, out)
        return out


class _MixedSquare(MixedRows):
    """All pairs of one table."""

    kernel: ClassVar = staticmethod(gower_pairwise_dissimilarities)


def _remark(column: FittedColumn, here: Any, there: Any) -> str:
    if column.coder.kind == "empty":
        return " (no value in training: counts nothing)"
    return " (counted as the mean difference in training)" if (here is None) != (there is None) else ""
