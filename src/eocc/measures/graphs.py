"""Labelled graphs: the three-weight edit scheme and TWEC, what they share, and the edits of a pair in words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np

from eocc.base.checks import hashable, mapping, text
from eocc.base.registry import listed
from eocc.base.stored import Unstored
from eocc.base.threads import for_each_block
from eocc.base.types import Matrix
from eocc.base.wording import counted, shortened
from eocc.measures.base import LinearPrepared
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graph_arrays import KINDS, LONGEST_VALUE, GraphPairs, Schema, find_schema
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import Objects, read_objects
from eocc.measures.protocol import FittedMeasure, Measure
from eocc.tables.sources import is_missing

# Vertices beyond the number of edges and attribute values that a model file may declare: a number per graph, a number
# in all, and one more for this number of edges and values. To compare n vertices takes n^3 steps, to declare them 8
# bytes.
BARE_PER_GRAPH, BARE, HELD_PER_BARE = 10, 1000, 4
# Working memory that a model file may ask for, besides 4 KiB per edge and attribute value that it holds.
MOST_BYTES = 2**28
# The index of each operation's weight in p = (substitution, insertion, deletion).
WEIGHT = {"substitute": 0, "insert": 1, "delete": 2}


@dataclass(frozen=True)
class FittedGraphMeasure(FittedMeasure):
    """A measure of graphs with the attributes of vertices and edges, and their ranges in training."""

    vertex: Schema
    edge: Schema
    directed: bool | None
    n_parameters: Unstored[int] = 3
    kind: ClassVar = "graphs"
    pattern_classes: ClassVar = (LabelledGraph,)
    # The number of costs of a pair, and how some pairs are compared: vertices in their order, or cheapest pairs first,
    # where the smaller graph always comes first.
    n_costs: ClassVar[int]
    compare: ClassVar[Any]
    is_in_order: ClassVar[bool] = False
    # The weights of these costs, if they are not p.
    weights_of_costs: ClassVar[Any] = None

    def pairs(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> GraphPairs:
        """Return the graphs of both sides, ready to be compared."""
        self._check_directions(patterns)
        return GraphPairs.of(self, patterns, prototypes)

    def prepare(self, patterns: Any, prototypes: Any = None) -> Any:
        """Compute the costs of all pairs, (costs, n, r), which do not depend on p."""
        pairs, n = self.pairs(patterns, prototypes), len(patterns)
        others = np.arange(n) if prototypes is None else n + np.arange(len(prototypes))
        components = np.empty((self.n_costs, n, len(others)))
        is_once = prototypes is None and not self.is_in_order  # graphs of different sizes are compared once

        def work(start: int, stop: int) -> None:
            rows, columns = np.indices((stop - start, len(others))).reshape(2, -1)
            rows += start
            if is_once:
                is_first = pairs.sizes[rows] <= pairs.sizes[columns]
                rows, columns = rows[is_first], columns[is_first]
            found = self.compare(pairs, rows, others[columns])
            components[:, rows, columns] = found
            if is_once:
                is_smaller = pairs.sizes[rows] < pairs.sizes[columns]
                components[:, columns[is_smaller], rows[is_smaller]] = found[:, is_smaller]

        for_each_block(n, max(1, min(8, n // 8)), work, f"comparing {counted(n, 'graph')}")
        return LinearPrepared(components, type(self).weights_of_costs)

    def _check_directions(self, patterns: Sequence[LabelledGraph]) -> None:
        for number, graph in enumerate(patterns):
            if len(np.asarray(graph.edges)) and self.directed not in (None, graph.directed):
                kind = "directed" if graph.directed else "undirected"
                raise ValueError(f"graph {number} is {kind}, the training graphs are not; convert it")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the size and what the vertices are, as in "3 vertices and 2 edges: 2 C, 1 O"."""
        graph = pattern[0]
        size = f"{counted(graph.n_vertices, 'vertex', 'vertices')} and {counted(len(graph.edges), 'edge')}"
        counts = Counter(label or "missing" for label in self.vertex_labels(graph))
        if self.vertex.naming is None or not counts:
            return size
        return f"{size}: {listed([f'{count} {label}' for label, count in counts.most_common()], 6)}"

    def vertex_labels(self, graph: LabelledGraph) -> list[str]:
        """Return what each vertex is, by the attribute that names it; "" where it is missing."""
        name = self.vertex.naming or ""
        values = graph.vertex_attributes.get(name, [None] * graph.n_vertices)
        return ["" if is_missing(value) or not name else self.vertex.words(name, value) for value in values]

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless patterns are graphs with about as many edges and attribute values as vertices.

        All must be directed, or all undirected, as in training. A small file can declare any number of vertices;
        pairing them takes a table of the largest number squared.
        """
        super().check_patterns(patterns)
        self._check_directions(patterns)
        sizes = np.array([graph.n_vertices for graph in patterns], np.int64)
        values = [[*graph.vertex_attributes.values(), *graph.edge_attributes.values()] for graph in patterns]
        held = np.array([len(graph.edges) + sum(map(len, own)) for graph, own in zip(patterns, values, strict=True)])
        bare = int(np.maximum(sizes - held - BARE_PER_GRAPH, 0).sum())
        needed = 8 * (int(sizes.sum()) + int(sizes.max(initial=0)) ** 2)
        if bare > BARE + held.sum() // HELD_PER_BARE or needed > MOST_BYTES + 2**12 * int(held.sum()):
            raise ValueError(
                f"graphs of up to {sizes.max()} vertices with few edges and attributes are too large for a model file; "
                "give their vertices an attribute"
            )

    def comparison_work(self, patterns: Any) -> int:
        """Return the cells of all cost tables, of the tables of edges, and of those of texts."""

        def length(graph: LabelledGraph) -> int:
            sides = ((self.vertex, graph.vertex_attributes), (self.edge, graph.edge_attributes))
            values = (value for schema, given in sides for name in schema.texts for value in given.get(name, ()))
            return sum(len(value) if isinstance(value, str) else 1 for value in values)

        vertices: list[int] = [graph.n_vertices for graph in patterns]
        edges, texts = [len(graph.edges) for graph in patterns], [length(graph) for graph in patterns]
        # If all vertices are alike, each pair that is chosen makes all others search again.
        pairs = sum(vertices[0] * n * min(vertices[0], n) for n in vertices)
        return pairs + edges[0] * sum(edges) + texts[0] * sum(texts)


@dataclass(frozen=True)
class GraphMeasure(Measure):
    """A measure of graphs. Its `fitted_class` takes the attributes of vertices, those of edges, and the direction."""

    vertex_kinds: Annotated[Mapping[str, str], mapping(hashable, text)] = field(default_factory=dict)
    edge_kinds: Annotated[Mapping[str, str], mapping(hashable, text)] = field(default_factory=dict)
    vertex_name: str | None = None
    stored_classes: ClassVar = (Schema,)

    def __post_init__(self) -> None:
        known = (*KINDS, "ignore")
        for name, kind in (*self.vertex_kinds.items(), *self.edge_kinds.items()):
            if kind not in known:
                raise ValueError(f"attribute {name!r} has unknown kind {kind!r}; known: {', '.join(map(repr, known))}")

    def read(self, X: Any) -> Objects:
        """Return the graphs as LabelledGraphs."""
        return read_objects(X, "graphs", labelled_graph)

    def fit(self, training: Iterable[LabelledGraph]) -> Any:
        """Find the attributes, their kinds, and the ranges of the numbers."""
        graphs = list(training)
        kinds = {graph.directed for graph in graphs if len(np.asarray(graph.edges))}
        if len(kinds) > 1:
            raise ValueError("some graphs are directed and some are not; convert them to one kind")
        of_vertices, of_edges = zip(*((one.vertex_attributes, one.edge_attributes) for one in graphs), strict=True)
        vertex = find_schema(of_vertices, self.vertex_kinds, "vertex", self.vertex_name)
        return self.fitted_class(vertex, find_schema(of_edges, self.edge_kinds, "edge"), next(iter(kinds), None))


@dataclass(frozen=True)
class FittedGraphEdit(FittedGraphMeasure):
    """The three-weight scheme with the attributes and their ranges in training."""

    weighs: ClassVar = ("substitution", "insertion", "deletion")
    n_costs, compare = 3, staticmethod(GraphPairs.compare)
    is_costly: ClassVar = True

    def mirrored(self, components: Matrix, patterns: Any, prototypes: Any) -> Matrix:
        """Compare graphs of equal size again: those pairs depend on the order, as no graph is the smaller one."""
        back = super().mirrored(components, patterns, prototypes)
        sizes, other_sizes = (np.array([graph.n_vertices for graph in group]) for group in (prototypes, patterns))
        for size in np.intersect1d(sizes, other_sizes):
            here, there = np.flatnonzero(sizes == size), np.flatnonzero(other_sizes == size)
            back[:, here[:, None], there] = self.prepare(prototypes[here], patterns[there]).components
        return back

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per edit: its weight times its cost, over the vertices and edges of both graphs."""
        pattern, prototype = pair.pattern[0], pair.prototype[0]
        swapped = prototype.n_vertices < pattern.n_vertices
        first, second = (prototype, pattern) if swapped else (pattern, prototype)
        size = max(first.n_vertices + second.n_vertices + len(first.edges) + len(second.edges), 1)
        contributions = [
            edit.contribution(float(pair.weights[WEIGHT[edit.kind]]) * edit.cost / size, first, second)
            for edit in graph_edit_path(self, first, second)
        ]
        way = f"the {pair.called} into the pattern" if swapped else f"the pattern into the {pair.called}"
        edited = {"edited": "prototype" if swapped else "pattern"}
        return Difference(pair.dissimilarity, tuple(contributions), f"by edits that turn {way}", edited)


