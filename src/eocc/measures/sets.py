"""Dissimilarities of sets and of bags of tokens, through products of sparse matrices, and of rows of bits."""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from eocc.base.checks import integer, is_array
from eocc.base.registry import listed
from eocc.base.threads import BLOCK_SIZE, for_each_block
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import counted, format_data_number, format_number, to_json
from eocc.kernels.distances import tanimoto_rows
from eocc.measures.base import LinearPrepared
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.objects import Objects, read_objects
from eocc.measures.protocol import FittedMeasure, Measure

# The products of all pairs, sparse and dense, and what is computed from them.
PAIR_FLOATS = 5


@dataclass(frozen=True)
class FittedJaccard(FittedMeasure):
    """The Jaccard dissimilarity."""

    kind: ClassVar = "tokens"
    pattern_classes: ClassVar = (frozenset,)

    def prepare(self, patterns: Any, prototypes: Any = None) -> LinearPrepared:
        """Return (|A or B| - |A and B|) / |A or B| for all pairs."""
        prototypes = patterns if prototypes is None else prototypes
        tokens, prototype_tokens = ([dict.fromkeys(s, 1.0) for s in group] for group in (patterns, prototypes))
        sizes, prototype_sizes = (np.array([len(s) for s in group]) for group in (tokens, prototype_tokens))

        def unshared(common: Matrix, rows: slice) -> Matrix:
            union = np.add.outer(sizes[rows], prototype_sizes) - common
            return np.asarray((union - common) / np.maximum(union, 1))

        return LinearPrepared(_compared(tokens, prototype_tokens, unshared)[None])

    def difference(self, pair: Pair) -> Difference:
        """Return what the tokens in only one of the sets add: 1 / |A or B| each. Shared tokens add nothing."""
        return unshared_difference(pair, pair.pattern[0], pair.prototype[0], "token")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the first tokens, for example "{elm, oak}"."""
        return "{" + listed(map(str, sorted_tokens(pattern[0])), 6) + "}"


@dataclass(frozen=True)
class Jaccard(Measure):
    """d(A, B) = 1 - |A and B| / |A or B| for sets of hashable tokens; two empty sets have d = 0. No parameters.

    Patterns are sets, or lists and other iterables of tokens; repeated tokens count once.

    >>> training = [{"oak"}, set()]
    >>> Jaccard().fit(training).prepare([{"oak", "elm"}, {"ash"}, set()], training).evaluate(np.empty(0))
    array([[0.5, 1. ],
           [1. , 1. ],
           [1. , 0. ]])
    """

    fitted_class: ClassVar = FittedJaccard
    pair_floats: ClassVar = PAIR_FLOATS

    def read(self, X: Any) -> Objects:
        """Return X as frozen sets."""
        return read_objects(X, "sets", _set)


@dataclass(frozen=True)
class FittedCosineBags(FittedMeasure):
    """The cosine dissimilarity."""

    kind: ClassVar = "tokens"
    pattern_classes: ClassVar = (dict,)

    def prepare(self, patterns: Any, prototypes: Any = None) -> LinearPrepared:
        """Compute the scalar products of all pairs and divide by the norms."""
        bags = [_scaled(bag) for bag in patterns]
        prototype_bags = bags if prototypes is None else [_scaled(bag) for bag in prototypes]
        squares, prototype_squares = (np.array([_square(bag) for bag in group]) for group in (bags, prototype_bags))

        def one_minus_cosine(products: Matrix, rows: slice) -> Matrix:
            # The root of the product, not the product of the roots: exact for equal squares, so copies have d = 0.
            norms = np.sqrt(np.multiply.outer(squares[rows], prototype_squares))
            both_empty = np.logical_and.outer(squares[rows] == 0, prototype_squares == 0)
            cosines = products / np.where(norms > 0, norms, 1)
            # Rounding may push a cosine above 1 if weights are not whole numbers.
            return np.asarray(1 - np.where(both_empty, 1, np.minimum(cosines, 1)))

        return LinearPrepared(_compared(bags, prototype_bags, one_minus_cosine)[None])

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per token: d times its share of the sum of (a_t / |a| - b_t / |b|)^2.

        Half of that sum is d itself. If one bag is empty, tokens share d = 1 by the squares of their weights.
        """
        here, there = pair.pattern[0], pair.prototype[0]
        tokens = sorted_tokens({*here, *there})
        scaled = [(bag, math.sqrt(_square(bag)) or 1.0) for bag in map(_scaled, (here, there))]
        shares, prototype_shares = (np.array([bag.get(token, 0.0) for token in tokens]) / norm for bag, norm in scaled)
        amounts = shared_out(pair.dissimilarity, (shares - prototype_shares) ** 2)
        contributions = []
        for token, amount in zip(tokens, amounts.tolist(), strict=True):
            value, other = here.get(token, 0.0), there.get(token, 0.0)
            text = f"{token}: {format_data_number(value)}, {pair.called} {format_data_number(other)}"
            details = {"token": to_json(token), "value": value, "prototype": other}
            contributions.append(Contribution(amount, text, details))
        return Difference(pair.dissimilarity, tuple(contributions), "by the share of each token in the two bags")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the heaviest tokens with their weights, for example "{to: 2, be: 1}"."""
        bag = pattern[0]
        heaviest = sorted(sorted_tokens(bag), key=lambda token: -bag[token])
        return "{" + listed([f"{token}: {format_data_number(bag[token])}" for token in heaviest], 6) + "}"

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are dictionaries of positive weights."""
        return all(type(weight) is float and 0 < weight < math.inf for bag in patterns for weight in bag.values())


