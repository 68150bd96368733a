"""The three-weight edit scheme of labelled graphs (TWEC)."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.checks import hashable, instance, mapping, optional, text
from eocc.foundation.registry import listed
from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Flags, Indices, Matrix
from eocc.foundation.wording import counted, format_value
from eocc.kernels.graph_edit import edit_components
from eocc.measures.base import LinearPrepared, RegisteredFitted, RegisteredMeasure
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graphs.attributes import KINDS, Schema, encode, find_schema
from eocc.measures.graphs.edit_path import WEIGHT, graph_edit_path
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.objects import Objects, is_missing, read_objects
from eocc.measures.strings import edit_distance

# Arrays with an entry per vertex, besides those of the attributes.
VERTEX_ARRAYS = 8
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
        codes: dict[Any, int] = {}
        texts: dict[str, int] = {}
        prototype_texts: dict[str, int] = texts if prototypes is None else {}
        left = self.flatten(patterns, codes, texts)
        right = left if prototypes is None else self.flatten(prototypes, codes, prototype_texts)
        table = edit_distance(list(texts), list(prototype_texts))
        back_table = np.ascontiguousarray(table.T)
        components = np.empty((3, len(left[0][0]) - 1, len(right[0][0]) - 1))
        largest = max(int(np.diff(flat[0][0]).max(initial=0)) for flat in (left, right))

        def work(start: int, stop: int) -> None:
            costs = np.empty(largest * largest)  # working memory for one thread
            room = (costs, costs.view(np.int64), *np.empty((3, largest), np.int64), *np.empty((2, max(largest, 1))))
            edit_components(start, stop, left, right, prototypes is None, table, back_table, room, components)

        for_each_block(components.shape[1], max(1, min(16, components.shape[1] // 8)), work)
        return LinearPrepared(components)

    def flatten(self, graphs: Sequence[LabelledGraph], codes: dict[Any, int], vocabulary: dict[str, int]) -> Any:
        """Return the flat arrays that the kernel expects."""
        for number, graph in enumerate(graphs):
            if len(np.asarray(graph.edges)) and self.directed not in (None, graph.directed):
                kind = "directed" if graph.directed else "undirected"
                raise ValueError(f"graph {number} is {kind}, the training graphs are not; convert it")
        edges = [np.asarray(graph.edges) for graph in graphs]
        counts, n_edges = np.array([graph.n_vertices for graph in graphs]), np.array([*map(len, edges)])
        starts, ends = _starts(counts), np.concatenate([np.empty((0, 2), np.int64), *edges])
        is_directed = np.repeat(np.array([graph.directed for graph in graphs], bool), n_edges)
        shifts = np.append(np.repeat(starts[:-1], n_edges), starts[-1])
        degree = np.concatenate([np.bincount(e.ravel(), minlength=n) for e, n in zip(edges, counts, strict=True)])
        vertex = encode(self.vertex, [graph.vertex_attributes for graph in graphs], counts, codes, vocabulary)
        edge = encode(self.edge, [graph.edge_attributes for graph in graphs], n_edges, codes, vocabulary)
        links = (degree, *_neighbours(ends, shifts, is_directed), ends)
        return (starts, _starts(n_edges)), links, vertex, edge

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
            details = {"operation": edit.kind, "what": edit.what, "from": edit.one, "to": edit.other}
            contributions.append(Contribution(amount, edit.text, details, edit.group))
        way = f"the {pair.called} into the pattern" if swapped else f"the pattern into the {pair.called}"
        return Difference(pair.dissimilarity, tuple(contributions), f"by edits that turn {way}")

    def describe(self, pattern: Any, names: Sequence[str] | None = None) -> str:
        """Return the size and the vertices by their first category, as in "3 vertices and 2 edges: 2 C, 1 O"."""
        graph = pattern[0]
        size = f"{counted(graph.n_vertices, 'vertex', 'vertices')} and {counted(len(graph.edges), 'edge')}"
        if not self.vertex.categories:
            return size
        values = graph.vertex_attributes.get(self.vertex.categories[0], [None] * graph.n_vertices)
        counts = Counter("missing" if is_missing(value) else format_value(value).strip() for value in values)
        return f"{size}: {listed([f'{count} {value}' for value, count in counts.most_common()], 6)}" if counts else size

    def check_patterns(self, patterns: Any) -> None:
        """Raise a ValueError unless patterns are graphs whose vertices fit into memory.

        A small file can name any number of vertices; pairing them takes a table of the largest number squared.
        """
        super().check_patterns(patterns)
        sizes: list[int] = [graph.n_vertices for graph in patterns]
        attributes = (one for g in patterns for one in (*g.vertex_attributes.values(), *g.edge_attributes.values()))
        held = sum(len(np.asarray(graph.edges)) for graph in patterns) + sum(map(len, attributes))
        if 8 * (sum(sizes) + max(sizes, default=0) ** 2) > MOST_BYTES + BYTES_PER_VALUE * held:
            raise ValueError(f"graphs of up to {max(sizes)} vertices without attributes are too large")

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


@dataclass(frozen=True)
class GraphEdit(RegisteredMeasure):
    """d = (p_sub S + p_ins I + p_del E) / (|V1| + |V2| + |E1| + |E2|) for graphs G1, G2, the smaller first.

    Vertices are paired greedily, the cheapest free pair first; ties go to the smaller difference of degrees, then to
    the lower index. S sums the dissimilarities of paired vertices, and of the edges between them that both graphs have.
    I counts the vertices and edges that only G2 has, E the edges that only G1 has. The dissimilarity of two vertices or
    edges is the mean over their attributes: numbers by difference over the training range, categories by 0 or 1, texts
    by normalised edit distance. Patterns are networkx graphs or LabelledGraph.

    The kind of an attribute is found from the data. `vertex_kinds` and `edge_kinds` override it: "number", "category",
    "text", or "ignore" to leave the attribute out.

    >>> path, ring = (LabelledGraph(3, edges) for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]))
    >>> pairs = GraphEdit().fit(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
    >>> pairs.evaluate(np.array([1.0, 1.0, 1.0])) * (3 + 3 + 2 + 3)
    array([[1.]])
    """

    vertex_kinds: Mapping[str, str] = field(default_factory=dict)
    edge_kinds: Mapping[str, str] = field(default_factory=dict)
    stored: ClassVar = {"vertex_kinds": mapping(hashable, text), "edge_kinds": mapping(hashable, text)}
    fitted_class: ClassVar = FittedGraphEdit
    stored_classes: ClassVar = (Schema,)
    pair_floats: ClassVar = 3

    def __post_init__(self) -> None:
        known = (*KINDS, "ignore")
        for name, kind in (*self.vertex_kinds.items(), *self.edge_kinds.items()):
            if kind not in known:
                raise ValueError(f"attribute {name!r} has unknown kind {kind!r}; known: {', '.join(map(repr, known))}")

    def read(self, X: Any) -> Objects:
        """Return networkx graphs or LabelledGraphs as LabelledGraphs."""
        return read_objects(X, "graphs", labelled_graph)

    def fit(self, training: Iterable[LabelledGraph]) -> FittedGraphEdit:
        """Find the attributes, their kinds, and the ranges of the numbers."""
        graphs = list(training)
        kinds = {graph.directed for graph in graphs if len(np.asarray(graph.edges))}
        if len(kinds) > 1:
            raise ValueError("some graphs are directed and some are not; convert them to one kind")
        vertex = find_schema([graph.vertex_attributes for graph in graphs], self.vertex_kinds, "vertex")
        edge = find_schema([graph.edge_attributes for graph in graphs], self.edge_kinds, "edge")
        return FittedGraphEdit(vertex, edge, next(iter(kinds), None))


def _starts(counts: Any) -> Indices:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _neighbours(ends: Indices, shifts: Indices, is_directed: Flags) -> tuple[Indices, Indices, Indices]:
    """Return, for all vertices in turn: where their neighbours begin, the neighbours, and the edges to them.

    `shifts` holds the first vertex of each edge's graph, and last the number of all vertices. An undirected edge is
    listed from both its ends, a self-loop and a directed edge once.
    """
    numbers = np.concatenate([np.arange(len(ends)), np.flatnonzero((ends[:, 0] != ends[:, 1]) & ~is_directed)])
    source = np.concatenate([ends[:, 0], ends[numbers[len(ends) :], 1]]) + shifts[numbers]
    target = np.concatenate([ends[:, 1], ends[numbers[len(ends) :], 0]])
    order = np.argsort(source, kind="stable")
    begin = np.searchsorted(source[order], np.arange(shifts[-1] + 1))
    return begin.astype(np.int64), target[order], numbers[order]