@dataclass(frozen=True)
class GraphEdit(GraphMeasure):
    """d = (p_sub S + p_ins I + p_del E) / (|V1| + |V2| + |E1| + |E2|) for graphs G1, G2, the smaller first.

    Vertices are paired greedily, the cheapest free pair first; ties go to the smaller difference of degrees, then to
    the lower index (departure: pairing of vertices; departure: size of graphs). S sums the dissimilarities of paired
    vertices, and of the edges between them that both graphs have. I counts the vertices and edges that only G2 has, E
    the edges that only G1 has. The dissimilarity of two vertices or edges is the mean over their attributes: numbers by
    difference over the training range, categories by 0 or 1, texts by normalised edit distance
    (departure: attribute costs). Patterns are networkx graphs, RDKit molecules or
    LabelledGraph.

    The kind of an attribute is found from the data. `vertex_kinds` and `edge_kinds` override it: "number", "category",
    "text", or "ignore" to leave the attribute out. `vertex_name` is the attribute that names a vertex in explanations
    and pictures, which may be one that is ignored. By default it is "symbol", "label", "element", "type" or "name", the
    first that vertices have, else another category or text.

    >>> from eocc.measures.objects import Objects
    >>> path, ring = (LabelledGraph(3, edges) for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]))
    >>> pairs = GraphEdit().fit(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
    >>> pairs.evaluate(np.array([1.0, 1.0, 1.0])) * (3 + 3 + 2 + 3)
    array([[1.]])
    """

    fitted_class: ClassVar = FittedGraphEdit
    pair_floats: ClassVar = 3


