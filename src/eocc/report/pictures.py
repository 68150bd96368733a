"""Pictures on the page: a row next to the training row it is compared with, and the charts of eocc.plots, as SVG."""

import io
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from eocc.base.markup import Markup, joined, tag
from eocc.base.registry import FEW, MANY
from eocc.base.types import Matrix
from eocc.classifiers.base import OneClassClassifier
from eocc.measures.difference import Difference
from eocc.measures.labelled_graph import LabelledGraph
from eocc.plots import drawing

SIZE, MARGIN = 150.0, 14.0
# Attributes that place a vertex: by name, or as the first two numbers of networkx's usual attribute.
COORDINATES = (("x", "y"), ("pos[0]", "pos[1]"))
# The width of a drawing of series.
WIDE = 440.0
# Edits of a graph are marked if they make at least this share of the difference.
MAIN = 0.05
# The colours of eocc.plots -> those of style.css. Black is what matplotlib draws axes and texts in.
COLOURS = {drawing.INK: "ink", drawing.BORDER: "ink", drawing.FAINT: "muted", "#000000": "ink", "#ffffff": "paper"}
COLOURS |= {drawing.NORMAL: "good", drawing.OTHER: "bad"}
COLOURS |= {colour: f"r{k}" for k, colour in enumerate(drawing.REGIONS)}
COLOURS = {colour: f"var(--{name})" for colour, name in COLOURS.items()}


def picture_of(
    classifier: OneClassClassifier, pair: Sequence[Any], difference: Difference, words: Sequence[str]
) -> Markup:
    """Return a row and the training row it is compared with as a picture; nothing if such data have no picture."""
    kind, parts = classifier.measure_.kind_of_data(classifier.prototypes_), difference.contributions
    least = 0.0 if kind == "strings" else MAIN * difference.dissimilarity
    edits = [one.details for one in parts if one.amount >= least]
    if kind == "graphs":
        return _graphs(pair, classifier.measure_, edits, words)
    if kind == "series":
        return _series(pair, edits, words)
    return _alignment(pair, edits, words) if kind == "strings" else Markup()


def _graphs(pair: Sequence[LabelledGraph], measure: Any, edits: Sequence[Any], words: Sequence[str]) -> Markup:
    """Return both graphs by the coordinates of their vertices, or laid out by the steps from vertex to vertex."""
    if any(graph.n_vertices > 80 for graph in pair):  # unreadable
        return Markup()
    own = [places for places in map(_own_places, pair) if places is not None]
    placed = _fit(own) if len(own) == len(pair) else [_fit([_laid_out(graph)])[0] for graph in pair]
    # Edits turn the smaller graph into the larger one, or the row into the training row if both have one size.
    ends = ("to", "from") if pair[1].n_vertices < pair[0].n_vertices else ("from", "to")
    drawn = []
    for graph, at, end, text in zip(pair, placed, ends, words, strict=True):
        edited = [tuple(edit[end]) if isinstance(edit[end], list) else edit[end] for edit in edits if "what" in edit]
        parts = _draw_graph(graph, measure.vertex_labels(graph), at, set(map(str, edited)))
        drawn.append(_figure(parts, text, SIZE))
    note = tag("p", f"Marked: the edits that make at least {MAIN:.0%} of the difference.", class_="note")
    return tag("div", *drawn, note, class_="pictures")


def _figure(parts: Sequence[Markup], words: str, width: float) -> Markup:
    box = {"viewBox": f"0 0 {width:g} {SIZE:g}", "role": "img", "aria_label": f"Picture of {words}"}
    return tag("figure", tag("svg", *parts, **box), tag("figcaption", words), class_="picture")


def _own_places(graph: LabelledGraph) -> Matrix | None:
    pair = next((pair for pair in COORDINATES if all(name in graph.vertex_attributes for name in pair)), ())
    columns = [graph.vertex_attributes[name] for name in pair]
    try:
        places = np.array(columns, dtype=np.float64).T
    except (TypeError, ValueError):
        return None
    known = places.ndim == 2 and bool(np.isfinite(places).all())
    return places * [1, -1] if known else None  # y grows upwards, on a page downwards


def _laid_out(graph: LabelledGraph) -> Matrix:
    """Return the plane in which distances are nearest to the numbers of steps (classical scaling)."""
    n, edges = graph.n_vertices, np.asarray(graph.edges)
    if n == 0:
        return np.empty((0, 2))
    links = csr_array((np.ones(len(edges)), edges.T.astype(np.int32)), shape=(n, n))  # older scipy takes no others
    steps = shortest_path(links, directed=False, unweighted=True)
    far = steps[np.isfinite(steps)].max() + 1  # unconnected parts are drawn one step apart
    squares = np.where(np.isfinite(steps), steps, far) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places = np.zeros((n, 2))
    places[:, : min(n, 2)] = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :2]
    return places


def _fit(clouds: Sequence[Matrix]) -> list[Matrix]:
    everything = np.concatenate([cloud for cloud in clouds if len(cloud)] or [np.zeros((1, 2))])
    low, high = everything.min(axis=0), everything.max(axis=0)
    reach = float((high - low).max()) or 1.0
    return [SIZE / 2 + (cloud - (low + high) / 2) * (SIZE - 2 * MARGIN) / reach for cloud in clouds]


