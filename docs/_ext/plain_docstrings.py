"""Docstrings of this package are plain text: bars and names that end in an underscore are no markup in them."""

import re
from typing import Any

from sphinx.application import Sphinx

NAME = re.compile(r"(?<![\w*`:.])(\w*[a-z]_)(?![\w*`])")
PAGE = re.compile(r"docs/([\w/]+)\.md")


def escape_bars(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape bars, as in |A and B|, outside of examples."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[k] = line.replace("|", "\\|")


def quote_names(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Show names of attributes, as in offset_, as code, and files of docs/ as links."""
    for k, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...", ".. ", ":")):
            lines[k] = PAGE.sub(r":doc:`/\1`", NAME.sub(r"``\1``", line))


def setup(app: Sphinx) -> dict[str, Any]:
    """Escape bars before numpydoc reads the sections, and quote names after it."""
    app.connect("autodoc-process-docstring", escape_bars, priority=400)
    app.connect("autodoc-process-docstring", quote_names, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