def term_weights(p: Matrix) -> Matrix:
    """Return the weights of C_N, C_E, C_ED and C_ND at p = (a, b, g); they add up to 1.

    >>> term_weights(np.array([0.25, 2 / 3, 0.5])).round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    a, b, g = p
    return np.array([(1 - a) * (1 - b), (1 - a) * b * (1 - g), (1 - a) * b * g, a])


@dataclass(frozen=True)
class FittedTwec(FittedGraphMeasure):
    """TWEC with the attributes and their ranges in training."""

    weighs: ClassVar = ("a (numbers of vertices)", "b (edges)", "g (edges in one graph only)")
    n_costs, compare, is_in_order = 4, staticmethod(GraphPairs.compare_in_order), True
    weights_of_costs: ClassVar = staticmethod(term_weights)

    def neutral_weights(self) -> Matrix:
        """Return the p at which all four costs count alike. At p = 1 only the numbers of vertices would count."""
        return np.array([0.25, 2 / 3, 0.5])

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per edit: each cost of d is a mean or a share of edits of one kind."""
        first, second = pair.pattern[0], pair.prototype[0]
        n, m = first.n_vertices, second.n_vertices
        edits = graph_edit_path(self, first, second)
        n_deleted = sum(edit.kind == "delete" and edit.what == "edge" for edit in edits)
        unpaired = {edit.other for edit in edits if edit.kind == "insert" and edit.what == "vertex"}
        vertices, edges, unshared, sizes = term_weights(pair.weights)
        # What an edit of cost 1 adds to d.
        units = {
            ("vertex", True): vertices / max(min(n, m), 1),
            ("vertex", False): sizes / max(n + m, 1),
            ("edge", True): edges / max(len(first.edges) - n_deleted, 1),
            ("edge", False): unshared / max(len(first.edges) + len(second.edges), 1),
        }
        contributions = [
            edit.contribution(edit.cost * units[edit.what, edit.kind == "substitute"], first, second)
            for edit in edits
            # Of edges, only those between paired vertices count.
            if edit.what == "vertex" or (max(edit.one or [-1]) < min(n, m) and unpaired.isdisjoint(edit.other or []))
        ]
        meaning = f"by edits that turn the pattern into the {pair.called}"
        return Difference(pair.dissimilarity, tuple(contributions), meaning)


