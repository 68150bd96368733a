"""The three-weight edit scheme of labelled graphs (TWEC)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import hashable, instance, mapping, optional, text
from eocc.foundation.registry import listed
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted
from eocc.measures.base import LinearPrepared, RegisteredFitted, RegisteredMeasure
from eocc.measures.bounded import are_few, nearest_by_bounds, nearest_of_all
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graphs.attributes import KINDS, Schema, find_schema
from eocc.measures.graphs.edit_path import WEIGHT, graph_edit_path
from eocc.measures.graphs.flat import GraphPairs
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import Objects, read_objects
from eocc.tables.sources import is_missing

# Arrays with an entry per vertex, besides those of the attributes.
VERTEX_ARRAYS = 8
# Vertices beyond the number of edges and attribute values that a model file may declare: so many per graph, so many in
# all, and one more for each so many edges and values. To compare n vertices takes n^3 steps, to declare them 8 bytes.
BARE_PER_GRAPH, BARE, HELD_PER_BARE = 10, 1000, 4
# Working memory that a model file may ask for: this much, and this much per edge and attribute value it holds.
MOST_BYTES = 2**28
BYTES_PER_VALUE = 2**12


@dataclass(frozen=True)
class FittedGraphEdit(RegisteredFitted):
    """The edit scheme with the attributes and their ranges in training."""

    vertex: Schema
    edge: Schema
    directed: bool | None
    n_parameters: int = 3
    weighs: ClassVar = ("substitution", "insertion", "deletion")
    kind: ClassVar = "graphs"
    pattern_classes: ClassVar = (LabelledGraph,)
    is_costly: ClassVar = True
    stored: ClassVar = {"vertex": instance(Schema), "edge": instance(Schema), "directed": optional(instance(bool))}

    def prepare(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> Any:
        """Compute S, I and E of all pairs, which do not depend on p."""
        pairs = self.pairs(patterns, prototypes)
        is_whole, n = prototypes is None, len(patterns)
        sizes, others = pairs.sizes, np.arange(n if is_whole else len(prototypes or ())) + (0 if is_whole else n)
        components = np.empty((3, n, len(others)))

        def work(start: int, stop: int) -> None:
            rows, columns = np.indices((stop - start, len(others))).reshape(2, -1)
            rows += start
            if is_whole:  # graphs of different sizes are compared once
                is_smaller = sizes[rows] <= sizes[columns]
                rows, columns = rows[is_smaller], columns[is_smaller]
            found = pairs.compare(rows, others[columns]).T
            components[:, rows, columns] = found
            if is_whole:
                is_smaller = sizes[rows] < sizes[columns]
                components[:, columns[is_smaller], rows[is_smaller]] = found[:, is_smaller]

        for_each_block(n, max(1, min(16, n // 8)), work, f"comparing {counted(n, 'graph')}")
        return LinearPrepared(components)

    def nearest(
        self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph], weightings: Matrix, k: int
    ) -> list[tuple[Matrix, Indices]]:
        """Return the distances to the k nearest prototypes and their indices; sizes and categories rule out others."""
        if are_few(patterns, prototypes):
            return nearest_of_all(self.prepare(patterns, prototypes), weightings, k)
        pairs, n = self.pairs(patterns, prototypes), len(patterns)
        others = np.arange(n, n + len(prototypes))

        def at_all_weights(components: Matrix) -> Matrix:
            return np.stack([LinearPrepared(components).evaluate(p) for p in weightings])

        def bounds(start: int, stop: int) -> Matrix:
            return at_all_weights(pairs.bounds(np.arange(start, stop), others))

        def compare(rows: Indices, columns: Indices) -> Matrix:
            return at_all_weights(np.ascontiguousarray(pairs.compare(rows, n + columns).T)[:, :, None])

        return nearest_by_bounds(n, len(weightings), np.arange(len(prototypes))[:, None], k, bounds, compare)

    def pairs(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> GraphPairs:
        """Return the graphs of both sides, ready to be compared."""
        self._check_directions(patterns)
        return GraphPairs.of(self, patterns, prototypes)

    def _check_directions(self, patterns: Sequence[LabelledGraph]) -> None:
        for number, graph in enumerate(patterns):
            if len(np.asarray(graph.edges)) and self.directed not in (None, graph.directed):
                kind = "directed" if graph.directed else "undirected"
                raise ValueError(f"graph {number} is {kind}, the training graphs are not; convert it")

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
        contributions = []
        for edit in graph_edit_path(self, first, second):
            amount = float(pair.weights[WEIGHT[edit.kind]]) * edit.cost / size
            ends = {"from": _called(first, edit.one), "to": _called(second, edit.other)}
            details = {"operation": edit.kind, "what": edit.what, **ends}
            contributions.append(Contribution(amount, edit.text, details, edit.group))
        way = f"the {pair.called} into the pattern" if swapped else f"the pattern into the {pair.called}"
        edited = {"edited": "prototype" if swapped else "pattern"}
        return Difference(pair.dissimilarity, tuple(contributions), f"by edits that turn {way}", edited)

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
        name = self.vertex.naming
        if name is None:
            return [""] * graph.n_vertices
        values = graph.vertex_attributes.get(name, [None] * graph.n_vertices)
        return ["" if is_missing(value) else self.vertex.words(name, value) for value in values]

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless patterns are graphs with about as many edges and attribute values as vertices.

        All must be directed, or all undirected, as in training. A small file can declare any number of vertices;
        pairing them takes a table of the largest number squared.
        """
        super().check_patterns(patterns)
        self._check_directions(patterns)
        sizes = np.array([graph.n_vertices for graph in patterns], np.int64)
        held = np.array([_n_held(graph) for graph in patterns], np.int64)
        bare = int(np.maximum(sizes - held - BARE_PER_GRAPH, 0).sum())
        needed = 8 * (int(sizes.sum()) + int(sizes.max(initial=0)) ** 2)
        if bare > BARE + held.sum() // HELD_PER_BARE or needed > MOST_BYTES + BYTES_PER_VALUE * int(held.sum()):
            raise ValueError(
                f"graphs of up to {sizes.max()} vertices with few edges and attributes are too large for a model file; "
                "give their vertices an attribute"
            )

    def comparison_work(self, patterns: Any) -> int:
        """Return the cells of all cost tables, and what encoding the graphs takes."""
        vertices: list[int] = [graph.n_vertices for graph in patterns]
        edges = [len(graph.edges) for graph in patterns]
        texts = [self._text_length(graph) for graph in patterns]
        # If all vertices are alike, each pair that is chosen makes all others search again.
        pairs = sum(vertices[0] * n * min(vertices[0], n) for n in vertices)
        n_columns = VERTEX_ARRAYS + len(self.vertex.names) + len(self.edge.names)
        columns = n_columns * (sum(vertices) + sum(edges))
        return pairs + max(vertices) ** 2 + edges[0] * sum(edges) + columns + texts[0] * sum(texts)

    def _text_length(self, graph: LabelledGraph) -> int:
        sides = ((self.vertex, graph.vertex_attributes), (self.edge, graph.edge_attributes))
        values = (value for schema, given in sides for name in schema.texts for value in given.get(name, ()))
        return sum(len(value) if isinstance(value, str) else 1 for value in values)


