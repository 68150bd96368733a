"""How each kind of column of a table is encoded as numbers."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np

from eocc.foundation.checks import Check, hashable, instance, integer, mapping, real, tuple_of
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.foundation.wording import format_value
from eocc.measures import columns as reading
from eocc.measures.columns import BOOLEANS, LABELS, MOST_NAMED, Column
from eocc.measures.unit import CONSTANT, EXPONENTS, FARTHEST

# The codes of categories that training did not have, for each column.
Unseen = Sequence[dict[Any, int]]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, and how it is encoded."""

    name: Hashable
    contents: frozenset[str]
    coder: "Coder"
    stored: ClassVar = {
        "name": hashable, "contents": instance(frozenset), "coder": lambda value: type(value) in STORED_CODERS
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


def fit_column(column: Column, declared: str | Sequence[Any] | None) -> FittedColumn:
    """Return a training column with its coder."""
    return FittedColumn(column.name, column.contents, _coder(column, declared) if column.contents else Empty())


def _coder(column: Column, declared: str | Sequence[Any] | None) -> "Coder":
    """Return the coder of the declared kind, or of the kind that follows from the contents."""
    if isinstance(declared, str):
        return CODERS[declared](column)
    if declared is not None:
        return Ordered(tuple(declared))
    if len(column.contents) > 1:
        mix = _together(column.contents)
        raise ValueError(f"column {column.name!r} mixes {mix}: make it one, or declare it categorical")
    if LABELS in column.contents:
        return Ordered(column.levels) if column.levels else Categorical.of(column)
    return Boolean.of(column) if BOOLEANS in column.contents else Numeric.of(column)


@dataclass(frozen=True)
class Empty:
    """A column without any value in training. It never counts."""

    kind, n_codes = "empty", 0
    stored: ClassVar[Mapping[str, Check]] = {}

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        return np.full(len(column.values), np.nan)


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
                return np.where(np.isnan(gaps), np.nan, np.abs(gaps) > CONSTANT)
            return np.clip(gaps / self.span, -FARTHEST, FARTHEST)


@dataclass(frozen=True)
class Boolean:
    """0 and 1, or the code of another category."""

    kind, n_codes = "boolean", 2
    stored: ClassVar[Mapping[str, Check]] = {}

    @classmethod
    def of(cls, column: Column) -> "Boolean":
        """Fit to a training column."""
        for odd in (value for value in reading.meanings_of(column) if value not in (0, 1)):
            raise ValueError(f"column {column.name!r} is declared boolean, but holds {format_value(odd)}")
        return cls()

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        meanings = reading.meanings_of(column)
        for value in (value for value in meanings if value not in (0, 1)):
            unseen.setdefault(value, 2 + len(unseen))
        codes, labelled = {0: 0, 1: 1, **unseen}, column.labelled()
        return _translated(labelled, {k: codes[v] for k, v in zip(labelled.labels or (), meanings, strict=True)})


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
    codes = np.array([*(code[label] for label in column.labels or ()), np.nan])
    return codes[np.where(np.isnan(column.values), -1, column.values).astype(np.int64)]


def _together(contents: frozenset[str]) -> str:
    return " and ".join(sorted(contents))


# Each encodes a column as one number per row, NaN if missing; c is their absolute difference, or 0 or 1 for `n_codes`.
Coder = Boolean | Categorical | Empty | Numeric | Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
CODERS: dict[str, Callable[[Column], Coder]] = {
    "numeric": Numeric.of, "boolean": Boolean.of, "ordered": Ordered.of, "categorical": Categorical.of,
    **dict.fromkeys(reading.DATE_KINDS, Numeric.of),
}  # fmt: skip
