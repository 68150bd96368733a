"""Strings and lists of tokens, as the measures of sequences read them."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from eocc.measures.objects import Objects, are_objects, read_objects
from eocc.measures.schema import DataSchema


def read_sequences(X: Any) -> Objects:
    """Return X as strings, or as tuples of hashable tokens."""
    if isinstance(X, np.ndarray) and X.ndim > 1 and np.issubdtype(X.dtype, np.floating):
        raise ValueError(f"X must be a sequence of strings, not a table of numbers of shape {X.shape}: use 'euclidean'")
    return read_objects(X, "strings", _sequence)


def sequence_schema(prototypes: Any) -> DataSchema:
    """Return the schema of strings, or of lists of tokens."""
    return DataSchema("strings" if isinstance(prototypes[0], str) else "tokens")


def are_sequences(patterns: Any) -> bool:
    """Return whether patterns are what read_sequences returns."""
    return are_objects(patterns, str, tuple)


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
