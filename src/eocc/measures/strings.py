"""Strings and sequences of tokens: their weighted edit distance, and how many positions differ."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eocc.base.checks import integer
from eocc.base.stored import Unstored
from eocc.base.threads import for_each_block
from eocc.base.types import Flags, Indices, Matrix
from eocc.base.wording import counted, shortened, span, to_json
from eocc.kernels.edits import LANES, LONGEST, WORD, Lanes, edit_pairs, edit_rows, nearest_by_blocks
from eocc.measures.base import LinearPrepared, MixedRows, at_weights, by_block, smallest_of
from eocc.measures.difference import Cells, Contribution, Difference, Pair
from eocc.measures.objects import Objects, read_objects
from eocc.measures.protocol import FittedMeasure, Measure

PATTERNS_PER_TASK = 64  # small enough for threads to share the work, large enough to be worth a call
# Kind of edit -> its index in p = (insertion, deletion, substitution), and its verb.
EDIT_VERBS = {"insert": (0, "insert"), "delete": (1, "delete"), "substitute": (2, "replace")}


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


class FittedSequences(FittedMeasure):
    """A fitted measure of strings, or of tuples of tokens."""

    pattern_classes: ClassVar = (str, tuple)

    def kind_of_data(self, prototypes: Any) -> str:
        """Return that prototypes are strings, or lists of tokens."""
        return "strings" if isinstance(prototypes[0], str) else "tokens"


class Sequences(Measure):
    """A measure of strings, or of lists of hashable tokens."""

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        if isinstance(X, np.ndarray) and X.ndim > 1 and np.issubdtype(X.dtype, np.floating):
            table = f"a table of numbers of shape {X.shape}"
            raise ValueError(f"X must be a sequence of strings, not {table}: use 'euclidean'")
        return read_objects(X, "strings", _sequence)


@dataclass(frozen=True)
class FittedStringEdit(FittedSequences):
    """The edit distance. It learns nothing from the training patterns."""

    n_parameters: Unstored[int] = 3
    weighs: ClassVar = ("insertion", "deletion", "substitution")
    is_costly: ClassVar = True
    nearest = staticmethod(nearest_sequences)

    def prepare(self, patterns: Any, prototypes: Any = None) -> LinearPrepared:
        """Count the operations from every pattern to every prototype."""
        rows, columns = encode(patterns, patterns if prototypes is None else prototypes)
        shares, lanes = np.empty((3, len(rows.lengths), len(columns.lengths))), lanes_of_short(columns)

        def fill(start: int, stop: int) -> None:
            fill_shares(rows.part(start, stop), columns, lanes, shares[:, start:stop])

        for_each_block(len(rows.lengths), PATTERNS_PER_TASK, fill, f"comparing {counted(len(rows.lengths), 'string')}")
        return LinearPrepared(shares)

    def mirrored(self, components: Matrix, patterns: Any, prototypes: Any) -> Matrix:
        """Count again: several alignments may have the fewest edits, and the way back may choose another."""
        return self.prepare(prototypes, patterns).components

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per run of edits of one kind: weight times length, over the longer length."""
        pattern, prototype = pair.pattern[0], pair.prototype[0]
        contributions = []
        for run in edit_runs(pattern, prototype):
            kind, first, prototype_first = run[0]
            index, verb = EDIT_VERBS[kind]
            taken = "" if kind == "insert" else _text(pattern[first : first + len(run)])
            given = "" if kind == "delete" else _text(prototype[prototype_first : prototype_first + len(run)])
            positions, prototype_positions = [edit.place for edit in run], [edit.prototype_place for edit in run]
            details = {"operation": kind, "positions": positions, "prototype_positions": prototype_positions}
            details |= {"from": taken, "to": given}
            where = f"at {span(first, first + len(run) - 1, 'position')}"
            if kind == "insert":
                where = "at the end" if first == len(pattern) else f"before position {first}"
            pieces = {"insert": [given], "delete": [taken], "substitute": [taken, given]}[kind]
            words = " by ".join(repr(shortened(piece)) for piece in pieces)
            amount = float(pair.weights[index]) * len(run) / max(len(pattern), len(prototype))
            contributions.append(Contribution(amount, f"{verb} {words} {where}", details, group=verb))
        meaning = f"by edits that turn the pattern into the {pair.called}"
        return Difference(pair.dissimilarity, tuple(contributions), meaning, {"edited": "pattern"})

    def comparison_work(self, patterns: Any) -> int:
        """Return the cells of the alignments, at least the square of the first length."""
        first, total = len(patterns[0]), sum(map(len, patterns))
        return max(first, LONGEST) * max(first, total)


