"""Weighted edit distance of strings and of sequences of tokens."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.threads import for_each_block
from eocc.kernels.edit_bits import edit_pairs
from eocc.kernels.edit_lanes import LANES, LONGEST, edit_rows, edit_rows_of_many_symbols, fill_shares
from eocc.measures.linear import LinearPrepared
from eocc.measures.objects import Objects, read_objects

Numbers = NDArray[np.int64]
Counts = NDArray[np.int32]

BLOCK = 64  # patterns to a piece of work: many pieces for threads to share, each worth a call
BYTE = 256  # symbols that a byte can tell apart
WORD = 64


@dataclass(frozen=True)
class StringEdit:
    """d(x, y; p) = (p_1 I + p_2 E + p_3 S) / max(|x|, |y|), with p = (insertion, deletion, substitution).

    I, E and S count the insertions, deletions and substitutions of one alignment from the pattern x to the prototype y
    with the fewest operations, I + E + S <= max(|x|, |y|). Of several such alignments it is that of rapidfuzz's
    ``Levenshtein.editops`` (which itself differs in pairs of more than 4 million cells |x| |y|). It does not depend on
    p. Two empty strings are 0 apart.

    Patterns are strings, compared by their Unicode code points (normalise them first where "é" may be written in two
    ways), or lists, tuples or 1-D arrays of hashable tokens. A pair costs |x| |y| / 4 bytes while it is aligned.

    >>> frozen = StringEdit().fit(["oak", "oaks"])
    >>> frozen.prepare(["oak", "oaks", "elk"], ["oak"]).evaluate(np.array([1.0, 0.5, 0.25]))
    array([[0.        ],
           [0.125     ],
           [0.16666667]])
    >>> frozen.prepare([["to", "be"]], [["not", "to", "be"]]).evaluate(np.ones(3))
    array([[0.33333333]])
    """

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        if isinstance(X, np.ndarray) and X.ndim > 1 and np.issubdtype(X.dtype, np.floating):
            raise ValueError(
                f"X must be a sequence of strings, not a table of numbers of shape {X.shape}: use 'euclidean'"
            )
        return Objects(_sequence(item, position) for position, item in enumerate(read_objects(X, "strings")))

    def fit(self, training: Any) -> "FittedStringEdit":
        """Fix nothing: lengths normalise every pair."""
        return FittedStringEdit()


@dataclass(frozen=True)
class FittedStringEdit:
    """The edit distance, which learns nothing from the training patterns."""

    @property
    def n_parameters(self) -> int:
        """Insertion, deletion, substitution."""
        return 3

    def prepare(self, patterns: Any, prototypes: Any = None) -> LinearPrepared:
        """Count the operations from every pattern to every prototype."""
        rows, columns = _encode(patterns, patterns if prototypes is None else prototypes)
        shares = np.empty((3, len(rows.lengths), len(columns.lengths)))
        row_lengths, column_lengths = rows.lengths.astype(np.float64), columns.lengths.astype(np.float64)
        lanes = _Lanes.of_short(columns)

        def fill(start: int, stop: int) -> None:
            # One column more than there are prototypes: lanes without one write there.
            distances, deletions = np.empty((2, stop - start, len(columns.lengths) + 1), np.int32)
            _count(rows, columns, lanes, np.arange(start, stop), distances, deletions)
            fill_shares(distances, deletions, row_lengths[start:stop], column_lengths, shares[:, start:stop])

        for_each_block(len(rows.lengths), BLOCK, fill)
        return LinearPrepared(shares)


def _sequence(item: Any, position: int) -> str | tuple[Hashable, ...]:
    """Return a pattern as a string or a tuple of tokens that can be looked up."""
    if isinstance(item, str):
        return str(item)
    if not isinstance(item, Sequence) and getattr(item, "ndim", 0) != 1:
        raise ValueError(
            f"X[{position}] must be a string or a list of tokens, not {item!r:.40} ({type(item).__name__})"
        )
    tokens = tuple(item)
    try:
        hash(tokens)
    except TypeError as error:
        raise ValueError(f"X[{position}] must hold hashable tokens, such as strings or numbers: {error}") from None
    return tokens


@dataclass(frozen=True, eq=False)
class _Encoded:
    """Sequences one after another as symbols 0, ..., n_symbols - 1: number i is symbols[starts[i] : starts[i + 1]]."""

    symbols: NDArray[np.int32]
    lengths: Numbers
    starts: Numbers
    n_symbols: int

    @property
    def is_short(self) -> NDArray[np.bool_]:
        """Where a sequence is short enough for lanes."""
        return np.asarray(self.lengths <= LONGEST)


def _encode(patterns: Any, prototypes: Any) -> tuple[_Encoded, _Encoded]:
    """Give the prototypes' symbols numbers from 0; those of patterns alone match nothing and share the last one."""
    points, prototype_points = _points(patterns, prototypes)
    number = np.zeros(max(points.max(initial=0), prototype_points.max(initial=0)) + 1, np.int32)
    number[prototype_points] = 1
    known = np.flatnonzero(number)
    number[:] = len(known)
    number[known] = np.arange(len(known))

    def encoded(points: NDArray[Any], sequences: Any) -> _Encoded:
        lengths = np.array([len(sequence) for sequence in sequences], np.int64)
        return _Encoded(number[points], lengths, np.concatenate([[0], np.cumsum(lengths)]), len(known) + 1)

    return encoded(points, patterns), encoded(prototype_points, prototypes)


