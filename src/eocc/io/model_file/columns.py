"""A list of patterns as few arrays: numbers side by side, arrays end to end, objects of one class field by field."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.io.model_file.arrays import descr_of
from eocc.io.model_file.catalogue import fields_of, is_stored, make, name_of
from eocc.io.model_file.plain import UnwritableError

# Dictionaries are stored key by key if they have, on average, at least this share of all keys.
DENSE = 0.5
# No real model nests deeper, and a recursive reader must stop somewhere.
DEEPEST = 60


def column_to_json(encoder: Any, values: list[Any], place: str, depth: int) -> Any:
    """Return a list of values as JSON, with the arrays in the encoder.

    >>> from eocc.io.model_file.codec import Encoder
    >>> encoder = Encoder()
    >>> column_to_json(encoder, [[1.5, 2.5], [3.5]], "x", 0)
    {'lists': {'values': {'array': 'x.values'}, 'lengths': {'array': 'x.lengths'}}}
    >>> encoder.arrays["x.values"], encoder.arrays["x.lengths"]
    (array([1.5, 2.5, 3.5]), array([2, 1]))
    """
    if depth > DEEPEST:
        raise UnwritableError(f"values nested deeper than {DEEPEST} cannot be written to a model file")
    if (numbers := _as_numbers(values)) is not None:
        return encoder.array(numbers, place)
    kinds = set(map(type, values))
    kind = kinds.pop() if len(kinds) == 1 else None
    if kind is list or (kind is np.ndarray and _can_be_joined(values)):
        lengths = encoder.array(np.array([len(value) for value in values], np.int64), f"{place}.lengths")
        joined: Any = [item for value in values for item in value] if kind is list else np.concatenate(values)
        write = column_to_json if kind is list else type(encoder).value
        parts = {"values": write(encoder, joined, f"{place}.values", depth + 1), "lengths": lengths}
        return {"lists" if kind is list else "arrays": parts}
    if kind is dict and (keys := _shared_keys(values)):
        return {"dicts": {"count": len(values), "entries": _entries(encoder, values, keys, place, depth)}}
    if kind is not None and is_stored(kind) and fields_of(kind):
        parts = {name: [getattr(value, name) for value in values] for name in fields_of(kind)}
        columns = {name: column_to_json(encoder, part, f"{place}.{name}", depth + 1) for name, part in parts.items()}
        return {"objects": [name_of(kind), columns]}
    return encoder.items(values, place, depth)


def _as_numbers(values: list[Any]) -> NDArray[Any] | None:
    """Return numbers or booleans of one type as an array."""
    kinds = set(map(type, values))
    if kinds and kinds <= {float, np.float64}:
        return np.array(values, np.float64)
    if kinds == {bool}:
        return np.array(values)
    if kinds == {int} and all(-(2**63) <= value < 2**63 for value in values):
        return np.array(values, np.int64)
    return None


def _can_be_joined(arrays: list[NDArray[Any]]) -> bool:
    are_plain = all(array.ndim > 0 and descr_of(array) for array in arrays)
    return are_plain and len({(array.dtype, array.shape[1:]) for array in arrays}) == 1


def _shared_keys(values: list[dict[Any, Any]]) -> list[Any]:
    """Return all keys, if most dictionaries have most of them."""
    keys = list(dict.fromkeys(key for value in values for key in value))
    return keys if sum(map(len, values)) >= DENSE * len(keys) * len(values) else []


def _entries(encoder: Any, values: list[dict[Any, Any]], keys: list[Any], place: str, depth: int) -> list[Any]:
    """Return for each key: the key, which dictionaries have it, and their values."""
    entries = []
    for i, key in enumerate(keys):
        present = np.array([key in value for value in values])
        column = column_to_json(encoder, [value[key] for value in values if key in value], f"{place}.{i}", depth + 1)
        name = encoder.value(key, f"{place}.{i}.key", depth + 1)
        entries.append([name, encoder.array(present, f"{place}.{i}.present"), column])
    return entries


def column_from_json(decoder: Any, document: Any, depth: int) -> list[Any]:
    """Return the list of values, or raise a ValueError for JSON that `column_to_json` would not write."""
    if isinstance(document, list):
        return list(decoder.items(document, depth))
    if not isinstance(document, dict) or len(document) != 1:
        raise ValueError("a column must be a list or an object with one key")
    ((tag, content),) = document.items()
    if tag not in COLUMNS:
        raise ValueError(f"unknown kind of column {tag[:40]!r}")
    if depth > DEEPEST:
        raise ValueError(f"columns are nested deeper than {DEEPEST}")
    return COLUMNS[tag](decoder, content, depth + 1)


def _numbers(decoder: Any, name: Any, depth: int) -> list[Any]:
    numbers = decoder.array(name)
    if numbers.ndim != 1:
        raise ValueError("a column of numbers must have one dimension")
    return list(numbers.tolist())


def _arrays(decoder: Any, content: Any, depth: int) -> list[Any]:
    values = decoder.decode(content["values"], depth)
    if type(values) is not np.ndarray or values.ndim == 0:
        raise ValueError("arrays end to end must be one array")
    return _split(values, decoder.decode(content["lengths"], depth))


def _lists(decoder: Any, content: Any, depth: int) -> list[Any]:
    return _split(column_from_json(decoder, content["values"], depth), decoder.decode(content["lengths"], depth))


def _split(values: Any, lengths: Any) -> list[Any]:
    if type(lengths) is not np.ndarray or lengths.dtype != np.int64 or lengths.ndim != 1 or (lengths < 0).any():
        raise ValueError("lengths must be integers >= 0")
    # Each length is compared first: the sum of large ones could overflow to a small number.
    if (lengths > len(values)).any() or int(lengths.sum()) != len(values):
        raise ValueError(f"{len(values)} values cannot be split into pieces of the lengths given")
    stops = np.cumsum(lengths)
    return [values[start:stop] for start, stop in zip((stops - lengths).tolist(), stops.tolist(), strict=True)]


def _dicts(decoder: Any, content: Any, depth: int) -> list[Any]:
    count, parts = content["count"], []
    for key, flags, column in content["entries"]:
        present = decoder.decode(flags, depth)
        if type(present) is not np.ndarray or present.dtype != bool or present.shape != (count,):
            raise ValueError("each key must say which dictionaries have it")
        values = column_from_json(decoder, column, depth)
        parts.append((decoder.decode(key, depth), np.flatnonzero(present).tolist(), values))
    if not parts:
        raise ValueError("dictionaries stored key by key must have a key")
    dicts: list[dict[Any, Any]] = [{} for _ in range(count)]
    for key, owners, values in parts:
        for owner, value in zip(owners, values, strict=True):
            dicts[owner][key] = value
    return dicts


def _objects(decoder: Any, content: Any, depth: int) -> list[Any]:
    name, parts = content
    kind = decoder.class_of(name, parts)
    columns = {field: column_from_json(decoder, part, depth) for field, part in parts.items()}
    if not columns:
        raise ValueError(f"{name} has no fields to store by column")
    return [make(kind, dict(zip(columns, row, strict=True))) for row in zip(*columns.values(), strict=True)]


COLUMNS = {"array": _numbers, "arrays": _arrays, "dicts": _dicts, "lists": _lists, "objects": _objects}
