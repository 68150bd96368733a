"""How each kind of column of a table is encoded as numbers."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, get_args

import numpy as np

from eocc.base.checks import Sizes, demand, hashable, integer, mapping, real, tuple_of
from eocc.base.registry import listed
from eocc.base.types import Matrix
from eocc.base.wording import format_value
from eocc.measures.unit import CONSTANT_SHARE, EXPONENTS, FARTHEST
from eocc.tables.table import AND, BOOLEAN, EMPTY, KINDS, MOST_NAMED, TEXT, Column, names_of_kinds

# The codes of categories that training did not have, for each column.
Unseen = Sequence[dict[Any, int]]


@dataclass(frozen=True, eq=False)
class FittedColumn:
    """A column of the training table: what it held, and how it is encoded."""

    name: Hashable
    kind: str
    coder: "Coder"

    def check_parts(self, sizes: Sizes) -> None:
        """Demand kinds of values that exist."""
        demand({*self.kind.split(AND)} <= {EMPTY, *KINDS}, f"a column holds values of an unknown kind {self.kind!r}")

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


@dataclass(frozen=True)
class Empty:
    """A column without any value in training. It never counts."""

    kind, n_codes = "empty", 0

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        return np.full(len(column), np.nan)


@dataclass(frozen=True)
class Numeric:
    """(x - low) / span, with low and span in units of 2**exponent, so that the range of huge numbers stays finite.

    If the column is constant in training, any other number differs from it by 1.
    """

    exponent: Annotated[int, integer(-EXPONENTS, EXPONENTS)]
    low: float
    span: Annotated[float, real("[0, inf)")]
    kind, n_codes = "numeric", 0

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        with np.errstate(over="ignore"):
            gaps = np.ldexp(column.values, -self.exponent) - self.low
            if self.span == 0:
                return np.where(np.isnan(gaps), np.nan, np.abs(gaps) > CONSTANT_SHARE)
            return np.clip(gaps / self.span, -FARTHEST, FARTHEST)


@dataclass(frozen=True, eq=False)
class Categorical:
    """One code per category, from 0 on; a category that training did not have gets a new one."""

    codes: Annotated[dict[Any, int], mapping(hashable, integer(0, 2**40))]
    kind = "categorical"

    def check_parts(self, sizes: Sizes) -> None:
        """Demand the codes 0, 1, 2 and so on, in the order of the categories."""
        demand([*self.codes.values()] == [*range(self.n_codes)], "the codes of categories must be 0, 1, 2 and so on")

    @property
    def n_codes(self) -> int:
        """The number of known categories."""
        return len(self.codes)

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing; add the codes of categories that are `unseen`."""
        labelled = column.labelled()
        for label in (label for label in labelled.labels or () if label not in self.codes):
            unseen.setdefault(label, len(self.codes) + len(unseen))
        return _translated(labelled, {**self.codes, **unseen})


@dataclass(frozen=True)
class Boolean:
    """0 and 1, or the code of another category."""

    kind, n_codes = "boolean", 2

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        return Categorical({0: 0, 1: 1}).encode(column, unseen)


@dataclass(frozen=True, eq=False)
class Ordered:
    """rank / (number of levels - 1)."""

    levels: Annotated[tuple[Any, ...], tuple_of(hashable, 1)]
    kind, n_codes = "ordered", 0

    def encode(self, column: Column, unseen: dict[Any, int]) -> Matrix:
        """Return one number per row, NaN if missing."""
        labelled = column.labelled()
        rank = {level: number for number, level in enumerate(self.levels)}
        for label in (label for label in labelled.labels or () if label not in rank):
            known = listed(map(repr, self.levels), MOST_NAMED)
            raise ValueError(f"column {column.name!r} holds the unknown level {label!r}; known: {known}")
        return _translated(labelled, rank) / max(len(self.levels) - 1, 1)


# Each encodes a column as one number per row, NaN if missing; c is their absolute difference, or 0 or 1 for `n_codes`.
Coder = Boolean | Categorical | Empty | Numeric | Ordered
STORED_CODERS: tuple[type, ...] = get_args(Coder)
# What a user may declare a column to be.
DECLARED = ("numeric", "boolean", "ordered", "categorical", "date", "calendar")


def _translated(column: Column, code: Mapping[Any, int]) -> Matrix:
    """Return the code of each row's label, NaN if missing."""
    return np.array([*(code[label] for label in column.labels or ()), np.nan])[column.codes]


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
