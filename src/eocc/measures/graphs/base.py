"""What the measures of labelled graphs share: their attributes and patterns, descriptions, limits of a model file."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import hashable, instance, mapping, optional, text
from eocc.foundation.registry import listed
from eocc.foundation.wording import counted
from eocc.measures.graphs.attributes import KINDS, Schema, find_schema
from eocc.measures.graphs.flat import GraphPairs
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import Objects, read_objects
from eocc.measures.protocol import FittedMeasure, Measure
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
class FittedGraphMeasure(FittedMeasure):
    """A measure of graphs with the attributes of vertices and edges, and their ranges in training."""

    vertex: Schema
    edge: Schema
    directed: bool | None
    n_parameters: int = 3
    kind: ClassVar = "graphs"
    pattern_classes: ClassVar = (LabelledGraph,)
    stored: ClassVar = {"vertex": instance(Schema), "edge": instance(Schema), "directed": optional(instance(bool))}

    def pairs(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> GraphPairs:
        """Return the graphs of both sides, ready to be compared."""
        self._check_directions(patterns)
        return GraphPairs.of(self, patterns, prototypes)

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
class GraphMeasure(Measure):
    """A measure of graphs. Its `fitted_class` takes the attributes of vertices, those of edges, and the direction."""

    vertex_kinds: Mapping[str, str] = field(default_factory=dict)
    edge_kinds: Mapping[str, str] = field(default_factory=dict)
    vertex_name: str | None = None
    stored: ClassVar = {
        "vertex_kinds": mapping(hashable, text), "edge_kinds": mapping(hashable, text), "vertex_name": optional(text),
    }  # fmt: skip
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
        vertex = find_schema(
            [graph.vertex_attributes for graph in graphs], self.vertex_kinds, "vertex", self.vertex_name
        )
        edge = find_schema([graph.edge_attributes for graph in graphs], self.edge_kinds, "edge")
        return self.fitted_class(vertex, edge, next(iter(kinds), None))
