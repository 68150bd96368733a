"""Objects <-> their values by name, as a model file holds them. A class declares what it stores in its fields.

Each field is checked by its type, or by the check in `Annotated[type, check]`. A field `Unstored[type]` is not stored:
whoever reads the object passes it. A method `check_parts(sizes)` may demand how fields fit together.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from eocc.base import checks
from eocc.base.checks import LARGEST_INTEGER, Check, Sizes, demand, hashable, instance, integer

Kind = TypeVar("Kind")
NOT_STORED = "not stored"
Unstored = Annotated[Kind, NOT_STORED]


def _declared(kind: Any) -> dict[str, Check]:
    """Return the stored fields of a class, each with its check."""
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else getattr(kind, "_fields", ())
    hints = get_type_hints(kind, include_extras=True)
    return {name: _check_of(hints[name]) for name in names if NOT_STORED not in get_args(hints[name])}


def _check_of(hint: Any) -> Check:
    """Return the check that a type means."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        return next(one for one in parts if isinstance(one, Check))
    if NoneType in parts:
        rest = [part for part in parts if part is not NoneType]
        return checks.optional(_check_of(rest[0]) if len(rest) == 1 else instance(*rest))
    if kind is tuple:
        return checks.tuple_of(_check_of(parts[0]))
    if kind in (dict, Mapping):
        return checks.mapping(_check_of(parts[0]), _check_of(parts[1]))
    simple = {float: checks.real(), int: integer(-LARGEST_INTEGER, LARGEST_INTEGER), Any: hashable, Hashable: hashable}
    if hint in simple:
        return simple[hint]
    return instance(*parts) if parts else instance(hint)


def _groups_of(kind: Any) -> dict[str, type]:
    """Return the fields that are objects with stored fields themselves."""
    hints = get_type_hints(kind).items()
    parts = {name: [one for one in get_args(hint) or (hint,) if one is not NoneType] for name, hint in hints}
    return {name: one[0] for name, one in parts.items() if len(one) == 1 and (
        is_dataclass(one[0]) or hasattr(one[0], "_fields"))}  # fmt: skip


# Typed, because the cache takes classes for values without a hash.
declared: Callable[[Any], dict[str, Check]] = cache(_declared)
_groups: Callable[[Any], dict[str, type]] = cache(_groups_of)


def check_keys(name: str, value: Any, keys: Any) -> None:
    """Demand a dictionary with exactly these keys."""
    demand(type(value) is dict and set(value) == set(keys), f"{name} must hold exactly {', '.join(keys)}")


def check_values(state: Mapping[str, Any], layout: Mapping[str, Check], sizes: Sizes, group: str = "") -> None:
    """Demand that values are as the layout says."""
    for name, check in layout.items():
        check(f"{group}.{name}" if group else name, state[name], sizes)


class Checked:
    """A dataclass of settings, whose fields must be as it declares."""

    def __post_init__(self) -> None:
        check_values(vars(self), declared(type(self)), {})


def written(thing: Any) -> Any:
    """Return an object with stored fields as a dictionary of them; None remains None."""
    if not is_dataclass(thing) and not hasattr(thing, "_fields"):
        return float(thing) if isinstance(thing, np.floating) else thing
    return {name: written(getattr(thing, name)) for name in declared(type(thing))}


def restored(kind: type[Kind], values: Any, name: str, sizes: Sizes | None = None, **given: Any) -> Kind:
    """Return the object with these stored fields, each checked, and the fields `given`.

    >>> from dataclasses import make_dataclass
    >>> from eocc.base.checks import numbers
    >>> Pair = make_dataclass("Pair", [("name", str), ("weights", Annotated[np.ndarray, numbers("u", "[0, 1]")])])
    >>> restored(Pair, {"name": "a", "weights": np.array([0.5, 2.0])}, "pair")
    Traceback (most recent call last):
    ...
    ValueError: pair.weights must lie in [0, 1]
    """
    layout, groups, sizes = declared(kind), _groups(kind), {} if sizes is None else sizes
    check_keys(name or kind.__name__, values, layout)
    found, prefix = dict(values), f"{name}." if name else ""
    for field in groups:
        if type(found.get(field)) is dict:
            found[field] = restored(groups[field], found[field], prefix + field, sizes)
    check_values(found, layout, sizes, name)
    made: Any = kind(**found, **given)
    if hasattr(made, "check_parts"):
        made.check_parts(sizes)
    return made  # type: ignore[no-any-return]


def stacked(things: Sequence[Any]) -> dict[str, Any]:
    """Return objects of doubles and arrays of these as a dictionary of arrays, with an entry per object."""
    return {name: np.array([getattr(one, name) for one in things]) for name in declared(type(things[0]))}
