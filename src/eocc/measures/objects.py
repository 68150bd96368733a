"""Patterns that are not rows of numbers: a sequence that can be indexed like an array."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np


class Patterns(Protocol):
    """What a measure's ``read`` returns: something with a length that gives parts of itself."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Any:
        """Return one pattern for an integer; patterns again for an array of integers or a slice."""
        ...


class Objects(Sequence[Any]):
    """A sequence of objects of any kind.

    >>> words = Objects(["oak", "elm", "ash"])
    >>> words[1], list(words[np.array([2, 0])]), len(words)
    ('elm', ['ash', 'oak'], 3)
    """

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = list(items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Objects(self._items[index])
        if isinstance(index, int | np.integer):
            return self._items[int(index)]
        return Objects(self._items[int(i)] for i in index)


def read_objects(X: Any, kind: str) -> Objects:
    """Return X as objects, or say what is wrong: a lone string or an empty sequence is not a set of patterns."""
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise ValueError(f"X must be a sequence of {kind}, not {type(X).__name__}")
    if hasattr(X, "nodes"):
        raise ValueError(f"X must be a sequence of {kind}, not one graph: write [graph]")
    if hasattr(X, "columns"):  # iterating over a frame gives its column names
        raise ValueError(f"X must be a sequence of {kind}, not a frame: pass one of its columns")
    objects = X if isinstance(X, Objects) else Objects(X)
    if len(objects) == 0:
        raise ValueError(f"X holds no {kind}; at least 1 is required")
    return objects
