"""Sequences of symbols -> the edit operations between them, of all pairs or of the nearest ones."""

from collections.abc import Hashable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.edits import LANES, LONGEST, edit_pairs, edit_rows, nearest_by_blocks
from eocc.measures.base import at_weights, by_block, smallest_of

WORD = 64


class Encoded(NamedTuple):
    """Concatenated sequences of symbols 0, ..., n_symbols - 1; sequence i is symbols[starts[i] : starts[i + 1]].

    Symbols are as small unsigned integers as hold them all.
    """

    symbols: NDArray[Any]
    lengths: Indices
    starts: Indices
    n_symbols: int

    @property
    def is_short(self) -> Flags:
        """Which sequences are short enough for lanes."""
        return np.asarray(self.lengths <= LONGEST)

    def part(self, start: int, stop: int) -> "Encoded":
        """Return the sequences `start`, ..., `stop` - 1."""
        return self._replace(lengths=self.lengths[start:stop], starts=self.starts[start : stop + 1])


def encode(patterns: Any, prototypes: Any) -> tuple[Encoded, Encoded]:
    """Return symbols as numbers: the prototypes' from 0; all others match nothing and share the last number."""
    points, prototype_points = _points(patterns, prototypes)
    known = np.flatnonzero(np.bincount(prototype_points))
    size = max(points.max(initial=0), prototype_points.max(initial=0)) + 1
    number = np.full(size, len(known), np.min_scalar_type(len(known)))
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


class Lanes(NamedTuple):
    """Short sequences side by side, longest first, in blocks of LANES: lane q of block b holds sequence members[b, q].

    Unused lanes are empty; their number is -1.
    """

    blocks: NDArray[Any]
    lengths: Matrix
    members: Indices


def lanes_of_short(sequences: Encoded) -> Lanes:
    """Return the short sequences in lanes."""
    is_short = sequences.is_short
    lengths = sequences.lengths[is_short]
    longest, n_blocks = int(lengths.max(initial=0)), -(-len(lengths) // LANES)
    lanes = np.zeros((n_blocks * LANES, longest), sequences.symbols.dtype)
    is_symbol = np.arange(longest) < lengths[:, None]
    lanes[: len(lengths)][is_symbol] = sequences.symbols[np.repeat(is_short, sequences.lengths)]
    spare = len(lanes) - len(lengths)
    members = np.pad(np.flatnonzero(is_short), (0, spare), constant_values=-1)
    float_lengths = np.pad(lengths.astype(np.float64), (0, spare))
    rank = np.argsort(-float_lengths, kind="stable")
    blocks = np.ascontiguousarray(lanes[rank].reshape(n_blocks, LANES, longest).transpose(0, 2, 1))
    return Lanes(blocks, float_lengths[rank].reshape(-1, LANES), members[rank].reshape(-1, LANES))


def fill_shares(rows: Encoded, columns: Encoded, lanes: Lanes, shares: Matrix) -> None:
    """Fill shares (3, n, r) of all rows over all columns: short pairs by lanes, others by bits."""
    is_short, everyone = rows.is_short, np.arange(len(columns.lengths))
    short, long = np.flatnonzero(is_short), np.flatnonzero(~is_short)
    edit_rows((rows.symbols, rows.starts), short, lanes, _scratch_of_lanes(rows.lengths[short]), shares)
    for some, numbers in ((short, everyone[~columns.is_short]), (long, everyone)):
        if len(some) and len(numbers):
            fill_by_bits(rows, columns, np.repeat(some, len(numbers)), np.tile(numbers, len(some)), shares)


def _scratch_of_lanes(lengths: Indices) -> tuple[Any, ...]:
    """Return the working memory of the kernels for rows of these lengths, with row 0 of the recursion filled."""
    cells = np.arange(lengths.max(initial=0) + 1, dtype=np.uint8)
    room = np.empty((3, 2 * LANES * len(cells)), np.uint8)
    room[0] = np.repeat(cells, 2 * LANES)
    return (room, np.empty((3, LANES), np.int64), np.empty((2, LANES), np.int32)), np.empty((3, LANES))


def fill_by_bits(
    rows: Encoded, columns: Encoded, chosen: Indices, numbers: Indices, shares: Matrix
) -> NDArray[np.uint64]:
    """Fill shares (3, n, r) of row chosen[t] over column numbers[t], and return the bits of the last pair.

    These are (2, longest column + 1, words): differences along the rows of the recursion, of 1 more and of 1 less.
    """
    longest = int(rows.lengths[chosen].max(initial=0))
    longest_column = int(columns.lengths[numbers].max(initial=0))
    n_words = max(1, -(-longest // WORD))
    slots = np.zeros(columns.n_symbols, np.int64)
    marks = np.empty((min(columns.n_symbols, longest) + 1, n_words), np.uint64)
    up_and_down = np.empty((2, longest_column + 1, n_words), np.uint64)
    sides = (rows.symbols, rows.starts), chosen, (columns.symbols, columns.starts), numbers
    edit_pairs(*sides, (slots, marks, *up_and_down), shares)
    return up_and_down


def nearest_sequences(patterns: Any, prototypes: Any, weightings: Matrix, k: int) -> list[tuple[Matrix, Indices]]:
    """Return the dissimilarities of the k nearest prototypes and their indices, for each weighting.

    Short sequences are compared with blocks of similar length; as soon as one is long, all pairs are compared.
    """
    rows, columns = encode(patterns, prototypes)
    lanes = lanes_of_short(columns)
    longest = lanes.lengths[:, 0]
    shortest = np.where(lanes.members < 0, np.inf, lanes.lengths).min(axis=1)  # unused lanes do not count

    def by_lanes(start: int, stop: int, near: Matrix, indices: Indices) -> None:
        part = rows.part(start, stop)
        own = part.lengths[:, None]
        # The lengths alone make so many insertions or deletions necessary.
        other = np.clip(own, shortest, longest)
        least = np.maximum([other - own, own - other, np.zeros(other.shape)], 0) / np.maximum(np.maximum(own, other), 1)
        bounds = at_weights(least, weightings)
        turns, scratch = np.argsort(bounds[0], axis=1), _scratch_of_lanes(part.lengths)
        nearest_by_blocks((part.symbols, part.starts), lanes, weightings, bounds, turns, scratch, near, indices)

    def by_all(start: int, stop: int, near: Matrix, indices: Indices) -> None:
        shares = np.empty((3, stop - start, len(columns.lengths)))
        fill_shares(rows.part(start, stop), columns, lanes, shares)
        near[:], indices[:] = smallest_of(at_weights(shares, weightings), k)

    are_short = rows.is_short.all() and columns.is_short.all()
    shape, n_units = (len(weightings), len(rows.lengths), k), len(longest) if are_short else len(columns.lengths)
    return by_block(shape, n_units, by_lanes if are_short else by_all)