def _n_held(graph: LabelledGraph) -> int:
    """Return how many edges and attribute values a graph holds."""
    attributes = (*graph.vertex_attributes.values(), *graph.edge_attributes.values())
    return len(np.asarray(graph.edges)) + sum(map(len, attributes))


@dataclass(frozen=True)
class GraphEdit(RegisteredMeasure):
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

    >>> path, ring = (LabelledGraph(3, edges) for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]))
    >>> pairs = GraphEdit().fit(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
    >>> pairs.evaluate(np.array([1.0, 1.0, 1.0])) * (3 + 3 + 2 + 3)
    array([[1.]])
    """

    vertex_kinds: Mapping[str, str] = field(default_factory=dict)
    edge_kinds: Mapping[str, str] = field(default_factory=dict)
    vertex_name: str | None = None
    stored: ClassVar = {
        "vertex_kinds": mapping(hashable, text), "edge_kinds": mapping(hashable, text), "vertex_name": optional(text),
    }  # fmt: skip
    fitted_class: ClassVar = FittedGraphEdit
    stored_classes: ClassVar = (Schema,)
    pair_floats: ClassVar = 3

    def __post_init__(self) -> None:
        known = (*KINDS, "ignore")
        for name, kind in (*self.vertex_kinds.items(), *self.edge_kinds.items()):
            if kind not in known:
                raise ValueError(f"attribute {name!r} has unknown kind {kind!r}; known: {', '.join(map(repr, known))}")

    def read(self, X: Any) -> Objects:
        """Return the graphs as LabelledGraphs."""
        return read_objects(X, "graphs", labelled_graph)

    def fit(self, training: Iterable[LabelledGraph]) -> FittedGraphEdit:
        """Find the attributes, their kinds, and the ranges of the numbers."""
        graphs = list(training)
        kinds = {graph.directed for graph in graphs if len(np.asarray(graph.edges))}
        if len(kinds) > 1:
            raise ValueError("some graphs are directed and some are not; convert them to one kind")
        vertex = find_schema(
            [graph.vertex_attributes for graph in graphs], self.vertex_kinds, "vertex", self.vertex_name
        )
        edge = find_schema([graph.edge_attributes for graph in graphs], self.edge_kinds, "edge")
        return FittedGraphEdit(vertex, edge, next(iter(kinds), None))


def _called(graph: LabelledGraph, item: int | list[int] | None) -> Any:
    """Return the name of a vertex, or the names of the two ends of an edge; None if there is none."""
    if isinstance(item, list):
        return [graph.called(end) for end in item]
    return None if item is None else graph.called(item)
