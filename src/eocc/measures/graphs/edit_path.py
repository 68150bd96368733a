"""Why two graphs differ: the edits under the vertex pairing of the measure."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from eocc.base.types import Matrix
from eocc.base.wording import shortened
from eocc.kernels.graph_edit import fill_costs
from eocc.measures.difference import Contribution
from eocc.measures.graphs.flat import LONGEST_VALUE, Schema
from eocc.measures.labelled_graph import LabelledGraph
from eocc.tables.sources import is_missing

# The index of each operation's weight in p = (substitution, insertion, deletion).
WEIGHT = {"substitute": 0, "insert": 1, "delete": 2}

Values = dict[str, Any]


class GraphEditOperation(NamedTuple):
    """One edit: the `kind` of operation, on `what` ("vertex" or "edge"), its cost before weights, and the `item`.

    `one` and `other` are the vertex, or the two ends of the edge, in the first and the second graph; None if absent.
    """

    kind: str
    what: str
    cost: float
    item: str
    one: Any
    other: Any

    @property
    def group(self) -> str:
        """How the text of this edit and its like begins."""
        return f"{self.kind} {'the edge' if self.what == 'edge' else 'vertex'}"

    def contribution(self, amount: float, first: LabelledGraph, second: LabelledGraph) -> Contribution:
        """Return what the edit adds to d, with the names of the vertex, or of the ends of the edge, in both graphs."""
        ends = {"from": _called(first, self.one), "to": _called(second, self.other)}
        details = {"operation": self.kind, "what": self.what, **ends}
        return Contribution(amount, f"{self.group} {self.item}", details, self.group)


def graph_edit_path(measure: Any, first: LabelledGraph, second: LabelledGraph) -> list[GraphEditOperation]:
    """Return the edits that turn `first` into `second` as the measure pairs vertices, without those that cost nothing.

    In the three-weight scheme, where `first` has no more vertices than `second`, the costs of substitutions add up to
    S, those of insertions (1 each) to I, those of deletions to E, before they are divided by the size of both graphs.
    """
    pairs = measure.pairs([first, second])
    (numbers, texts), n_edges = pairs.graphs.of_edges, len(np.asarray(first.edges))
    edge_costs = np.empty((n_edges, numbers.shape[1] - n_edges))
    fill_costs(0, n_edges, numbers, pairs.units[1], texts, (pairs.table.ravel(), pairs.table.shape[1], 1), edge_costs)
    partner, costs = pairs.pairing(measure.is_in_order)
    views = _View(measure, first), _View(measure, second)
    return [*_vertex_edits(*views, partner, costs), *_edge_edits(*views, partner, edge_costs)]


def _vertex_edits(first: "_View", second: "_View", partner: Sequence[int], costs: Matrix) -> list[GraphEditOperation]:
    edits = []
    for one, other in enumerate(partner):
        if other < 0:
            edits.append(GraphEditOperation("delete", "vertex", 1.0, first.vertex(one), one, None))
        elif costs[one, other] > 0:
            changed = _changed(first.measure.vertex, first.values("vertex", one), second.values("vertex", other))
            item = f"{first.vertex(one, changed)} by vertex {second.vertex(other, changed)}"
            edits.append(GraphEditOperation("substitute", "vertex", float(costs[one, other]), item, one, other))
    left_over = sorted({*range(second.graph.n_vertices)} - {*partner})
    return edits + [GraphEditOperation("insert", "vertex", 1.0, second.vertex(one), None, one) for one in left_over]


def _edge_edits(first: "_View", second: "_View", partner: Sequence[int], costs: Matrix) -> list[GraphEditOperation]:
    edits: list[GraphEditOperation] = []
    shared = set()
    for number, (a, b) in enumerate(first.edges):
        other = second.numbers.get((partner[a], partner[b]))
        if other is None:
            edits.append(GraphEditOperation("delete", "edge", 1.0, first.edge(number), [a, b], None))
            continue
        shared.add(other)
        cost = float(costs[number, other])
        if cost > 0:
            changed = _changed(first.measure.edge, first.values("edge", number), second.values("edge", other))
            item = f"{first.edge(number, changed)} by {second.edge(other, changed)}"
            edits.append(GraphEditOperation("substitute", "edge", cost, item, [a, b], list(second.edges[other])))
    return edits + [
        GraphEditOperation("insert", "edge", 1.0, second.edge(number), None, list(ends))
        for number, ends in enumerate(second.edges)
        if number not in shared
    ]


def _called(graph: LabelledGraph, item: int | list[int] | None) -> Any:
    if isinstance(item, list):
        return [graph.called(end) for end in item]
    return None if item is None else graph.called(item)


class _View:
    """A graph with its edges by their ends, and descriptions of its vertices and edges."""

    def __init__(self, measure: Any, graph: LabelledGraph) -> None:
        self.measure, self.graph = measure, graph
        self.edges = [(int(a), int(b)) for a, b in np.asarray(graph.edges)]
        self.numbers = {ends: number for number, ends in enumerate(self.edges)}
        if not graph.directed:
            self.numbers |= {(b, a): number for (a, b), number in self.numbers.items()}

    def values(self, what: str, number: int) -> Values:
        """Return the attributes of a "vertex" or "edge" that are not missing."""
        attributes = getattr(self.graph, f"{what}_attributes").items()
        return {name: values[number] for name, values in attributes if not is_missing(values[number])}

    def called(self, number: int) -> str:
        return shortened(str(self.graph.called(number)), LONGEST_VALUE)

    def vertex(self, number: int, names: Sequence[str] | None = None) -> str:
        label, called = _label(self.measure.vertex, self.values("vertex", number), names), self.called(number)
        return f"{called} ({label})" if label not in ("", called) else called

    def edge(self, number: int, names: Sequence[str] | None = None) -> str:
        joint, schema = "->" if self.graph.directed else "-", self.measure.vertex
        called = joint.join(map(self.called, self.edges[number]))
        ends = [_label(schema, self.values("vertex", end), _naming(schema)) for end in self.edges[number]]
        between = joint.join(ends) if all(ends) else ""
        own = _label(self.measure.edge, self.values("edge", number), names)
        remarks = ", ".join(text for text in (between, own) if text not in ("", called))
        return f"{called} ({remarks})" if remarks else called


def _changed(schema: Schema, here: Values, there: Values) -> list[str]:
    """Return the attribute that names an item, and those that differ."""
    differing = [name for name in schema.names if here.get(name) != there.get(name)]
    return list(dict.fromkeys([*_naming(schema), *differing]))[:3]


def _naming(schema: Schema) -> list[str]:
    return [] if schema.naming is None else [schema.naming]


def _label(schema: Schema, own: Values, names: Sequence[str] | None) -> str:
    """Return these attributes of an item in words; without names, the one that names it, or a few others."""
    if names is None:
        present = [name for name in (*schema.numbers, *schema.categories) if name in own]
        names = _naming(schema) or present[:2]
    return ", ".join(schema.words(name, own.get(name)) for name in names if name in own or name != schema.naming)