def _points(*groups: Any) -> list[NDArray[Any]]:
    """Return each group's symbols in a row: code points if all are strings, else tokens numbered as they come."""
    if all(isinstance(sequence, str) for group in groups for sequence in group):
        # surrogatepass: a lone half of a pair is a symbol like others
        texts = ["".join(group).encode("utf-32-le", "surrogatepass") for group in groups]
        return [np.frombuffer(text, np.uint32) for text in texts]
    numbers: dict[Hashable, int] = {}
    tokens = [chain.from_iterable(group) for group in groups]
    return [np.array([numbers.setdefault(t, len(numbers)) for t in group], np.int64) for group in tokens]


@dataclass(frozen=True, eq=False)
class _Lanes:
    """Short sequences side by side, longest first, in blocks of LANES: lane q holds number order[q].

    Lanes to spare are empty and hold the number after the last.
    """

    blocks: NDArray[np.uint8] | NDArray[np.int32]
    lengths: Numbers
    order: Numbers

    @classmethod
    def of_short(cls, sequences: _Encoded) -> "_Lanes":
        """Lay out the short ones of the sequences."""
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
        return cls(blocks, lengths[rank], np.pad(np.flatnonzero(is_short), (0, spare), constant_values=n)[rank])


def _count(
    rows: _Encoded, columns: _Encoded, lanes: _Lanes, chosen: Numbers, distances: Counts, deletions: Counts
) -> None:
    """Fill distances and deletions from the chosen rows to all columns: short to short by lanes, the others by bits."""
    short, long = (np.flatnonzero(rows.is_short[chosen] == wanted) for wanted in (True, False))
    everyone, long_columns = np.arange(len(columns.lengths)), np.flatnonzero(~columns.is_short)
    _count_by_lanes(rows, lanes, chosen[short], short, distances, deletions)
    for places, numbers in ((short, long_columns), (long, everyone)):
        if len(places) and len(numbers):
            _count_by_bits(rows, columns, chosen[places], numbers, places, distances, deletions)


def _count_by_lanes(
    rows: _Encoded, lanes: _Lanes, chosen: Numbers, places: Numbers, distances: Counts, deletions: Counts
) -> None:
    """Fill the rows `places` of distances and deletions, from the chosen rows to the sequences in lanes."""
    cells = np.arange(rows.lengths[chosen].max(initial=0) + 1, dtype=np.uint8)
    room = np.empty((3, 2 * LANES * len(cells)), np.uint8)
    room[0] = np.repeat(cells, 2 * LANES)
    early = np.empty((3, LANES), np.int64)
    sides = (rows.symbols, rows.starts, chosen, places, lanes.blocks, lanes.lengths, lanes.order)
    if lanes.blocks.dtype == np.uint8:
        edit_rows(*sides, room, early, distances, deletions)
        return
    slots, copy = np.zeros(rows.n_symbols, np.uint8), np.empty(LONGEST, np.uint8)
    block = np.empty(lanes.blocks.shape[1:], np.uint8)
    edit_rows_of_many_symbols(*sides, room, early, distances, deletions, slots, copy, block)


def _count_by_bits(
    rows: _Encoded,
    columns: _Encoded,
    chosen: Numbers,
    numbers: Numbers,
    places: Numbers,
    distances: Counts,
    deletions: Counts,
) -> None:
    """Fill the rows `places` of distances and deletions, from the chosen rows to the numbers among columns."""
    longest, longest_column = int(rows.lengths[chosen].max()), int(columns.lengths[numbers].max())
    n_words = max(1, -(-longest // WORD))
    slots = np.zeros(columns.n_symbols, np.int64)
    marks = np.empty((min(columns.n_symbols, longest) + 1, n_words), np.uint64)
    up, down = np.empty((2, longest_column + 1, n_words), np.uint64)
    edit_pairs(
        rows.symbols, rows.starts, chosen, places, columns.symbols, columns.starts, numbers, slots, marks, up, down,
        distances, deletions,
    )  # fmt: skip
