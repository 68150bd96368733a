"""Settings and data -> a hash that identifies them."""

import functools
import hashlib
import types
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np


def identity_of(*things: Any) -> str:
    """Return a hash of data, settings, functions by their code (by name if written in C), and objects by attributes."""
    return hashlib.sha256(_described(things, ()).encode()).hexdigest()


def _described(thing: Any, around: tuple[int, ...]) -> str:
    """Return a text that is equal for equal objects in any process; `around` are the ids of the containers."""
    if thing is None or isinstance(thing, bool | int | float | complex | str | bytes | np.generic):
        return f"{type(thing).__name__} {thing!r}"
    if isinstance(thing, np.ndarray) and thing.dtype != object:
        return f"{thing.dtype} {thing.shape} {hashlib.sha256(np.ascontiguousarray(thing).data).hexdigest()}"
    if id(thing) in around:  # the object contains itself
        return f"level {around.index(id(thing))}"
    parts = [f"{name}={_described(part, (*around, id(thing)))}" for name, part in _parts(thing)]
    named = thing if hasattr(thing, "__qualname__") else type(thing)
    name = f"{getattr(named, '__module__', '')}.{named.__qualname__}"
    return f"{name}({', '.join(sorted(parts) if isinstance(thing, set | frozenset) else parts)})"


def _parts(thing: Any) -> list[tuple[str, Any]]:
    """Return the named parts of an object."""
    if isinstance(thing, Mapping):
        return sorted((_described(key, ()), value) for key, value in thing.items())
    if isinstance(thing, list | tuple | set | frozenset | np.ndarray):
        return [("", part) for part in (thing.ravel() if isinstance(thing, np.ndarray) else thing)]
    if isinstance(thing, types.FunctionType):
        cells = []
        for cell in thing.__closure__ or ():
            with suppress(ValueError):  # a function that is not yet defined
                cells.append(cell.cell_contents)
        return [("code", thing.__code__), ("defaults", (thing.__defaults__, thing.__kwdefaults__)), ("cells", cells)]
    if isinstance(thing, types.CodeType):
        return [("bytes", thing.co_code), ("names", thing.co_names), ("constants", thing.co_consts)]
    if isinstance(thing, types.MethodType):
        return [("function", thing.__func__), ("self", thing.__self__)]
    if isinstance(thing, functools.partial):
        return [("function", thing.func), ("arguments", thing.args), ("named", thing.keywords)]
    if isinstance(thing, type):
        return []
    if isinstance(thing, types.ModuleType):
        return [("name", thing.__name__)]
    if is_dataclass(thing):  # fields excluded from comparison are excluded here too
        return [(part.name, getattr(thing, part.name)) for part in fields(thing) if part.compare]
    return sorted(vars(thing).items()) if hasattr(thing, "__dict__") else []
