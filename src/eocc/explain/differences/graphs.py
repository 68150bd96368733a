"""Labelled graphs: the edit path under the vertex pairing of the measure."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.explain.differences.pairing import Attributes, VertexPair, attribute_costs, pair_vertices, values_of
from eocc.foundation.wording import counted, format_value, listing, shortened
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graphs import FittedGraphEdit, Schema
from eocc.measures.labelled_graph import LabelledGraph

# The place of each operation's weight in p = (substitution, insertion, deletion).
WEIGHT = {"substitute": 0, "insert": 1, "delete": 2}
# So many attributes say what a vertex or an edge is, if it has numbers alone, and what changes in a substitution.
MOST_NUMBERS = 2
MOST_ATTRIBUTES = 3

# What the text of an edit begins with.
GROUP = {
    ("substitute", "vertex"): "substitute vertex",
    ("insert", "vertex"): "insert vertex",
    ("substitute", "edge"): "substitute the edge",
    ("insert", "edge"): "insert the edge",
    ("delete", "edge"): "delete the edge",
}

Edge = tuple[int, int]
Values = dict[str, list[Any]]


@dataclass(frozen=True)
class GraphEditOperation:
    """One edit: `kind` of operation, on `what` (a vertex or an edge), its cost before weights, and in words.

    `one` and `other` are the vertex or the edge (its two ends) in the first and in the second graph, if it is there.
    """

    kind: str
    what: str
    cost: float
    text: str
    one: int | Edge | None
    other: int | Edge | None


def graph_edit_path(measure: FittedGraphEdit, first: LabelledGraph, second: LabelledGraph) -> list[GraphEditOperation]:
    """Return the edits that turn `first`, which has no more vertices, into `second`, but for those that cost nothing.

    The costs of the substitutions add up to the S of `GraphEdit`, those of insertions (1 each) to I, those of
    deletions to E, before they are divided by the size of both graphs.

    >>> from eocc.measures import GraphEdit
    >>> path, ring = LabelledGraph(3, [[0, 1], [1, 2]]), LabelledGraph(3, [[0, 1], [1, 2], [0, 2]])
    >>> [edit.text for edit in graph_edit_path(GraphEdit().fit([path, ring]), path, ring)]
    ['insert the edge 1-2']
    """
    pairs = pair_vertices(measure, first, second)
    views = _View(measure, first), _View(measure, second)
    return [*_vertex_edits(*views, pairs), *_edge_edits(*views, pairs)]


def graph_difference(measure: FittedGraphEdit, pair: Pair) -> Difference:
    """Return a contribution per edit: its weight times its cost, over the number of vertices and edges of both."""
    pattern, prototype = pair.pattern[0], pair.prototype[0]
    swapped = prototype.n_vertices < pattern.n_vertices
    first, second = (prototype, pattern) if swapped else (pattern, prototype)
    size = max(first.n_vertices + second.n_vertices + len(_edges(first)) + len(_edges(second)), 1)
    contributions = tuple(
        Contribution(
            float(pair.weights[WEIGHT[edit.kind]]) * edit.cost / size,
            edit.text,
            {"operation": edit.kind, "what": edit.what, "from": _plain(edit.one), "to": _plain(edit.other)},
            group=GROUP[edit.kind, edit.what],
        )
        for edit in graph_edit_path(measure, first, second)
    )
    way = f"the {pair.called} into the pattern" if swapped else f"the pattern into the {pair.called}"
    return Difference(pair.dissimilarity, contributions, f"by edits that turn {way}")


def graph_description(measure: FittedGraphEdit, pattern: Any, names: Sequence[str] | None) -> str:
    """Return the size of a graph, and what its vertices are by their first category.

    >>> from eocc.measures import GraphEdit
    >>> graphs = [LabelledGraph(3, [[0, 1], [1, 2]], {"symbol": ["C", "C", "O"]})]
    >>> graph_description(GraphEdit().fit(graphs), graphs, None)
    '3 vertices and 2 edges: 2 C, 1 O'
    """
    graph = pattern[0]
    size = f"{counted(graph.n_vertices, 'vertex', 'vertices')} and {counted(len(_edges(graph)), 'edge')}"
    if not measure.vertex.categories:
        return size
    values = values_of(graph.vertex_attributes, measure.vertex.categories[0], graph.n_vertices)
    counts = Counter(format_value(value).strip() for value in values)
    return f"{size}: {listing([f'{count} {value}' for value, count in counts.most_common()])}" if counts else size


def _edit(kind: str, what: str, cost: float, item: str, one: Any, other: Any) -> GraphEditOperation:
    return GraphEditOperation(kind, what, cost, f"{GROUP[kind, what]} {item}", one, other)


def _vertex_edits(first: "_View", second: "_View", pairs: Sequence[VertexPair]) -> list[GraphEditOperation]:
    edits = []
    for pair in sorted(pairs, key=lambda pair: pair.one):
        if pair.cost > 0:
            shown_names = _changed(
                first.measure.vertex, first.vertex_values(pair.one), second.vertex_values(pair.other)
            )
            item = f"{first.vertex(pair.one, shown_names)} by vertex {second.vertex(pair.other, shown_names)}"
            edits.append(_edit("substitute", "vertex", pair.cost, item, pair.one, pair.other))
    left_over = sorted(set(range(second.graph.n_vertices)) - {pair.other for pair in pairs})
    return edits + [_edit("insert", "vertex", 1.0, second.vertex(one), None, one) for one in left_over]


def _edge_edits(first: "_View", second: "_View", pairs: Sequence[VertexPair]) -> list[GraphEditOperation]:
    partner = {pair.one: pair.other for pair in pairs}
    edits: list[GraphEditOperation] = []
    shared = set()
    for number, (a, b) in enumerate(first.edges):
        other = second.numbers.get((partner[a], partner[b]))
        if other is None:
            edits.append(_edit("delete", "edge", 1.0, first.edge(number), (a, b), None))
            continue
        shared.add(other)
        here, there = first.edge_values(number), second.edge_values(other)
        cost = float(attribute_costs(first.measure.edge, here, there, 1, 1)[0, 0])
        if cost > 0:
            changed = _changed(first.measure.edge, here, there)
            item = f"{first.edge(number, changed)} by {second.edge(other, changed)}"
            edits.append(_edit("substitute", "edge", cost, item, (a, b), second.edges[other]))
    return edits + [
        _edit("insert", "edge", 1.0, second.edge(number), None, ends)
        for number, ends in enumerate(second.edges)
        if number not in shared
    ]


class _View:
    """A graph with its edges by their ends, and its vertices and edges in words."""

    def __init__(self, measure: FittedGraphEdit, graph: LabelledGraph) -> None:
        self.measure, self.graph, self.edges = measure, graph, _edges(graph)
        self.numbers: dict[Edge, int] = {}
        for number, (a, b) in enumerate(self.edges):
            self.numbers[a, b] = number
            if not graph.directed:
                self.numbers[b, a] = number

    def vertex_values(self, number: int) -> Values:
        return _picked(self.graph.vertex_attributes, number)

    def edge_values(self, number: int) -> Values:
        return _picked(self.graph.edge_attributes, number)

    def vertex(self, number: int, names: Sequence[str] | None = None) -> str:
        label = _label(self.measure.vertex, self.vertex_values(number), names)
        return f"{number} ({label})" if label else str(number)

    def edge(self, number: int, names: Sequence[str] | None = None) -> str:
        a, b = self.edges[number]
        joint = "->" if self.graph.directed else "-"
        schema = self.measure.vertex
        # What an edge joins is told by a name; a vertex that has numbers alone has none.
        ends = [_label(schema, self.vertex_values(end), (*schema.categories, *schema.texts)[:1]) for end in (a, b)]
        own = _label(self.measure.edge, self.edge_values(number), names)
        remarks = ", ".join(text for text in (joint.join(ends) if all(ends) else "", own) if text)
        return f"{a}{joint}{b} ({remarks})" if remarks else f"{a}{joint}{b}"


def _telling(schema: Schema, own: Values) -> list[str]:
    """Return the attribute that tells what an item is: a category or a text, or a few numbers if there is none."""
    present = [name for name in schema.numbers if values_of(own, name, 1) != [None]]
    return [*schema.categories, *schema.texts][:1] or present[:MOST_NUMBERS]


def _changed(schema: Schema, here: Values, there: Values) -> list[str]:
    """Return the attribute that tells what an item is, and those that differ."""
    names = [*schema.categories, *schema.texts, *schema.numbers]
    differing = [name for name in names if values_of(here, name, 1) != values_of(there, name, 1)]
    telling = [*schema.categories, *schema.texts][:1]
    return list(dict.fromkeys([*telling, *differing]))[:MOST_ATTRIBUTES]


def _label(schema: Schema, own: Values, names: Sequence[str] | None) -> str:
    """Return these attributes of an item in words: the first category by its value, the others by name and value.

    Without names it is what tells the item from others.
    """
    telling = [*schema.categories, *schema.texts][:1]
    words = []
    for name in _telling(schema, own) if names is None else names:
        value = values_of(own, name, 1)[0]
        text = shortened(format_value(value).strip(), 24)
        if value is not None or name not in telling:
            words.append(text if name in telling else f"{name} {text}")
    return ", ".join(words)


def _picked(attributes: Attributes, number: int) -> Values:
    return {name: [values[number]] for name, values in attributes.items()}


def _edges(graph: LabelledGraph) -> list[Edge]:
    return [(int(a), int(b)) for a, b in np.asarray(graph.edges)]


def _plain(place: int | Edge | None) -> Any:
    return list(place) if isinstance(place, tuple) else place
