"""Find a function in a source file."""

import ast
from pathlib import Path
from typing import Any


def line_of(path: Path, name: str) -> int:
    """Return the line on which a function, or a method "Class.method", begins."""
    body: list[Any] = ast.parse(path.read_text()).body
    for part in name.split("."):
        found = next(node for node in body if getattr(node, "name", None) == part)
        body = getattr(found, "body", [])
    return int(found.lineno)
