"""Small pictures of graphs and series. Other kinds of data are described in words only."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from eocc.foundation.types import Matrix
from eocc.measures.labelled_graph import LabelledGraph
from eocc.report.markup import Markup, tag

SIZE, MARGIN = 150.0, 14.0
# Larger graphs and longer labels are unreadable.
MOST_VERTICES = 80
LONGEST_LABEL = 3
# The most steps of a series that are drawn; there are not more pixels.
MOST_STEPS = 300


def pictures_of(kind: str, patterns: Sequence[Any], words: Sequence[str]) -> list[Markup]:
    """Return a picture of each pattern, all to one scale; none if this kind of data has no pictures.

    >>> [picture] = pictures_of("graphs", [LabelledGraph(3, [[0, 1], [1, 2]])], ["a path"])
    >>> picture.count("<circle"), picture.count("<line")
    (3, 2)
    >>> pictures_of("strings", ["oak"], ["a word"])
    []
    """
    return PICTURES[kind](patterns, words) if kind in PICTURES else []


def graph_pictures(graphs: Sequence[LabelledGraph], words: Sequence[str]) -> list[Markup]:
    """Return graphs by the coordinates x and y of their vertices, or laid out by the steps from vertex to vertex."""
    if any(graph.n_vertices > MOST_VERTICES for graph in graphs):
        return []
    own = [_own_places(graph) for graph in graphs]
    if all(places is not None for places in own):
        placed = _fit([places for places in own if places is not None])
    else:
        placed = [_fit([_laid_out(graph)])[0] for graph in graphs]
    return [_graph(graph, places, text) for graph, places, text in zip(graphs, placed, words, strict=True)]


def _own_places(graph: LabelledGraph) -> Matrix | None:
    columns = [graph.vertex_attributes.get(name) for name in ("x", "y")]
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
    steps = shortest_path(csr_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False, unweighted=True)
    far = steps[np.isfinite(steps)].max() + 1  # unconnected parts are drawn one step apart
    squares = np.where(np.isfinite(steps), steps, far) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    places = np.zeros((n, 2))
    places[:, : min(n, 2)] = (vectors * np.sqrt(np.maximum(values, 0)))[:, ::-1][:, :2]
    return places


def _fit(clouds: Sequence[Matrix]) -> list[Matrix]:
    """Return points inside the picture's margins, all to the same scale."""
    everything = np.concatenate([cloud for cloud in clouds if len(cloud)] or [np.zeros((1, 2))])
    low, high = everything.min(axis=0), everything.max(axis=0)
    reach = float((high - low).max()) or 1.0
    return [SIZE / 2 + (cloud - (low + high) / 2) * (SIZE - 2 * MARGIN) / reach for cloud in clouds]


def _graph(graph: LabelledGraph, places: Matrix, words: str) -> Markup:
    labels = _labels(graph)
    lines = [
        tag("line", **{key: f"{value:.1f}" for key, value in zip(("x1", "y1", "x2", "y2"), ends, strict=True)})
        for ends in (np.concatenate([places[a], places[b]]) for a, b in np.asarray(graph.edges))
    ]
    radius = 8 if any(labels) else 4
    dots = [tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r=radius) for x, y in places]
    texts = [
        tag("text", label, x=f"{x:.1f}", y=f"{y:.1f}", dy="0.35em", text_anchor="middle")
        for label, (x, y) in zip(labels, places, strict=True)
        if label
    ]
    return _picture([*lines, *dots, *texts], words)


def _labels(graph: LabelledGraph) -> list[str]:
    """Return the first attribute whose values are short words, for each vertex."""
    for values in graph.vertex_attributes.values():
        words = [value.strip() if isinstance(value, str) else "" for value in values]
        if any(words) and max(map(len, words)) <= LONGEST_LABEL:
            return words
    return [""] * graph.n_vertices


def series_pictures(series: Sequence[Matrix], words: Sequence[str]) -> list[Markup]:
    """Return series as lines, one per channel, on the same axes."""
    low, high = min(float(one.min()) for one in series), max(float(one.max()) for one in series)
    longest, room = max(len(one) for one in series), SIZE - 2 * MARGIN
    reach, pictures = (high - low) or 1.0, []
    for one, text in zip(series, words, strict=True):
        kept = np.unique(np.linspace(0, len(one) - 1, min(len(one), MOST_STEPS)).astype(int))
        x = MARGIN + room * kept / max(longest - 1, 1)
        lines = []
        for channel in range(one.shape[1]):
            y = MARGIN + room * (high - one[kept, channel]) / reach
            path = "M" + "L".join(f"{across:.1f} {down:.1f}" for across, down in zip(x, y, strict=True))
            lines.append(tag("path", d=path, class_=f"curve look-{channel % 5}"))
        pictures.append(_picture(lines, text))
    return pictures


def _picture(parts: Sequence[Markup], words: str) -> Markup:
    drawn = tag("svg", *parts, viewBox=f"0 0 {SIZE:g} {SIZE:g}", role="img", aria_label=f"Picture of {words}")
    return tag("figure", drawn, tag("figcaption", words), class_="picture")


PICTURES: dict[str, Callable[[Sequence[Any], Sequence[str]], list[Markup]]] = {
    "graphs": graph_pictures,
    "series": series_pictures,
}
