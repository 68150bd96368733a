"""p + data -> model: the stages in order, inside a search for the best p.

EOCC-1 (``EntropySynthesis``) maximises eta * entropy + (1 - eta) * modularity over p.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.entropy import normalized_entropy, renyi_entropy
from eocc.extents import Extent
from eocc.graph import EuclideanGraph, SpanningTree, euclidean_graph
from eocc.measures import FrozenMeasure, Measure, Prepared
from eocc.memberships import MembershipFunction
from eocc.partition import cut, full_curve, greedy_prune, normalized_modularity
from eocc.regions import FuzzyModel, Region, build_regions, fuzzy_model
from eocc.search import Generation, Search, generations
from eocc.space import dissimilarity_space
from eocc.tconorms import TConorm
from eocc.workers import Workers, workers

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A point p of the search, and what its graph is worth."""

    weights: Matrix
    n_clusters: int
    entropy: float
    modularity: float
    objective: float


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1, worth eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float

    def assess(self, p: Matrix, graph: EuclideanGraph) -> Candidate:
        """Return what p is worth, by its graph alone."""
        entropy = normalized_entropy(graph.tree.lengths, self.gamma)
        k, q = greedy_prune(graph)
        modularity = normalized_modularity(q)
        return Candidate(p, k, entropy, modularity, self.eta * entropy + (1 - self.eta) * modularity)


@dataclass(frozen=True)
class Settings:
    """What the user chose. `search` None takes p = `weights`."""

    measure: Measure
    synthesis: EntropySynthesis
    search: Search | None
    weights: ArrayLike | None
    extent: Extent
    membership_function: MembershipFunction
    tconorm: TConorm
    n_threads: int


@dataclass(frozen=True)
class Model:
    """Everything a fit finds out."""

    measure: FrozenMeasure
    candidate: Candidate
    tree: SpanningTree
    raw_entropy: float
    modularity_curve: Matrix
    labels: NDArray[np.int64]
    regions: list[Region]
    fuzzy: FuzzyModel
    history: "np.recarray[Any, Any]"


@dataclass(frozen=True)
class Workspace:
    """The two n x n matrices of a candidate: its dissimilarity space, then its distances."""

    space: Matrix
    distances: Matrix

    @classmethod
    def of_size(cls, n: int) -> "Workspace":
        """Allocate for n patterns."""
        return cls(np.empty((n, n)), np.empty((n, n)))


HISTORY = [(name, np.float64) for name in ("best", "mean", "entropy", "modularity")]

Report = Callable[[Generation, Candidate], None]


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator, report: Report) -> Model:
    """Find the best p, then build its model; every random number comes from `rng`."""
    with workers(lambda: Workspace.of_size(len(patterns)), settings.n_threads) as pool:
        measure = settings.measure.freeze(patterns)
        prepared = measure.prepare(patterns, patterns)

        def evaluate(p: Matrix, workspace: Workspace) -> Candidate:
            return settings.synthesis.assess(p, build_graph(prepared, p, workspace))

        records = []
        for generation, best in _steps(settings, measure.n_parameters, evaluate, pool, rng):
            report(generation, best)
            records.append((best.objective, generation.mean_value, best.entropy, best.modularity))
        history = np.array(records, dtype=HISTORY).view(np.recarray)

        def realise(candidate: Candidate, workspace: Workspace) -> Model:
            graph = build_graph(prepared, candidate.weights, workspace)
            return build_model(patterns, settings, measure, candidate, graph, history)

        return pool.map(realise, [best])[0]


def build_graph(prepared: Prepared, p: Matrix, workspace: Workspace) -> EuclideanGraph:
    """Return G(p): dissimilarities, their space, distances, spanning tree."""
    return euclidean_graph(dissimilarity_space(prepared, p, workspace.space), workspace.distances)


def build_model(
    patterns: Any,
    settings: Settings,
    measure: FrozenMeasure,
    candidate: Candidate,
    graph: EuclideanGraph,
    history: "np.recarray[Any, Any]",
) -> Model:
    """Cut the candidate's tree into its clusters and turn each into a fuzzy region."""
    labels = cut(graph.tree, candidate.n_clusters)
    regions = build_regions(graph, labels, settings.extent)
    medoids = patterns[[region.representative for region in regions]]
    rows = measure.prepare(medoids, patterns).evaluate(candidate.weights)
    return Model(
        measure=measure,
        candidate=candidate,
        tree=graph.tree,
        raw_entropy=renyi_entropy(graph.tree.lengths, len(patterns), settings.synthesis.gamma),
        modularity_curve=full_curve(graph),
        labels=labels,
        regions=regions,
        fuzzy=fuzzy_model(regions, rows, settings.membership_function, settings.tconorm),
        history=history,
    )


def _steps(
    settings: Settings,
    n_parameters: int,
    evaluate: Callable[[Matrix, Workspace], Candidate],
    pool: Workers[Workspace],
    rng: np.random.Generator,
) -> Iterator[tuple[Generation, Candidate]]:
    """Yield every generation of the search with the best candidate so far, the earlier one on ties."""
    p = np.ones(n_parameters) if settings.weights is None else checked_weights(settings.weights, n_parameters)
    if settings.search is None:
        (only,) = pool.map(evaluate, [p])
        yield Generation(0, p, only.objective, only.objective, 1), only
        return
    if settings.weights is not None:
        raise ValueError("weights are for search=None; this search would ignore them")
    best: list[Candidate] = []

    def objectives(batch: Matrix) -> Matrix:
        candidates = pool.map(evaluate, list(batch))
        best[:] = [max([*best, *candidates], key=lambda candidate: candidate.objective)]
        return np.array([candidate.objective for candidate in candidates])

    for generation in generations(settings.search, objectives, n_parameters, rng):
        yield generation, best[0]


def checked_weights(weights: Any, n_parameters: int) -> Matrix:
    """Return p as an array, or say what is wrong with it."""
    p = np.asarray(weights, dtype=np.float64)
    if p.shape != (n_parameters,):
        raise ValueError(f"weights must be {n_parameters} numbers, one per parameter, not of shape {p.shape}")
    outside = p[~((p >= 0) & (p <= 1))]
    if len(outside):
        raise ValueError(f"weights must lie in [0, 1]; found {outside[0]:g}")
    return p
