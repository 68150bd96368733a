"""Dissimilarity space of one p -> its graph, its partition and its objective.

Both kinds of graph give a spanning tree, its entropy, the modularity of every partition, and regions. The complete
graph is exact and takes O(n^2) memory. The graph of k neighbours takes O(n k) memory; its tree and regions are
approximate.

EOCC-1 (``EntropySynthesis``) scores entropy and modularity of the partition that Algorithm 1 finds. EOCC-2
(``ValidationSynthesis``) runs Algorithm 2: it also scores the decisions on a validation set, for every partition.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from eocc.base.arguments import check_count
from eocc.base.registry import choose, resolve
from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import EuclideanGraph, SpanningTree, euclidean_graph, single_precision_graph
from eocc.entropic.graph.entropy import normalized_entropy, renyi_entropy
from eocc.entropic.graph.neighbour_graph import SparseGraph, renyi_neighbour_entropy, sparse_graph
from eocc.entropic.partition.cuts import ROUNDING, full_curve, greedy_prune, normalized_modularity
from eocc.entropic.regions.all_partitions import Performance, ValidationRows, performance_curve
from eocc.entropic.regions.fuzzy import Fuzzification, Region, Shape, build_regions
from eocc.entropic.regions.sampled import Sampling, build_sparse_regions, sparse_performance_curve
from eocc.entropic.synthesis import GRAPHS
from eocc.measures.protocol import Prepared, prepare
from eocc.space.dissimilarity_space import DissimilaritySpace
from eocc.space.representation import Representation

# Neighbours per pattern; docs/results/scale.md compares other values.
N_NEIGHBOURS = 10
# Up to this many patterns graph="auto" compares all pairs.
LARGEST_COMPLETE = 5000


Graph = EuclideanGraph | SparseGraph
Regions = list[tuple[Region, Shape]]


@dataclass(frozen=True)
class CompleteGraph:
    """All pairs: the graph G(p) of the paper.

    `build` takes the space, and memory for all distances; `performances` are those of Algorithm 2.
    """

    build = staticmethod(euclidean_graph)
    performances = staticmethod(performance_curve)

    def regions(self, space: DissimilaritySpace, graph: Any, labels: Indices, how: Fuzzification) -> Regions:
        """Return one region per cluster, from all its pairs."""
        return build_regions(space.rows, graph, labels, how)

    def neighbour_entropy(self, graph: Any, n_dims: int, gamma: float) -> float | None:
        """Return None: there is no estimate from nearest neighbours."""
        return None


@dataclass(frozen=True)
class SinglePrecisionGraph(CompleteGraph):
    """All pairs in single precision, for searches; the best candidate is assessed again in double precision."""

    build = staticmethod(single_precision_graph)


@dataclass(frozen=True)
class NeighbourGraph:
    """The `k` nearest neighbours of every pattern, connected; large clusters are measured on samples."""

    k: int = N_NEIGHBOURS
    seed: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        check_count("k", self.k)

    def build(self, space: DissimilaritySpace, out: Matrix) -> SparseGraph:
        """Return the neighbours and the tree."""
        return sparse_graph(space.rows, min(self.k, max(1, len(space.rows) - 1)))

    def regions(self, space: DissimilaritySpace, graph: Any, labels: Indices, how: Fuzzification) -> Regions:
        """Return one region per cluster, measured on a sample if the cluster is large."""
        sampling = self._sampling(graph).for_regions(labels, space.n_dims, how)
        return build_sparse_regions(space.rows, graph.tree, labels, how, sampling)

    def performances(
        self, space: DissimilaritySpace, graph: SparseGraph, validation: ValidationRows, how: Fuzzification,
        performance: Performance,
    ) -> Matrix:  # fmt: skip
        """Return the performance of all partitions, or of the first few if each needs new regions."""
        return sparse_performance_curve(space.rows, graph, validation, how, performance, self._sampling(graph))

    def neighbour_entropy(self, graph: Any, n_dims: int, gamma: float) -> float | None:
        """Return the Rényi entropy estimated from the distances to neighbours."""
        distances = graph.neighbours.distances
        return renyi_neighbour_entropy(distances, n_dims, gamma) if distances.size else None

    def _sampling(self, graph: SparseGraph) -> Sampling:
        return Sampling.seeded(graph.tree.n_vertices, np.random.default_rng(self.seed))


GraphKind = CompleteGraph | NeighbourGraph


def graph_for(graph: str | GraphKind, n: int) -> GraphKind:
    """Return the kind of graph for n patterns, itself or by its name: "auto" is "complete" up to LARGEST_COMPLETE."""
    if isinstance(graph, str) and graph == "auto":
        graph = "complete" if n <= LARGEST_COMPLETE else "knn"
    if isinstance(graph, str) and graph not in GRAPHS:
        choose("graph", {"auto": None, **GRAPHS}, graph, otherwise="pass an object with a method 'build'")
    resolved: GraphKind = resolve("graph", GRAPHS, graph, method="build")
    return resolved


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point p = `weights` of the search with its scores. `performance` is NaN without a validation set."""

    weights: Matrix
    n_clusters: int
    entropy: float
    modularity: float
    objective: float
    performance: float = math.nan


