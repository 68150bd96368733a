"""Strings and lists of tokens: what the measures of sequences share."""

from collections.abc import Hashable, Sequence
from typing import Any, ClassVar

import numpy as np

from eocc.measures.base import RegisteredFitted, RegisteredMeasure
from eocc.measures.objects import Objects, read_objects
from eocc.measures.schema import DataSchema


class FittedSequences(RegisteredFitted):
    """A fitted measure of strings, or of tuples of tokens."""

    pattern_classes: ClassVar = (str, tuple)

    def schema(self, prototypes: Any, names: Sequence[str] | None = None) -> DataSchema:
        """Return the schema of strings, or of lists of tokens."""
        return DataSchema("strings" if isinstance(prototypes[0], str) else "tokens")


class Sequences(RegisteredMeasure):
    """A measure of strings, or of lists of hashable tokens."""

    def read(self, X: Any) -> Objects:
        """Return X as strings, or as tuples of tokens."""
        if isinstance(X, np.ndarray) and X.ndim > 1 and np.issubdtype(X.dtype, np.floating):
            table = f"a table of numbers of shape {X.shape}"
            raise ValueError(f"X must be a sequence of strings, not {table}: use 'euclidean'")
        return read_objects(X, "strings", _sequence)


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
