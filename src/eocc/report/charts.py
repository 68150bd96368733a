"""Charts of eocc.plots as SVG, in the colours of the page, light or dark."""

import io
import re
from collections.abc import Callable
from typing import Any

from eocc.base.markup import Markup, tag
from eocc.plots import drawing

# The colours of eocc.plots -> those of style.css. Black is what matplotlib draws axes and texts in.
COLOURS = {drawing.INK: "ink", drawing.BORDER: "ink", drawing.FAINT: "muted", "#000000": "ink", "#ffffff": "paper"}
COLOURS |= {drawing.NORMAL: "good", drawing.OTHER: "bad"}
COLOURS |= {colour: f"r{k}" for k, colour in enumerate(drawing.REGIONS)}
COLOURS = {colour: f"var(--{name})" for colour, name in COLOURS.items()}


def chart(name: str, words: str, draw: Callable[[Any], Any], height: float = 3.3) -> Markup:
    """Return what `draw(axes)` draws, with `words` as its caption; `name` is unique on the page.

    Without matplotlib the words alone are shown, and what to install.
    """
    try:
        figure = drawing.new_figure(5.6, height)
    except ModuleNotFoundError:
        return tag("figure", tag("figcaption", f"{words} This chart needs matplotlib: pip install matplotlib."))
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name, "font.size": 10}):
        axes = draw(figure.subplots())
        axes.set_title("")
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    drawn = text.getvalue()
    box = re.search('viewBox="(.*?)"', drawn)
    inside = drawn[drawn.index("</metadata>") + 11 : drawn.rindex("</svg>")]
    label = {"role": "img", "aria_label": words, "class_": "chart", "viewBox": box and box[1]}
    return tag("figure", tag("svg", Markup(_plain(inside)), **label), tag("figcaption", words))


def _plain(svg: str) -> str:
    """Return SVG without names of groups, and with attributes instead of styles, which the policy of the page forbids.

    Places are rounded to a tenth of a point.
    """
    svg = re.sub(r"<style.*?</style>|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub('<g id="[^"]*"', "<g", svg)
    svg = re.sub('style="([^"]*)"', lambda found: _attributes(found[1]), svg)
    return re.sub("<[^>]*>", lambda found: re.sub(r"(\d\.\d)\d+", r"\1", found[0]), re.sub(r"\s*\n\s*", " ", svg))


def _attributes(style: str) -> str:
    pairs = (part.split(": ", 1) for part in style.split("; "))
    return " ".join(f'{key}="{COLOURS.get(value.lower(), value)}"' for key, value in pairs if key != "font-family")
