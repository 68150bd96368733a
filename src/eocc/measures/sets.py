"""Dissimilarities of sets and of bags of tokens, through products of sparse matrices."""

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array

from eocc.foundation.checks import positive
from eocc.foundation.registry import listed
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, format_data_number, format_number, to_json
from eocc.measures.base import DOUBLE, RegisteredFitted, RegisteredMeasure
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.fixed import FixedPrepared
from eocc.measures.objects import Objects, are_objects, read_objects
from eocc.measures.schema import DataSchema


@dataclass(frozen=True)
class _FittedTokens(RegisteredFitted):
    """A measure of tokens. It learns nothing from the training patterns."""

    n_parameters: int = 0

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return the schema of lists of tokens."""
        return DataSchema("tokens")


@dataclass(frozen=True)
class _Tokens(RegisteredMeasure):
    def pair_bytes(self, patterns: Any) -> float:
        """Return the bytes of the products, sparse and dense, and of what is computed from them."""
        return 5 * DOUBLE


@dataclass(frozen=True)
class FittedJaccard(_FittedTokens):
    """The Jaccard dissimilarity."""

    def prepare(self, patterns: Any, prototypes: Any = None) -> FixedPrepared:
        """Return (|A or B| - |A and B|) / |A or B| for all pairs."""
        prototypes = patterns if prototypes is None else prototypes
        tokens, prototype_tokens = ([dict.fromkeys(s, 1.0) for s in group] for group in (patterns, prototypes))
        common = _products(tokens, prototype_tokens)
        union = np.add.outer([len(s) for s in tokens], [len(s) for s in prototype_tokens]) - common
        return FixedPrepared((union - common) / np.maximum(union, 1))

    def difference(self, pair: Pair) -> Difference:
        """Return what the tokens in only one of the sets add: 1 / |A or B| each. Shared tokens add nothing."""
        return unshared_difference(pair, pair.pattern[0], pair.prototype[0], "token")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the first tokens.

        >>> FittedJaccard().describe([{"oak", "elm"}])
        '{elm, oak}'
        """
        return "{" + listed(map(str, in_order(pattern[0])), 6) + "}"

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are frozen sets."""
        return are_objects(patterns, frozenset)


@dataclass(frozen=True)
class Jaccard(_Tokens):
    """d(A, B) = 1 - |A and B| / |A or B| for sets of hashable tokens; two empty sets have d = 0. No parameters.

    Patterns are sets, or lists and other iterables of tokens; repeated tokens count once.

    >>> training = [{"oak"}, set()]
    >>> Jaccard().fit(training).prepare([{"oak", "elm"}, {"ash"}, set()], training).evaluate(np.empty(0))
    array([[0.5, 1. ],
           [1. , 1. ],
           [1. , 0. ]])
    """

    fitted_class: ClassVar = FittedJaccard
    stored_classes: ClassVar = (FittedJaccard,)

    def read(self, X: Any) -> Objects:
        """Return X as frozen sets."""
        return read_objects(X, "sets", _set)

    def fit(self, training: Any) -> FittedJaccard:
        """Fix nothing: each pair is normalised by its sizes."""
        return FittedJaccard()


@dataclass(frozen=True)
class FittedCosineBags(_FittedTokens):
    """The cosine dissimilarity."""

    def prepare(self, patterns: Any, prototypes: Any = None) -> FixedPrepared:
        """Compute the scalar products of all pairs and divide by the norms."""
        bags = [_scaled(bag) for bag in patterns]
        prototype_bags = bags if prototypes is None else [_scaled(bag) for bag in prototypes]
        squares, prototype_squares = (np.array([_square(bag) for bag in group]) for group in (bags, prototype_bags))
        # The root of the product, not the product of the roots: it is exact for equal squares, so copies have d = 0.
        norms = np.sqrt(np.multiply.outer(squares, prototype_squares))
        both_empty = np.logical_and.outer(squares == 0, prototype_squares == 0)
        cosines = _products(bags, prototype_bags) / np.where(norms > 0, norms, 1)
        # Rounding may push a cosine above 1 if weights are not whole numbers.
        return FixedPrepared(1 - np.where(both_empty, 1, np.minimum(cosines, 1)))

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per token: d times its share of the sum of (a_t / |a| - b_t / |b|)^2.

        Half of that sum is d itself. If one bag is empty, tokens share d = 1 by the squares of their weights.
        """
        here, there = pair.pattern[0], pair.prototype[0]
        tokens = in_order({*here, *there})
        shares, prototype_shares = (_normalised(bag, tokens) for bag in (here, there))
        amounts = shared_out(pair.dissimilarity, (shares - prototype_shares) ** 2)
        contributions = tuple(
            Contribution(
                float(amount),
                f"{token}: {format_data_number(here.get(token, 0.0))}, "
                f"{pair.called} {format_data_number(there.get(token, 0.0))}",
                {"token": to_json(token), "value": here.get(token, 0.0), "prototype": there.get(token, 0.0)},
            )
            for token, amount in zip(tokens, amounts, strict=True)
        )
        return Difference(pair.dissimilarity, contributions, "by the share of each token in the two bags")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the heaviest tokens with their weights.

        >>> FittedCosineBags().describe([{"be": 1.0, "to": 2.0}])
        '{to: 2, be: 1}'
        """
        bag = pattern[0]
        heaviest = sorted(in_order(bag), key=lambda token: -bag[token])
        return "{" + listed([f"{token}: {format_data_number(bag[token])}" for token in heaviest], 6) + "}"

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are dictionaries of positive weights."""
        return are_objects(patterns, dict) and all(all(map(positive, bag.values())) for bag in patterns)


