"""Patterns of any kind -> rows of 64-bit words: equal patterns have equal words, on every machine.

Prototypes are chosen by these words: not by the order of the rows, their chunks or the number of workers.
"""

import pickle
from dataclasses import dataclass
from hashlib import blake2b
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from eocc.base.types import Indices, Matrix
from eocc.kernels.content import CELL_BITS, CELL_MASK, content_keys, row_hashes
from eocc.measures.composite import Records
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.precomputed import PrecomputedRows
from eocc.measures.protocol import FittedMeasure
from eocc.scale.passes import Part, Passes
from eocc.space.prototypes.selections import check_places
from eocc.tables.table import Table

Words = NDArray[np.uint64]


def words_of(patterns: Any) -> Words:
    """Return the words (n, d) of patterns; those of rows of numbers are their bits, and are not copied.

    Rows of precomputed dissimilarities are compared by their sorted entries: the order of the columns is that of the
    training rows.
    """
    if isinstance(patterns, np.ndarray):
        return np.ascontiguousarray(patterns, np.float64).view(np.uint64)
    if isinstance(patterns, Table):
        words = []
        for column in patterns.columns:
            of_value = None if column.labels is None else words_of([*column.labels, None])[:, 0]
            words.append((column.values + 0.0).view(np.uint64) if of_value is None else of_value[column.codes])
        return np.column_stack(words)
    if isinstance(patterns, Records):
        return np.hstack([words_of(part) for part in patterns.parts.values()])
    if isinstance(patterns, PrecomputedRows):
        return words_of(np.sort(patterns.block, axis=1))
    digests = (blake2b(_text(pattern), digest_size=8).digest() for pattern in patterns)
    return np.array([[int.from_bytes(digest, "little")] for digest in digests], np.uint64)


def exact_copies(patterns: Any) -> Indices:
    """Return the places of rows of a table that equal an earlier row; none if all columns are discrete.

    A column is discrete if it has at most half as many values as there are different rows: rows are equal by chance.
    """
    held = patterns.columns if isinstance(patterns, Table) else ()
    columns = patterns.T if isinstance(patterns, np.ndarray) else [one.values for one in held]
    first = different_rows(patterns)
    if all(2 * len(np.unique(column)) <= len(first) for column in columns):
        return np.empty(0, np.int64)
    return np.delete(np.arange(len(patterns)), first)


def different_rows(patterns: Any) -> Indices:
    """Return the places of the first of each set of equal patterns, ascending."""
    _, first = np.unique(row_hashes(words_of(patterns)), return_index=True)
    return np.sort(first)


def _text(pattern: Any) -> bytes:
    """Return what the pattern holds, in an order that does not depend on the process."""
    if isinstance(pattern, np.ndarray) and pattern.dtype != object:
        return repr((pattern.shape, pattern.tolist())).encode()
    if isinstance(pattern, LabelledGraph):
        attributes = pattern.vertex_attributes, pattern.edge_attributes
        pattern = pattern.n_vertices, np.asarray(pattern.edges), attributes, pattern.directed
    if isinstance(pattern, np.ndarray | list | tuple | dict | frozenset | set):
        texts = map(_text, pattern.items() if isinstance(pattern, dict) else pattern)
        ordered = sorted(texts) if isinstance(pattern, dict | frozenset | set) else texts
        # Each text follows its length, so that no others give the same.
        return b"[" + b"".join(b"%d:%b" % (len(text), text) for text in ordered)
    if object.__repr__(pattern) == repr(pattern):  # only an address
        try:
            return pickle.dumps(pattern, protocol=5)
        except (AttributeError, TypeError, pickle.PicklingError):  # functions, locks and the like say nothing
            return _text({key: value for key, value in vars(pattern).items() if not callable(value)})
    return repr(pattern).encode()


# So many hashes wait before they are counted: a part of a table then needs no counts of its own.
WAITING = 2**18
_one_at_a_time = Lock()


class Census:
    """The first pass: how many rows there are, and how many have their hash in each of 2^20 cells.

    The count of a row's cell, at least 1, is an upper bound of how often the row occurs.

    >>> census = Census().add(np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]]))
    >>> census.n_rows, census.counts.max()
    (3, np.int64(2))
    """

    def __init__(self) -> None:
        self.n_rows = 0
        self._counts: Indices | None = None
        self._waiting: list[Words] = []

    def add(self, rows: Matrix) -> Self:
        """Count rows (n, d) too; return self."""
        return self._add_hashes([row_hashes(words_of(rows))])

    def merge(self, other: "Census") -> Self:
        """Count the rows of another census too; return self."""
        if other._counts is not None:
            self._counts = other._counts + (0 if self._counts is None else self._counts)
            self.n_rows += other.n_rows - sum(map(len, other._waiting))
        return self._add_hashes(other._waiting)

    @property
    def counts(self) -> Indices:
        """The number of rows in each cell."""
        with _one_at_a_time:  # several threads may ask for the counts of a census that is complete
            if self._counts is None:
                self._counts = np.zeros(2**CELL_BITS, np.int64)
            if self._waiting:
                cells = np.concatenate(self._waiting) & CELL_MASK
                np.add.at(self._counts, cells.astype(np.int64), 1)  # bincount would need 8 MB more
            self._waiting = []
            return self._counts

    def _add_hashes(self, hashes: list[Words]) -> Self:
        self.n_rows += sum(map(len, hashes))
        self._waiting = self._waiting + hashes
        if sum(map(len, self._waiting)) > WAITING:
            self.counts  # noqa: B018  counts what waits
        return self


