"""Named choices: look one up, or say which names there are."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TypeVar

Choice = TypeVar("Choice")


def choose(kind: str, choices: Mapping[str, Choice], name: str) -> Choice:
    """Return choices[name], or raise a ValueError that lists the known names.

    >>> choose("extent", {"mean": 1, "max": 2}, "maen")
    Traceback (most recent call last):
    ...
    ValueError: unknown extent 'maen'; known: 'max', 'mean'. Did you mean 'mean'?
    """
    if isinstance(name, str) and name in choices:
        return choices[name]
    known = ", ".join(map(repr, sorted(choices)))
    close = get_close_matches(str(name), choices, n=1)
    hint = f". Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"unknown {kind} {name!r}; known: {known}{hint}")
