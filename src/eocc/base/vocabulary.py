"""Docstrings of public names, completed by what their parameters and fields mean: vocabulary.txt says it once."""

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

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


def completed(thing: Any) -> Any:
    """Return a public class or function whose docstring says what its parameters mean and what it returns."""
    doc = inspect.getdoc(thing) or ""
    if not callable(thing) or not doc:
        return thing
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return thing
    known, sections = _meanings(), []
    found = [(name, one, known.get(f"{thing.__name__}.{name}") or known.get(name))
             for name, one in signature.parameters.items()]  # fmt: skip
    lines = [f"{name} : {_kind(one)}\n    {meaning}" for name, one, meaning in found if meaning]
    if lines and not re.search(r"^(Parameters|Attributes)\n-", doc, re.MULTILINE):
        sections.append("\n".join(["Parameters\n----------", *lines]))
    returned = None if isinstance(thing, type) else signature.return_annotation
    if returned is not None and not re.search(r"^(Returns|Yields)\n-", doc, re.MULTILINE):
        sections.append(f"Returns\n-------\n{_text(returned)}\n    {_returned(thing, doc)}")
    if sections:
        text, _, example = doc.partition("\n\n>>>")
        parts = [text, *sections, *(["Examples\n--------\n>>>" + example] if example else [])]
        thing.__doc__ = "\n\n".join(part.strip() for part in parts) + "\n"
    return thing


def _returned(thing: Any, doc: str) -> str:
    """Return what a function returns: the first sentence of a docstring that says so; a picture returns its axes."""
    first = re.split(r"(?<=\.)\s|\n\n", doc)[0].replace("\n", " ")
    if not first.startswith("Return "):
        return next((text for start, text in RETURNED.items() if thing.__name__.startswith(start)), "")
    return first[7].upper() + first[8:]


def _kind(parameter: inspect.Parameter) -> str:
    """Return the type of a parameter in words, and its default."""
    default = parameter.default
    shown = "" if default is parameter.empty or "factory" in repr(default) else f", default {default!r}"
    return _text(parameter.annotation) + (shown if len(shown) < 30 else ", optional")


def _text(annotation: Any) -> str:
    """Return a type as text, without the modules of its names."""
    if get_origin(annotation) is Annotated:
        return _text(get_args(annotation)[0])
    if annotation is inspect.Parameter.empty or annotation is Any:
        return "object"
    text = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    return "array" if "numpy" in text or "_Buffer" in text else re.sub(r"~|\b(?:\w+\.)+", "", text)
