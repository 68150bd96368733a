"""p -> its dissimilarity space, graph and scores: the steps that a search repeats for every candidate."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.types import Indices, Matrix
from eocc.measures.protocol import Prepared, prepare
from eocc.space.dissimilarity_space import DissimilaritySpace, dissimilarity_space
from eocc.space.representation import Representation
from eocc.synthesis.assessment import Assessor, Candidate
from eocc.synthesis.graph_kinds import CompleteGraph, Graph, GraphKind, SinglePrecisionGraph
from eocc.synthesis.settings import Settings

# With a neighbour graph, the search runs on this many patterns, drawn at random, with all their pairs.
SEARCH_SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class Workspace:
    """Memory for one candidate: its dissimilarity space (n, r) and its distances (n, n)."""

    space: Matrix
    distances: Matrix

    @classmethod
    def of_size(cls, n: int, r: int, kind: GraphKind) -> "Workspace":
        """Allocate the memory for n patterns and r prototypes."""
        return cls(np.empty((n, r)), np.empty((n, n) if isinstance(kind, CompleteGraph) else (0, 0)))


def embed(prepared: Prepared, p: Matrix, kind: GraphKind, workspace: Workspace) -> tuple[DissimilaritySpace, Graph]:
    """Return the dissimilarity space of p, and the graph G(p) over it with its spanning tree."""
    space = dissimilarity_space(prepared, p, workspace.space)
    return space, kind.build(space, workspace.distances)


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates candidates on n patterns, `prepared` against r prototypes."""

    prepared: Prepared
    kind: GraphKind
    assess: Assessor
    n: int
    r: int

    @classmethod
    def of(cls, settings: Settings, representation: Representation, sample: Indices | None) -> "Evaluator":
        """Prepare the evaluation on a sample of the patterns, or on all of them for None."""
        kind = settings.graph if sample is None else CompleteGraph()
        if settings.precision == "single" and isinstance(kind, CompleteGraph):
            kind = SinglePrecisionGraph()
        n = len(representation.patterns) if sample is None else len(sample)
        with one_blas_thread():
            if sample is None:
                prepared = representation.prepared
            else:
                prepared = prepare(representation.measure, representation.patterns[sample], representation.prototypes)
            assess = settings.synthesis.assessor(representation, kind)
        return cls(prepared, kind, assess, n, len(representation.prototype_indices))

    def workspace(self) -> Workspace:
        """Allocate the memory for one thread."""
        return Workspace.of_size(self.n, self.r, self.kind)

    def __call__(self, p: Matrix, workspace: Workspace, /) -> Candidate:
        """Return p with its partition and its scores."""
        return self.assess(p, *embed(self.prepared, p, self.kind, workspace))


def search_sample(kind: GraphKind, n: int, rng: np.random.Generator) -> Indices | None:
    """Return the patterns that a search uses, drawn at random; None means all of them."""
    if isinstance(kind, CompleteGraph) or n <= SEARCH_SAMPLE:
        return None
    return np.sort(rng.choice(n, SEARCH_SAMPLE, replace=False))
