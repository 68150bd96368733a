"""Python values <-> JSON and arrays. Nothing is ever made of a class that is not in the catalogue.

JSON's own values stand for themselves. Everything else is an object with one key that says what it is:
``{"array": name}``, ``{"tuple": [...]}``, ``{"dict": [[key, value], ...]}``, ``{"set": [...]}``, ``{"object": [class,
{field: value}]}``, ``{"function": name}``, those of ``plain.py`` and those of ``patterns.py``.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.io.model_file.arrays import descr_of
from eocc.io.model_file.catalogue import CLASSES, FUNCTIONS, NAMES
from eocc.io.model_file.patterns import PACKERS
from eocc.io.model_file.plain import LARGEST_INTEGER, PLAIN, UnwritableError, plain_to_json

# Nobody nests deeper; and a reader that calls itself must stop somewhere.
DEEPEST = 60
# Values of one hash are told apart one by one. Chance gives a few; a file of thousands was made to take for ever.
MOST_ALIKE = 64
# Strings, bytes and dates are hashed with a secret, and few floats share a hash: the others can be made to.
UNSHARED = ("float", "bytes", "date")


class Encoder:
    """Turns values into JSON and collects the arrays they hold, each under the name of its place.

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
            return self._value(value, place, 0)
        except UnwritableError:
            self.arrays = before
            raise

    def _value(self, value: Any, place: str, depth: int) -> Any:
        if depth > DEEPEST:
            raise UnwritableError(f"values nested deeper than {DEEPEST} cannot be written to a model file")
        kind = type(value)
        if kind in (str, float, int):  # most values are: a model may hold millions
            return plain_to_json(value)
        if kind in PACKERS:
            packed = PACKERS[kind].pack(value)
            return {packed.tag: {key: self._value(part, f"{place}.{key}", depth + 1) for key, part in packed.parts}}
        if kind in NAMES:
            return {"object": [NAMES[kind], self._fields(value, place, depth)]}
        function = next((name for name, function in FUNCTIONS.items() if function is value), None)
        if function is not None:
            return {"function": function}
        if isinstance(value, np.ndarray):
            return self._array(value, place, depth)
        return self._container(value, place, depth)

    def _fields(self, value: Any, place: str, depth: int) -> dict[str, Any]:
        fields = CLASSES[NAMES[type(value)]].fields
        return {name: self._value(getattr(value, name), f"{place}.{name}", depth + 1) for name in fields}

    def _array(self, array: NDArray[Any], place: str, depth: int) -> Any:
        if array.dtype == object:
            cells = self._items(array.ravel().tolist(), place, depth)
            return {"cells": [list(array.shape), cells]}
        if descr_of(array) is None:
            raise UnwritableError(f"an array of {array.dtype} cannot be written to a model file")
        self.arrays[place] = array
        return {"array": place}

    def _container(self, value: Any, place: str, depth: int) -> Any:
        if type(value) is list:
            return self._items(value, place, depth)
        if type(value) is tuple:
            return {"tuple": self._items(value, place, depth)}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            return {"dict": [[self._value(k, f"{place}.{i}.key", depth + 1), self._value(v, f"{place}.{i}", depth + 1)]
                             for i, (k, v) in pairs]}  # fmt: skip
        if type(value) in (frozenset, set):
            # Sets have no order of their own: this one is the same in every process.
            return {"set": sorted(self._items(value, place, depth), key=json.dumps)}
        return plain_to_json(value)

    def _items(self, values: Any, place: str, depth: int) -> list[Any]:
        return [self._value(value, f"{place}.{i}", depth + 1) for i, value in enumerate(values)]