@dataclass(frozen=True)
class CosineBags(Measure):
    """d(a, b) = 1 - sum_t a_t b_t / sqrt(sum_t a_t^2 sum_t b_t^2), a_t the count of token t in bag a. No parameters.

    Patterns are mappings from hashable tokens to counts or other weights >= 0, or iterables of tokens, which are
    counted. Two empty bags have d = 0, an empty bag and another d = 1.

    >>> training = [{"to": 1, "be": 1}, {}]
    >>> CosineBags().fit(training).prepare([{"to": 2, "be": 2, "or": 1}, {}], training).evaluate(np.empty(0))
    array([[0.05719096, 1.        ],
           [1.        , 0.        ]])
    """

    fitted_class: ClassVar = FittedCosineBags
    pair_floats: ClassVar = PAIR_FLOATS

    def read(self, X: Any) -> Objects:
        """Return X as dictionaries of positive weights."""
        return read_objects(X, "bags of tokens", _bag)


def unshared_difference(pair: Pair, one: Iterable[Any], other: Iterable[Any], noun: str) -> Difference:
    """Return two contributions: the number of items in only one of the sets, over |A or B|."""
    here, there = set(one), set(other)
    each = 1.0 / max(len(here | there), 1)
    contributions = tuple(
        Contribution(
            len(items) * each,
            f"{counted(len(items), noun)} only in {where}: {listed(map(str, items), 6)}",
            {"where": f"only in {where}", f"{noun}s": [to_json(item) for item in items], "each": each},
        )
        for where, items in (
            ("this row", sorted_tokens(here - there)),
            (f"the {pair.called}", sorted_tokens(there - here)),
        )
        if items
    )
    shared = [to_json(item) for item in sorted_tokens(here & there)]
    meaning = f"by {noun}s not shared, {format_number(each)} each, with {len(shared)} shared"
    return Difference(pair.dissimilarity, contributions, meaning, {"shared": shared})


def sorted_tokens(tokens: Iterable[Any]) -> list[Any]:
    """Return tokens sorted, or sorted by their text if they are of several types."""
    try:
        return sorted(tokens)
    except TypeError:
        return sorted(tokens, key=lambda token: (str(token), repr(token)))


