"""Docstrings of public names, completed by what their parameters and fields mean: vocabulary.txt says it once."""

import inspect
import re
import textwrap
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

# The types of parameters name at most this many texts to choose from.
FEW = 6
# What functions return whose docstring begins with what they do, by the beginning of their names.
RETURNED = {
    "plot": "The axes.",
    "make_": "Training, validation and test rows.",
    "fit_stream": "The fitted classifier.",
    "score_stream": "Counts of the rows, and their drift.",
    "generations": "The state after each generation.",
    "on": "The client.",
    "write_": "The name of the file.",
}


@cache
def _meanings() -> dict[str, str]:
    lines = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines()
    return {name: meaning for name, is_one, meaning in (line.partition(": ") for line in lines) if is_one}


def meaning(name: str, *owners: str) -> str:
    """Return what a name means, as a parameter of the first owner that says it, or everywhere; "" if it is unknown."""
    known = _meanings()
    return next((known[one] for one in (*(f"{owner}.{name}" for owner in owners), name) if one in known), "")


@cache
def completed(thing: Any) -> Any:
    """Return a public class or function whose docstring says what its parameters mean and what it returns.

    Those of a classifier are its `_parameters`.
    """
    doc = inspect.getdoc(thing) or ""
    if not callable(thing) or not doc:
        return thing
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return thing
    own, lines, sections = {one.name: one for one in getattr(thing, "_parameters", ())}, [], []
    for name, one in signature.parameters.items():
        if text := own[name].help if name in own else meaning(name, thing.__name__):
            lines.append(f"{name} : {_kind(one, own[name].kind.names if name in own else ())}")
            lines.append(textwrap.fill(text, 110, initial_indent="    ", subsequent_indent="    "))
    if lines and (own or not re.search(r"^(Parameters|Attributes)\n-", doc, re.MULTILINE)):
        sections.append("\n".join(["Parameters\n----------", *lines]))
    returned = None if isinstance(thing, type) else signature.return_annotation
    if returned is not None and not re.search(r"^(Returns|Yields)\n-", doc, re.MULTILINE):
        sections.append(f"Returns\n-------\n{_text(returned)}\n    {_returned(thing, doc)}")
    if sections:
        text, *rest = re.split(r"\n\n(?=>>>|Attributes\n-|Examples\n-)", doc, maxsplit=1)
        if rest and rest[0].startswith(">>>"):
            rest[0] = "Examples\n--------\n" + rest[0]
        thing.__doc__ = "\n\n".join(part.strip() for part in (text, *sections, *rest)) + "\n"
    return thing


def _returned(thing: Any, doc: str) -> str:
    """Return what a function returns: the first sentence of a docstring that says so; a picture returns its axes."""
    first = re.split(r"(?<=\.)\s|\n\n", doc)[0].replace("\n", " ")
    if not first.startswith("Return "):
        return next((text for start, text in RETURNED.items() if thing.__name__.startswith(start)), "")
    return first[7].upper() + first[8:]


def _kind(parameter: inspect.Parameter, names: Sequence[str]) -> str:
    """Return the type of a parameter in words, and its default; the few `names` to choose from stand for texts."""
    default, kind = parameter.default, _text(parameter.annotation)
    shown = "" if default is parameter.empty or "factory" in repr(default) else f", default {default!r}"
    if 0 < len(names) <= FEW:
        known = f"{{{', '.join(map(repr, names))}}}"
        kind = kind.replace("str", known, 1) if "str" in kind else f"{known} | Callable"
    return kind + (shown if len(shown) < 30 else ", optional")


def _text(annotation: Any) -> str:
    """Return a type as text, without the modules of its names."""
    if get_origin(annotation) is Annotated:
        return _text(get_args(annotation)[0])
    if annotation is inspect.Parameter.empty or annotation is Any:
        return "object"
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return "array" if "numpy" in text or "_Buffer" in text else re.sub(r"~|\b(?:\w+\.)+", "", text)
