"""Gower's dissimilarity of mixed records, one weight per column."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, ClassVar

import numpy as np

from eocc.base.checks import hashable, instance, mapping, numbers, optional
from eocc.base.registry import choose, listed
from eocc.base.threads import interruptibly
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import format_value, named_values, to_json
from eocc.kernels.gower import gower_cross_dissimilarities, gower_pairwise_dissimilarities
from eocc.measures.cells import Cells, filled, some_rows
from eocc.measures.coders import DECLARED, STORED_CODERS, FittedColumn, Unseen, coder_of
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.objects import derived
from eocc.measures.protocol import FittedMeasure, Measure
from eocc.tables.judge import holds_text
from eocc.tables.reading import GIVEN, fit_reading
from eocc.tables.sources import table_of
from eocc.tables.table import DATE, MOST_NAMED, NUMBER, Table

# What text is read as where a training column held numbers or dates.
READ_AS = {NUMBER: "numeric", DATE: "date"}
# The most training rows that are kept to fill gaps.
MOST_DONORS = 10_000


@dataclass(frozen=True, eq=False)
class FittedGower(FittedMeasure):
    """Gower's measure with the training table's columns fixed."""

    measure: "Gower"
    columns: tuple[FittedColumn, ...]
    donors: Annotated[Matrix, numbers("n d", gaps=True)]
    kind: ClassVar = "records"

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.columns):
            raise ValueError("a column of the table is read twice")
        if self.donors.shape[1:] != (len(self.columns),) or not len(self.donors):
            raise ValueError(f"the rows that fill gaps must be at least 1, of {len(self.columns)} columns")

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

    @cached_property
    def is_code(self) -> Flags:
        """Which columns hold codes."""
        return np.array([column.coder.n_codes > 0 for column in self.columns])

    def prepare(self, patterns: Any, prototypes: Any = None) -> "MixedRows":
        """Encode patterns and prototypes as numbers, shares of the range or codes, without gaps."""
        if prototypes is None:
            rows, _ = self._filled(patterns)
            return _MixedSquare(rows, np.ascontiguousarray(rows.T), self.is_code)
        return MixedRows(self.encoded(patterns, prototypes), self._of_prototypes(prototypes)[0], self.is_code)

    def encoded(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return patterns as numbers and codes (m, u), gaps filled; a category has the code that prototypes give it."""
        columns, unseen = self._of_prototypes(prototypes)
        return np.ascontiguousarray(columns.T) if patterns is prototypes else self._filled(patterns, unseen)[0]

    def _of_prototypes(self, prototypes: Any) -> tuple[Matrix, Unseen]:
        """Return the columns (u, r) of prototypes, and their unseen categories."""

        def encode() -> tuple[Matrix, Unseen]:
            rows, unseen = self._filled(prototypes)
            return np.ascontiguousarray(rows.T), unseen

        found: tuple[Matrix, Unseen] = derived(prototypes, self, encode)
        return found

    def _filled(self, patterns: Any, unseen: Unseen = ()) -> tuple[Matrix, Unseen]:
        """Return (n, u) numbers with every gap filled from `donors`, and the unseen categories."""
        unseen = tuple(map(dict, unseen)) or tuple({} for _ in self.columns)
        rows = self._encode(patterns, unseen)
        return filled(rows, self.donors, self.is_code), unseen

    def indicator_columns(self, patterns: Any) -> tuple[Matrix, Indices]:
        """Return numbers and levels as they are encoded, and 0 or 1 for each known category: (n, d); the weights (d,).

        Gaps are filled. A category unknown in training is 0 in every column.
        """
        rows, _ = self._filled(patterns)
        columns, weights = [], []
        for k, column in enumerate(self.columns):
            values = rows[:, k, None]
            columns.append(values == np.arange(column.coder.n_codes) if self.is_code[k] else values)
            weights += [k] * columns[-1].shape[1]
        return np.hstack(columns).astype(np.float64), np.array(weights, np.int64)

    def cell_values(self, patterns: Any) -> Matrix:
        """Return the cells (n, u) as numbers, shares of the range, or codes, NaN if missing."""
        return self._encode(patterns, tuple({} for _ in self.columns))

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

    def cells(self, patterns: Table, prototypes: Table, names: Sequence[str] | None = None) -> Cells:
        """Return the cells as numbers, shares of the range or codes, with their gaps."""
        unseen: Unseen = tuple({} for _ in self.columns)
        columns, rows = (self._encode(table, unseen) for table in (prototypes, patterns))
        here, there = ({column.name: column.cell for column in table.columns} for table in (patterns, prototypes))
        return Cells(
            tuple(self.weight_names()), rows, np.ascontiguousarray(columns.T), self.is_code,
            lambda i, k: here[self.names[k]](i), lambda j, k: there[self.names[k]](j),
        )  # fmt: skip

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the values by column, for example "age = missing, city = Rome"."""
        return named_values(self.weight_names(), self._cells(pattern))

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are a table."""
        return type(patterns) is Table

    def _cells(self, table: Table) -> list[Any]:
        known = {column.name: column for column in table.columns}
        return [known[name].cell(0) for name in self.names]

    def _encode(self, patterns: Any, unseen: Unseen) -> Matrix:
        """Return (n, u) numbers, NaN if missing, the columns found by name."""
        table = self.measure.read(
            patterns, {one.name: READ_AS[one.kind] for one in self.columns if one.kind in READ_AS}
        )
        known = {column.name: column for column in table.columns}
        for name in (name for name in self.names if name not in known):
            raise ValueError(f"X lacks column {name!r}, which the training table had")
        for name in (name for name in known if name not in self.names):
            raise ValueError(f"X has a column {name!r}, which the training table did not have; leave it out")
        encoded = [fitted.encode(known[fitted.name], new) for fitted, new in zip(self.columns, unseen, strict=True)]
        return np.ascontiguousarray(np.array(encoded).T)


