"""How each kind of column is encoded as numbers, and what a missing value costs."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from eocc.foundation.checks import Check, hashable, instance, integer, mapping, real, tuple_of
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.measures.columns import BOOLEANS, LABELS, MOST_NAMED, Column
from eocc.measures.unit import CONSTANT, EXPONENTS, FARTHEST


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, how it is encoded, and c between a missing value and a value."""

    name: Hashable
    contents: frozenset[str]
    coder: "Coder"
    absent: float
    stored: ClassVar = {
        "name": hashable, "contents": instance(frozenset), "coder": lambda value: type(value) in STORED_CODERS,
        "absent": real(0, 1),
    }  # fmt: skip

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Encode the column of this name in another table, which must hold the same kind of values."""
        if not column.contents:
            return np.full(len(column.values), np.nan)
        # The levels of an ordered column are known, whether they come as strings or as categories.
        if not (column.contents <= self.contents or self.coder.kind in ("ordered", "empty")):
            held, holds = _together(self.contents), _together(column.contents)
            raise ValueError(f"column {self.name!r} holds {holds}, but held {held} in training")
        return self.coder.encode(column, unseen)


def fit_column(column: Column, declared: str | Sequence[Any] | None) -> FittedColumn:
    """Return a training column with its coder and the cost of a missing value."""
    coder = _coder(column, declared) if column.contents else _Empty()
    encoded = coder.encode(column, {})
    absent = _mean_component(encoded[~np.isnan(encoded)], coder.kind == "categorical")
    return FittedColumn(column.name, column.contents, coder, absent)


def _coder(column: Column, declared: str | Sequence[Any] | None) -> "Coder":
    """Return the coder of the declared kind, or of the kind that follows from the contents."""
    if isinstance(declared, str):
        if declared in ("numeric", "boolean") and column.labels is not None:
            raise ValueError(f"column {column.name!r} is declared {declared}, but holds {_together(column.contents)}")
        return CODERS[declared](column)
    if declared is not None:
        return _Ordered(tuple(declared))
    if len(column.contents) > 1:
        mix = _together(column.contents)
        raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
    if LABELS in column.contents:
        return _Ordered(column.levels) if column.levels else _Categorical.of(column)
    return _Boolean() if BOOLEANS in column.contents else _Numeric.of(column)


def _mean_component(values: Matrix, are_codes: bool) -> float:
    """Return the mean of c over all pairs: of [x != y] for codes, else of |x - y|, from the sorted values."""
    n = len(values)
    if n < 2:
        return 0.0
    if are_codes:
        counts = np.unique(values, return_counts=True)[1]
        return float(n * n - np.sum(counts * counts)) / (n * (n - 1))
    total = float(np.sum((2.0 * np.arange(n) - n + 1) * np.sort(values)))
    return min(max(total / (n * (n - 1) / 2), 0.0), 1.0)


@dataclass(frozen=True)
class _Empty:
    """A column without any value in training. It never counts."""

    kind = "empty"
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
    kind = "numeric"
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
    """0 and 1."""

    kind = "boolean"
    stored: ClassVar[Mapping[str, Check]] = {}

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        odd = column.values[~np.isnan(column.values) & (column.values != 0) & (column.values != 1)]
        if len(odd):
            raise ValueError(f"column {column.name!r} is declared boolean, but holds {odd[0]:g}")
        return column.values


@dataclass(frozen=True, eq=False)
class _Ordered:
    """rank / (number of levels - 1)."""

    levels: tuple[Any, ...]
    kind = "ordered"
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


# Each encodes a column as one number per row, NaN if missing; c is their absolute difference, or 0 or 1 for categories.
Coder = _Boolean | _Categorical | _Empty | _Numeric | _Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
CODERS: dict[str, Callable[[Column], Coder]] = {
    "numeric": _Numeric.of, "boolean": lambda column: _Boolean(), "ordered": _Ordered.of, "categorical": _Categorical.of,
}  # fmt: skip
# Columns declared so are read as numbers if possible; the values of others are kept as labels.
OF_NUMBERS = ("numeric", "boolean", "ordered")
