"""Sequences of symbols -> the edit operations between them, of all pairs or of the nearest ones."""

from collections.abc import Hashable
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.edit_bits import edit_sequences
from eocc.kernels.edit_lanes import LANES, LONGEST, edit_rows, edit_rows_of_many_symbols, nearest_by_blocks
from eocc.measures.base import SAFE_SHARE, LinearPrepared, by_block, nearest_by_bounds

EditCounts = NDArray[np.int32]

BYTE = 256  # the number of symbols that a byte can encode
WORD = 64
# Symbols of long sequences are counted by their numbers modulo this.
N_BUCKETS = 32


class Encoded(NamedTuple):
    """Concatenated sequences of symbols 0, ..., n_symbols - 1; sequence i is symbols[starts[i] : starts[i + 1]]."""

    symbols: NDArray[np.int32]
    lengths: Indices
    starts: Indices
    n_symbols: int

    @property
    def is_short(self) -> Flags:
        """Which sequences are short enough for lanes."""
        return np.asarray(self.lengths <= LONGEST)


def encode(patterns: Any, prototypes: Any) -> tuple[Encoded, Encoded]:
    """Return symbols as numbers: the prototypes' from 0; all others match nothing and share the last number."""
    points, prototype_points = _points(patterns, prototypes)
    number = np.zeros(max(points.max(initial=0), prototype_points.max(initial=0)) + 1, np.int32)
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


class Lanes(NamedTuple):
    """Short sequences side by side, longest first, in blocks of LANES: lane q holds sequence order[q].

    Unused lanes are empty, and their order is the number of sequences.
    """

    blocks: NDArray[np.uint8] | NDArray[np.int32]
    lengths: Indices
    order: Indices


