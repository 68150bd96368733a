"""Gower's dissimilarity of mixed records, one weight per column, and how each kind of column is encoded."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, get_args

import numpy as np

from eocc.base.checks import Sizes, demand, hashable, instance, integer, mapping, numbers, optional, real, tuple_of
from eocc.base.registry import choose, listed
from eocc.base.types import Indices, Matrix
from eocc.base.wording import format_value, named_values, to_json
from eocc.measures.base import MixedRows, MixedSquare, filled
from eocc.measures.difference import Cells, Contribution, Difference, Pair
from eocc.measures.objects import derived
from eocc.measures.protocol import FittedMeasure, Measure
from eocc.measures.unit import CONSTANT_SHARE, EXPONENTS, FARTHEST
from eocc.tables.judge import holds_text
from eocc.tables.reading import GIVEN, fit_reading
from eocc.tables.sources import table_of
from eocc.tables.table import AND, BOOLEAN, DATE, EMPTY, KINDS, MOST_NAMED, NUMBER, TEXT, Column, Table, names_of_kinds

# The codes of categories that training did not have, for each column.
Unseen = Sequence[dict[Any, int]]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, and how it is encoded."""

    name: Hashable
    kind: str
    coder: "Coder"

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row of the column of this name in another table, NaN if missing.

        The column must hold the same kind of values. Codes of categories that training did not have are added to those
        that are `unseen`.
        """
        coder = self.coder
        if column.kind == EMPTY or isinstance(coder, Empty):
            return np.full(len(column), np.nan)
        # Levels are known, as strings or as categories; text that is no truth value is one more category of a boolean.
        is_known = isinstance(coder, Ordered) or (isinstance(coder, Boolean) and column.kind == TEXT)
        if not (column.kind == self.kind or is_known):
            held, holds = names_of_kinds(self.kind), names_of_kinds(column.kind)
            raise ValueError(f"column {self.name!r} holds {holds}, but held {held} in training")
        if isinstance(coder, Numeric):
            with np.errstate(over="ignore"):
                gaps = np.ldexp(column.values, -coder.exponent) - coder.low
                if coder.span == 0:
                    return np.where(np.isnan(gaps), np.nan, np.abs(gaps) > CONSTANT_SHARE)
                return np.clip(gaps / coder.span, -FARTHEST, FARTHEST)
        labelled, is_ordered = column.labelled(), isinstance(coder, Ordered)
        known = {level: rank for rank, level in enumerate(coder.levels)} if isinstance(coder, Ordered) else coder.codes
        for label in (label for label in labelled.labels or () if label not in known):
            if is_ordered:
                levels = listed(map(repr, known), MOST_NAMED)
                raise ValueError(f"column {column.name!r} holds the unknown level {label!r}; known: {levels}")
            unseen.setdefault(label, len(known) + len(unseen))
        codes = {**known, **unseen}
        step = max(len(known) - 1, 1) if is_ordered else 1
        return np.array([*(codes[label] for label in labelled.labels or ()), np.nan])[labelled.codes] / step


@dataclass(frozen=True)
class Empty:
    """A column without any value in training. It never counts."""

    kind: ClassVar = "empty"
    codes: ClassVar[dict[Any, int]] = {}


@dataclass(frozen=True)
class Numeric:
    """(x - low) / span, with low and span in units of 2**exponent, so that the range of huge numbers stays finite.

    If the column is constant in training, any other number differs from it by 1.
    """

    exponent: Annotated[int, integer(-EXPONENTS, EXPONENTS)]
    low: float
    span: Annotated[float, real("[0, inf)")]
    kind: ClassVar = "numeric"
    codes: ClassVar[dict[Any, int]] = {}


@dataclass(frozen=True, eq=False)
class Categorical:
    """The codes 0, 1, 2 and so on, one per category in its order; one that training did not have gets a new one."""

    codes: Annotated[dict[Any, int], mapping(hashable, integer(0, 2**40))]
    kind = "categorical"


@dataclass(frozen=True)
class Boolean:
    """0 and 1, or the code of another category."""

    kind: ClassVar = "boolean"
    codes: ClassVar = {0: 0, 1: 1}


@dataclass(frozen=True, eq=False)
class Ordered:
    """rank / (number of levels - 1)."""

    levels: Annotated[tuple[Any, ...], tuple_of(hashable, 1)]
    kind: ClassVar = "ordered"
    codes: ClassVar[dict[Any, int]] = {}


# c is the absolute difference of two encoded values, or 0 or 1 for `codes`.
Coder = Boolean | Categorical | Empty | Numeric | Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
# What a user may declare a column to be.
DECLARED = ("numeric", "boolean", "ordered", "categorical", "date", "calendar")


def coder_of(column: Column, declared: str | Sequence[Any] | None) -> Coder:
    """Return the coder of a training column, by the declared kind or by the kind of the column."""
    if column.kind == EMPTY:
        return Empty()
    if declared is None:
        if AND in column.kind:
            mix = names_of_kinds(column.kind)
            raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
        declared = {TEXT: column.levels or "categorical", BOOLEAN: "boolean"}.get(column.kind, "numeric")
    if not isinstance(declared, str):
        return Ordered(tuple(declared))
    labels = column.labelled().labels or () if declared in ("boolean", "ordered", "categorical") else ()
    if declared == "boolean":
        for odd in (label for label in labels if label not in (0, 1)):
            raise ValueError(f"column {column.name!r} is declared boolean, but holds {format_value(odd)}")
        return Boolean()
    if declared == "categorical":
        return Categorical({label: code for code, label in enumerate(labels)})
    if declared == "ordered":
        levels = column.levels if column.labels is not None else labels
        if levels is None:
            hint = f"pass kinds={{{column.name!r}: [levels, the lowest first]}}"
            raise ValueError(f"column {column.name!r} is declared ordered, but its values have no order: {hint}")
        return Ordered(levels)
    low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
    exponent = int(np.frexp(max(abs(low), abs(high)))[1])
    least, most = np.ldexp([low, high], -exponent).tolist()
    return Numeric(exponent, least, most - least)


# What text is read as where a training column held numbers or dates.
READ_AS = {NUMBER: "numeric", DATE: "date"}
# The most training rows that are kept to fill gaps, evenly spaced.
MOST_DONORS = 10_000


@dataclass(frozen=True, eq=False)
class FittedGower(FittedMeasure):
    """Gower's measure with the training table's columns fixed.

    `names` and `kinds` are those of the columns, in the order of p; "empty" means no value in training.
    """

    measure: "Gower"
    columns: tuple[FittedColumn, ...]
    donors: Annotated[Matrix, numbers("n d", gaps=True)]
    kind: ClassVar = "records"
    container: ClassVar = Table

    def __post_init__(self) -> None:
        coders = [column.coder for column in self.columns]
        is_code, kinds = np.array([len(one.codes) > 0 for one in coders]), [one.kind for one in coders]
        names = [column.name for column in self.columns]
        vars(self).update(n_parameters=len(names), names=names, kinds=kinds, is_code=is_code)

    def check_parts(self, sizes: Sizes) -> None:
        """Demand different columns of known kinds, codes in order, and rows to fill gaps of as many columns."""
        for one in self.columns:
            kinds, codes = {*one.kind.split(AND)}, one.coder.codes
            demand(kinds <= {EMPTY, *KINDS}, f"a column holds values of an unknown kind {one.kind!r}")
            demand([*codes.values()] == [*range(len(codes))], "the codes of categories must be 0, 1, 2 and so on")
        demand(len({*self.names}) == self.n_parameters, "a column of the table is read twice")
        is_right = self.donors.shape[1:] == (self.n_parameters,) and len(self.donors) > 0
        demand(is_right, f"the rows that fill gaps must be at least 1, of {self.n_parameters} columns")

    def prepare(self, patterns: Any, prototypes: Any = None) -> "MixedRows":
        """Encode patterns and prototypes as numbers, shares of the range or codes, without gaps."""
        if prototypes is None:
            rows = self.encoded(patterns, patterns)
            return MixedSquare(rows, np.ascontiguousarray(rows.T), self.is_code)
        columns = np.ascontiguousarray(self.encoded(prototypes, prototypes).T)
        return MixedRows(self.encoded(patterns, prototypes), columns, self.is_code)

    def encoded(self, patterns: Any, prototypes: Any) -> Matrix:
        """Return patterns as numbers and codes (m, u), gaps filled; a category has the code that prototypes give it."""

        def encode(some: Any, known: Unseen) -> tuple[Matrix, Unseen]:
            unseen = tuple(map(dict, known))
            return filled(self.cell_values(some, unseen), self.donors, self.is_code), unseen

        rows, unseen = derived(prototypes, self, lambda: encode(prototypes, [{} for _ in self.columns]))
        return rows if patterns is prototypes else encode(patterns, unseen)[0]

    def indicator_columns(self, patterns: Any) -> tuple[Matrix, Indices]:
        """Return numbers and levels as they are encoded, and 0 or 1 for each known category: (n, d); the weights (d,).

        Gaps are filled. A category unknown in training is 0 in every column.
        """
        rows, columns, weights = filled(self.cell_values(patterns), self.donors, self.is_code), [], []
        for k, column in enumerate(self.columns):
            values = rows[:, k, None]
            columns.append(values == np.arange(len(column.coder.codes)) if self.is_code[k] else values)
            weights += [k] * columns[-1].shape[1]
        return np.hstack(columns).astype(np.float64), np.array(weights, np.int64)

    def cell_values(self, patterns: Any, unseen: Unseen | None = None) -> Matrix:
        """Return the cells (n, u) as numbers, shares of the range, or codes, NaN if missing; columns go by name.

        Codes of categories that training did not have are added to those that are `unseen`.
        """
        if not isinstance(patterns, Table):
            held = {one.name: READ_AS[one.kind] for one in self.columns if one.kind in READ_AS}
            patterns = self.measure.read(patterns, held)
        given, known = {column.name: column for column in patterns.columns}, {column.name for column in self.columns}
        for name in (one.name for one in self.columns if one.name not in given):
            raise ValueError(f"X lacks column {name!r}, which the training table had")
        for name in (name for name in given if name not in known):
            raise ValueError(f"X has a column {name!r}, which the training table did not have; leave it out")
        new = tuple({} for _ in self.columns) if unseen is None else unseen
        encoded = [fitted.encode(given[fitted.name], own) for fitted, own in zip(self.columns, new, strict=True)]
        return np.ascontiguousarray(np.array(encoded).T)

    def weight_names(self, names: Sequence[str] | None = None) -> list[str]:
        """Return the names of the columns."""
        return [str(name) for name in self.names]

    def difference(self, pair: Pair) -> Difference:
        """Return p_k c_k / u for each of the u columns, with both values."""
        prepared = self.prepare(pair.pattern, pair.prototype)
        here, there = (self._cells(table) for table in (pair.pattern, pair.prototype))
        contributions = []
        for column, value, other, alone in zip(self.columns, here, there, np.diag(pair.weights), strict=True):
            remark = "" if None not in (value, other) else " (missing: counted as in the nearest training rows)"
            remark = " (no value in training: counts nothing)" if column.coder.kind == "empty" else remark
            text = f"{column.name}: {format_value(value)}, {pair.called} {format_value(other)}{remark}"
            details = {"column": to_json(column.name), "value": to_json(value), "prototype": to_json(other)}
            details["weight"] = float(alone.sum())
            contributions.append(Contribution(float(prepared.evaluate(alone)[0, 0]), text, details))
        return Difference(pair.dissimilarity, tuple(contributions), "by column")

    def cells(self, patterns: Table, prototypes: Table, names: Sequence[str] | None = None) -> Cells:
        """Return the cells as numbers, shares of the range or codes, with their gaps."""
        unseen: Unseen = tuple({} for _ in self.columns)
        columns, rows = (self.cell_values(table, unseen) for table in (prototypes, patterns))
        here, there = ({column.name: column.cell for column in table.columns} for table in (patterns, prototypes))
        return Cells(
            tuple(self.weight_names()), rows, np.ascontiguousarray(columns.T), self.is_code,
            lambda i, k: here[self.names[k]](i), lambda j, k: there[self.names[k]](j),
        )  # fmt: skip

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the values by column, for example "age = missing, city = Rome"."""
        return named_values(self.weight_names(), self._cells(pattern))

    def _cells(self, table: Table) -> list[Any]:
        known = {column.name: column for column in table.columns}
        return [known[name].cell(0) for name in self.names]


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
        some = table[:: -(-len(table) // MOST_DONORS)]
        encoded = [fitted.encode(column, {}) for fitted, column in zip(columns, some.columns, strict=True)]
        return FittedGower(self, columns, np.ascontiguousarray(np.array(encoded).T))
