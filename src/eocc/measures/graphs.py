"""The three-weight edit scheme of labelled graphs (TWEC)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Matrix
from eocc.kernels.graph_edit import edit_components
from eocc.measures.labelled_graph import LabelledGraph, labelled_graph
from eocc.measures.linear import LinearPrepared
from eocc.measures.objects import Objects, read_objects
from eocc.measures.strings import StringEdit

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
    >>> pairs = GraphEdit().fit(Objects([path, ring])).prepare(Objects([path]), Objects([ring]))
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

    def fit(self, training: Iterable[LabelledGraph]) -> "FittedGraphEdit":
        """Find the attributes, their kinds, and the ranges of the numbers."""
        graphs = list(training)
        kinds = {graph.directed for graph in graphs if len(np.asarray(graph.edges))}
        if len(kinds) > 1:
            raise ValueError("some graphs are directed and some are not; turn them all into one kind")
        vertex = _schema([graph.vertex_attributes for graph in graphs], self.vertex_kinds, "vertex")
        edge = _schema([graph.edge_attributes for graph in graphs], self.edge_kinds, "edge")
        return FittedGraphEdit(vertex, edge, next(iter(kinds), None))


def _named(number: int, graph: Any) -> LabelledGraph:
    try:
        return labelled_graph(graph)
    except ValueError as error:
        raise ValueError(f"graph {number}: {error}") from None


@dataclass(frozen=True)
class Schema:
    """The attributes of vertices or of edges: `numbers` with their least value and range in training, the others."""

    numbers: dict[str, tuple[float, float]]
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
    kinds = {name: declared.get(name) or _kind(name, kind, values[name]) for name in values}
    return Schema(
        {name: _range(name, values[name]) for name in values if kinds[name] == "number"},
        tuple(name for name in values if kinds[name] == "category"),
        tuple(name for name in values if kinds[name] == "text"),
    )


def _present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if not _is_missing(value)]


def _is_missing(value: Any) -> bool:
    """Say whether a value is None, NaN of any kind, or another of those that do not equal themselves."""
    if value is None:
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA will not say; an array says it of each of its entries
        return not isinstance(value, np.ndarray)


def _kind(name: str, of: str, values: Sequence[Any]) -> str:
    """Return what the values of an attribute are."""
    numbers = [isinstance(value, Number) and not isinstance(value, bool | np.bool_) for value in values]
    if any(numbers) and not all(numbers):
        odd = next(value for value, is_number in zip(values, numbers, strict=True) if not is_number)
        raise ValueError(
            f"{of} attribute {name!r} mixes numbers and others, {odd!r} say; make it one kind, or declare it: "
            f"{of}_kinds={{{name!r}: 'category'}}"
        )
    if all(numbers) and values:
        return "number"
    if values and all(isinstance(value, str) for value in values):
        length = sum(map(len, values)) / len(values)
        return "text" if len(set(values)) > len(values) / 2 and length > SHORT_TEXT else "category"
    return "category"


def _range(name: str, values: Sequence[Any]) -> tuple[float, float]:
    """Return the least of the numbers and their range, which is 1 where they are all alike."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"attribute {name!r} should hold numbers but holds other values") from None
    if not len(numbers):
        return 0.0, 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        span = float(np.ptp(numbers))
    if not np.isfinite(span):
        raise ValueError(f"attribute {name!r} holds infinity, or numbers too far apart to be subtracted; rescale it")
    return float(numbers.min()), span or 1.0


@dataclass(frozen=True)
class FittedGraphEdit:
    """The edit scheme with its attributes and ranges fixed."""

    vertex: Schema
    edge: Schema
    directed: bool | None
    n_parameters: int = 3

    def prepare(self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None) -> Any:
        """Compute S, I and E of all pairs, which do not depend on p."""
        codes: dict[Any, int] = {}
        texts: dict[str, int] = {}
        prototype_texts: dict[str, int] = texts if prototypes is None else {}
        left = self._flatten(patterns, codes, texts)
        right = left if prototypes is None else self._flatten(prototypes, codes, prototype_texts)
        table = _text_table(list(texts), list(prototype_texts))
        back_table = np.ascontiguousarray(table.T)
        components = np.empty((3, len(left[0][0]) - 1, len(right[0][0]) - 1))
        largest = max(int(np.diff(flat[0][0]).max(initial=0)) for flat in (left, right))

        def work(start: int, stop: int) -> None:
            room = _room(largest)
            edit_components(start, stop, left, right, prototypes is None, table, back_table, room, components)

        for_each_block(components.shape[1], max(1, min(16, components.shape[1] // 8)), work)
        return LinearPrepared(components)

    def _flatten(self, graphs: Sequence[LabelledGraph], codes: dict[Any, int], vocabulary: dict[str, int]) -> Any:
        """Return the flat arrays the kernel takes."""
        for number, graph in enumerate(graphs):
            if len(np.asarray(graph.edges)) and self.directed not in (None, graph.directed):
                kind = "directed" if graph.directed else "undirected"
                raise ValueError(f"graph {number} is {kind}, those of the fit are not; turn it into their kind")
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
    costs = np.empty(n * n)
    return costs, costs.view(np.int64), *np.empty((3, n), np.int64), *np.empty((2, max(n, 1)))


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
) -> tuple[Matrix, Matrix, NDArray[np.int64], NDArray[np.int64]]:
    """Return numbers, what scales their differences, codes of categories, codes of texts: one row per attribute."""

    def column(name: str) -> list[Any]:
        return [
            value
            for mapping, count in zip(attributes, counts, strict=True)
            for value in mapping.get(name, [None] * int(count))
        ]

    total = int(np.sum(counts))
    numbers = np.empty((len(schema.numbers), total))
    for k, (name, (low, _)) in enumerate(schema.numbers.items()):
        numbers[k] = _as_numbers(name, column(name)) - low
    return (
        numbers,
        np.array([1.0 / span for _, span in schema.numbers.values()]),
        _coded([column(name) for name in schema.categories], codes, total, lambda value: value),
        _coded([column(name) for name in schema.texts], vocabulary, total, str),
    )


def _as_numbers(name: str, values: Sequence[Any]) -> Matrix:
    odd = [value for value in values if not isinstance(value, Number) and not _is_missing(value)]
    if odd:
        raise ValueError(f"attribute {name!r} held numbers in training, but here {odd[0]!r}")
    numbers = np.array([np.nan if _is_missing(value) else value for value in values], dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"attribute {name!r} holds infinity; drop or replace it")
    return numbers


def _coded(columns: Sequence[Sequence[Any]], known: dict[Any, int], total: int, key: Any) -> NDArray[np.int64]:
    """Return one code per value, -1 where missing; values not known yet get the next code."""
    coded = np.empty((len(columns), total), np.int64)
    for k, values in enumerate(columns):
        try:
            coded[k] = [-1 if _is_missing(v) else known.setdefault(key(v), len(known)) for v in values]
        except TypeError as error:
            message = (
                f"an attribute holds values that are no numbers, categories or texts ({error}); declare it 'ignore'"
            )
            raise ValueError(message) from None
    return coded


def _text_table(texts: Sequence[str], others: Sequence[str]) -> Matrix:
    """Return the normalised edit distances of texts to other texts."""
    if not texts or not others:
        return np.empty((len(texts), len(others)))
    return StringEdit().fit(others).prepare(texts, others).evaluate(np.ones(3))
