"""A candidate's space and graph -> what it is worth, and the partition it gets.

EOCC-1 (``EntropySynthesis``) looks at entropy and modularity; EOCC-2 (``ValidationSynthesis``) also at the
performance on a validation set.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eocc.foundation.types import Matrix
from eocc.graph.entropy import normalized_entropy
from eocc.measures.protocol import Prepared
from eocc.partition.dense import normalized_modularity
from eocc.regions.all_partitions import ValidationRows
from eocc.regions.fuzzy import Fuzzification
from eocc.regions.performance import CountPerformance, ScorerPerformance
from eocc.scale.cluster import prepare
from eocc.space.dissimilarity_space import DissimilaritySpace
from eocc.space.representation import Representation
from eocc.synthesis.graph_kinds import Graph, GraphKind

# Objectives this close are equal but for rounding: the earlier, simpler partition is kept. departure: best partition
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Candidate:
    """A point p of the search, and what it is worth. `performance` is NaN where nothing was validated."""

    weights: Matrix
    n_clusters: int
    entropy: float
    modularity: float
    objective: float
    performance: float = math.nan


class Assessor(Protocol):
    """What judges the candidates of a fit."""

    def __call__(self, p: Matrix, space: DissimilaritySpace, graph: Any) -> Candidate:
        """Judge p by its space and graph."""
        ...

    def rows(self, p: Matrix) -> Matrix:
        """Return the validation patterns in the dissimilarity space of p; none where nothing is validated."""
        ...


class Synthesis(Protocol):
    """What p is worth, and which partition it gets."""

    @property
    def gamma(self) -> float:
        """The exponent of the entropy."""
        ...

    def assessor(self, representation: Representation, kind: GraphKind) -> Assessor:
        """Do once per fit what all candidates share; return what judges a candidate by its space and graph."""
        ...


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1, worth eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float

    def assessor(self, representation: Representation, kind: GraphKind) -> "EntropyAssessor":
        """Judge by the graph alone."""
        return EntropyAssessor(self, kind)


@dataclass(frozen=True)
class EntropyAssessor:
    """Judges by the graph alone."""

    synthesis: EntropySynthesis
    kind: GraphKind

    def __call__(self, p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
        """Return p with the partition of Algorithm 1."""
        eta = self.synthesis.eta
        entropy = normalized_entropy(graph.tree.lengths, self.synthesis.gamma)
        k, q = self.kind.prune(graph)
        modularity = normalized_modularity(q)
        return Candidate(p, k, entropy, modularity, eta * entropy + (1 - eta) * modularity)

    def rows(self, p: Matrix) -> Matrix:
        """Return none."""
        return np.empty((0, 0))


@dataclass(frozen=True)
class ValidationSynthesis:
    """EOCC-2 (Algorithm 2): of all partitions the one with the greatest beta * P + (1 - beta) * EOCC-1's objective.

    P is the performance of the partition's regions on the validation patterns, `targets` and `outliers`.
    """

    eta: float
    beta: float
    gamma: float
    performance: CountPerformance | ScorerPerformance
    fuzzification: Fuzzification
    targets: Any
    outliers: Any

    def assessor(self, representation: Representation, kind: GraphKind) -> "ValidationAssessor":
        """Prepare the validation patterns against the prototypes."""
        prepared = [
            prepare(representation.measure, group, representation.prototypes) for group in (self.targets, self.outliers)
        ]
        return ValidationAssessor(self, kind, prepared)

    def choose(
        self, p: Matrix, space: DissimilaritySpace, graph: Graph, kind: GraphKind, validation: ValidationRows
    ) -> Candidate:
        """Return p with the partition of the greatest objective; ties go to the fewer clusters."""
        least = min(2, graph.tree.n_vertices)
        entropy = normalized_entropy(graph.tree.lengths, self.gamma)
        performance = kind.performances(space, graph, validation, self.fuzzification, self.performance)
        modularity = normalized_modularity(kind.curve(graph)[least - 1 :][: len(performance)])
        objective = self.beta * performance + (1 - self.beta) * (self.eta * entropy + (1 - self.eta) * modularity)
        best = int(np.argmax(objective >= objective.max() - ROUNDING))
        return Candidate(
            p, least + best, entropy, float(modularity[best]), float(objective[best]), float(performance[best])
        )


@dataclass(frozen=True, eq=False)
class ValidationAssessor:
    """Judges by the graph and by the validation patterns: targets, then outliers, `prepared` against the prototypes."""

    synthesis: ValidationSynthesis
    kind: GraphKind
    prepared: list[Prepared]

    def __call__(self, p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
        """Return p with the partition of Algorithm 2."""
        rows = self.rows(p)
        rows -= space.means
        validation = ValidationRows(rows, len(self.synthesis.targets))
        return self.synthesis.choose(p, space, graph, self.kind, validation)

    def rows(self, p: Matrix) -> Matrix:
        """Return the validation patterns in the dissimilarity space of p."""
        return np.vstack([pairs.evaluate(p) for pairs in self.prepared])