@dataclass(frozen=True)
class StringEdit(Sequences):
    """d(x, y; p) = (p_1 I + p_2 E + p_3 S) / max(|x|, |y|), with p = (insertion, deletion, substitution).

    I, E and S count the insertions, deletions and substitutions of one alignment from the pattern x to the prototype y
    with the fewest operations, I + E + S <= max(|x|, |y|). If there are several, it is the one of rapidfuzz's
    ``Levenshtein.editops`` (which itself differs for pairs of more than 4 million cells |x| |y|). It does not depend on
    p. Two empty strings have d = 0.

    Patterns are strings, or lists, tuples or 1-D arrays of hashable tokens. Strings are compared by Unicode code point;
    normalise them first if "é" may be written in two ways. A pair takes |x| |y| / 4 bytes while it is aligned.

    >>> fitted = StringEdit().fit(["oak", "oaks"])
    >>> fitted.prepare(["oak", "oaks", "elk"], ["oak"]).evaluate(np.array([1.0, 0.5, 0.25]))
    array([[0.        ],
           [0.125     ],
           [0.16666667]])
    >>> fitted.prepare([["to", "be"]], [["not", "to", "be"]]).evaluate(np.ones(3))
    array([[0.33333333]])
    """

    fitted_class: ClassVar = FittedStringEdit
    pair_floats: ClassVar = 3


def _sequence(item: Any) -> str | tuple[Hashable, ...]:
    if isinstance(item, str):
        return str(item)
    if not isinstance(item, Sequence) and getattr(item, "ndim", 0) != 1:
        raise ValueError(f"expected a string or a list of tokens, not {item!r:.40} ({type(item).__name__})")
    tokens = tuple(item)
    try:
        hash(tokens)
    except TypeError as error:
        raise ValueError(f"expected hashable tokens, such as strings or numbers: {error}") from None
    return tokens


def edit_distance(sequences: Any, others: Any) -> Matrix:
    """Return the normalised edit distances (n, r) at all weights 1."""
    return FittedStringEdit().prepare(sequences, others).evaluate(np.ones(3))


class Edit(NamedTuple):
    """One operation: its `kind`, and its position in the pattern and in the prototype, counted from 0."""

    kind: str
    place: int
    prototype_place: int


def edit_runs(pattern: Sequence[Any], prototype: Sequence[Any]) -> list[list[Edit]]:
    """Return the edits of the alignment that the measure counts, in order, in runs of one kind without a match between.

    The common suffix stays. The rest is traced back from its end: a deletion if one is optimal, else an insertion if
    the prototype without its last symbol is nearer to the pattern than to the pattern without its last symbol, else a
    substitution or a match.
    """
    rows, columns = encode([pattern], [prototype])
    steps = fill_by_bits(rows, columns, np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((3, 1, 1)))
    # Entry (j, i) is about the step from pattern[:i] to pattern[: i + 1], both compared with prototype[:j].
    is_one_more, is_one_less = np.unpackbits(steps.astype("<u8").view(np.uint8), axis=2, bitorder="little")
    i, j, runs = len(pattern), len(prototype), list[list[Edit]]()
    while i > 0 and j > 0 and {pattern[i - 1]: None} == {prototype[j - 1]: None}:  # equal as keys of a dictionary
        i, j = i - 1, j - 1
    while i > 0 or j > 0:
        kind = "substitute"  # or a match
        if j == 0 or (i > 0 and is_one_more[j, i - 1]):
            kind = "delete"
        elif i == 0 or is_one_less[j - 1, i - 1]:
            kind = "insert"
        i, j = i - (kind != "insert"), j - (kind != "delete")
        if kind == "substitute" and {pattern[i]: None} == {prototype[j]: None}:
            runs.append([])
        elif runs and runs[-1] and runs[-1][-1].kind == kind:
            runs[-1].append(Edit(kind, i, j))
        else:
            runs.append([Edit(kind, i, j)])
    return [run[::-1] for run in runs[::-1] if run]