@dataclass(frozen=True)
class CosineBags(_Tokens):
    """d(a, b) = 1 - sum_t a_t b_t / sqrt(sum_t a_t^2 sum_t b_t^2), a_t the count of token t in bag a. No parameters.

    Patterns are mappings from hashable tokens to counts or other weights >= 0, or iterables of tokens, which are
    counted. Two empty bags have d = 0, an empty bag and another d = 1.

    >>> training = [{"to": 1, "be": 1}, {}]
    >>> CosineBags().fit(training).prepare([{"to": 2, "be": 2, "or": 1}, {}], training).evaluate(np.empty(0))
    array([[0.05719096, 1.        ],
           [1.        , 0.        ]])
    """

    fitted_class: ClassVar = FittedCosineBags
    stored_classes: ClassVar = (FittedCosineBags,)

    def read(self, X: Any) -> Objects:
        """Return X as dictionaries of positive weights."""
        return read_objects(X, "bags of tokens", _bag)

    def fit(self, training: Any) -> FittedCosineBags:
        """Fix nothing: each pair is normalised by its norms."""
        return FittedCosineBags()


def unshared_difference(pair: Pair, one: Iterable[Any], other: Iterable[Any], noun: str) -> Difference:
    """Return two contributions: the number of items in only one of the sets, over |A or B|."""
    here, there = set(one), set(other)
    each = 1.0 / max(len(here | there), 1)
    sides = [("only in the pattern", here - there), (f"only in the {pair.called}", there - here)]
    contributions = tuple(
        Contribution(
            len(items) * each,
            f"{counted(len(items), noun)} {where}: {listed(map(str, in_order(items)), 6)}",
            {"where": where, f"{noun}s": [to_json(item) for item in in_order(items)], "each": each},
        )
        for where, items in sides
        if items
    )
    shared = [to_json(item) for item in in_order(here & there)]
    meaning = f"by {noun}s not shared, {format_number(each)} each, with {len(shared)} shared"
    return Difference(pair.dissimilarity, contributions, meaning, {"shared": shared})


def in_order(tokens: Iterable[Any]) -> list[Any]:
    """Return tokens sorted, or sorted by their text if they are of several types.

    >>> in_order({10, 9}), in_order({"b", "a", 1})
    ([9, 10], [1, 'a', 'b'])
    """
    try:
        return sorted(tokens)
    except TypeError:
        return sorted(tokens, key=lambda token: (str(token), repr(token)))


def _products(bags: Sequence[Mapping[Any, float]], prototypes: Sequence[Mapping[Any, float]]) -> Matrix:
    """Return sum_t a_t b_t of every bag a and prototype b.

    Terms are added in the order in which the prototypes list the tokens, so a row does not depend on other rows.
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


def _scaled(bag: Mapping[Any, float]) -> dict[Any, float]:
    """Return the bag divided by a power of two near its largest weight, so that squares stay finite."""
    exponent = math.frexp(max(bag.values(), default=1.0))[1]
    return {token: math.ldexp(weight, -exponent) for token, weight in bag.items()}


def _square(bag: Mapping[Any, float]) -> float:
    """Return the squared norm, which does not depend on the order of the tokens."""
    return math.fsum(weight * weight for weight in bag.values())


def _normalised(bag: Mapping[Any, float], tokens: Sequence[Any]) -> Matrix:
    """Return the weights of these tokens divided by the norm of the bag."""
    scaled = _scaled(bag)
    norm = math.sqrt(_square(scaled))
    return np.array([scaled.get(token, 0.0) for token in tokens]) / (norm or 1.0)


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