@dataclass(frozen=True)
class Gower(Measure):
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

    Missing values are None, NaN, NaT, NA or null. A gap is filled from the 8 nearest training rows that have a value
    there, by the mean difference over the columns that both have: with the most frequent category, or with the median.
    So a gap neither makes a row strange nor hides a strange value. If absence itself is informative, add a boolean
    column for it.

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

    kinds: Annotated[
        Mapping[Any, str | Sequence[Any]] | None, optional(mapping(hashable, instance(str, list, tuple)))
    ] = None
    fitted_class: ClassVar = FittedGower
    reads_tables: ClassVar = True
    stored_classes: ClassVar = (FittedColumn, *STORED_CODERS)

    def __post_init__(self) -> None:
        for name, kind in (self.kinds or {}).items():
            if not isinstance(kind, list | tuple):
                choose("kind", dict.fromkeys(DECLARED), kind, otherwise="pass a list of levels, the lowest first")
            elif not 0 < len(set(kind)) == len(kind):
                raise ValueError(f"the levels of column {name!r} must be different and at least 1, not {kind!r}")

    def read(self, X: Any, known: Mapping[Any, str] = MappingProxyType({})) -> Table:
        """Return X as a table. Text is what `kinds` declare or `known` columns held, and else categories.

        A classifier reads text before: see `eocc.tables.reading`.
        """
        if isinstance(X, Table):
            return X
        raw = table_of(X)
        kinds = {column.name: known.get(column.name, GIVEN) if holds_text(column) else GIVEN for column in raw.columns}
        return fit_reading(raw, True, {**kinds, **(self.kinds or {})})[1]

    def fit(self, training: Any) -> FittedGower:
        """Fix each column's kind, range and levels, and the rows that fill gaps."""
        table, kinds = self.read(training), self.kinds or {}
        for unknown in (name for name in kinds if name not in table.names):
            known = listed(map(repr, table.names), MOST_NAMED)
            raise ValueError(f"unknown column {unknown!r} in kinds; known: {known}")
        columns = tuple(FittedColumn(one.name, one.kind, coder_of(one, kinds.get(one.name))) for one in table.columns)
        some = table[some_rows(len(table), MOST_DONORS)]
        encoded = [fitted.encode(column, {}) for fitted, column in zip(columns, some.columns, strict=True)]
        return FittedGower(self, columns, np.ascontiguousarray(np.array(encoded).T))


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Encoded rows (n, u) against prototypes (u, r), each row by itself."""

    rows: Matrix
    prototype_columns: Matrix
    is_code: Flags
    kernel: ClassVar = staticmethod(gower_cross_dissimilarities)

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return sum_k p_k c_k / u (n, r)."""
        out = np.empty((len(self.rows), self.prototype_columns.shape[1])) if out is None else out
        interruptibly(lambda: self.kernel(self.rows, self.prototype_columns, self.is_code, p, out), out.size * len(p))
        return out


class _MixedSquare(MixedRows):
    """All pairs of one table."""

    kernel: ClassVar = staticmethod(gower_pairwise_dissimilarities)


def _remark(column: FittedColumn, here: Any, there: Any) -> str:
    if column.coder.kind == "empty":
        return " (no value in training: counts nothing)"
    return " (missing: counted as in the nearest training rows)" if here is None or there is None else ""