def _text(piece: Any) -> str:
    return piece if isinstance(piece, str) else " ".join(map(str, piece))


@dataclass(frozen=True)
class FittedHamming(FittedSequences):
    """The Hamming dissimilarity of sequences of `n_parameters` symbols."""

    n_parameters: Annotated[int, integer(1, 2**40)]
    weighs: ClassVar = "position"

    def prepare(self, patterns: Any, prototypes: Any = None) -> MixedRows:
        """Encode the symbols of all sequences as numbers."""
        codes: dict[Any, int] = {}
        rows = self._encoded(patterns, codes)
        columns = np.ascontiguousarray((rows if prototypes is None else self._encoded(prototypes, codes)).T)
        return MixedRows(rows, columns, np.ones(self.n_parameters, bool))

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per position that differs: p_k / m."""
        contributions = []
        symbols = zip(pair.pattern[0], pair.prototype[0], pair.weights.tolist(), strict=True)
        for k, (here, there, weight) in enumerate(symbols):
            if {here: None} != {there: None}:  # equal as keys of a dictionary, as in `prepare`
                text = f"position {k}: {shortened(repr(here))}, {pair.called} {shortened(repr(there))}"
                details = {"position": k, "value": to_json(here), "prototype": to_json(there), "weight": weight}
                contributions.append(Contribution(weight / self.n_parameters, text, details, group="position"))
        return Difference(pair.dissimilarity, tuple(contributions), "by position")

    def cells(self, patterns: Any, prototypes: Any, names: Sequence[str] | None = None) -> Cells:
        """Return the symbols as codes."""
        pairs = self.prepare(patterns, prototypes)
        return Cells(
            tuple(self.weight_names()), pairs.rows, pairs.prototype_columns, pairs.is_code,
            lambda i, k: shortened(repr(patterns[i][k])), lambda j, k: shortened(repr(prototypes[j][k])),
        )  # fmt: skip

    def accepts(self, patterns: Any) -> bool:
        """Return whether patterns are strings or tuples of the right length."""
        return all(len(one) == self.n_parameters for one in patterns)

    def _encoded(self, sequences: Any, codes: dict[Any, int]) -> Matrix:
        """Return one code per symbol (n, m); `codes` numbers the symbols in the order in which they occur."""
        odd = next((len(one) for one in sequences if len(one) != self.n_parameters), None)
        if odd is not None:
            lengths = f"a sequence has {odd} symbols, the training sequences {self.n_parameters}"
            raise ValueError(f"{lengths}; measure='string-edit' compares sequences of unequal length")
        return np.array([[codes.setdefault(symbol, len(codes)) for symbol in one] for one in sequences], np.float64)


@dataclass(frozen=True)
class Hamming(Sequences):
    """d(x, y; p) = sum_k p_k [x_k != y_k] / m for sequences of m symbols, one weight p_k per position.

    With all weights at 1 it is the share of positions that differ. Patterns are strings, or lists of hashable tokens,
    all of the same length.

    >>> fitted = Hamming().fit(["AB-12", "AB-99"])
    >>> fitted.prepare(["AB-12", "CB-19"], ["AB-12"]).evaluate(np.array([1.0, 1.0, 1.0, 1.0, 0.5]))
    array([[0. ],
           [0.3]])
    """

    fitted_class: ClassVar = FittedHamming

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        sequences = super().read(X)
        for k, one in enumerate(sequences):
            if not one or len(one) != len(sequences[0]):
                lengths = f"X[{k}] has {len(one)} symbols, X[0] has {len(sequences[0])}"
                wanted = "sequences must be of equal length, at least 1; measure='string-edit' compares others"
                raise ValueError(f"{lengths}; {wanted}")
        return sequences

    def fit(self, training: Any) -> FittedHamming:
        """Fix the length of the sequences."""
        return FittedHamming(len(training[0]))
