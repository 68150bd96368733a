"""Patterns of any kind -> rows of 64-bit words: equal patterns have equal words, on every machine."""

import pickle
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.types import Indices
from eocc.kernels.content import hash_rows
from eocc.measures.composite import Records
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.precomputed import PrecomputedRows
from eocc.tables.table import Column, Table

Words = NDArray[np.uint64]


def row_hashes(words: Words) -> Words:
    """Return 64 mixed bits of each row of words (n, d)."""
    hashes = np.empty(len(words), np.uint64)
    hash_rows(words, hashes)
    return hashes


def words_of(patterns: Any) -> Words:
    """Return the words (n, d) of patterns; those of rows of numbers are their bits, and are not copied.

    Rows of precomputed dissimilarities are compared by their sorted entries: the order of the columns is that of the
    training rows.
    """
    if isinstance(patterns, np.ndarray):
        return np.ascontiguousarray(patterns, np.float64).view(np.uint64)
    if isinstance(patterns, Table):
        return np.column_stack([_column_words(column) for column in patterns.columns])
    if isinstance(patterns, Records):
        return np.hstack([words_of(part) for part in patterns.parts.values()])
    if isinstance(patterns, PrecomputedRows):
        return words_of(np.sort(patterns.block, axis=1))
    return np.array([[_word(pattern)] for pattern in patterns], np.uint64)


def exact_copies(patterns: Any) -> Indices:
    """Return the places of rows of a table that equal an earlier row; none if all columns are discrete.

    A column is discrete if it has at most half as many values as there are different rows: rows are equal by chance.
    """
    if isinstance(patterns, np.ndarray):
        columns = list(patterns.T)
    else:
        columns = [one.values for one in patterns.columns] if isinstance(patterns, Table) else []
    first = different_rows(patterns)
    if all(2 * len(np.unique(column)) <= len(first) for column in columns):
        return np.empty(0, np.int64)
    return np.delete(np.arange(len(patterns)), first)


def different_rows(patterns: Any) -> Indices:
    """Return the places of the first of each set of equal patterns, ascending."""
    _, first = np.unique(row_hashes(words_of(patterns)), return_index=True)
    return np.sort(first)


def _column_words(column: Column) -> Words:
    if column.labels is None:
        return (column.values + 0.0).view(np.uint64)
    of_label = np.array([*map(_word, column.labels), _word(None)], np.uint64)
    return of_label[np.where(np.isnan(column.values), -1, column.values).astype(np.int64)]


def _word(pattern: Any) -> int:
    return int.from_bytes(blake2b(_text(pattern), digest_size=8).digest(), "little")


def _text(pattern: Any) -> bytes:
    """Return what the pattern holds, in an order that does not depend on the process."""
    if isinstance(pattern, np.ndarray) and pattern.dtype != object:
        return repr((pattern.shape, pattern.tolist())).encode()
    if isinstance(pattern, np.ndarray | list | tuple):
        return _joined(map(_text, pattern))
    if isinstance(pattern, dict | frozenset | set):
        return _joined(sorted(map(_text, pattern.items() if isinstance(pattern, dict) else pattern)))
    if isinstance(pattern, LabelledGraph):
        attributes = pattern.vertex_attributes, pattern.edge_attributes
        return _text((pattern.n_vertices, np.asarray(pattern.edges), attributes, pattern.directed))
    if object.__repr__(pattern) == repr(pattern):  # only an address
        try:
            return pickle.dumps(pattern, protocol=5)
        except (AttributeError, TypeError, pickle.PicklingError):  # functions, locks and the like say nothing
            return _text({key: value for key, value in vars(pattern).items() if not callable(value)})
    return repr(pattern).encode()


def _joined(texts: Iterable[bytes]) -> bytes:
    # Each text follows its length, so that no others give the same.
    return b"[" + b"".join(b"%d:%b" % (len(text), text) for text in texts)