def _draw_graph(graph: LabelledGraph, labels: Sequence[str], places: Matrix, edited: Collection[str]) -> list[Markup]:
    """Return lines and circles, with the labels in them if all are short; pointing at a circle shows what it is."""
    at = [(f"{x:.1f}", f"{y:.1f}") for x, y in places]
    are_short = any(labels) and max(map(len, labels)) <= FEW
    called = [graph.called(vertex) for vertex in range(len(labels))]
    lines, circles, texts = [], [], []
    for a, b in np.asarray(graph.edges).tolist():
        ends = {str((called[a], called[b])), str((called[b], called[a]))}
        look = "edited" if ends & set(edited) else None
        lines.append(tag("line", x1=at[a][0], y1=at[a][1], x2=at[b][0], y2=at[b][1], class_=look))
    for name, label, (x, y) in zip(called, labels, at, strict=True):
        title = f"{name} ({label})" if label not in ("", str(name)) else name
        look = "edited" if str(name) in edited else None
        circles.append(tag("circle", tag("title", title), cx=x, cy=y, r=8 if are_short else 4, class_=look))
        texts += [tag("text", label, x=x, y=y, dy="0.35em", text_anchor="middle")] if label and are_short else []
    return [*lines, *circles, *texts]


def _series(pair: Sequence[Matrix], edits: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Markup:
    """Return both series on the same axes, one panel per channel, and a band behind the stretch that differs most."""
    longest, drawn = max(map(len, pair)), []
    most = max(edits, key=lambda edit: edit["mean_gap"], default=None)
    for channel in range(min(pair[0].shape[1], 3)):
        lines = [one[:, channel] for one in pair]
        low, high = min(float(line.min()) for line in lines), max(float(line.max()) for line in lines)
        parts = []
        if most is not None:
            first, last = (MARGIN + (WIDE - 2 * MARGIN) * k / max(longest - 1, 1) for k in most["steps"])
            band = {"x": f"{first - 2:.1f}", "width": f"{last - first + 4:.1f}", "y": 0, "height": f"{SIZE:g}"}
            parts.append(tag("rect", **band, class_="band"))
        for line, look in reversed(list(zip(lines, ("row", "other"), strict=True))):
            kept = np.unique(np.linspace(0, len(line) - 1, min(len(line), 300)).astype(int))  # no more pixels
            x = MARGIN + (WIDE - 2 * MARGIN) * kept / max(longest - 1, 1)
            y = MARGIN + (SIZE - 2 * MARGIN) * (high - line[kept]) / ((high - low) or 1.0)
            path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
            parts.append(tag("path", d=path, class_=look))
        text = f"{words[0]} (solid) and {words[1]} (dashed)"
        text += f", channel {channel}" if pair[0].shape[1] > 1 else ""
        text += f"; shaded: steps {most['steps'][0]} to {most['steps'][1]}, which differ most" if most else ""
        drawn.append(_figure(parts, text, WIDE))
    return tag("div", *drawn, class_="pictures wide")


def _alignment(pair: Sequence[Any], edits: Sequence[Mapping[str, Any]], words: Sequence[str]) -> Markup:
    """Return two strings below each other, symbol by symbol, with gaps where one has no counterpart; edits marked."""
    if max(map(len, pair)) > 600 or not all("positions" in edit for edit in edits):
        return Markup()
    gone, added, changed = (
        {place for edit in edits if edit["operation"] == kind for place in edit[key]}
        for kind, key in (("delete", "positions"), ("insert", "prototype_positions"), ("substitute", "positions"))
    )
    above, below, edited, i, j = [], [], [], 0, 0
    while i < len(pair[0]) or j < len(pair[1]):
        takes, gives = i in gone, j in added and i not in gone
        edited.append(takes or gives or i in changed)
        above.append("\N{MIDDLE DOT}" if gives else str(pair[0][i]))
        below.append("\N{MIDDLE DOT}" if takes else str(pair[1][j]))
        i, j = i + (not gives), j + (not takes)
    lines = []
    for start in range(0, len(edited), MANY):
        for symbols in (above, below):
            cells = zip(symbols[start : start + MANY], edited[start : start + MANY], strict=True)
            lines.append(joined(tag("mark", symbol) if is_edit else symbol for symbol, is_edit in cells))
        lines.append(Markup())
    note = f"Above: {words[0]}. Below: {words[1]}. Marked: what has to be edited."
    return joined([tag("pre", joined(lines[:-1], "\n"), class_="aligned"), tag("p", note, class_="note")])


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

    def attributes(style: re.Match[str]) -> str:
        pairs = (part.split(": ", 1) for part in style[1].split("; "))
        return " ".join(f'{key}="{COLOURS.get(value.lower(), value)}"' for key, value in pairs if key != "font-family")

    svg = re.sub(r"<style.*?</style>|<defs>\s*</defs>", "", svg, flags=re.DOTALL)
    svg = re.sub('<g id="[^"]*"', "<g", svg)
    svg = re.sub('style="([^"]*)"', attributes, svg)
    return re.sub("<[^>]*>", lambda found: re.sub(r"(\d\.\d)\d+", r"\1", found[0]), re.sub(r"\s*\n\s*", " ", svg))
