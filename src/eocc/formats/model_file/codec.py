"""Python values <-> JSON and arrays, as docs/reference/model_file.md lists them.

A file can only name the classes and functions that the registries list, and what these need. A measure names in
`fitted_class` and `stored_classes` what its models need. Single values are in ``plain.py``. A list of patterns is a
column of few arrays: numbers side by side, arrays end to end, dictionaries key by key, objects field by field.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from itertools import chain
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.base.checks import LARGEST_INTEGER, demand, has_hash, is_array
from eocc.base.stored import declared, restored
from eocc.entropic import EXTENTS, MEMBERSHIP_FUNCTIONS, PERFORMANCES, SEARCHES, TCONORMS
from eocc.formats.model_file.container import descr_of
from eocc.formats.model_file.plain import BEYOND, PLAIN, UnwritableError, plain_to_json
from eocc.measures import MEASURES
from eocc.measures.composite import Composite
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects
from eocc.space.baseline import Baseline
from eocc.space.prototypes import SELECTIONS
from eocc.tables.reading import ReadColumn, Reading
from eocc.tables.spelling import Spelling
from eocc.tables.table import Column, Table
from eocc.tables.windows import Windowing

# Strings, bytes and dates are hashed with a secret, and few floats share a hash. Others can be made to.
SAFE_HASHES = ("float", "bytes", "date")
# No real model nests deeper, and a recursive reader must stop somewhere.
DEEPEST = 60
TOO_DEEP = f"values nested deeper than {DEEPEST} are not allowed in a model file"


class TooLargeError(ValueError):
    """The values of a file would take more memory than allowed."""


def _entries() -> Iterator[Any]:
    for registry in (MEMBERSHIP_FUNCTIONS, EXTENTS, TCONORMS, PERFORMANCES, SEARCHES, SELECTIONS):
        yield from registry.values()


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that a file may name, by name."""
    return {one.__name__: one for one in _entries() if isinstance(one, FunctionType)}


def classes() -> Iterator[type]:
    """Yield the classes that a file may name; most are imported only then. Their fields declare what is stored."""
    yield from map(_class_of, MEMBERSHIP_FUNCTIONS.values())  # every model has one
    yield from (LabelledGraph, Table, Column, Reading, Baseline, ReadColumn, Windowing, Spelling)
    for measure in chain([Composite], MEASURES.values()):
        yield from (measure, measure.fitted_class, *measure.stored_classes)
    yield from (_class_of(one) for one in _entries() if not isinstance(one, FunctionType))


def _class_of(one: Any) -> type:
    return one if isinstance(one, type) else type(one)


@cache
def class_named(name: str) -> type | None:
    """Return the class of this name, None if a file may name none."""
    return next((one for one in classes() if name_of(one) == name), None)


def name_of(kind: type) -> str:
    """Return what a file calls a class."""
    return kind.__name__.lstrip("_")


def is_stored(kind: type) -> bool:
    """Say whether a file may name the class."""
    return kind.__module__.startswith("eocc.") and class_named(name_of(kind)) is kind