class Decoder:
    """Turns JSON back into values; whatever is not as the encoder writes it raises ValueError.

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
        self._kinds: dict[str, Callable[[Any, int], Any]] = {
            "array": self._array,
            "cells": self._cells,
            "dict": self._dict,
            "function": self._function,
            "object": self._object,
            "set": lambda content, depth: self._noted(frozenset(self._items(content, depth))),
            "tuple": lambda content, depth: self._noted(tuple(self._items(content, depth))),
        }
        self._by_hash: dict[int, list[Any]] = {}

    def decode(self, document: Any) -> Any:
        """Return the value."""
        return self._value(document, 0)

    def _value(self, document: Any, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError(f"values are nested deeper than {DEEPEST}")
        if isinstance(document, list):
            return self._items(document, depth)
        if not isinstance(document, dict):
            return _single(document)
        if len(document) != 1:
            raise ValueError(f"an object with one key is wanted, not with {len(document)}")
        ((tag, content),) = document.items()
        if tag in PLAIN:
            value = _plain(tag, content)
            return value if tag in UNSHARED else self._noted(value)
        if tag in self._kinds:
            return self._kinds[tag](content, depth)
        return self._packed(tag, content, depth)

    def _noted(self, value: Any) -> Any:
        """Return the value, unless too many others of its hash have come by."""
        try:
            alike = self._by_hash.setdefault(hash(value), [])
        except TypeError:
            return value
        if not any(type(other) is type(value) and other == value for other in alike):
            alike.append(value)
        if len(alike) > MOST_ALIKE:
            raise ValueError(f"more than {MOST_ALIKE} different values have one hash")
        return value

    def _packed(self, tag: str, content: Any, depth: int) -> Any:
        packer = next((packer for packer in PACKERS.values() if tag in packer.unpack), None)
        if packer is None or not isinstance(content, dict):
            raise ValueError(f"unknown kind of value {tag[:40]!r}")
        return packer.unpack[tag]({key: self._value(part, depth + 1) for key, part in content.items()})

    def _items(self, content: Any, depth: int) -> list[Any]:
        if not isinstance(content, list):
            raise ValueError("a list is wanted")
        return [self._value(item, depth + 1) for item in content]

    def _array(self, name: Any, depth: int) -> NDArray[Any]:
        if not isinstance(name, str) or name not in self.arrays:
            raise ValueError(f"there is no array {str(name)[:60]!r}")
        if name in self.used:
            raise ValueError(f"the array {name[:60]!r} is used twice")
        self.used.add(name)
        return self.arrays[name]

    def _cells(self, content: Any, depth: int) -> NDArray[Any]:
        shape, items = content
        cells = np.empty(len(items), dtype=object)
        cells[:] = self._items(items, depth)
        return cells.reshape([_size(size) for size in shape])

    def _dict(self, content: Any, depth: int) -> dict[Any, Any]:
        pairs = [(self._value(key, depth + 1), self._value(value, depth + 1)) for key, value in content]
        found = dict(pairs)
        if len(found) != len(pairs):
            raise ValueError("a key occurs twice")
        return found

    def _function(self, name: Any, depth: int) -> Any:
        if not isinstance(name, str) or name not in FUNCTIONS:
            raise ValueError(f"unknown function {str(name)[:60]!r}")
        return FUNCTIONS[name]

    def _object(self, content: Any, depth: int) -> Any:
        name, fields = content
        if not isinstance(name, str) or name not in CLASSES:
            raise ValueError(f"unknown class {str(name)[:60]!r}")
        entry = CLASSES[name]
        if not isinstance(fields, dict) or set(fields) != set(entry.fields):
            raise ValueError(f"{name} has the fields {', '.join(entry.fields) or '(none)'}, and no others")
        values = {field: self._value(part, depth + 1) for field, part in fields.items()}
        for field, accepts in entry.fields.items():
            if not accepts(values[field]):
                raise ValueError(f"{name}.{field} is of the wrong kind or out of range")
        return entry.make(**values)


def _single(document: Any) -> Any:
    if type(document) is int and abs(document) > LARGEST_INTEGER:
        raise ValueError("an integer beyond 2^53 must be written as text")
    return document


def _plain(tag: str, content: Any) -> Any:
    try:
        return PLAIN[tag](content)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise ValueError(f"no {tag}: {str(error)[:80]}") from None


def _size(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**40:
        raise ValueError("a size is wanted")
    return value
