"""Sequences of symbols -> the edit operations between them, and lower bounds of their dissimilarities."""

from collections.abc import Callable, Hashable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from eocc.base.types import Indices, Matrix
from eocc.kernels.edit_bits import edit_shares
from eocc.measures.base import SAFE_SHARE, LinearPrepared

# Symbols are counted by their numbers modulo this.
N_BUCKETS = 32


class Encoded(NamedTuple):
    """Concatenated sequences of symbols 0, ..., n_symbols - 1; sequence i is symbols[starts[i] : starts[i + 1]]."""

    symbols: NDArray[np.uint32]
    lengths: Indices
    starts: Indices
    n_symbols: int

    def bags(self) -> Matrix:
        """Return how often each bucket of symbols occurs in each sequence: (n, N_BUCKETS)."""
        n = len(self.lengths)
        place = np.repeat(np.arange(n), self.lengths) * N_BUCKETS + self.symbols % N_BUCKETS
        return np.bincount(place, minlength=n * N_BUCKETS).reshape(n, N_BUCKETS).astype(np.float64)


def encode(patterns: Any, prototypes: Any) -> tuple[Encoded, Encoded]:
    """Return symbols as numbers: the prototypes' from 0; all others match nothing and share the last number."""
    points, prototype_points = _points(patterns, prototypes)
    number = np.zeros(max(points.max(initial=0), prototype_points.max(initial=0)) + 1, np.uint32)
    number[prototype_points] = 1
    known = np.flatnonzero(number)
    number[:] = len(known)
    number[known] = np.arange(len(known))

    def encoded(points: NDArray[Any], sequences: Any) -> Encoded:
        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        return Encoded(number[points], lengths, np.concatenate([[0], np.cumsum(lengths)]), len(known) + 1)

    return encoded(points, patterns), encoded(prototype_points, prototypes)


def _points(*groups: Any) -> list[NDArray[Any]]:
    """Return each group's concatenated symbols: code points of strings, else tokens numbered in order."""
    if all(isinstance(sequence, str) for group in groups for sequence in group):
        # surrogatepass: a lone surrogate is a symbol like any other
        texts = ["".join(group).encode("utf-32-le", "surrogatepass") for group in groups]
        return [np.frombuffer(text, np.uint32) for text in texts]
    numbers: dict[Hashable, int] = {}
    tokens = [chain.from_iterable(group) for group in groups]
    return [np.array([numbers.setdefault(t, len(numbers)) for t in group], np.int64) for group in tokens]


def shares_of(rows: Encoded, columns: Encoded, chosen: Indices, taken: Indices) -> Matrix:
    """Return the insertions, deletions and substitutions from row chosen[t] to column taken[t]: (3, pairs).

    They are divided by the longer length. Pairs of one row follow each other.
    """
    longest, longest_column = rows.lengths[chosen].max(initial=0), columns.lengths[taken].max(initial=0)
    n_words = -(-longest // 64)
    slots = np.zeros(columns.n_symbols, np.uint32)
    marks = np.empty((min(columns.n_symbols, longest) + 1, n_words), np.uint64)
    up_and_down = np.empty((2, n_words, longest_column + 1), np.uint64)
    scratch = slots, marks, *up_and_down, np.empty(longest_column, np.uint64)
    shares = np.empty((3, len(chosen)))
    edit_shares((rows.symbols, rows.starts), (columns.symbols, columns.starts), chosen, taken, scratch, shares)
    return shares


def bounds_of(rows: Encoded, columns: Encoded, weightings: Matrix) -> Callable[[int, int], Matrix]:
    """Return bounds(start, stop): lower bounds (weightings, rows, columns) of the dissimilarities of these rows.

    The fewest edits: a symbol that one sequence has more often than the other must be changed or removed. What lengths
    do not explain is a substitution, or half an insertion and half a deletion.
    """
    bags, column_bags = rows.bags(), columns.bags()
    cheapest = np.minimum(weightings[:, 2], weightings[:, :2].mean(axis=1))[:, None, None]

    def bounds(start: int, stop: int) -> Matrix:
        own = rows.lengths[start:stop, None]
        more, longer = columns.lengths - own, np.maximum(np.maximum(own, columns.lengths), 1)
        rest = (scipy.spatial.distance.cdist(bags[start:stop], column_bags, "cityblock") - np.abs(more)) / 2 / longer
        forced = LinearPrepared(np.stack([np.maximum(more, 0), np.maximum(-more, 0)]) / longer)
        return np.asarray(SAFE_SHARE * (forced.at_all(weightings[:, :2]) + cheapest * rest))

    return bounds
