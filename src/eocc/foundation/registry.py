"""Named choices: look one up, or list the known names."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, TypeVar

from eocc.foundation.vocabulary import completed

Choice = TypeVar("Choice")

# The number of names that a message lists.
MOST_LISTED = 8


class Registry(Mapping[str, Any]):
    """Named choices of a package, each "module.attribute" below it, imported when it is first used."""

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package = package
        self._places = dict(places)

    def __getitem__(self, name: str) -> Any:
        return self._load(self._places[name])

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
            return completed(self._load(places[name]))

        return load, sorted(places)

    def _load(self, place: str) -> Any:
        module, _, attribute = f"{self._package}.{place}".rpartition(".")
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


def resolve(kind: str, choices: Mapping[str, Callable[[], Choice]], choice: Any, method: str) -> Choice:
    """Return `choice` itself if it is an object with that method, otherwise a new object of that name."""
    if isinstance(choice, type):
        raise ValueError(f"{kind} must be an object, not a class: write {choice.__name__}()")
    if callable(getattr(choice, method, None)):
        made: Choice = choice
        return made
    return choose(kind, choices, choice, otherwise=f"pass an object with a method {method!r}")()


def listed(names: Iterable[str], most: int = MOST_LISTED, separator: str = ", ") -> str:
    """Return the first few names and the number of the others.

    >>> listed("abc"), listed(f"x{k}" for k in range(11))
    ('a, b, c', 'x0, x1, x2, x3, x4, x5, x6, x7 and 3 more')
    """
    known = list(names)
    more = len(known) - most
    return separator.join(known[:most]) + (f" and {more} more" if more > 0 else "")
