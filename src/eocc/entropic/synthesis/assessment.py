"""Graph of one p -> its partition and its objective.

EOCC-1 (``EntropySynthesis``) scores entropy and modularity of the partition that Algorithm 1 finds. EOCC-2
(``ValidationSynthesis``) runs Algorithm 2: it also scores the decisions on a validation set, for every partition.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eocc.base.types import Matrix
from eocc.entropic.graph.complete import EuclideanGraph
from eocc.entropic.graph.entropy import normalized_entropy, renyi_entropy
from eocc.entropic.partition.cuts import ROUNDING, greedy_prune, modularity_curve, normalized_modularity
from eocc.entropic.regions.all_partitions import Performance, performance_curve
from eocc.entropic.regions.rules import Extent
from eocc.measures.protocol import Prepared, prepare
from eocc.space.representation import Representation


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point p = `weights` of the search with its scores. `performance` is NaN without a validation set."""

    weights: Matrix
    n_clusters: int
    entropy: float
    modularity: float
    objective: float
    performance: float = math.nan


Assessor = Callable[[Matrix, EuclideanGraph], Candidate]


def entropies(graph: EuclideanGraph, gamma: float, objective: str) -> tuple[float, float]:
    """Return the normalised entropy, and the one that the objective takes. departure: entropy in the objective."""
    normalised = normalized_entropy(graph.tree.lengths, gamma)
    if objective == "normalised":
        return normalised, normalised
    # The Rényi entropy of copies is minus infinity: -1e100 stands for it.
    return normalised, max(renyi_entropy(graph.tree.lengths, graph.space.n_dims, gamma), -1e100)


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1. The objective is eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float
    first_cut: str = "always"
    objective: str = "normalised"

    def assessor(self, representation: Representation) -> Assessor:
        """Return the function that assesses candidates; the graph of each is all it needs."""
        return self._assess

    def _assess(self, p: Matrix, graph: EuclideanGraph) -> Candidate:
        """Run Algorithm 1: cut the heaviest edges of the spanning tree while the modularity does not fall."""
        entropy, term = entropies(graph, self.gamma, self.objective)
        k, q = greedy_prune(graph.distances, graph.tree, self.first_cut)
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
    extent: Extent
    targets: Any
    outliers: Any
    objective: str = "normalised"

    def assessor(self, representation: Representation) -> Assessor:
        """Compare the validation patterns with the prototypes; return the function that assesses candidates."""
        measure, prototypes = representation.measure, representation.prototypes
        return partial(self._assess, [prepare(measure, X, prototypes) for X in (self.targets, self.outliers)])

    def _assess(self, prepared: list[Prepared], p: Matrix, graph: EuclideanGraph) -> Candidate:
        """Run Algorithm 2: score the partitions into k = 2, ..., n clusters; ties go to fewer clusters."""
        least = min(2, graph.tree.n_vertices)
        rows = np.vstack([pairs.evaluate(p) for pairs in prepared]) - graph.space.means
        entropy, term = entropies(graph, self.gamma, self.objective)
        performance = performance_curve(graph, rows, len(self.targets), self.extent, self.performance)
        modularity = normalized_modularity(modularity_curve(graph.distances, graph.tree)[least - 1 :])
        objective = self.beta * performance + (1 - self.beta) * (self.eta * term + (1 - self.eta) * modularity)
        # Objectives that differ by rounding only are equal: fewer clusters win. departure: best partition
        best = int(np.argmax(objective >= objective.max() - ROUNDING))
        scores = (float(score[best]) for score in (modularity, objective, performance))
        return Candidate(p, least + best, entropy, *scores)


Synthesis = EntropySynthesis | ValidationSynthesis