@dataclass(frozen=True)
class Twec(GraphMeasure):
    """d = (1 - a) [(1 - b) C_N + b ((1 - g) C_E + g C_ED)] + a C_ND at p = (a, b, g).

    Each vertex of the first graph, in their order, takes the nearest free vertex of the second. C_N is the mean
    dissimilarity of the pairs, C_E that of the edges which both graphs have between paired vertices. C_ED is the number
    of edges between paired vertices that only one graph has, over the number of edges of both. C_ND is the difference
    of the numbers of vertices over their sum. So d lies in [0, 1] on the training set. It is not symmetric, and it
    depends on the order of the vertices (departure: edit scheme). Attributes, their kinds and names are those of
    GraphEdit.

    Without a search all four costs count alike: a = 1/4, b = 2/3, g = 1/2.

    >>> from eocc.measures.objects import Objects
    >>> path, ring = (LabelledGraph(3, edges) for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]))
    >>> pairs = Twec().fit(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
    >>> pairs.components.ravel().tolist()  # one of five edges is in one graph only
    [0.0, 0.0, 0.2, 0.0]
    """

    fitted_class: ClassVar = FittedTwec
    pair_floats: ClassVar = 4


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

    def contribution(self, amount: float, first: LabelledGraph, second: LabelledGraph) -> Contribution:
        """Return what the edit adds to d, with the names of the vertex, or of the ends of the edge, in both graphs."""
        details = {"operation": self.kind, "what": self.what}
        details |= {"from": first.called(self.one), "to": second.called(self.other)}
        group = f"{self.kind} {'the edge' if self.what == 'edge' else 'vertex'}"
        return Contribution(amount, f"{group} {self.item}", details, group)


