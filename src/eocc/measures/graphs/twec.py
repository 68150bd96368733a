"""TWEC, the edit scheme of labelled graphs that the authors of the paper published."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eocc.foundation.threads import for_each_block
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import counted
from eocc.kernels.graph_edit import pair_in_order
from eocc.measures.base import LinearPrepared
from eocc.measures.difference import Contribution, Difference, Pair
from eocc.measures.graphs.base import FittedGraphMeasure, GraphMeasure
from eocc.measures.graphs.edit_path import GraphEditOperation, called_ends, graph_edit_path
from eocc.measures.labelled_graph import LabelledGraph


def term_weights(p: Matrix) -> Matrix:
    """Return the weights of C_N, C_E, C_ED and C_ND at p = (a, b, g); they add up to 1.

    >>> term_weights(np.array([0.25, 2 / 3, 0.5])).round(3).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    a, b, g = p
    return np.array([(1 - a) * (1 - b), (1 - a) * b * (1 - g), (1 - a) * b * g, a])


@dataclass(frozen=True, eq=False)
class TwecPrepared:
    """The four costs of all pairs, (4, n, r), computed once."""

    components: Matrix

    def evaluate(self, p: Matrix, out: Matrix | None = None) -> Matrix:
        """Return d at p = (a, b, g)."""
        return LinearPrepared(self.components).evaluate(term_weights(p), out)


@dataclass(frozen=True)
class FittedTwec(FittedGraphMeasure):
    """TWEC with the attributes and their ranges in training."""

    weighs: ClassVar = ("a (numbers of vertices)", "b (edges)", "g (edges in one graph only)")

    def neutral_weights(self) -> Matrix:
        """Return the p at which all four costs count alike. At p = 1 only the numbers of vertices would count."""
        return np.array([0.25, 2 / 3, 0.5])

    def prepare(
        self, patterns: Sequence[LabelledGraph], prototypes: Sequence[LabelledGraph] | None = None
    ) -> TwecPrepared:
        """Compute the four costs of all pairs, which do not depend on p."""
        pairs, n = self.pairs(patterns, prototypes), len(patterns)
        others = np.arange(n) if prototypes is None else n + np.arange(len(prototypes))
        components = np.empty((4, n, len(others)))

        def work(start: int, stop: int) -> None:
            rows, columns = np.indices((stop - start, len(others))).reshape(2, -1)
            found = pairs.compare_in_order(start + rows, others[columns])
            components[:, start:stop] = found.T.reshape(4, stop - start, len(others))

        for_each_block(n, max(1, min(16, n // 8)), work, f"comparing {counted(n, 'graph')}")
        return TwecPrepared(components)

    def difference(self, pair: Pair) -> Difference:
        """Return one contribution per edit: each cost of d is a mean or a share of edits of one kind."""
        first, second = pair.pattern[0], pair.prototype[0]
        edits = graph_edit_path(self, first, second, paired_in_order)
        n_paired = min(first.n_vertices, second.n_vertices)
        left_over = {edit.other for edit in edits if edit.kind == "insert" and edit.what == "vertex"}
        edits = [edit for edit in edits if edit.what == "vertex" or _is_between(edit, n_paired, left_over)]
        units = self._units(first, second, pair.weights)
        contributions = [
            Contribution(
                edit.cost * units[edit.what, edit.kind == "substitute"],
                edit.text,
                {"operation": edit.kind, "what": edit.what, **called_ends(edit, first, second)},
                edit.group,
            )
            for edit in edits
        ]
        return Difference(
            pair.dissimilarity, tuple(contributions), f"by edits that turn the pattern into the {pair.called}"
        )

    def _units(self, first: LabelledGraph, second: LabelledGraph, p: Matrix) -> dict[tuple[str, bool], float]:
        """Return what an edit of cost 1 adds to d, by (vertex or edge, whether it is a substitution)."""
        vertices, edges, unshared, sizes = term_weights(p)
        n_shared = self._n_shared(first, second)
        return {
            ("vertex", True): vertices / max(min(first.n_vertices, second.n_vertices), 1),
            ("edge", True): edges / max(n_shared, 1),
            ("edge", False): unshared / max(len(np.asarray(first.edges)) + len(np.asarray(second.edges)), 1),
            ("vertex", False): sizes / max(first.n_vertices + second.n_vertices, 1),
        }

    def _n_shared(self, first: LabelledGraph, second: LabelledGraph) -> int:
        """Return how many edges of the first graph the second has, between paired vertices."""
        edits = graph_edit_path(self, first, second, paired_in_order)
        n_deleted = sum(edit.kind == "delete" and edit.what == "edge" for edit in edits)
        return len(np.asarray(first.edges)) - n_deleted


def paired_in_order(costs: Matrix, degrees: Indices) -> list[int]:
    """Return the vertex of the second graph for each of the first, -1 for those that find none left."""
    n, m = costs.shape
    partner, count = np.full(n, -1), min(n, m)
    if count:
        pair_in_order(np.ascontiguousarray(costs[:count]), partner, np.empty(m))
    found: list[int] = partner.tolist()
    return found


def _is_between(edit: GraphEditOperation, n_paired: int, left_over: set[Any]) -> bool:
    """Return whether both ends of an edge are paired in the graphs that have it."""
    ends, others = (end if isinstance(end, list) else [] for end in (edit.one, edit.other))
    return all(end < n_paired for end in ends) and not left_over.intersection(others)


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