def lanes_of_short(sequences: Encoded) -> Lanes:
    """Return the short sequences in lanes."""
    is_short, n = sequences.is_short, len(sequences.lengths)
    lengths = sequences.lengths[is_short]
    longest, n_blocks = int(lengths.max(initial=0)), -(-len(lengths) // LANES)
    lanes = np.zeros((n_blocks * LANES, longest), np.uint8 if sequences.n_symbols <= BYTE else np.int32)
    is_symbol = np.arange(longest) < lengths[:, None]
    lanes[: len(lengths)][is_symbol] = sequences.symbols[np.repeat(is_short, sequences.lengths)]
    spare = len(lanes) - len(lengths)
    lengths = np.pad(lengths, (0, spare))
    rank = np.argsort(-lengths, kind="stable")
    blocks = np.ascontiguousarray(lanes[rank].reshape(n_blocks, LANES, longest).transpose(0, 2, 1))
    return Lanes(blocks, lengths[rank], np.pad(np.flatnonzero(is_short), (0, spare), constant_values=n)[rank])


def count_edits(rows: Encoded, columns: Encoded, lanes: Lanes, chosen: Indices, counts: EditCounts) -> None:
    """Fill (distances, deletions) from the chosen rows to all columns: short pairs by lanes, others by bits."""
    short, long = (np.flatnonzero(rows.is_short[chosen] == wanted) for wanted in (True, False))
    everyone, long_columns = np.arange(len(columns.lengths)), np.flatnonzero(~columns.is_short)
    _count_by_lanes(rows, lanes, chosen[short], short, counts)
    for places, numbers in ((short, long_columns), (long, everyone)):
        if len(places) and len(numbers):
            _count_by_bits(rows, columns, chosen[places], numbers, places, counts)


def _count_by_lanes(rows: Encoded, lanes: Lanes, chosen: Indices, places: Indices, counts: EditCounts) -> None:
    """Fill rows `places` of the counts, from the chosen rows to the sequences in lanes."""
    room = _room_for_lanes(rows, chosen)
    sides = (rows.symbols, rows.starts), chosen, places, tuple(lanes)
    if lanes.blocks.dtype == np.uint8:
        edit_rows(*sides, *room, counts)
        return
    slots, copy = np.zeros(rows.n_symbols, np.uint8), np.empty(LONGEST, np.uint8)
    block = np.empty(lanes.blocks.shape[1:], np.uint8)
    edit_rows_of_many_symbols(*sides, *room, counts, (slots, copy, block))


def _room_for_lanes(rows: Encoded, chosen: Indices) -> tuple[NDArray[np.uint8], Indices]:
    """Return the working memory of the kernel, with row 0 of the recursion filled."""
    cells = np.arange(rows.lengths[chosen].max(initial=0) + 1, dtype=np.uint8)
    room = np.empty((3, 2 * LANES * len(cells)), np.uint8)
    room[0] = np.repeat(cells, 2 * LANES)
    return room, np.empty((3, LANES), np.int64)


def _count_by_bits(
    rows: Encoded, columns: Encoded, chosen: Indices, numbers: Indices, places: Indices, counts: EditCounts
) -> None:
    """Fill rows `places` of the counts, from the chosen rows to the columns `numbers`."""
    longest, longest_column = int(rows.lengths[chosen].max()), int(columns.lengths[numbers].max())
    n_words = max(1, -(-longest // WORD))
    slots = np.zeros(columns.n_symbols, np.int64)
    marks = np.empty((min(columns.n_symbols, longest) + 1, n_words), np.uint64)
    up_and_down = np.empty((2, longest_column + 1, n_words), np.uint64)
    sides = (rows.symbols, rows.starts), chosen, places, (columns.symbols, columns.starts), numbers
    edit_sequences(*sides, (slots, marks, *up_and_down), counts)


def nearest_sequences(patterns: Any, prototypes: Any, weightings: Matrix, k: int) -> list[tuple[Matrix, Indices]]:
    """Return the dissimilarities of the k nearest prototypes and their indices, for each weighting.

    Short prototypes are compared by blocks of similar length, long ones one at a time.
    """
    rows, columns = encode(patterns, prototypes)
    if rows.is_short.all() and columns.is_short.all() and columns.n_symbols <= BYTE:
        return _nearest_by_lanes(rows, columns, weightings, k)
    return _nearest_by_bits(rows, columns, weightings, k)


def _nearest_by_lanes(rows: Encoded, columns: Encoded, weightings: Matrix, k: int) -> list[tuple[Matrix, Indices]]:
    lanes, n = lanes_of_short(columns), len(columns.lengths)
    lengths, floats = lanes.lengths.reshape(-1, LANES), lanes.lengths.astype(np.float64)
    # Sequences come longest first; unused lanes, which are empty, do not count.
    longest, shortest = lengths[:, 0], np.minimum.reduceat(lanes.lengths[:n], np.arange(0, n, LANES))

    def work(start: int, stop: int, near: Matrix, indices: Indices) -> None:
        own = rows.lengths[start:stop, None]
        more = np.clip(own, shortest, longest) - own  # to the most similar length of the block
        bounds = _at_weights(_shares(np.abs(more), np.maximum(-more, 0), own, own + more), weightings)
        lane_room = np.empty((2, LANES), np.int32), np.empty((3, LANES)), np.empty(LANES)
        room = *lane_room, *_room_for_lanes(rows, np.arange(start, stop))
        scratch = np.argsort(bounds[0], axis=1), np.arange(LANES), floats, *room
        patterns = rows.symbols, rows.starts, start
        nearest_by_blocks(patterns, tuple(lanes), n, weightings, bounds, scratch, near, indices)

    return by_block((len(weightings), len(rows.lengths), k), len(lengths), work)


def _nearest_by_bits(rows: Encoded, columns: Encoded, weightings: Matrix, k: int) -> list[tuple[Matrix, Indices]]:
    bags, column_bags = _bags(rows), _bags(columns)

    def bounds(start: int, stop: int) -> Matrix:
        own = rows.lengths[start:stop, None]
        more = columns.lengths - own
        # The fewest edits: a symbol that one sequence has more often than the other must be changed or removed.
        fewest = (scipy.spatial.distance.cdist(bags[start:stop], column_bags, "cityblock") + np.abs(more)) / 2
        # What lengths do not explain is a substitution, or half an insertion and half a deletion.
        cheapest = np.minimum(weightings[:, 2], weightings[:, :2].mean(axis=1))
        forced = _at_weights(_shares(np.abs(more), np.maximum(-more, 0), own, columns.lengths), weightings)
        rest = (fewest - np.abs(more)) / np.maximum(np.maximum(own, columns.lengths), 1)
        return np.asarray(SAFE_SHARE * (forced + cheapest[:, None, None] * rest))

    def compare(chosen: Indices, taken: Indices) -> Matrix:
        counts = np.empty((2, len(chosen)), np.int32)
        for row, start, count in zip(*np.unique(chosen, return_index=True, return_counts=True), strict=True):
            numbers, found = taken[start : start + count], np.empty((2, 1, len(columns.lengths)), np.int32)
            _count_by_bits(rows, columns, np.array([row]), numbers, np.zeros(1, np.int64), found)
            counts[:, start : start + count] = found[:, 0, numbers]
        distances, deletions = counts
        shares = _shares(distances, deletions, rows.lengths[chosen], columns.lengths[taken])
        return _at_weights(shares, weightings)[..., None]

    units = np.arange(len(columns.lengths))[:, None]
    return nearest_by_bounds(len(rows.lengths), len(weightings), units, k, bounds, compare)


def _shares(distances: Any, deletions: Any, lengths: Any, other_lengths: Any) -> Matrix:
    """Return the insertions, deletions and substitutions over the longer length, as the kernel `fill_shares` does."""
    longer = np.maximum(np.maximum(lengths, other_lengths), 1)
    inserted = deletions + (other_lengths - lengths)
    return np.stack([inserted / longer, deletions / longer, (distances - inserted - deletions) / longer])


def _at_weights(shares: Matrix, weightings: Matrix) -> Matrix:
    """Return the dissimilarities (weightings, ...) of shares (3, ...)."""
    pairs = LinearPrepared(shares.reshape(3, 1, -1))
    return np.stack([pairs.evaluate(p) for p in weightings]).reshape(len(weightings), *shares.shape[1:])


def _bags(sequences: Encoded) -> Matrix:
    """Return how often each bucket of symbols occurs in each sequence: (n, N_BUCKETS)."""
    n = len(sequences.lengths)
    place = np.repeat(np.arange(n), sequences.lengths) * N_BUCKETS + sequences.symbols % N_BUCKETS
    return np.bincount(place, minlength=n * N_BUCKETS).reshape(n, N_BUCKETS).astype(np.float64)
