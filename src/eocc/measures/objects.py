"""Patterns that are not rows of numbers: a sequence that can be indexed like an array."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from eocc.tables.table import Table

Made = TypeVar("Made")


class Objects(Sequence[Any]):
    """A sequence of objects. An integer index gives one of them; a slice or an array of integers gives Objects.

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


# What is computed from patterns, with whom it was computed for, as long as the patterns live.
_DERIVED: WeakKeyDictionary[Any, tuple[Any, Any]] = WeakKeyDictionary()


def derived(patterns: Any, owner: Any, make: Callable[[], Made]) -> Made:
    """Return make(); for Objects and tables, which never change, it is called only if another owner asked since.

    The value must not refer to the patterns.
    """
    if not isinstance(patterns, Objects | Table):
        return make()
    known: tuple[Any, Made] | None = _DERIVED.get(patterns)
    if known is None or known[0] is not owner:
        known = _DERIVED[patterns] = owner, make()
    return known[1]


def read_objects(X: Any, kind: str, convert: Callable[[Any], Any] | None = None) -> Objects:
    """Return X as Objects, each item converted; a ValueError says what is wrong, and in which item."""
    wrong = type(X).__name__ if isinstance(X, str | bytes) or not isinstance(X, Iterable) else ""
    if hasattr(X, "nodes"):
        wrong = "one graph: write [graph]"
    elif hasattr(X, "columns"):  # iterating over a frame gives its column names
        wrong = "a frame: pass one of its columns"
    if wrong:
        raise ValueError(f"X must be a sequence of {kind}, not {wrong}")
    objects = X if isinstance(X, Objects) else Objects(X)
    if len(objects) == 0:
        raise ValueError(f"X holds no {kind}; at least 1 is required")
    return objects if convert is None else Objects(_item(convert, item, k) for k, item in enumerate(objects))


def _item(convert: Callable[[Any], Any], item: Any, position: int) -> Any:
    try:
        return convert(item)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X[{position}]: {error}") from None