def graph_edit_path(measure: Any, first: LabelledGraph, second: LabelledGraph) -> list[GraphEditOperation]:
    """Return the edits that turn `first` into `second` as the measure pairs vertices, without those that cost nothing.

    In the three-weight scheme, where `first` has no more vertices than `second`, the costs of substitutions add up to
    S, those of insertions (1 each) to I, those of deletions to E, before they are divided by the size of both graphs.
    """
    pairs = measure.pairs([first, second])
    partner, (costs, edge_costs) = pairs.pairing(measure.is_in_order), pairs.costs()
    here, there = _Items(measure, first), _Items(measure, second)
    edge_partner = [there.edge_between.get((partner[a], partner[b]), -1) for a, b in here.ends["edge"]]
    return [*_edits("vertex", here, there, partner, costs), *_edits("edge", here, there, edge_partner, edge_costs)]


def _edits(
    what: str, here: "_Items", there: "_Items", partner: Sequence[int], costs: Matrix
) -> Iterator[GraphEditOperation]:
    """Yield the edits of vertices or of edges; partner[k] is the item that replaces item k, -1 for none."""
    for one, other in enumerate(partner):
        if other < 0:
            yield GraphEditOperation("delete", what, 1.0, here.called(what, one), here.ends[what][one], None)
        elif costs[one, other] > 0:
            names = here.changed(what, here.values(what, one), there.values(what, other))
            by = " by vertex " if what == "vertex" else " by "
            item = here.called(what, one, names) + by + there.called(what, other, names)
            ends = here.ends[what][one], there.ends[what][other]
            yield GraphEditOperation("substitute", what, float(costs[one, other]), item, *ends)
    for other in sorted({*range(len(there.ends[what]))} - {*partner}):
        yield GraphEditOperation("insert", what, 1.0, there.called(what, other), None, there.ends[what][other])


class _Items:
    """The vertices and edges of a graph in words. `ends` are the numbers of the vertices, and the ends of the edges."""

    def __init__(self, measure: Any, graph: LabelledGraph) -> None:
        self.graph, self.schemas = graph, {"vertex": measure.vertex, "edge": measure.edge}
        edges = np.asarray(graph.edges).tolist()
        self.ends: dict[str, Any] = {"vertex": range(graph.n_vertices), "edge": edges}
        back = {} if graph.directed else {(b, a): k for k, (a, b) in enumerate(edges)}
        self.edge_between = back | {(a, b): k for k, (a, b) in enumerate(edges)}

    def values(self, what: str, number: int) -> dict[str, Any]:
        """Return the attributes of a "vertex" or "edge" that are not missing."""
        attributes = getattr(self.graph, f"{what}_attributes").items()
        return {name: values[number] for name, values in attributes if not is_missing(values[number])}

    def changed(self, what: str, values: dict[str, Any], other_values: dict[str, Any]) -> list[str]:
        """Return the attribute that names an item, and those that differ."""
        schema = self.schemas[what]
        differing = [name for name in schema.names if values.get(name) != other_values.get(name)]
        return list(dict.fromkeys([*schema.naming_names, *differing]))[:3]

    def called(self, what: str, number: int, names: Sequence[str] | None = None) -> str:
        """Return the name of an item, and in brackets these attributes, or those that name it."""
        remarks = [self.schemas[what].label(self.values(what, number), names)]
        joint, ends = "->" if self.graph.directed else "-", [number] if what == "vertex" else self.ends[what][number]
        called = joint.join(shortened(str(self.graph.called(end)), LONGEST_VALUE) for end in ends)
        if what == "edge":
            schema = self.schemas["vertex"]
            labels = [schema.label(self.values("vertex", end), schema.naming_names) for end in ends]
            remarks.insert(0, joint.join(labels) if all(labels) else "")
        said = ", ".join(text for text in remarks if text not in ("", called))
        return f"{called} ({said})" if said else called
