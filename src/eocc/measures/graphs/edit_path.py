"""Why two graphs differ: the edits under the vertex pairing of the measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.foundation.wording import format_value, shortened
from eocc.kernels.distances import drop_spare_bits
from eocc.measures.graphs.attributes import Schema, is_missing, text_table
from eocc.measures.labelled_graph import LabelledGraph

# The index of each operation's weight in p = (substitution, insertion, deletion).
WEIGHT = {"substitute": 0, "insert": 1, "delete": 2}
# A vertex without categories and texts is described by this many numbers, a substitution by this many attributes.
MOST_NUMBERS = 2
MOST_ATTRIBUTES = 3
# How the text of an edit begins.
GROUP = {
    ("substitute", "vertex"): "substitute vertex",
    ("insert", "vertex"): "insert vertex",
    ("substitute", "edge"): "substitute the edge",
    ("insert", "edge"): "insert the edge",
    ("delete", "edge"): "delete the edge",
}

Edge = tuple[int, int]
Place = int | list[int] | None
Values = dict[str, Any]


@dataclass(frozen=True)
class GraphEditOperation:
    """One edit: the `kind` of operation, on `what` ("vertex" or "edge"), its cost before weights, and its text.

    `one` and `other` are the vertex, or the two ends of the edge, in the first and the second graph; None if absent.
    """

    kind: str
    what: str
    cost: float
    text: str
    one: Place
    other: Place


@dataclass(frozen=True)
class VertexPair:
    """Vertex `one` of the first graph is paired with vertex `other` of the second, at this cost before weights."""

    one: int
    other: int
    cost: float


@dataclass(frozen=True, eq=False)
class _Costs:
    """The cost of replacing vertices (n, m) and edges (edges of the first graph, edges of the second)."""

    vertices: Matrix
    edges: Matrix

    @classmethod
    def of(cls, measure: Any, first: LabelledGraph, second: LabelledGraph) -> "_Costs":
        texts: dict[str, int] = {}
        _, _, vertices, edges = measure.flatten([first, second], {}, texts)
        table = text_table(list(texts), list(texts))
        n, m = first.n_vertices, len(np.asarray(first.edges))
        n_all, m_all = n + second.n_vertices, m + len(np.asarray(second.edges))
        costs = vertices.costs(np.arange(n), np.arange(n, n_all), table)
        drop_spare_bits(costs.reshape(-1).view(np.int64))  # as in the measure: costs that differ by rounding are ties
        return cls(costs, edges.costs(np.arange(m), np.arange(m, m_all), table))


def graph_edit_path(measure: Any, first: LabelledGraph, second: LabelledGraph) -> list[GraphEditOperation]:
    """Return the edits that turn `first`, which has no more vertices, into `second`, without those that cost nothing.

    The costs of substitutions add up to S of the measure, those of insertions (1 each) to I, those of deletions to E,
    before they are divided by the size of both graphs.

    >>> from eocc.measures import GraphEdit
    >>> path, ring = LabelledGraph(3, [[0, 1], [1, 2]]), LabelledGraph(3, [[0, 1], [1, 2], [0, 2]])
    >>> [edit.text for edit in graph_edit_path(GraphEdit().fit([path, ring]), path, ring)]
    ['insert the edge 1-2']
    """
    costs = _Costs.of(measure, first, second)
    pairs = _pairs(costs.vertices, first, second)
    views = _View(measure, first), _View(measure, second)
    return [*_vertex_edits(*views, pairs), *_edge_edits(*views, pairs, costs.edges)]


def pair_vertices(measure: Any, first: LabelledGraph, second: LabelledGraph) -> list[VertexPair]:
    """Return the pairs in the order in which the measure makes them; `first` must have no more vertices.

    The cheapest free pair comes first; ties go to the smaller difference of degrees, then to the lower index.

    >>> from eocc.measures import GraphEdit
    >>> one, other = LabelledGraph(1, [], {"symbol": ["O"]}), LabelledGraph(2, [], {"symbol": ["C", "O"]})
    >>> pair_vertices(GraphEdit().fit([one, other]), one, other)
    [VertexPair(one=0, other=1, cost=0.0)]
    """
    return _pairs(_Costs.of(measure, first, second).vertices, first, second)


def _pairs(costs: Matrix, first: LabelledGraph, second: LabelledGraph) -> list[VertexPair]:
    degrees, other_degrees = (
        np.bincount(np.asarray(graph.edges, np.int64).ravel(), minlength=graph.n_vertices) for graph in (first, second)
    )
    gaps = np.abs(degrees[:, None] - other_degrees)
    ones, others = np.indices(costs.shape)
    order = np.lexsort([others.ravel(), ones.ravel(), gaps.ravel(), costs.ravel()])
    free, other_free = np.ones(first.n_vertices, bool), np.ones(second.n_vertices, bool)
    pairs = []
    for one, other in zip(ones.ravel()[order].tolist(), others.ravel()[order].tolist(), strict=True):
        if free[one] and other_free[other]:
            free[one] = other_free[other] = False
            pairs.append(VertexPair(one, other, float(costs[one, other])))
    return pairs


def _edit(kind: str, what: str, cost: float, item: str, one: Any, other: Any) -> GraphEditOperation:
    return GraphEditOperation(kind, what, cost, f"{GROUP[kind, what]} {item}", one, other)


def _vertex_edits(first: "_View", second: "_View", pairs: Sequence[VertexPair]) -> list[GraphEditOperation]:
    edits = []
    for pair in sorted(pairs, key=lambda pair: pair.one):
        if pair.cost > 0:
            changed = _changed(first.measure.vertex, first.vertex_values(pair.one), second.vertex_values(pair.other))
            item = f"{first.vertex(pair.one, changed)} by vertex {second.vertex(pair.other, changed)}"
            edits.append(_edit("substitute", "vertex", pair.cost, item, pair.one, pair.other))
    left_over = sorted(set(range(second.graph.n_vertices)) - {pair.other for pair in pairs})
    return edits + [_edit("insert", "vertex", 1.0, second.vertex(one), None, one) for one in left_over]


def _edge_edits(
    first: "_View", second: "_View", pairs: Sequence[VertexPair], costs: Matrix
) -> list[GraphEditOperation]:
    partner = {pair.one: pair.other for pair in pairs}
    edits: list[GraphEditOperation] = []
    shared = set()
    for number, (a, b) in enumerate(first.edges):
        other = second.numbers.get((partner[a], partner[b]))
        if other is None:
            edits.append(_edit("delete", "edge", 1.0, first.edge(number), [a, b], None))
            continue
        shared.add(other)
        here, there = first.edge_values(number), second.edge_values(other)
        cost = float(costs[number, other])
        if cost > 0:
            changed = _changed(first.measure.edge, here, there)
            item = f"{first.edge(number, changed)} by {second.edge(other, changed)}"
            edits.append(_edit("substitute", "edge", cost, item, [a, b], list(second.edges[other])))
    return edits + [
        _edit("insert", "edge", 1.0, second.edge(number), None, list(ends))
        for number, ends in enumerate(second.edges)
        if number not in shared
    ]


class _View:
    """A graph with its edges by their ends, and descriptions of its vertices and edges."""

    def __init__(self, measure: Any, graph: LabelledGraph) -> None:
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
        # Name the ends by a category or a text, if there is one.
        ends = [_label(schema, self.vertex_values(end), (*schema.categories, *schema.texts)[:1]) for end in (a, b)]
        own = _label(self.measure.edge, self.edge_values(number), names)
        remarks = ", ".join(text for text in (joint.join(ends) if all(ends) else "", own) if text)
        return f"{a}{joint}{b} ({remarks})" if remarks else f"{a}{joint}{b}"


def _identifying(schema: Schema, own: Values) -> list[str]:
    """Return the attributes that identify an item: the first category or text, or a few numbers if there is none."""
    present = [name for name in schema.numbers if _value(own, name) is not None]
    return [*schema.categories, *schema.texts][:1] or present[:MOST_NUMBERS]


def _changed(schema: Schema, here: Values, there: Values) -> list[str]:
    """Return the attribute that identifies an item, and those that differ."""
    names = [*schema.categories, *schema.texts, *schema.numbers]
    differing = [name for name in names if _value(here, name) != _value(there, name)]
    identifying = [*schema.categories, *schema.texts][:1]
    return list(dict.fromkeys([*identifying, *differing]))[:MOST_ATTRIBUTES]


def _label(schema: Schema, own: Values, names: Sequence[str] | None) -> str:
    """Return these attributes of an item in words: the first category or text by value, others by name and value.

    Without names, return the attributes that identify the item.
    """
    identifying = [*schema.categories, *schema.texts][:1]
    words = []
    for name in _identifying(schema, own) if names is None else names:
        value = _value(own, name)
        text = shortened(format_value(value).strip(), 24)
        if value is not None or name not in identifying:
            words.append(text if name in identifying else f"{name} {text}")
    return ", ".join(words)


def _picked(attributes: Mapping[str, Sequence[Any]], number: int) -> Values:
    return {name: values[number] for name, values in attributes.items()}


def _edges(graph: LabelledGraph) -> list[Edge]:
    return [(int(a), int(b)) for a, b in np.asarray(graph.edges)]


def _value(values: Values, name: str) -> Any:
    """Return the value of an attribute, None if it is missing."""
    value = values.get(name)
    return None if is_missing(value) else value