class Sketch:
    """The second pass: `size` of the rows that the census counted, all if there are fewer, in memory for twice as many.

    A row that occurs c times among n has the key -log(u) / C, where C >= c is the count of its cell and u is a random
    number in (0, 1) that its hash gives. Rows are taken by ascending key, then by hash: bottom-k sampling (Cohen and
    Kaplan 2007). A row is taken min(c, max(1, round(C size / n))) times, with the lowest row numbers, so that its share
    stays the same. If that leaves places free, further copies fill them, in the same order.

    Neither the chunks nor the order of merging matter, and the order of the rows only to the numbers of equal rows.

    >>> rows = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0]])
    >>> kept = Sketch(Census().add(rows), 5).add(rows[1:], np.array([1, 2])).add(rows[:1], np.array([0])).kept()
    >>> kept.numbers, kept.values[1]
    (array([0, 1, 2]), array([3., 4.]))
    """

    def __init__(self, census: Census, size: int) -> None:
        self._census: Census | None = census
        self._size, self._bound = size, np.inf
        # Of rows that may be kept: the keys, hashes, row numbers, how often a row of this hash may be kept, and values.
        self._parts: list[tuple[Any, ...]] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_census": None}  # what travels to another worker is merged there, not added to

    def add(self, rows: Matrix, numbers: Indices) -> Self:
        """Take rows (m, d) with these numbers (m,) into account; return self."""
        assert self._census is not None
        hashes = row_hashes(words_of(rows))
        keys, counts = np.empty(len(hashes)), self._census.counts
        content_keys(hashes, counts, keys)
        near = np.flatnonzero(keys <= self._bound)
        keys, hashes, total = keys[near], hashes[near], self._census.n_rows
        # A row may be kept as often as is its share of all rows, rounded, and at least once.
        cells = counts[(hashes & CELL_MASK).astype(np.int64)]
        most = np.maximum(1, (2 * cells * self._size + total) // (2 * total))
        return self._take([(keys, hashes, numbers[near], most, rows[near])])

    def merge(self, other: "Sketch") -> Self:
        """Take the rows of another sketch into account, made from the same census; return self."""
        self._bound = min(self._bound, other._bound)
        return self._take([tuple(one[part[0] <= self._bound] for one in part) for part in other._parts])

    def kept(self) -> Part:
        """Return the rows that are kept, in the order of their numbers."""
        if not self._parts:
            return Part(np.empty((0, 0)), np.empty(0, np.int64))
        self._drop()
        _, _, numbers, _, values = self._parts[0]
        order = np.argsort(numbers)
        return Part(values[order], numbers[order])

    def _take(self, parts: list[tuple[Any, ...]]) -> Self:
        self._parts = self._parts + parts
        if sum(len(keys) for keys, *_ in self._parts) > 2 * self._size:
            self._drop()
        return self

    def _drop(self) -> None:
        """Drop the rows that are surely out: rows that come later can only move the end of what is taken down."""
        known = tuple(map(np.concatenate, zip(*self._parts, strict=True)))
        keys, hashes, numbers, most, _ = known
        order = np.lexsort((numbers, hashes, keys))
        hashes, places = hashes[order], np.arange(len(order))
        is_first = np.append(True, hashes[1:] != hashes[:-1])
        is_surplus = places - np.maximum.accumulate(np.where(is_first, places, 0)) >= most[order]
        order = np.concatenate([order[~is_surplus], order[is_surplus]])[: self._size]
        if len(keys) - is_surplus.sum() >= self._size:
            self._bound = float(keys[order[-1]])
        self._parts = [tuple(one[order] for one in known)]


def take_census(passes: Passes) -> Census:
    """Return the census of all rows."""
    return passes.fold(lambda part: Census().add(part.values), Census.merge, "counting rows")


def choose_rows(passes: Passes, census: Census, size: int) -> Part:
    """Return `size` of the rows that the census counted, all if there are fewer."""
    return passes.fold(
        lambda part: Sketch(census, size).add(part.values, part.numbers), Sketch.merge, "choosing rows"
    ).kept()


@dataclass(frozen=True)
class ByContent:
    """Patterns chosen by a hash of their content, each as often as its share of all patterns: see `Sketch`.

    Nothing is random, and the order of the patterns does not matter. No dissimilarities are computed.
    """

    def select(self, measure: FittedMeasure, patterns: Any, count: int, rng: np.random.Generator) -> Indices:
        """Return the places of `count` patterns."""
        return chosen_by_content(patterns, count)


def chosen_by_content(patterns: Any, count: int) -> Indices:
    """Return the places of `count` patterns, ascending."""
    check_places(count, len(patterns))
    words = words_of(patterns).view(np.float64)
    sketch = Sketch(Census().add(words), count)
    for start in range(0, len(words), WAITING):  # in parts, because a sketch copies what it adds
        some = words[start : start + WAITING]
        sketch.add(some, np.arange(start, start + len(some)))
    return sketch.kept().numbers
