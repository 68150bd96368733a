"""Small pictures of graphs and series. Other kinds of data are described in words only."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from eocc.classifiers.base import OneClassClassifier
from eocc.explain.fitted import schema_of
from eocc.foundation.types import Matrix
from eocc.measures.labelled_graph import LabelledGraph
from eocc.report.markup import Markup, tag

SIZE, MARGIN = 150.0, 14.0
# Larger graphs and longer labels are unreadable.
MOST_VERTICES = 80
LONGEST_LABEL = 3
# Attributes that place a vertex: by name, or as the first two numbers of networkx's usual attribute.
COORDINATES = (("x", "y"), ("pos[0]", "pos[1]"))
# The most steps of a series that are drawn; there are not more pixels.
MOST_STEPS = 300


def pictures_of(classifier: OneClassClassifier, patterns: Sequence[Any], words: Sequence[str]) -> list[Markup]:
    """Return a picture of each pattern, all to one scale; none if this kind of data has no pictures."""
    kind, measure = schema_of(classifier).kind, classifier.measure_
    drawn = _draw_graphs(patterns, measure) if kind == "graphs" else _draw_series(patterns) if kind == "series" else []
    box = {"viewBox": f"0 0 {SIZE:g} {SIZE:g}", "role": "img"}
    pictures = [
        (tag("svg", *parts, **box, aria_label=f"Picture of {text}"), tag("figcaption", text))
        for parts, text in zip(drawn, words, strict=bool(drawn))
    ]
    return [tag("figure", *picture, class_="picture") for picture in pictures]


def _draw_graphs(graphs: Sequence[LabelledGraph], measure: Any) -> list[list[Markup]]:
    """Return graphs by the coordinates x and y of their vertices, or laid out by the steps from vertex to vertex."""
    if any(graph.n_vertices > MOST_VERTICES for graph in graphs):
        return []
    own = [places for places in map(_own_places, graphs) if places is not None]
    placed = _fit(own) if len(own) == len(graphs) else [_fit([_laid_out(graph)])[0] for graph in graphs]
    return [_draw_graph(graph, measure.vertex_labels(graph), at) for graph, at in zip(graphs, placed, strict=True)]


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
    steps = shortest_path(csr_array((np.ones(len(edges)), edges.T), shape=(n, n)), directed=False, unweighted=True)
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


def _draw_graph(graph: LabelledGraph, labels: Sequence[str], places: Matrix) -> list[Markup]:
    """Return lines and circles, with the labels in them if all are short; pointing at a circle shows what it is."""
    at = [(f"{x:.1f}", f"{y:.1f}") for x, y in places]
    are_short = any(labels) and max(map(len, labels)) <= LONGEST_LABEL
    called = [str(graph.called(vertex)) for vertex in range(len(labels))]
    titles = [f"{a} ({b})" if b not in ("", a) else a for a, b in zip(called, labels, strict=True)]
    named = [(label, x, y) for label, (x, y) in zip(labels, at, strict=True) if label and are_short]
    radius = 8 if are_short else 4
    return [
        *(tag("line", x1=at[a][0], y1=at[a][1], x2=at[b][0], y2=at[b][1]) for a, b in np.asarray(graph.edges)),
        *(tag("circle", tag("title", title), cx=x, cy=y, r=radius) for title, (x, y) in zip(titles, at, strict=True)),
        *(tag("text", label, x=x, y=y, dy="0.35em", text_anchor="middle") for label, x, y in named),
    ]


def _draw_series(series: Sequence[Matrix]) -> list[list[Markup]]:
    """Return series as lines, one per channel, on the same axes."""
    low, high = min(float(one.min()) for one in series), max(float(one.max()) for one in series)
    longest, room = max(len(one) for one in series), SIZE - 2 * MARGIN
    reach, drawn = (high - low) or 1.0, []
    for one in series:
        kept = np.unique(np.linspace(0, len(one) - 1, min(len(one), MOST_STEPS)).astype(int))
        x, levels = MARGIN + room * kept / max(longest - 1, 1), MARGIN + room * (high - one[kept]) / reach
        paths = ["M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True)) for y in levels.T]
        drawn.append([tag("path", d=path, class_=f"curve look-{k % 5}") for k, path in enumerate(paths)])
    return drawn
