"""Labelled graphs -> the flat arrays that the kernel compares."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eocc.foundation.types import Flags, Indices, Matrix
from eocc.kernels.graph_edit import edit_pairs, twec_pairs
from eocc.measures.bounded import SAFE_SHARE
from eocc.measures.graphs.attributes import Encoded, Schema, encode, units_of
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import derived
from eocc.measures.strings import edit_distance

# Categories are counted by their codes modulo this number.
N_BUCKETS = 64


class FlatGraphs(NamedTuple):
    """Graphs one after another: `vertices` and `edges` say where those of each graph begin.

    The neighbours of each vertex, counted within its graph, begin at `begin`; `edge_of` are the edges to them. `ends`
    are the ends of each edge, counted within its graph.
    """

    vertices: Indices
    edges: Indices
    degree: Indices
    begin: Indices
    neighbour: Indices
    edge_of: Indices
    ends: Indices
    of_vertices: Encoded
    of_edges: Encoded

    @classmethod
    def of(
        cls,
        schemas: tuple[Schema, Schema],
        graphs: Sequence[LabelledGraph],
        codes: dict[Any, int],
        texts: dict[str, int],
    ) -> "FlatGraphs":
        """Flatten the graphs; new categories and texts get the next code."""
        edges = [np.asarray(graph.edges) for graph in graphs]
        counts, n_edges = np.array([graph.n_vertices for graph in graphs]), np.array([*map(len, edges)])
        starts, ends = _starts(counts), np.concatenate([np.empty((0, 2), np.int64), *edges])
        is_directed = np.repeat(np.array([graph.directed for graph in graphs], bool), n_edges)
        shifts = np.append(np.repeat(starts[:-1], n_edges), starts[-1])
        degree = np.concatenate([np.bincount(e.ravel(), minlength=n) for e, n in zip(edges, counts, strict=True)])
        of_vertices = encode(schemas[0], [graph.vertex_attributes for graph in graphs], counts, codes, texts)
        of_edges = encode(schemas[1], [graph.edge_attributes for graph in graphs], n_edges, codes, texts)
        links = _neighbours(ends, shifts, is_directed)
        return cls(starts, _starts(n_edges), degree, *links, ends, of_vertices, of_edges)

    def followed_by(self, other: "FlatGraphs") -> "FlatGraphs":
        """Return the graphs of both."""

        def joint(name: str) -> Any:
            one, two = getattr(self, name), getattr(other, name)
            if isinstance(one, Encoded):
                return Encoded(*(np.concatenate(parts, axis=1) for parts in zip(one, two, strict=True)))
            if name in ("vertices", "edges", "begin"):  # these end with a total, from which the other's continue
                return np.concatenate([one, one[-1] + two[1:]])
            return np.concatenate([one, two + len(self.ends) if name == "edge_of" else two])

        return FlatGraphs(*map(joint, self._fields))


@dataclass(frozen=True, eq=False)
class GraphPairs:
    """Pairs of `graphs`, the patterns and then the prototypes: `n_left` patterns, or all if there are no prototypes.

    `table` holds the distances of the texts of patterns (rows) and of prototypes (columns).
    """

    graphs: FlatGraphs
    units: tuple[Matrix, Matrix]
    n_left: int
    table: Matrix

    @classmethod
    def of(cls, measure: Any, patterns: Any, prototypes: Any = None) -> "GraphPairs":
        """Flatten both sides, and compare their texts; the prototypes of a measure are flattened once."""
        schemas = measure.vertex, measure.edge

        def flatten() -> tuple[FlatGraphs, dict[Any, int], dict[str, int]]:
            codes, texts = dict[Any, int](), dict[str, int]()
            return FlatGraphs.of(schemas, prototypes, codes, texts), codes, texts

        right, known, other_texts = (None, {}, {}) if prototypes is None else derived(prototypes, measure, flatten)
        texts: dict[str, int] = {}
        graphs = FlatGraphs.of(schemas, patterns, dict(known), texts)
        if right is None:
            other_texts = texts
        else:
            graphs = graphs.followed_by(right)
        table = edit_distance(list(texts), list(other_texts)) if texts and other_texts else np.empty((0, 0))
        return cls(graphs, (units_of(schemas[0]), units_of(schemas[1])), len(patterns), table)

    @property
    def sizes(self) -> Indices:
        """The number of vertices of each graph."""
        return np.diff(self.graphs.vertices)

    def compare(self, left: Indices, right: Indices) -> Matrix:
        """Return S, I and E of graphs left[t] and right[t], the one with fewer vertices first: (pairs, 3)."""
        is_larger = (self.sizes[left] > self.sizes[right])[:, None]
        pairs = np.where(is_larger, np.column_stack([right, left]), np.column_stack([left, right]))
        return self._computed(edit_pairs, pairs, 3)

    def compare_in_order(self, left: Indices, right: Indices) -> Matrix:
        """Return the four costs of TWEC of graphs left[t] and right[t]: (pairs, 4)."""
        return self._computed(twec_pairs, np.column_stack([left, right]), 4)

    def _computed(self, kernel: Any, pairs: Indices, n_components: int) -> Matrix:
        flat, largest = self.graphs, int(self.sizes.max(initial=0))
        found, costs = np.empty((len(pairs), n_components)), np.empty(max(largest, 1) ** 2)
        room = (costs, costs.view(np.int64), *np.empty((3, largest), np.int64), *np.empty((2, max(largest, 1))))
        (numbers, texts), (e_numbers, e_texts) = flat.of_vertices, flat.of_edges
        attributes = (numbers, self.units[0], texts, e_numbers, self.units[1], e_texts)
        graphs = (flat[:3], flat[3:7], attributes)
        kernel(pairs, self.n_left, graphs, self.table.ravel(), self.table.shape[1], room, found)
        return found

    def bounds(self, left: Indices, right: Indices) -> Matrix:
        """Return lower bounds of S, I and E of all graphs `left` against all graphs `right`: (3, n, r).

        Graphs of n <= m vertices have at least m - n insertions, and |E2| - |E1| more or |E1| - |E2| deletions. A
        vertex of the smaller graph whose category the larger one has no vertex left for costs at least its share.
        """
        sizes, edges, flat = self.sizes, np.diff(self.graphs.edges), self.graphs.of_vertices
        more, more_edges = sizes[right] - sizes[left][:, None], edges[right] - edges[left][:, None]
        more_edges = np.where(more < 0, -more_edges, more_edges)
        total = np.maximum(sizes[right] + sizes[left][:, None] + edges[right] + edges[left][:, None], 1)
        unlike = len(self._categories) * np.minimum(sizes[right], sizes[left][:, None])
        for counts in self._category_counts:
            unlike -= np.minimum(counts[left][:, None], counts[right])
        share = SAFE_SHARE / max(len(flat.numbers) + len(flat.texts), 1)
        inserted = np.abs(more) + np.maximum(more_edges, 0)
        return np.stack([share * unlike / total, inserted / total, np.maximum(-more_edges, 0) / total])

    @property
    def _categories(self) -> Matrix:
        """The codes of the vertices, one row per category."""
        return np.asarray(self.graphs.of_vertices.numbers[self.units[0][1] == 1])

    @cached_property
    def _category_counts(self) -> Indices:
        """How many vertices of each graph have each category: (categories, graphs). Rare ones may share a row."""
        graph_of, counts = np.repeat(np.arange(len(self.sizes)), self.sizes), []
        for codes in self._categories:
            buckets = np.where(np.isnan(codes), -1, codes).astype(np.int64) % N_BUCKETS
            table = np.bincount(graph_of * N_BUCKETS + buckets, minlength=len(self.sizes) * N_BUCKETS)
            counts.append(table.reshape(-1, N_BUCKETS).T)
        joint = np.concatenate([np.empty((0, len(self.sizes)), np.int64), *counts])
        return joint[joint.any(axis=1)]


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
