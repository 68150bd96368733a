"""The three-weight edit scheme of labelled graphs (TWEC)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.kernels.graph_edit import edit_components
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.linear import LinearPrepared
from eocc.measures.objects import Objects, read_objects
from eocc.measures.strings import StringEdit
from eocc.threads import for_each_block

Matrix = NDArray[np.float64]

KINDS = ("category", "number", "text")
# Text reads as text, not as a category, where most values differ and are longer than this on average.
SHORT_TEXT = 3


@dataclass(frozen=True)
class GraphEdit:
    """d = (p_sub S + p_ins I + p_del E) / (|V1| + |V2| + |E1| + |E2|) for graphs G1, G2, the smaller first.

    Vertices are paired greedily, the globally cheapest free pair first (ties by difference of degree, then by index).
    S sums the dissimilarities of paired vertices and of edges that both graphs have between them; I counts vertices
    left over in G2 and edges only there; E counts edges only in G1. Attributes: numbers by difference over the training
    range, categories by 0 or 1, texts by normalised edit distance; averaged. Patterns are networkx graphs or
    LabelledGraph.

    `vertex_kinds` and `edge_kinds` declare an attribute's kind, "number", "category" or "text", where it should not be
    found from the data, or "ignore" to leave it out.

    >>> path, ring = (LabelledGraph(3, edges) for edges in ([[0, 1], [1, 2]], [[0, 1], [1, 2], [0, 2]]))
    >>> pairs = GraphEdit().freeze(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
    >>> pairs.evaluate(np.array([1.0, 1.0, 1.0])) * (3 + 3 + 2 + 3)
    array([[1.]])
    """

    vertex_kinds: Mapping[str, str] = field(default_factory=dict)
    edge_kinds: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kinds in (self.vertex_kinds, self.edge_kinds):
            for name, kind in kinds.items():
                if kind not in (*KINDS, "ignore"):
                    known = ", ".join(map(repr, (*KINDS, "ignore")))
                    raise ValueError(f"attribute {name!r} has unknown kind {kind!r}; known: {known}")

    def read(self, X: Any) -> Objects:
        """Return networkx graphs or LabelledGraphs as the latter."""
        return Objects(_named(number, graph) for number, graph in enumerate(read_objects(X, "graphs")))

    def freeze(self, training: Iterable[LabelledGraph]) -> "FrozenGraphEdit":
        """Find the attributes, their kinds, and the ranges of the numbers."""
        graphs = list(training)
        if len({graph.directed for graph in graphs if len(np.asarray(graph.edges))}) > 1:
            raise ValueError("some graphs are directed and some are not; turn them all into one kind")
        vertex = _schema([graph.vertex_attributes for graph in graphs], self.vertex_kinds, "vertex")
        edge = _schema([graph.edge_attributes for graph in graphs], self.edge_kinds, "edge")
        return FrozenGraphEdit(vertex, edge)


def _named(number: int, graph: Any) -> LabelledGraph:
    try:
        return labelled_graph(graph)
    except ValueError as error:
        raise ValueError(f"graph {number}: {error}") from None


@dataclass(frozen=True)
class Schema:
    """The attributes of vertices or of edges: `numbers` with their training ranges, `categories`, `texts`."""

    numbers: dict[str, float]
    categories: tuple[str, ...]
    texts: tuple[str, ...]


def _schema(attributes: Sequence[Mapping[str, Sequence[Any]]], declared: Mapping[str, str], kind: str) -> Schema:
    names = dict.fromkeys(name for mapping in attributes for name in mapping)
    unknown = set(declared) - set(names)
    if unknown:
        raise ValueError(
            f"no graph has a {kind} attribute {min(unknown)!r}; known: {', '.join(map(repr, sorted(names)))}"
        )
    values = {name: _present(v for mapping in attributes for v in mapping.get(name, ())) for name in sorted(names)}
    kinds = {name: declared.get(name) or _kind(values[name]) for name in values}
    return Schema(
        {name: _range(name, values[name]) for name in values if kinds[name] == "number"},
        tuple(name for name in values if kinds[name] == "category"),
        tuple(name for name in values if kinds[name] == "text"),
    )


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if not _is_missing(value)]


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _kind(values: Sequence[Any]) -> str:
    """Return what the values of an attribute are."""
    if values and all(isinstance(value, Number) and not isinstance(value, bool | np.bool_) for value in values):
        return "number"
    if values and all(isinstance(value, str) for value in values):
        length = sum(map(len, values)) / len(values)
        return "text" if len(set(values)) > len(values) / 2 and length > SHORT_TEXT else "category"
    return "category"


def _range(name: str, values: Sequence[Any]) -> float:
    """Return the range of the numbers, 1 where they are all alike."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"attribute {name!r} is declared a number but holds other values") from None
    if not np.isfinite(numbers).all():
        raise ValueError(f"attribute {name!r} holds infinity; drop or replace it")
    return float(np.ptp(numbers)) or 1.0 if len(numbers) else 1.0


@dataclass(frozen=True)
class FrozenGraphEdit:
    """The edit scheme with its attributes and ranges fixed."""

    vertex: Schema
    edge: Schema
    n_parameters: int = 3

    def prepare(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> Any:
        """Compute S, I and E of all pairs, which do not depend on p."""
        codes: dict[Any, int] = {}
        vocabulary: dict[str, int] = {}
        left = self._flatten(patterns, codes, vocabulary)
        right = left if prototypes is None else self._flatten(prototypes, codes, vocabulary)
        table = _text_table(list(vocabulary))
        components = np.empty((3, len(left[0][0]) - 1, len(right[0][0]) - 1))
        largest = max(int(np.diff(flat[0][0]).max(initial=0)) for flat in (left, right))

        def work(start: int, stop: int) -> None:
            edit_components(start, stop, left, right, prototypes is None, table, _room(largest), components)

        for_each_block(components.shape[1], max(1, min(16, components.shape[1] // 8)), work)
        return LinearPrepared(components)

    def _flatten(self, graphs: Sequence[LabelledGraph], codes: dict[Any, int], vocabulary: dict[str, int]) -> Any:
        """Return the flat arrays the kernel takes."""
        edges = [np.asarray(graph.edges) for graph in graphs]
        counts = np.array([graph.n_vertices for graph in graphs])
        begin, neighbour, neighbour_edge = _neighbours(graphs, edges, counts)
        degree = np.concatenate([_degrees(graph, ends) for graph, ends in zip(graphs, edges, strict=True)])
        vertex = _encode(self.vertex, [graph.vertex_attributes for graph in graphs], counts, codes, vocabulary)
        edge = _encode(self.edge, [graph.edge_attributes for graph in graphs], [*map(len, edges)], codes, vocabulary)
        ends = np.concatenate([np.empty((0, 2), np.int64), *edges])
        shape, links = (_starts(counts), _starts([*map(len, edges)])), (degree, begin, neighbour, neighbour_edge, ends)
        return shape, links, vertex, edge


def _starts(counts: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def _room(n: int) -> Any:
    """Return what a thread needs to pair up to n vertices."""
    return np.empty(n * n), *np.empty((3, n), np.int64), *np.empty((2, max(n, 1)))


def _degrees(graph: LabelledGraph, edges: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.bincount(edges.ravel(), minlength=graph.n_vertices)


def _neighbours(
    graphs: Sequence[LabelledGraph], edges: Sequence[NDArray[np.int64]], counts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for all vertices in turn: where their neighbours begin, the neighbours, and the edges to them.

    An undirected edge is listed from both its ends, a self-loop and a directed edge once.
    """
    shifts, first_edges = _starts(counts), _starts([*map(len, edges)])
    sources, targets, numbers = [], [], []
    for g, (graph, ends) in enumerate(zip(graphs, edges, strict=True)):
        both = np.ones(len(ends), dtype=bool) if not graph.directed else np.zeros(len(ends), dtype=bool)
        both &= ends[:, 0] != ends[:, 1]
        sources.append(np.concatenate([ends[:, 0], ends[both, 1]]) + shifts[g])
        targets.append(np.concatenate([ends[:, 1], ends[both, 0]]))
        number = first_edges[g] + np.arange(len(ends))
        numbers.append(np.concatenate([number, number[both]]))
    source = np.concatenate(sources)
    order = np.argsort(source, kind="stable")
    begin = np.searchsorted(source[order], np.arange(shifts[-1] + 1))
    return begin.astype(np.int64), np.concatenate(targets)[order], np.concatenate(numbers)[order]


def _encode(
    schema: Schema,
    attributes: Sequence[Mapping[str, Sequence[Any]]],
    counts: Any,
    codes: dict[Any, int],
    vocabulary: dict[str, int],
) -> tuple[Matrix, NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers scaled to the training range, codes of categories, codes of texts: one row per attribute."""

    def column(name: str) -> list[Any]:
        return [
            value
            for mapping, count in zip(attributes, counts, strict=True)
            for value in mapping.get(name, [None] * int(count))
        ]

    total = int(np.sum(counts))
    numbers = np.empty((len(schema.numbers), total))
    for k, (name, span) in enumerate(schema.numbers.items()):
        numbers[k] = _as_numbers(name, column(name)) / span
    return (
        numbers,
        _coded([column(name) for name in schema.categories], codes, total, lambda value: value),
        _coded([column(name) for name in schema.texts], vocabulary, total, str),
    )


def _as_numbers(name: str, values: Sequence[Any]) -> Matrix:
    try:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    except (TypeError, ValueError):
        odd = next(value for value in values if not isinstance(value, Number) and value is not None)
        raise ValueError(f"attribute {name!r} held numbers in training, but here {odd!r}") from None


def _coded(columns: Sequence[Sequence[Any]], known: dict[Any, int], total: int, key: Any) -> NDArray[np.int64]:
    """Return one code per value, -1 where missing; values not known yet get the next code."""
    coded = np.empty((len(columns), total), np.int64)
    for k, values in enumerate(columns):
        coded[k] = [-1 if _is_missing(v) else known.setdefault(key(v), len(known)) for v in values]
    return coded


def _text_table(texts: Sequence[str]) -> Matrix:
    """Return the normalised edit distances of all pairs of texts."""
    if not texts:
        return np.empty((0, 0))
    return StringEdit().freeze(texts).prepare(texts).evaluate(np.ones(3))
