"""HTML in which every string is escaped unless it is `Markup`."""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

Item = TypeVar("Item", bound=Any)
# A notebook shows this many items of a list.
MOST_SHOWN = 20
Rows = Sequence[Sequence[object]]
# Characters that HTML or UTF-8 cannot hold, and those that change the direction of text.
UNSHOWN = re.compile("[\0-\b\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
REPLACED = "\ufffd"


class Markup(str):
    """A string that is HTML already."""


class Shown(list[Item]):
    """A list that a notebook shows item by item."""

    def _repr_html_(self) -> str:
        items = [one._repr_html_() for one in self[:MOST_SHOWN]]
        more = len(self) - len(items)
        return "\n".join([*items, *([tag("p", f"and {more:,} more")] if more else [])])


def escaped(value: object) -> Markup:
    """Return a value as text of a page or of an attribute; HTML stays as it is."""
    return value if isinstance(value, Markup) else Markup(html.escape(UNSHOWN.sub(REPLACED, str(value))))


def tag(name: str, *children: object, **attributes: object) -> Markup:
    """Return an element. `class_` means class, `_` means `-`; None leaves an attribute out, True gives it no value."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{escaped(value)}"')
        for key, value in attributes.items()
        if value is not None
    )
    return Markup(f"<{name}{written}>{joined(children)}</{name}>")


def joined(parts: Iterable[object], separator: str = "") -> Markup:
    """Return parts in a row."""
    return Markup(separator.join(map(escaped, parts)))


def table(head: Sequence[object], rows: Rows, class_: str | None = None) -> Markup:
    """Return a table in a box that scrolls if it is too wide; the first cell of a row is its head."""
    # A box that scrolls can be reached with the keyboard, and has a label.
    label = f"Table: {', '.join(map(str, head))}"
    first = tag("tr", *(tag("th", cell, scope="col") for cell in head))
    body = [tag("tr", tag("th", row[0], scope="row"), *(tag("td", cell) for cell in row[1:])) for row in rows]
    whole = tag("table", tag("thead", first), tag("tbody", *body), class_=class_)
    return tag("div", whole, class_="scroll", tabindex="0", role="group", aria_label=label)


def facts(rows: Iterable[tuple[str, object]], class_: str = "facts") -> Markup:
    """Return names with their values."""
    return tag("dl", *(tag("div", tag("dt", name), tag("dd", value)) for name, value in rows), class_=class_)


def fold(title: str, *parts: object) -> Markup:
    """Return parts that are shown when their title is opened."""
    return tag("details", tag("summary", title), *parts)
