"""How each kind of column of a table is encoded as numbers."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from eocc.foundation.checks import Check, hashable, instance, integer, mapping, real, tuple_of
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.foundation.wording import format_value
from eocc.measures.unit import CONSTANT_SHARE, EXPONENTS, FARTHEST
from eocc.tables.table import AND, BOOLEAN, EMPTY, MOST_NAMED, TEXT, Column, names_of_kinds

# The codes of categories that training did not have, for each column.
Unseen = Sequence[dict[Any, int]]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, and how it is encoded."""

    name: Hashable
    kind: str
    coder: "Coder"
    stored: ClassVar = {
        "name": hashable, "kind": instance(str), "coder": lambda value: type(value) in STORED_CODERS
    }  # fmt: skip

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Encode the column of this name in another table, which must hold the same kind of values."""
        if column.kind == EMPTY:
            return np.full(len(column), np.nan)
        # Levels are known, as strings or as categories; text that is no truth value is one more category of a boolean.
        is_known = column.kind == TEXT if self.coder.kind == "boolean" else self.coder.kind in ("ordered", "empty")
        if not (column.kind == self.kind or is_known):
            held, holds = names_of_kinds(self.kind), names_of_kinds(column.kind)
            raise ValueError(f"column {self.name!r} holds {holds}, but held {held} in training")
        return self.coder.encode(column, unseen)


def fit_column(column: Column, declared: str | Sequence[Any] | None) -> FittedColumn:
    """Return a training column with its coder."""
    return FittedColumn(column.name, column.kind, Empty() if column.kind == EMPTY else _coder(column, declared))


def _coder(column: Column, declared: str | Sequence[Any] | None) -> "Coder":
    """Return the coder of the declared kind, or of the kind of the column."""
    if isinstance(declared, str):
        return CODERS[declared](column)
    if declared is not None:
        return Ordered(tuple(declared))
    if AND in column.kind:
        mix = names_of_kinds(column.kind)
        raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
    if column.kind == TEXT:
        return Ordered(column.levels) if column.levels else Categorical.of(column)
    return Boolean.of(column) if column.kind == BOOLEAN else Numeric.of(column)


@dataclass(frozen=True)
class Empty:
    """A column without any value in training. It never counts."""

    kind, n_codes = "empty", 0
    stored: ClassVar[Mapping[str, Check]] = {}

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        return np.full(len(column), np.nan)


@dataclass(frozen=True)
class Numeric:
    """(x - low) / span, with low and span in units of 2**exponent, so that the range of huge numbers stays finite.

    If the column is constant in training, any other number differs from it by 1.
    """

    exponent: int
    low: float
    span: float
    kind, n_codes = "numeric", 0
    stored: ClassVar = {"exponent": integer(-EXPONENTS, EXPONENTS), "low": real(), "span": real(0)}

    @classmethod
    def of(cls, column: Column) -> "Numeric":
        """Fit to a training column."""
        low, high = float(np.nanmin(column.values)), float(np.nanmax(column.values))
        exponent = int(np.frexp(max(abs(low), abs(high)))[1])
        least, most = np.ldexp([low, high], -exponent).tolist()
        return cls(exponent, least, most - least)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        with np.errstate(over="ignore"):
            gaps = np.ldexp(column.values, -self.exponent) - self.low
            if self.span == 0:
                return np.where(np.isnan(gaps), np.nan, np.abs(gaps) > CONSTANT_SHARE)
            return np.clip(gaps / self.span, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class Boolean:
    """0 and 1, or the code of another category."""

    kind, n_codes = "boolean", 2
    stored: ClassVar[Mapping[str, Check]] = {}

    @classmethod
    def of(cls, column: Column) -> "Boolean":
        """Fit to a training column."""
        for odd in (label for label in _truths(column) if label not in (0, 1)):
            raise ValueError(f"column {column.name!r} is declared boolean, but holds {format_value(odd)}")
        return cls()

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        truths = _truths(column)
        for value in (value for value in truths if value not in (0, 1)):
            unseen.setdefault(value, 2 + len(unseen))
        codes = {0: 0, 1: 1, **unseen}
        return np.array([*(codes[value] for value in truths), np.nan])[column.labelled().codes]


def _truths(column: Column) -> tuple[Any, ...]:
    """Return the different values of a column of truth values: 0 and 1, or anything else that it holds."""
    return column.labelled().labels or ()


@dataclass(frozen=True, eq=False)
class Ordered:
    """rank / (number of levels - 1)."""

    levels: tuple[Any, ...]
    kind, n_codes = "ordered", 0
    stored: ClassVar = {"levels": tuple_of(hashable, 1)}

    @classmethod
    def of(cls, column: Column) -> "Ordered":
        """Fit to a training column."""
        levels = column.levels if column.labels is not None else column.labelled().labels
        if levels is None:
            hint = f"pass kinds={{{column.name!r}: [levels, the lowest first]}}"
            raise ValueError(f"column {column.name!r} is declared ordered, but its values have no order: {hint}")
        return cls(levels)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        labelled = column.labelled()
        rank = {level: number for number, level in enumerate(self.levels)}
        for label in (label for label in labelled.labels or () if label not in rank):
            known = listed(map(repr, self.levels), MOST_NAMED)
            raise ValueError(f"column {column.name!r} holds the unknown level {label!r}; known: {known}")
        return _translated(labelled, rank) / max(len(self.levels) - 1, 1)


@dataclass(frozen=True, eq=False)
class Categorical:
    """One code per category."""

    codes: dict[Any, int]
    kind = "categorical"
    stored: ClassVar = {"codes": mapping(hashable, integer(0, 2**40))}

    @property
    def n_codes(self) -> int:
        """The number of known categories."""
        return len(self.codes)

    @classmethod
    def of(cls, column: Column) -> "Categorical":
        """Fit to a training column."""
        return cls({label: code for code, label in enumerate(column.labelled().labels or ())})

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        labelled = column.labelled()
        for label in labelled.labels or ():
            if label not in self.codes:
                unseen.setdefault(label, len(self.codes) + len(unseen))
        return _translated(labelled, {**self.codes, **unseen})


def _translated(column: Column, code: Mapping[Any, int]) -> Matrix:
    """Return the code of each row's label, NaN if missing."""
    return np.array([*(code[label] for label in column.labels or ()), np.nan])[column.codes]


# Each encodes a column as one number per row, NaN if missing; c is their absolute difference, or 0 or 1 for `n_codes`.
Coder = Boolean | Categorical | Empty | Numeric | Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
CODERS: dict[str, Callable[[Column], Coder]] = {
    "numeric": Numeric.of, "boolean": Boolean.of, "ordered": Ordered.of, "categorical": Categorical.of,
    "date": Numeric.of, "calendar": Numeric.of,
}  # fmt: skip
