"""Dissimilarity space and graph of one p -> its partition and its objective.

EOCC-1 (``EntropySynthesis``) scores entropy and modularity of the partition that Algorithm 1 finds. EOCC-2
(``ValidationSynthesis``) runs Algorithm 2: it also scores the decisions on a validation set, for every partition.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.graph.complete import SpanningTree
from eocc.graph.entropy import normalized_entropy, renyi_entropy
from eocc.measures.protocol import Prepared, prepare
from eocc.partition.dense import ROUNDING, normalized_modularity
from eocc.regions.all_partitions import ValidationRows
from eocc.regions.fuzzy import Fuzzification
from eocc.regions.performance import Performance
from eocc.space.dissimilarity_space import DissimilaritySpace
from eocc.space.representation import Representation
from eocc.synthesis.graph_kinds import Graph, GraphKind

# Stands for the Rényi entropy of copies, which is minus infinity.
LEAST_ENTROPY = -1e100


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point p = `weights` of the search with its scores. `performance` is NaN without a validation set."""

    weights: Matrix
    n_clusters: int
    entropy: float
    modularity: float
    objective: float
    performance: float = math.nan


def entropies(tree: SpanningTree, n_dims: int, gamma: float, objective: str) -> tuple[float, float]:
    """Return the normalised entropy, and the one that the objective takes. departure: entropy in the objective."""
    normalised = normalized_entropy(tree.lengths, gamma)
    if objective == "normalised":
        return normalised, normalised
    return normalised, max(renyi_entropy(tree.lengths, n_dims, gamma), LEAST_ENTROPY)


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1. The objective is eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float
    first_cut: str = "always"
    objective: str = "normalised"

    def assessor(self, representation: Representation, kind: GraphKind) -> "EntropyAssessor":
        """Return the assessor; the graph of each candidate is all it needs."""
        return EntropyAssessor(self, kind)


@dataclass(frozen=True)
class EntropyAssessor:
    """Assesses candidates by their graphs alone."""

    synthesis: EntropySynthesis
    kind: GraphKind

    def __call__(self, p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
        """Run Algorithm 1: cut the heaviest edges of the spanning tree while the modularity does not fall."""
        how = self.synthesis
        entropy, term = entropies(graph.tree, space.n_dims, how.gamma, how.objective)
        k, q = self.kind.prune(graph, how.first_cut)
        modularity = normalized_modularity(q)
        return Candidate(p, k, entropy, modularity, how.eta * term + (1 - how.eta) * modularity)


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

    def assessor(self, representation: Representation, kind: GraphKind) -> "ValidationAssessor":
        """Compare the validation patterns with the prototypes, and return the assessor."""
        measure, prototypes = representation.measure, representation.prototypes
        return ValidationAssessor(self, kind, [prepare(measure, X, prototypes) for X in (self.targets, self.outliers)])


@dataclass(frozen=True, eq=False)
class ValidationAssessor:
    """Assesses candidates by their graphs and by the validation patterns, `prepared` as [targets, outliers]."""

    synthesis: ValidationSynthesis
    kind: GraphKind
    prepared: list[Prepared]

    def __call__(self, p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
        """Run Algorithm 2: score the partitions into k = 2, ..., n clusters; ties go to fewer clusters."""
        how, least = self.synthesis, min(2, graph.tree.n_vertices)
        rows = np.vstack([pairs.evaluate(p) for pairs in self.prepared]) - space.means
        entropy, term = entropies(graph.tree, space.n_dims, how.gamma, how.objective)
        performance = self.kind.performances(
            space, graph, ValidationRows(rows, len(how.targets)), how.fuzzification, how.performance
        )
        modularity = normalized_modularity(self.kind.curve(graph)[least - 1 :][: len(performance)])
        objective = how.beta * performance + (1 - how.beta) * (how.eta * term + (1 - how.eta) * modularity)
        # Objectives that differ by rounding only are equal: fewer clusters win. departure: best partition
        best = int(np.argmax(objective >= objective.max() - ROUNDING))
        return Candidate(
            p, least + best, entropy, float(modularity[best]), float(objective[best]), float(performance[best])
        )


Synthesis = EntropySynthesis | ValidationSynthesis
Assessor = EntropyAssessor | ValidationAssessor
