"""Everything a study found, on one HTML page that needs nothing else."""

import base64
import html
import io
import re
from collections.abc import Sequence
from typing import Any

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --paper: #ffffff; --line: #c5ced8; --shade: #f2f5f8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e5e9ee; --paper: #14181d; --line: #46505c; --shade: #1e242b; }
  img { background: #ffffff; padding: 4px; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 100rem;
  margin: 2rem auto; padding: 0 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0 1.5rem; font-variant-numeric: tabular-nums; font-size: 0.85rem; }
th, td { border: 1px solid var(--line); padding: 0.2rem 0.4rem; text-align: left; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
thead th { background: var(--shade); }
img { max-width: 100%; }
"""


def heading(text: str, level: int = 2) -> str:
    """Return a heading.

    >>> heading("a < b")
    '<h2>a &lt; b</h2>'
    """
    return f"<h{level}>{html.escape(text)}</h{level}>"


def paragraph(text: str) -> str:
    """Return a paragraph."""
    return f"<p>{html.escape(text)}</p>"


def table(rows: Sequence[Sequence[str]], caption: str = "") -> str:
    """Return a table whose first row is its head; **bold** stays bold."""
    head, *body = [[_bold(html.escape(cell)) for cell in row] for row in rows]
    said = f"<caption>{html.escape(caption)}</caption>" if caption else ""
    first = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    lines = "\n".join(
        "<tr>" + f'<th scope="row">{row[0]}</th>' + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>"
        for row in body
    )
    return f'<div class="scroll"><table>{said}<thead><tr>{first}</tr></thead><tbody>{lines}</tbody></table></div>'


def picture(figure: Any, words: str) -> str:
    """Return a matplotlib figure as part of the page; `words` are for those who cannot see it."""
    data = io.BytesIO()
    figure.savefig(data, dpi=110, format="png")
    encoded = base64.b64encode(data.getvalue()).decode()
    return f'<p><img alt="{html.escape(words)}" src="data:image/png;base64,{encoded}"></p>'


def page(title: str, parts: Sequence[str]) -> str:
    """Return the whole page."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head>\n'
        f"<body><main>{heading(title, 1)}\n" + "\n".join(parts) + "\n</main></body></html>\n"
    )


def _bold(text: str) -> str:
    return re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