Assessor = Callable[[Matrix, DissimilaritySpace, Graph], Candidate]


def entropies(tree: SpanningTree, n_dims: int, gamma: float, objective: str) -> tuple[float, float]:
    """Return the normalised entropy, and the one that the objective takes. departure: entropy in the objective."""
    normalised = normalized_entropy(tree.lengths, gamma)
    if objective == "normalised":
        return normalised, normalised
    # The Rényi entropy of copies is minus infinity: -1e100 stands for it.
    return normalised, max(renyi_entropy(tree.lengths, n_dims, gamma), -1e100)


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1. The objective is eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float
    first_cut: str = "always"
    objective: str = "normalised"

    def assessor(self, representation: Representation, kind: GraphKind) -> Assessor:
        """Return the function that assesses candidates; the graph of each is all it needs."""
        return self._assess

    def _assess(self, p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
        """Run Algorithm 1: cut the heaviest edges of the spanning tree while the modularity does not fall."""
        entropy, term = entropies(graph.tree, space.n_dims, self.gamma, self.objective)
        k, q = greedy_prune(graph, self.first_cut)
        modularity = normalized_modularity(q)
        return Candidate(p, k, entropy, modularity, self.eta * term + (1 - self.eta) * modularity)


@dataclass(frozen=True)
class ValidationSynthesis:
    """EOCC-2: of all partitions the one with the highest beta * P + (1 - beta) * (objective of EOCC-1).

    P is the performance of the partition's regions on the validation patterns, `targets` and `outliers`.
    """

    eta: float
    beta: float
    gamma: float
    performance: Performance
    fuzzification: Fuzzification
    targets: Any
    outliers: Any
    objective: str = "normalised"

    def assessor(self, representation: Representation, kind: GraphKind) -> Assessor:
        """Compare the validation patterns with the prototypes; return the function that assesses candidates."""
        measure, prototypes = representation.measure, representation.prototypes
        return partial(self._assess, kind, [prepare(measure, X, prototypes) for X in (self.targets, self.outliers)])

    def _assess(
        self, kind: GraphKind, prepared: list[Prepared], p: Matrix, space: DissimilaritySpace, graph: Any
    ) -> Candidate:
        """Run Algorithm 2: score the partitions into k = 2, ..., n clusters; ties go to fewer clusters."""
        least = min(2, graph.tree.n_vertices)
        rows = np.vstack([pairs.evaluate(p) for pairs in prepared]) - space.means
        entropy, term = entropies(graph.tree, space.n_dims, self.gamma, self.objective)
        validation = ValidationRows(rows, len(self.targets))
        performance = kind.performances(space, graph, validation, self.fuzzification, self.performance)
        modularity = normalized_modularity(full_curve(graph)[least - 1 :][: len(performance)])
        objective = self.beta * performance + (1 - self.beta) * (self.eta * term + (1 - self.eta) * modularity)
        # Objectives that differ by rounding only are equal: fewer clusters win. departure: best partition
        best = int(np.argmax(objective >= objective.max() - ROUNDING))
        scores = (float(score[best]) for score in (modularity, objective, performance))
        return Candidate(p, least + best, entropy, *scores)


Synthesis = EntropySynthesis | ValidationSynthesis
