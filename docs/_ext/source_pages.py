"""Pages that show the source files, and the role ``source`` that links to them.

{source}`eocc/classifiers/surprise.py` or {source}`eocc/classifiers/surprise.py SurpriseClassifier.fit`
"""

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from source_lines import line_of
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxRole

SOURCE = Path(__file__).parents[2] / "src"


class SourceRole(SphinxRole):
    """A link to a source file, or to a function in it."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """Return the link; a file or function that does not exist is a warning."""
        path, _, name = self.text.partition(" ")
        try:
            anchor = f"#L-{line_of(SOURCE / path, name)}" if name else ""
            if not (SOURCE / path).is_file():
                raise FileNotFoundError
        except (OSError, StopIteration):
            return [], [self.inliner.reporter.warning(f"no source: {self.text}", line=self.lineno)]
        up = "../" * self.env.docname.count("/")
        text = f"{name.rpartition('.')[2]}" if name else path.removeprefix("eocc/")
        link = nodes.reference(self.rawtext, "", nodes.literal(text, text), refuri=f"{up}source/{path}.html{anchor}")
        return [link], []


def pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield one page per source file."""
    style = HtmlFormatter(linenos="inline", lineanchors="L", anchorlinenos=True, wrapcode=True)
    for path in sorted((SOURCE / "eocc").rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        body = f"<h1>{name}</h1>\n" + highlight(path.read_text(), PythonLexer(), style)
        yield f"source/{name}", {"title": name, "body": body, "parents": []}, "page.html"


def link_of(domain: str, info: dict[str, Any]) -> str | None:
    """Return the address of an object's source, seen from the pages of the reference."""
    try:
        found: Any = sys.modules[info["module"]]
        for part in info["fullname"].split("."):
            found = getattr(found, part)
        found = inspect.unwrap(found)
        path = Path(inspect.getsourcefile(found) or "").relative_to(SOURCE).as_posix()
        return f"../../source/{path}.html#L-{inspect.getsourcelines(found)[1]}"
    except (KeyError, AttributeError, TypeError, ValueError, OSError):
        return None


def setup(app: Sphinx) -> dict[str, Any]:
    """Add pages, role and links."""
    app.setup_extension("sphinx.ext.linkcode")
    app.config.linkcode_resolve = link_of
    app.add_role("source", SourceRole())
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