def _compared(
    bags: Sequence[Mapping[Any, float]],
    prototypes: Sequence[Mapping[Any, float]],
    dissimilarity: Callable[[Matrix, slice], Matrix],
) -> Matrix:
    """Return the dissimilarities (n, r), computed by blocks of rows from sum_t a_t b_t of every bag a and prototype b.

    Terms are added in the order in which the prototypes list the tokens, so a row does not depend on other rows.
    """
    column: dict[Hashable, int] = {}
    for token in chain.from_iterable(prototypes):
        column.setdefault(token, len(column))
    left, right = _sparse(bags, column), _sparse(prototypes, column).T.tocsr()
    found = np.empty((len(bags), len(prototypes)))

    def work(start: int, stop: int) -> None:
        found[start:stop] = dissimilarity((left[start:stop] @ right).toarray(), slice(start, stop))

    for_each_block(len(bags), max(1, BLOCK_SIZE // max(1, len(prototypes))), work)
    return found


def _sparse(bags: Sequence[Mapping[Any, float]], column: Mapping[Hashable, int]) -> Any:
    """Return the weights of the tokens that have a column as a sparse matrix, sorted by column."""
    rows = [{column[token]: weight for token, weight in bag.items() if token in column} for bag in bags]
    starts = np.cumsum([0, *map(len, rows)])
    columns = np.array([*chain.from_iterable(rows)], np.int64)
    values = np.array([weight for row in rows for weight in row.values()], np.float64)
    matrix = scipy.sparse.csr_array((values, columns, starts), shape=(len(rows), len(column)))
    matrix.sort_indices()
    return matrix


def _scaled(bag: Mapping[Any, float]) -> dict[Any, float]:
    """Return the bag divided by a power of two near its largest weight, so that squares stay finite."""
    exponent = math.frexp(max(bag.values(), default=1.0))[1]
    return {token: math.ldexp(weight, -exponent) for token, weight in bag.items()}


def _square(bag: Mapping[Any, float]) -> float:
    return math.fsum(weight * weight for weight in bag.values())  # exact, so the order of the tokens does not matter


def _set(item: Any) -> frozenset[Any]:
    if isinstance(item, Mapping):
        raise ValueError("expected a set of tokens, not a mapping; for tokens with counts use CosineBags")
    return frozenset(_tokens(item, "a set"))


def _bag(item: Any) -> dict[Any, float]:
    if not isinstance(item, Mapping):
        return {token: float(count) for token, count in Counter(_tokens(item, "a bag")).items()}
    weights = dict[Any, float]()
    for token, weight in item.items():
        try:
            value = float(weight)
        except (TypeError, ValueError, OverflowError):
            value = math.nan
        if not 0 <= value < math.inf:
            raise ValueError(f"the count of {token!r} must be a finite number >= 0, not {weight!r}")
        if value > 0:
            weights[token] = value
    return weights


def _tokens(item: Any, kind: str) -> Iterable[Any]:
    if isinstance(item, str | bytes):
        raise ValueError(f"expected {kind} of tokens, not the text {item!r:.40}; split it into tokens first")
    if not isinstance(item, Iterable):
        raise ValueError(f"expected {kind} of tokens, not {item!r:.40}")
    return item


@dataclass(frozen=True)
class FittedTanimoto(FittedMeasure):
    """The Tanimoto dissimilarity of fingerprints of `n_bits` bits."""

    n_bits: Annotated[int, integer(1, 2**40)]
    kind: ClassVar = "numbers"

    def prepare(self, patterns: Flags, prototypes: Flags | None = None) -> LinearPrepared:
        """Count the common bits of all pairs."""
        left = self._packed(patterns)
        right = left if prototypes is None else self._packed(prototypes)
        out = np.empty((len(patterns), len(right[0])))

        def fill(start: int, stop: int) -> None:
            tanimoto_rows(left[0][start:stop], left[1][start:stop], *right, out[start:stop])

        for_each_block(len(out), 64, fill, f"comparing {counted(len(out), 'fingerprint')}")
        return LinearPrepared(out[None])

    def difference(self, pair: Pair) -> Difference:
        """Return what the bits set in only one of the rows add: 1 / |a or b| each. Shared bits add nothing."""
        return unshared_difference(pair, _ones(pair.pattern), _ones(pair.prototype), "bit")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return how many bits are set, and the first of them, for example "2 of 4 bits: 0, 2"."""
        ones = _ones(pattern)
        return f"{len(ones)} of {self.n_bits} bits" + (f": {listed(map(str, ones), 6)}" if ones else "")

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are rows of that many booleans."""
        return is_array(patterns, np.bool_, 2) and patterns.shape[1] == self.n_bits

    def _packed(self, rows: Flags) -> tuple[NDArray[np.uint64], Indices]:
        """Return the rows packed into words, with zeros after the last bit, and the number of ones per row."""
        if rows.shape[1] != self.n_bits:
            raise ValueError(f"X has {rows.shape[1]} bits per row; the training rows had {self.n_bits}")
        packed = np.packbits(rows, axis=1)
        words = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8))).view(np.uint64)
        return words, rows.sum(axis=1)


@dataclass(frozen=True)
class Tanimoto(Measure):
    """d(a, b) = 1 - |a and b| / |a or b| for rows of bits; two rows of zeros have d = 0. No parameters.

    Patterns are the rows of a 2-D array of booleans, or of zeros and ones.

    >>> X = np.array([[1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=bool)
    >>> Tanimoto().fit(X).prepare(X).evaluate(np.empty(0))
    array([[0.        , 0.66666667, 1.        ],
           [0.66666667, 0.        , 1.        ],
           [1.        , 1.        , 0.        ]])
    """

    fitted_class: ClassVar = FittedTanimoto

    def read(self, X: Any) -> Flags:
        """Return a copy of X as booleans."""
        if hasattr(X, "toarray"):
            raise ValueError("X must be a dense array of bits: pass X.toarray()")
        try:
            rows = np.asarray(X)
        except ValueError:
            raise ValueError("X must hold rows of bits, all of one length") from None
        try:
            rows = rows if rows.dtype.kind in "biuf" else rows.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"X must hold only 0 and 1: {error}") from None
        if rows.ndim != 2 or rows.shape[1] == 0:
            raise ValueError(f"X must be 2-D, one row of bits per pattern, not of shape {rows.shape}")
        if len(rows) == 0:
            raise ValueError("X holds no fingerprints; at least 1 is required")
        is_bit = np.asarray((rows == 0) | (rows == 1), bool)
        if not is_bit.all():
            i, j = np.argwhere(~is_bit)[0]
            raise ValueError(f"X must hold only 0 and 1, but X[{i}, {j}] is {rows[i, j]}; write X > threshold")
        return np.asarray(rows == 1, bool)

    def fit(self, training: Flags) -> FittedTanimoto:
        """Fix the number of bits."""
        return FittedTanimoto(training.shape[1])


def _ones(pattern: Any) -> list[int]:
    return [int(bit) for bit in np.flatnonzero(pattern[0])]
