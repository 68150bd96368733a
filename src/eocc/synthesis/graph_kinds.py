"""Dissimilarity space -> its graph: complete, or of nearest neighbours; and the stages that depend on this choice.

Both kinds give a spanning tree, its entropy, the modularity of every partition, and regions. The complete graph is
exact and takes O(n^2) memory. The graph of k neighbours takes O(n k) memory; its tree and regions are approximate.
"""

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from eocc.foundation.arguments import check_count
from eocc.foundation.registry import choose, resolve
from eocc.foundation.types import Indices, Matrix
from eocc.graph.complete import EuclideanGraph, euclidean_graph, single_precision_graph
from eocc.graph.neighbour_graph import SparseGraph, renyi_neighbour_entropy, sparse_graph
from eocc.partition.dense import full_curve, greedy_prune
from eocc.partition.sparse import sparse_curve, sparse_prune
from eocc.regions.all_partitions import ValidationRows, performance_curve
from eocc.regions.fuzzy import Fuzzification, Region, Shape, build_regions
from eocc.regions.performance import Performance
from eocc.regions.sampled import Sampling, build_sparse_regions, sparse_performance_curve
from eocc.space.dissimilarity_space import DissimilaritySpace
from eocc.synthesis import GRAPHS

# Neighbours per pattern; docs/results/scale.md compares other values.
N_NEIGHBOURS = 10
# Up to this many patterns graph="auto" compares all pairs.
LARGEST_COMPLETE = 5000


Graph = EuclideanGraph | SparseGraph
Regions = list[tuple[Region, Shape]]


class GraphKind(Protocol):
    """A kind of graph, and the stages that depend on it."""

    def build(self, space: DissimilaritySpace, out: Matrix, /) -> Graph:
        """Return the graph over the rows of the space. `out` is memory for the distances: (n, n), or empty."""
        ...

    def prune(self, graph: Any, first_cut: str, /) -> tuple[int, float]:
        """Return (k, Q) of Algorithm 1; `first_cut` is "always" or "if-better"."""
        ...

    def curve(self, graph: Any, /) -> Matrix:
        """Return Q for k = 1, ..., n."""
        ...

    def regions(self, space: DissimilaritySpace, graph: Any, labels: Indices, how: Fuzzification, /) -> Regions:
        """Return one region per cluster."""
        ...

    def performances(
        self, space: DissimilaritySpace, graph: Any, validation: ValidationRows, how: Fuzzification, of: Performance, /
    ) -> Matrix:
        """Return the performance of the partitions into k = 2, ... clusters (Algorithm 2)."""
        ...

    def neighbour_entropy(self, graph: Any, n_dims: int, gamma: float, /) -> float | None:
        """Return the Rényi entropy estimated from nearest neighbours, or None for a complete graph."""
        ...


@dataclass(frozen=True)
class CompleteGraph:
    """All pairs: the graph G(p) of the paper."""

    build = staticmethod(euclidean_graph)
    prune = staticmethod(greedy_prune)
    curve = staticmethod(full_curve)
    performances = staticmethod(performance_curve)

    def regions(self, space: DissimilaritySpace, graph: EuclideanGraph, labels: Indices, how: Fuzzification) -> Regions:
        """Return one region per cluster, from all its pairs."""
        return build_regions(space.rows, graph, labels, how)

    def neighbour_entropy(self, graph: EuclideanGraph, n_dims: int, gamma: float) -> None:
        """Return None."""


@dataclass(frozen=True)
class SinglePrecisionGraph(CompleteGraph):
    """All pairs in single precision, for searches; the best candidate is assessed again in double precision."""

    build = staticmethod(single_precision_graph)


@dataclass(frozen=True)
class NeighbourGraph:
    """The `k` nearest neighbours of every pattern, connected; large clusters are measured on samples."""

    k: int = N_NEIGHBOURS
    seed: int = field(default=0, repr=False)

    prune = staticmethod(sparse_prune)
    curve = staticmethod(sparse_curve)

    def __post_init__(self) -> None:
        check_count("k", self.k)

    def build(self, space: DissimilaritySpace, out: Matrix) -> SparseGraph:
        """Return the neighbours and the tree."""
        return sparse_graph(space.rows, min(self.k, max(1, len(space.rows) - 1)))

    def regions(self, space: DissimilaritySpace, graph: SparseGraph, labels: Indices, how: Fuzzification) -> Regions:
        """Return one region per cluster, measured on a sample if the cluster is large."""
        sampling = self._sampling(graph).for_regions(labels, space.n_dims, how)
        return build_sparse_regions(space.rows, graph.tree, labels, how, sampling)

    def performances(
        self, space: DissimilaritySpace, graph: SparseGraph, validation: ValidationRows, how: Fuzzification,
        performance: Performance,
    ) -> Matrix:  # fmt: skip
        """Return the performance of all partitions, or of the first few if each needs new regions."""
        return sparse_performance_curve(space.rows, graph, validation, how, performance, self._sampling(graph))

    def neighbour_entropy(self, graph: SparseGraph, n_dims: int, gamma: float) -> float | None:
        """Return the Rényi entropy estimated from the distances to neighbours."""
        distances = graph.neighbours.distances
        return renyi_neighbour_entropy(distances, n_dims, gamma) if distances.size else None

    def _sampling(self, graph: SparseGraph) -> Sampling:
        return Sampling.seeded(graph.tree.n_vertices, np.random.default_rng(self.seed))


def graph_for(graph: str | GraphKind, n: int) -> GraphKind:
    """Return the kind of graph for n patterns, itself or by its name: "auto" is "complete" up to LARGEST_COMPLETE."""
    if isinstance(graph, str) and graph == "auto":
        graph = "complete" if n <= LARGEST_COMPLETE else "knn"
    if isinstance(graph, str) and graph not in GRAPHS:
        choose("graph", {"auto": None, **GRAPHS}, graph, otherwise="pass an object with a method 'build'")
    resolved: GraphKind = resolve("graph", GRAPHS, graph, method="build")
    return resolved