class Encoder:
    """Turns values into JSON and collects the arrays in them, each under the name of its place.

    >>> encoder = Encoder()
    >>> encoder.encode({1: (np.zeros(2), "a")}, "here")
    {'dict': [[1, {'tuple': [{'array': 'here.0.0'}, 'a']}]]}
    >>> encoder.arrays
    {'here.0.0': array([0., 0.])}
    >>> encoder.encode(Objects([[1.5, 2.5], [3.5]]), "x")
    {'patterns': {'lists': {'values': {'array': 'x.values'}, 'lengths': {'array': 'x.lengths'}}}}
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
        _check_depth(depth)
        kind = type(value)
        if kind in (str, float, int):  # most values are, and a model may hold millions
            return plain_to_json(value)
        if kind in (list, tuple):
            items = self._items(value, place, depth)
            return items if kind is list else {"tuple": items}
        if kind in (frozenset, set):
            # A set has no order of its own; this one is the same in every process.
            return {"set": sorted(self._items(value, place, depth), key=json.dumps)}
        if isinstance(value, Mapping):
            return {"dict": [self._pair(key, part, place, i, depth + 1) for i, (key, part) in enumerate(value.items())]}
        if isinstance(value, np.ndarray):
            if value.dtype == object:
                return {"cells": [list(value.shape), self._items(value.ravel().tolist(), place, depth)]}
            return self._array(value, place)
        if kind is Objects:
            return {"patterns": self._column(list(value), place, depth + 1)}
        if is_stored(kind):
            parts = {name: self._value(getattr(value, name), f"{place}.{name}", depth + 1) for name in declared(kind)}
            return {"object": [name_of(kind), parts]}
        if isinstance(value, FunctionType) and functions().get(value.__name__) is value:
            return {"function": value.__name__}
        return plain_to_json(value)

    def _array(self, array: NDArray[Any], place: str) -> Any:
        if descr_of(array) is None:
            raise UnwritableError(f"an array of {array.dtype} cannot be written to a model file")
        self.arrays[place] = array
        return {"array": place}

    def _pair(self, key: Any, part: Any, place: str, i: int, depth: int) -> list[Any]:
        # An array is named after the keys that lead to it, if they are short.
        name = key if type(key) is str and key.isascii() and key.isidentifier() and len(key) < 40 else i
        return [self._value(key, f"{place}.{i}.key", depth), self._value(part, f"{place}.{name}", depth)]

    def _items(self, values: Any, place: str, depth: int) -> list[Any]:
        return [self._value(value, f"{place}.{i}", depth + 1) for i, value in enumerate(values)]

    def _column(self, values: list[Any], place: str, depth: int) -> Any:
        _check_depth(depth)
        if (numbers := _as_numbers(values)) is not None:
            return self._array(numbers, place)
        kinds = set(map(type, values))
        kind = kinds.pop() if len(kinds) == 1 else None
        are_plain = kind is np.ndarray and all(array.ndim > 0 and descr_of(array) for array in values)
        if kind is list or (are_plain and len({(array.dtype, array.shape[1:]) for array in values}) == 1):
            lengths = self._array(np.array([len(value) for value in values], np.int64), f"{place}.lengths")
            joined: Any = [item for value in values for item in value] if kind is list else np.concatenate(values)
            write: Callable[..., Any] = self._column if kind is list else self._value
            parts = {"values": write(joined, f"{place}.values", depth + 1), "lengths": lengths}
            return {"lists" if kind is list else "arrays": parts}
        if kind is dict and (keys := _shared_keys(values)):
            entries = [self._entry(values, key, f"{place}.{i}", depth + 1) for i, key in enumerate(keys)]
            return {"dicts": {"count": len(values), "entries": entries}}
        if kind is not None and is_stored(kind) and declared(kind):
            parts = {name: [getattr(value, name) for value in values] for name in declared(kind)}
            columns = {name: self._column(part, f"{place}.{name}", depth + 1) for name, part in parts.items()}
            return {"objects": [name_of(kind), columns]}
        return self._items(values, place, depth)

    def _entry(self, values: list[dict[Any, Any]], key: Any, place: str, depth: int) -> list[Any]:
        """Return a key, which dictionaries have it, and their values."""
        column = self._column([value[key] for value in values if key in value], place, depth)
        present = np.array([key in value for value in values])
        return [self._value(key, f"{place}.key", depth), self._array(present, f"{place}.present"), column]


def _check_depth(depth: int) -> None:
    if depth > DEEPEST:
        raise UnwritableError(TOO_DEEP)


def _as_numbers(values: list[Any]) -> NDArray[Any] | None:
    """Return numbers or booleans of one type as an array."""
    kinds = set(map(type, values))
    if kinds and kinds <= {float, np.float64}:
        return np.array(values, np.float64)
    is_whole = kinds == {int} and all(-(2**63) <= value < 2**63 for value in values)
    return np.array(values, np.int64 if is_whole else bool) if is_whole or kinds == {bool} else None


def _shared_keys(values: list[dict[Any, Any]]) -> list[Any]:
    """Return all keys, if dictionaries have at least half of them on average."""
    keys = list(dict.fromkeys(key for value in values for key in value))
    return keys if sum(map(len, values)) >= 0.5 * len(keys) * len(values) else []


class Decoder:
    """Turns JSON back into values; JSON that the encoder would not write raises ValueError.

    >>> Decoder({"a": np.zeros(2)}).decode({"tuple": [{"array": "a"}, {"float": "inf"}]})
    (array([0., 0.]), inf)
    >>> Decoder({}).decode({"object": ["os.system", {}]})
    Traceback (most recent call last):
    ...
    ValueError: unknown class 'os.system'
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], max_bytes: int = 2**62) -> None:
        self.arrays, self.max_bytes = arrays, max_bytes
        self.taken = self.depth = 0
        self.used: set[str] = set()
        self._by_hash: dict[int, list[Any]] = {}
        self.kinds: dict[str, Callable[[Any], Any]] = {tag: partial(self._plain, tag) for tag in PLAIN} | {
            "array": self._array, "cells": self._cells, "dict": self._dict, "object": self._object,
            "function": lambda name: _named("function", functions().get, name),
            "patterns": lambda content: Objects(self._column(content)),
            "set": lambda content: self._counted(frozenset(self._items(content))),
            "tuple": lambda content: self._counted(tuple(self._items(content))),
        }  # fmt: skip
        self.columns: dict[str, Callable[[Any], list[Any]]] = {
            "array": self._numbers, "dicts": self._dicts, "objects": self._objects,
            "arrays": lambda content: self._split(self.decode(content["values"]), content),
            "lists": lambda content: self._split(self._column(content["values"]), content),
        }  # fmt: skip

    def decode(self, document: Any, kinds: Mapping[str, Callable[[Any], Any]] | None = None) -> Any:
        """Return the value: of an object, what the reader of its one key makes of the content."""
        if isinstance(document, list):
            return [self.decode(item) for item in document]
        if kinds is None and not isinstance(document, dict):
            demand(type(document) is not int or abs(document) <= LARGEST_INTEGER, BEYOND)
            return document
        demand(isinstance(document, dict) and len(document) == 1, "a value must be a list or an object with one key")
        ((tag, content),) = document.items()
        self.depth += 1
        demand(self.depth <= DEEPEST, TOO_DEEP)
        found = _named("kind of value", (kinds or self.kinds).get, tag)(content)
        self.depth -= 1
        return found

    def _plain(self, tag: str, content: Any) -> Any:
        try:
            value = PLAIN[tag](content)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise ValueError(f"no {tag}: {str(error)[:80]}") from None
        return value if tag in SAFE_HASHES else self._counted(value)

    def _counted(self, value: Any) -> Any:
        """Return the value, unless too many others have the same hash."""
        if not has_hash(value):
            return value
        alike = self._by_hash.setdefault(hash(value), [])
        if not any(type(other) is type(value) and other == value for other in alike):
            alike.append(value)
        # A dictionary compares values with the same hash one by one. A few share one by chance, thousands by an attack.
        demand(len(alike) <= 64, "more than 64 different values have one hash")
        return value

    def _items(self, content: Any) -> list[Any]:
        demand(isinstance(content, list), "a list is needed")
        return list(self.decode(content))

    def _array(self, name: Any) -> NDArray[Any]:
        found: NDArray[Any] = _named("array", self.arrays.get, name)
        demand(name not in self.used, f"the array {name[:60]!r} is used twice")
        self.used.add(name)
        return found

    def _cells(self, content: Any) -> NDArray[Any]:
        shape, items = content
        cells = np.empty(len(items), dtype=object)
        cells[:] = self._items(items)
        demand(all(type(size) is int and 0 <= size < 2**40 for size in shape), "a shape must be integers >= 0")
        return cells.reshape(shape)

    def _dict(self, content: Any) -> dict[Any, Any]:
        found = {self.decode(key): self.decode(part) for key, part in content}
        demand(len(found) == len(content), "a key occurs twice")
        return found

    def _object(self, content: Any) -> Any:
        name, parts = content
        kind = _named("class", class_named, name)
        return restored(kind, {field: self.decode(part) for field, part in parts.items()}, name)

    def _take(self, count: int, size: int) -> None:
        """Count the memory of this number of values before they are made, each of the most bytes that Python needs.

        A file of flags, one byte for each dictionary, would otherwise take more than a hundred times its size.
        """
        self.taken += count * size
        if self.taken > self.max_bytes:
            raise TooLargeError(f"its rows would take more memory than the limit of {self.max_bytes} bytes")

    def _column(self, document: Any) -> list[Any]:
        return list(self.decode(document, self.columns))

    def _numbers(self, name: Any) -> list[Any]:
        numbers = self._array(name)
        demand(numbers.ndim == 1, "a column of numbers must have one dimension")
        self._take(len(numbers), 64)
        return list(numbers.tolist())

    def _split(self, values: Any, content: Any) -> list[Any]:
        lengths = self.decode(content["lengths"])
        demand(type(values) is list or np.ndim(values) > 0, "arrays end to end must be one array")
        demand(is_array(lengths, np.int64, 1) and (lengths >= 0).all(), "lengths must be integers >= 0")
        # Each length is compared first: the sum of large ones could overflow to a small number.
        is_right = (lengths <= len(values)).all() and int(lengths.sum()) == len(values)
        demand(is_right, f"{len(values)} values cannot be split into pieces of the lengths given")
        self._take(len(lengths), 256)
        stops = np.cumsum(lengths)
        return [values[start:stop] for start, stop in zip((stops - lengths).tolist(), stops.tolist(), strict=True)]

    def _dicts(self, content: Any) -> list[Any]:
        count, parts = content["count"], []
        for key, flags, column in content["entries"]:
            present = self.decode(flags)
            is_right = is_array(present, bool, 1) and present.shape == (count,)
            demand(is_right, "each key must say which dictionaries have it")
            self._take(int(present.sum()), 160)
            parts.append((self.decode(key), np.flatnonzero(present).tolist(), self._column(column)))
        demand(parts, "dictionaries stored key by key must have a key")
        self._take(count, 256)
        dicts: list[dict[Any, Any]] = [{} for _ in range(count)]
        for key, owners, values in parts:
            for owner, value in zip(owners, values, strict=True):
                dicts[owner][key] = value
        return dicts

    def _objects(self, content: Any) -> list[Any]:
        name, parts = content
        kind = _named("class", class_named, name)
        columns = {field: self._column(part) for field, part in parts.items()}
        demand(columns, f"{name} has no fields to store by column")
        self._take(min(map(len, columns.values())), 1024)
        rows = zip(*columns.values(), strict=True)
        return [restored(kind, dict(zip(columns, row, strict=True)), name) for row in rows]


def _named(what: str, find: Callable[[str], Any], name: Any) -> Any:
    found = find(name) if isinstance(name, str) else None
    demand(found is not None, f"unknown {what} {str(name)[:60]!r}")
    return found
