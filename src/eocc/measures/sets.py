"""Dissimilarities of sets and of bags of tokens, through products of sparse matrices."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eocc.foundation.types import Matrix
from eocc.measures.fixed import FixedPrepared
from eocc.measures.objects import Objects, read_objects


@dataclass(frozen=True)
class Jaccard:
    """d(A, B) = 1 - |A and B| / |A or B| for sets of hashable tokens; two empty sets are 0 apart. No parameters.

    Patterns are sets, or lists and other iterables of tokens, whose repetitions do not count.

    >>> training = [{"oak"}, set()]
    >>> Jaccard().fit(training).prepare([{"oak", "elm"}, {"ash"}, set()], training).evaluate(np.empty(0))
    array([[0.5, 1. ],
           [1. , 1. ],
           [1. , 0. ]])
    """

    def read(self, X: Any) -> Objects:
        """Return X as frozen sets."""
        return Objects(_at(position, _set, item) for position, item in enumerate(read_objects(X, "sets")))

    def fit(self, training: Any) -> "FittedJaccard":
        """Fix nothing: sizes normalise every pair."""
        return FittedJaccard()


@dataclass(frozen=True)
class FittedJaccard:
    """The Jaccard dissimilarity, which learns nothing from the training patterns."""

    n_parameters: int = 0

    def prepare(self, patterns: Any, prototypes: Any = None) -> FixedPrepared:
        """Compute (|A or B| - |A and B|) / |A or B|: whole numbers but for the one division."""
        prototypes = patterns if prototypes is None else prototypes
        tokens, prototype_tokens = ([dict.fromkeys(s, 1.0) for s in group] for group in (patterns, prototypes))
        common = _products(tokens, prototype_tokens)
        union = np.add.outer([len(s) for s in tokens], [len(s) for s in prototype_tokens]) - common
        return FixedPrepared((union - common) / np.maximum(union, 1))


@dataclass(frozen=True)
class CosineBags:
    """d(a, b) = 1 - sum_t a_t b_t / sqrt(sum_t a_t^2 sum_t b_t^2), where a_t counts token t in bag a. No parameters.

    Patterns are mappings from hashable tokens to counts or other weights >= 0, or iterables of tokens, to be counted.
    Two empty bags are 0 apart, an empty bag and another 1.

    >>> training = [{"to": 1, "be": 1}, {}]
    >>> CosineBags().fit(training).prepare([{"to": 2, "be": 2, "or": 1}, {}], training).evaluate(np.empty(0))
    array([[0.05719096, 1.        ],
           [1.        , 0.        ]])
    """

    def read(self, X: Any) -> Objects:
        """Return X as dictionaries of positive weights."""
        return Objects(_at(position, _bag, item) for position, item in enumerate(read_objects(X, "bags of tokens")))

    def fit(self, training: Any) -> "FittedCosineBags":
        """Fix nothing: norms normalise every pair."""
        return FittedCosineBags()


@dataclass(frozen=True)
class FittedCosineBags:
    """The cosine dissimilarity, which learns nothing from the training patterns."""

    n_parameters: int = 0

    def prepare(self, patterns: Any, prototypes: Any = None) -> FixedPrepared:
        """Compute the scalar products and divide by the norms."""
        bags = [_in_units(bag) for bag in patterns]
        prototype_bags = bags if prototypes is None else [_in_units(bag) for bag in prototypes]
        squares, prototype_squares = (np.array([_square(bag) for bag in group]) for group in (bags, prototype_bags))
        # One root of the product, not a product of roots: of equal squares it is exact, and copies are 0 apart.
        norms = np.sqrt(np.multiply.outer(squares, prototype_squares))
        both_empty = np.logical_and.outer(squares == 0, prototype_squares == 0)
        cosines = _products(bags, prototype_bags) / np.where(norms > 0, norms, 1)
        # At most 1 but for rounding, where weights are not whole numbers.
        return FixedPrepared(1 - np.where(both_empty, 1, np.minimum(cosines, 1)))


def _products(bags: Sequence[Mapping[Any, float]], prototypes: Sequence[Mapping[Any, float]]) -> Matrix:
    """Return sum_t a_t b_t of every bag a and prototype b.

    Terms are added in the order in which the prototypes name the tokens, whatever else is in the batch.
    """
    column: dict[Hashable, int] = {}
    for bag in prototypes:
        for token in bag:
            column.setdefault(token, len(column))
    known = [{column[token]: bag[token] for token in bag if token in column} for bag in bags]
    right = _sparse([{column[token]: bag[token] for token in bag} for bag in prototypes], len(column))
    return np.asarray((_sparse(known, len(column)) @ right.T.tocsr()).toarray())


def _sparse(rows: Sequence[Mapping[int, float]], n_columns: int) -> Any:
    """Return rows of {column: value} as a sparse matrix, sorted by column."""
    starts = np.cumsum([0, *(len(row) for row in rows)])
    columns = np.array([j for row in rows for j in row], np.int64)
    values = np.array([value for row in rows for value in row.values()], np.float64)
    matrix = csr_array((values, columns, starts), shape=(len(rows), n_columns))
    matrix.sort_indices()
    return matrix


def _in_units(bag: Mapping[Any, float]) -> dict[Any, float]:
    """Return the bag divided by a power of two near its largest weight, so that squares stay finite."""
    exponent = math.frexp(max(bag.values(), default=1.0))[1]
    return {token: math.ldexp(weight, -exponent) for token, weight in bag.items()}


def _square(bag: Mapping[Any, float]) -> float:
    """Return the squared norm, the same for any order of the tokens."""
    return math.fsum(weight * weight for weight in bag.values())


def _at(position: int, turn: Callable[[Any], Any], item: Any) -> Any:
    """Return turn(item); if that fails, say where."""
    try:
        return turn(item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X[{position}]: {error}") from None


def _set(item: Any) -> frozenset[Any]:
    if isinstance(item, Mapping):
        raise ValueError("expected a set of tokens, not a mapping; for tokens with counts use CosineBags")
    return frozenset(_tokens(item, "a set"))


def _bag(item: Any) -> dict[Any, float]:
    if not isinstance(item, Mapping):
        return {token: float(count) for token, count in Counter(_tokens(item, "a bag")).items()}
    weights = {token: _weight(token, weight) for token, weight in item.items()}
    return {token: weight for token, weight in weights.items() if weight > 0}


def _tokens(item: Any, kind: str) -> Iterable[Any]:
    if isinstance(item, str | bytes):
        raise ValueError(f"expected {kind} of tokens, not the text {item!r:.40}; split it into tokens first")
    if not isinstance(item, Iterable):
        raise ValueError(f"expected {kind} of tokens, not {item!r:.40}")
    return item


def _weight(token: Any, weight: Any) -> float:
    try:
        value = float(weight)
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise ValueError(f"the count of {token!r} must be a finite number >= 0, not {weight!r}")
    return value
