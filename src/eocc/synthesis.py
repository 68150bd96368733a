"""p + data -> model: the stages in order, inside a search for the best p.

EOCC-1 (``EntropySynthesis``) maximises eta * entropy + (1 - eta) * modularity over p; EOCC-2
(``ValidationSynthesis``) also the performance on a validation set.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.entropy import normalized_entropy, renyi_entropy
from eocc.graph import EuclideanGraph, SpanningTree, euclidean_graph
from eocc.measures import FrozenMeasure, Measure, Prepared
from eocc.partition import full_curve, greedy_prune, normalized_modularity, tree_labels
from eocc.performance import CountPerformance, ScorerPerformance
from eocc.regions import Fuzzification, FuzzyModel, Region, build_regions
from eocc.search import Generation, Search, generations
from eocc.space import DissimilaritySpace, check_measure, dissimilarity_space
from eocc.threads import threads
from eocc.validation import ValidationRows, performance_curve
from eocc.workers import Workers, workers

Matrix = NDArray[np.float64]

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


Assess = Callable[[Matrix, DissimilaritySpace, EuclideanGraph], Candidate]


class Synthesis(Protocol):
    """What p is worth, and which partition it gets."""

    @property
    def gamma(self) -> float:
        """The exponent of the entropy."""
        ...

    def assessor(self, measure: FrozenMeasure, patterns: Any) -> Assess:
        """Do once per fit what all candidates share; return what judges a candidate by its space and graph."""
        ...


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1, worth eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float

    def assessor(self, measure: FrozenMeasure, patterns: Any) -> Assess:
        """Judge by the graph alone."""
        return self.assess

    def assess(self, p: Matrix, space: DissimilaritySpace, graph: EuclideanGraph) -> Candidate:
        """Return what p is worth by its graph alone."""
        entropy = normalized_entropy(graph.tree.lengths, self.gamma)
        k, q = greedy_prune(graph)
        modularity = normalized_modularity(q)
        return Candidate(p, k, entropy, modularity, self.eta * entropy + (1 - self.eta) * modularity)


@dataclass(frozen=True)
class ValidationSynthesis:
    """EOCC-2 (Algorithm 2): of all partitions the one with the greatest beta * P + (1 - beta) * EOCC-1's objective.

    P is the performance of the partition's regions on the validation patterns, `targets` and `others`.
    """

    eta: float
    beta: float
    gamma: float
    performance: CountPerformance | ScorerPerformance
    fuzzification: Fuzzification
    targets: Any
    others: Any

    def assessor(self, measure: FrozenMeasure, patterns: Any) -> Assess:
        """Prepare the validation patterns against the training patterns."""
        prepared = [measure.prepare(group, patterns) for group in (self.targets, self.others)]

        def assess(p: Matrix, space: DissimilaritySpace, graph: EuclideanGraph) -> Candidate:
            rows = np.vstack([pairs.evaluate(p) for pairs in prepared])
            rows -= space.means
            return self.choose(p, space, graph, ValidationRows(rows, len(self.targets)))

        return assess

    def choose(
        self, p: Matrix, space: DissimilaritySpace, graph: EuclideanGraph, validation: ValidationRows
    ) -> Candidate:
        """Return p with the partition of the greatest objective; ties go to the fewer clusters."""
        least = min(2, graph.tree.n_vertices)
        entropy = normalized_entropy(graph.tree.lengths, self.gamma)
        modularity = normalized_modularity(full_curve(graph)[least - 1 :])
        performance = performance_curve(space, graph, validation, self.fuzzification, self.performance)
        objective = self.beta * performance + (1 - self.beta) * (self.eta * entropy + (1 - self.eta) * modularity)
        best = int(np.argmax(objective >= objective.max() - ROUNDING))
        return Candidate(
            p, least + best, entropy, float(modularity[best]), float(objective[best]), float(performance[best])
        )


@dataclass(frozen=True)
class Settings:
    """What the user chose. `search` None takes p = `weights`."""

    measure: Measure
    synthesis: Synthesis
    fuzzification: Fuzzification
    search: Search | None
    weights: ArrayLike | None
    n_threads: int


@dataclass(frozen=True, eq=False)
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
    history: NDArray[np.void]


@dataclass(frozen=True, eq=False)
class Workspace:
    """The two n x n matrices of a candidate: its dissimilarity space, then its distances."""

    space: Matrix
    distances: Matrix

    @classmethod
    def of_size(cls, n: int) -> "Workspace":
        """Allocate for n patterns."""
        return cls(np.empty((n, n)), np.empty((n, n)))


Report = Callable[[Generation, Candidate], None]


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator, report: Report) -> Model:
    """Find the best p, then build its model; every random number comes from `rng`."""
    with workers(lambda: Workspace.of_size(len(patterns)), settings.n_threads) as pool, threads(settings.n_threads):
        measure = settings.measure.freeze(patterns)
        prepared = measure.prepare(patterns)
        pool.map(lambda _, workspace: check_measure(measure, prepared, workspace.space), [None])
        assess = settings.synthesis.assessor(measure, patterns)

        def evaluate(p: Matrix, workspace: Workspace) -> Candidate:
            return assess(p, *embed(prepared, p, workspace))

        steps = []
        for generation, best in _steps(settings, measure.n_parameters, evaluate, pool, rng):
            report(generation, best)
            steps.append((generation, best))

        def realise(candidate: Candidate, workspace: Workspace) -> Model:
            space, graph = embed(prepared, candidate.weights, workspace)
            return build_model(settings, measure, candidate, space, graph, _history(steps))

        if not steps:
            raise ValueError(f"the search {settings.search!r} stopped before it proposed a candidate")
        return pool.map(realise, [best])[0]


def embed(prepared: Prepared, p: Matrix, workspace: Workspace) -> tuple[DissimilaritySpace, EuclideanGraph]:
    """Return the dissimilarity space of p, and G(p) over it: distances and spanning tree."""
    space = dissimilarity_space(prepared, p, workspace.space)
    return space, euclidean_graph(space, workspace.distances)


def build_model(
    settings: Settings,
    measure: FrozenMeasure,
    candidate: Candidate,
    space: DissimilaritySpace,
    graph: EuclideanGraph,
    history: NDArray[np.void],
) -> Model:
    """Cut the candidate's tree into its clusters and turn each into a fuzzy region."""
    labels = tree_labels(graph.tree, candidate.n_clusters)
    how = settings.fuzzification
    built = build_regions(space.rows, graph, labels, how)
    shapes = [replace(shape, centre=shape.centre + space.means) for _, shape in built]
    return Model(
        measure=measure,
        candidate=candidate,
        tree=graph.tree,
        raw_entropy=renyi_entropy(graph.tree.lengths, space.n_dims, settings.synthesis.gamma),
        modularity_curve=full_curve(graph),
        labels=labels,
        regions=[region for region, _ in built],
        fuzzy=FuzzyModel.of_shapes(shapes, how.membership_function, how.tconorm),
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
    if settings.search is None or n_parameters == 0:
        (only,) = pool.map(evaluate, [p])
        yield Generation(0, p, only.objective, only.objective, 1), only
        return
    if settings.weights is not None:
        raise ValueError("weights are for search=None; this search would ignore them")
    known: dict[bytes, Candidate] = {}

    def objectives(batch: Matrix) -> Matrix:
        candidates = pool.map(evaluate, [p.copy() for p in batch])
        known.update({candidate.weights.tobytes(): candidate for candidate in candidates})
        return np.array([candidate.objective for candidate in candidates])

    for generation in generations(settings.search, objectives, n_parameters, rng):
        best = known[generation.best.tobytes()]
        known = {best.weights.tobytes(): best}
        yield generation, best


def _history(steps: list[tuple[Generation, Candidate]]) -> NDArray[np.void]:
    """Return a record per generation; with a performance where one was measured."""
    names = ["best", "mean", "entropy", "modularity", "performance"]
    rows = [(c.objective, g.mean_value, c.entropy, c.modularity, c.performance) for g, c in steps]
    measured = names if not math.isnan(rows[-1][-1]) else names[:-1]
    dtype = [(name, np.float64) for name in measured]
    return np.array([row[: len(measured)] for row in rows], dtype=dtype)


def checked_weights(weights: Any, n_parameters: int) -> Matrix:
    """Return p as an array, or say what is wrong with it."""
    try:
        p = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, not {weights!r}") from None
    if p.shape != (n_parameters,):
        raise ValueError(f"weights must be {n_parameters} numbers, one per parameter, not of shape {p.shape}")
    outside = p[~((p >= 0) & (p <= 1))]
    if len(outside):
        raise ValueError(f"weights must lie in [0, 1]; found {outside[0]:g}")
    if not p.any():
        raise ValueError("weights must not all be 0: every pattern would look the same")
    return p
