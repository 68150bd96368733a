"""The three-weight edit scheme of labelled graphs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted
from eocc.measures.base import LinearPrepared
from eocc.measures.bounded import are_few, nearest_by_bounds, nearest_of_all
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graphs.base import FittedGraphMeasure, GraphMeasure
from eocc.measures.graphs.edit_path import WEIGHT, called_ends, graph_edit_path
from eocc.measures.labelled_graph import LabelledGraph


@dataclass(frozen=True)
class FittedGraphEdit(FittedGraphMeasure):
    """The three-weight scheme with the attributes and their ranges in training."""

    weighs: ClassVar = ("substitution", "insertion", "deletion")
    is_costly: ClassVar = True

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
            ends = called_ends(edit, first, second)
            details = {"operation": edit.kind, "what": edit.what, **ends}
            contributions.append(Contribution(amount, edit.text, details, edit.group))
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
