"""Named choices: look one up, or list the known names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any, TypeVar

from eocc.base.checks import Check, Sizes
from eocc.base.vocabulary import completed

Choice = TypeVar("Choice")

# How many things people are shown: the main ones in a sentence, the first of a list, the lines of a table.
FEW, SOME, MANY = 3, 8, 60


class Registry(Mapping[str, Any]):
    """Named choices of a package, each "module.attribute" below it, imported when it is first used."""

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package = package
        self._places = dict(places)

    def __getitem__(self, name: str) -> Any:
        return _load(self._package, self._places[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def exports(self, *more: str) -> tuple[Callable[[str], Any], list[str]]:
        """Return __getattr__ and __all__ of the package: all choices, and `more` "module.attribute" names."""
        places = {place.rpartition(".")[2]: place for place in (*self._places.values(), *more)}

        def load(name: str) -> Any:
            if name not in places:
                raise AttributeError(f"module {self._package!r} has no attribute {name!r}")
            return completed(_load(self._package, places[name]))

        return load, sorted(places)


def needed(module: str, otherwise: str) -> Any:
    """Return a module, or raise an error that says `otherwise`: what needs it, and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ModuleNotFoundError(otherwise, name=error.name) from error


@cache
def _load(package: str, place: str) -> Any:
    module, _, attribute = f"{package}.{place}".rpartition(".")
    return getattr(import_module(module), attribute)


def choose(kind: str, choices: Mapping[str, Choice], name: Any, otherwise: str = "") -> Choice:
    """Return choices[name], or raise a ValueError that lists the known names; `otherwise` names another remedy.

    >>> choose("extent", {"mean": 1, "max": 2}, "maen")
    Traceback (most recent call last):
    ...
    ValueError: unknown extent 'maen'; known: 'max', 'mean'. Did you mean 'mean'?
    """
    if isinstance(name, str) and name in choices:
        return choices[name]
    known = ", ".join(map(repr, sorted(choices)))
    close = get_close_matches(str(name), choices, n=1)
    hint = f". Did you mean {close[0]!r}?" if close else f"; or {otherwise}" if otherwise else ""
    raise ValueError(f"unknown {kind} {name!r}; known: {known}{hint}")


def choice(names: Iterable[str], *methods: str) -> Check:
    """Accept one of the names, or an object with one of the `methods`; "__call__" means any function."""
    known = dict.fromkeys(names)

    def rule(name: str, value: Any, sizes: Sizes) -> None:
        if isinstance(value, str) or not methods:
            choose(name, known, value)
        elif isinstance(value, type):
            raise ValueError(f"{name} must be an object, not a class: write {value.__name__}()")
        elif not any(callable(getattr(value, method, None)) for method in methods):
            accepted = ["a function" if one == "__call__" else f"an object with a method {one!r}" for one in methods]
            choose(name, known, value, f"pass {' or '.join(accepted)}")

    return Check(rule=rule, names=tuple(known), words=tuple(known))


def resolve(kind: str, choices: Mapping[str, Any], value: Any, method: str) -> Any:
    """Return `value` itself if it has that method, otherwise a new object of that name; functions are not called."""
    if isinstance(value, str) and value in choices:
        return choices[value] if method == "__call__" else choices[value]()
    if isinstance(value, str | type) or not callable(getattr(value, method, None)):
        choice(choices, method)(kind, value)  # raises the error
    return value


def listed(names: Iterable[str], most: int = SOME, separator: str = ", ") -> str:
    """Return the first few names and the number of the others.

    >>> listed("abc"), listed(f"x{k}" for k in range(11))
    ('a, b, c', 'x0, x1, x2, x3, x4, x5, x6, x7 and 3 more')
    """
    known = list(names)
    more = len(known) - most
    return separator.join(known[:most]) + (f" and {more} more" if more > 0 else "")
