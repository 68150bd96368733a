"""Python values <-> JSON and arrays, as docs/model_file.md lists them.

A file can only name classes and functions of the catalogue. Lists of patterns are in ``columns.py``, single values in
``plain.py``.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.io.model_file.arrays import descr_of
from eocc.io.model_file.catalogue import classes, fields_of, functions, is_stored, make, name_of
from eocc.io.model_file.columns import DEEPEST, column_from_json, column_to_json
from eocc.io.model_file.plain import PLAIN, UnwritableError, check_integer, plain_from_json, plain_to_json
from eocc.measures.objects import Objects

# A dictionary compares values with the same hash one by one. By chance a few share one; thousands mean an attack.
MOST_WITH_ONE_HASH = 64
# Strings, bytes and dates are hashed with a secret, and few floats share a hash. Others can be made to.
SAFE_HASHES = ("float", "bytes", "date")
# An array is named after the keys that lead to it, if they are no longer than this.
LONGEST_NAME = 40


class Encoder:
    """Turns values into JSON and collects the arrays in them, each under the name of its place.

    >>> encoder = Encoder()
    >>> encoder.encode({1: (np.zeros(2), "a")}, "here")
    {'dict': [[1, {'tuple': [{'array': 'here.0.0'}, 'a']}]]}
    >>> encoder.arrays
    {'here.0.0': array([0., 0.])}
    """

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}

    def encode(self, value: Any, place: str) -> Any:
        """Return the value as JSON; one that cannot be written raises UnwritableError and leaves no array behind."""
        before = dict(self.arrays)
        try:
            return self.value(value, place, 0)
        except UnwritableError:
            self.arrays = before
            raise

    def value(self, value: Any, place: str, depth: int) -> Any:
        """Return a value inside another as JSON."""
        if depth > DEEPEST:
            raise UnwritableError(f"values nested deeper than {DEEPEST} cannot be written to a model file")
        kind = type(value)
        if kind in (str, float, int):  # most values are, and a model may hold millions
            return plain_to_json(value)
        if kind is Objects:
            return {"patterns": column_to_json(self, list(value), place, depth + 1)}
        if is_stored(kind):
            parts = {name: self.value(getattr(value, name), f"{place}.{name}", depth + 1) for name in fields_of(kind)}
            return {"object": [name_of(kind), parts]}
        if functions().get(getattr(value, "__name__", "")) is value and value is not None:
            return {"function": value.__name__}
        if isinstance(value, np.ndarray) and value.dtype == object:
            return {"cells": [list(value.shape), self.items(value.ravel().tolist(), place, depth)]}
        return self.array(value, place) if isinstance(value, np.ndarray) else self._container(value, place, depth)

    def array(self, array: NDArray[Any], place: str) -> Any:
        """Keep an array under the name of its place."""
        if descr_of(array) is None:
            raise UnwritableError(f"an array of {array.dtype} cannot be written to a model file")
        self.arrays[place] = array
        return {"array": place}

    def _container(self, value: Any, place: str, depth: int) -> Any:
        if type(value) is list:
            return self.items(value, place, depth)
        if type(value) is tuple:
            return {"tuple": self.items(value, place, depth)}
        if isinstance(value, Mapping):
            return {"dict": [self._pair(key, part, place, i, depth + 1) for i, (key, part) in enumerate(value.items())]}
        if type(value) in (frozenset, set):
            # A set has no order of its own; this one is the same in every process.
            return {"set": sorted(self.items(value, place, depth), key=json.dumps)}
        return plain_to_json(value)

    def _pair(self, key: Any, part: Any, place: str, i: int, depth: int) -> list[Any]:
        name = key if type(key) is str and key.isascii() and key.isidentifier() and len(key) < LONGEST_NAME else i
        return [self.value(key, f"{place}.{i}.key", depth), self.value(part, f"{place}.{name}", depth)]

    def items(self, values: Any, place: str, depth: int) -> list[Any]:
        """Return values in their order as JSON."""
        return [self.value(value, f"{place}.{i}", depth + 1) for i, value in enumerate(values)]


class Decoder:
    """Turns JSON back into values; JSON that the encoder would not write raises ValueError.

    >>> Decoder({"a": np.zeros(2)}).decode({"tuple": [{"array": "a"}, {"float": "inf"}]})
    (array([0., 0.]), inf)
    >>> Decoder({}).decode({"object": ["os.system", {}]})
    Traceback (most recent call last):
    ...
    ValueError: unknown class 'os.system'
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.arrays = arrays
        self.used: set[str] = set()
        self.kinds: dict[str, Callable[[Any, int], Any]] = {
            "array": lambda name, depth: self.array(name),
            "cells": self._cells,
            "dict": self._dict,
            "function": lambda name, depth: _named("function", functions(), name),
            "object": self._object,
            "patterns": lambda content, depth: Objects(column_from_json(self, content, depth)),
            "set": lambda content, depth: self._counted(frozenset(self.items(content, depth))),
            "tuple": lambda content, depth: self._counted(tuple(self.items(content, depth))),
        }
        self._by_hash: dict[int, list[Any]] = {}

    def decode(self, document: Any, depth: int = 0) -> Any:
        """Return the value, which is inside `depth` others."""
        if depth > DEEPEST:
            raise ValueError(f"values are nested deeper than {DEEPEST}")
        if isinstance(document, list):
            return self.items(document, depth)
        if not isinstance(document, dict):
            return check_integer(document) if type(document) is int else document
        if len(document) != 1:
            raise ValueError(f"an object with one key is needed, not with {len(document)}")
        ((tag, content),) = document.items()
        if tag in PLAIN:
            value = plain_from_json(tag, content)
            return value if tag in SAFE_HASHES else self._counted(value)
        return _named("kind of value", self.kinds, tag)(content, depth)

    def _counted(self, value: Any) -> Any:
        """Return the value, unless too many others have the same hash."""
        try:
            alike = self._by_hash.setdefault(hash(value), [])
        except TypeError:
            return value
        if not any(type(other) is type(value) and other == value for other in alike):
            alike.append(value)
        if len(alike) > MOST_WITH_ONE_HASH:
            raise ValueError(f"more than {MOST_WITH_ONE_HASH} different values have one hash")
        return value

    def items(self, content: Any, depth: int) -> list[Any]:
        """Return a list of values."""
        if not isinstance(content, list):
            raise ValueError("a list is needed")
        return [self.decode(item, depth + 1) for item in content]

    def array(self, name: Any) -> NDArray[Any]:
        """Return the array of that name, which no other value may use."""
        found: NDArray[Any] = _named("array", self.arrays, name)
        if name in self.used:
            raise ValueError(f"the array {name[:60]!r} is used twice")
        self.used.add(name)
        return found

    def _cells(self, content: Any, depth: int) -> NDArray[Any]:
        shape, items = content
        cells = np.empty(len(items), dtype=object)
        cells[:] = self.items(items, depth)
        if not all(type(size) is int and 0 <= size < 2**40 for size in shape):
            raise ValueError("the shape of an array must be integers >= 0")
        return cells.reshape(shape)

    def _dict(self, content: Any, depth: int) -> dict[Any, Any]:
        pairs = [(self.decode(key, depth + 1), self.decode(part, depth + 1)) for key, part in content]
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key occurs twice")
        return found

    def _object(self, content: Any, depth: int) -> Any:
        name, parts = content
        kind = self.class_of(name, parts)
        return make(kind, {field: self.decode(part, depth + 1) for field, part in parts.items()})

    def class_of(self, name: Any, parts: Any) -> type:
        """Return the class of that name, if it has exactly these fields."""
        kind: type = _named("class", classes(), name)
        fields = fields_of(kind)
        if not isinstance(parts, dict) or set(parts) != set(fields):
            raise ValueError(f"{name} has the fields {', '.join(fields) or '(none)'}, and no others")
        return kind


def _named(what: str, known: Mapping[str, Any], name: Any) -> Any:
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown {what} {str(name)[:60]!r}")
    return known[name]
