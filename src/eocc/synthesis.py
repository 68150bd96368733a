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

from eocc.entropic_graph import CompleteGraph, Graph, GraphKind
from eocc.entropy import normalized_entropy, renyi_entropy
from eocc.graph import SpanningTree
from eocc.measures import Measure, Prepared
from eocc.partition import normalized_modularity, tree_labels
from eocc.performance import CountPerformance, ScorerPerformance
from eocc.prototypes import Selection
from eocc.regions import Fuzzification, FuzzyModel, Region
from eocc.representation import Representation, represent
from eocc.search import Generation, Search, generations
from eocc.space import DissimilaritySpace, check_measure, dissimilarity_space
from eocc.threads import threads
from eocc.validation import ValidationRows
from eocc.workers import Workers, workers

Matrix = NDArray[np.float64]

# A search over the graph of neighbours looks at so many patterns, evenly spaced, and all their pairs.
SEARCHED = 2000
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


Assess = Callable[[Matrix, DissimilaritySpace, Any], Candidate]


class Synthesis(Protocol):
    """What p is worth, and which partition it gets."""

    @property
    def gamma(self) -> float:
        """The exponent of the entropy."""
        ...

    def assessor(self, shown: Representation, kind: GraphKind) -> Assess:
        """Do once per fit what all candidates share; return what judges a candidate by its space and graph."""
        ...


@dataclass(frozen=True)
class EntropySynthesis:
    """EOCC-1: the partition of Algorithm 1, worth eta * entropy + (1 - eta) * modularity."""

    eta: float
    gamma: float

    def assessor(self, shown: Representation, kind: GraphKind) -> Assess:
        """Judge by the graph alone."""

        def assess(p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
            entropy = normalized_entropy(graph.tree.lengths, self.gamma)
            k, q = kind.prune(graph)
            modularity = normalized_modularity(q)
            return Candidate(p, k, entropy, modularity, self.eta * entropy + (1 - self.eta) * modularity)

        return assess


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

    def assessor(self, shown: Representation, kind: GraphKind) -> Assess:
        """Prepare the validation patterns against the prototypes."""
        prepared = [shown.measure.prepare(group, shown.prototypes) for group in (self.targets, self.others)]

        def assess(p: Matrix, space: DissimilaritySpace, graph: Graph) -> Candidate:
            rows = np.vstack([pairs.evaluate(p) for pairs in prepared])
            rows -= space.means
            return self.choose(p, space, graph, kind, ValidationRows(rows, len(self.targets)))

        return assess

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


@dataclass(frozen=True)
class Settings:
    """What the user chose. `search` None takes p = `weights`."""

    measure: Measure
    prototypes: int | float | None
    selection: Selection
    graph: GraphKind
    synthesis: Synthesis
    fuzzification: Fuzzification
    search: Search | None
    weights: ArrayLike | None
    n_threads: int


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a fit finds out."""

    shown: Representation
    candidate: Candidate
    tree: SpanningTree
    raw_entropy: float
    neighbour_entropy: float | None
    modularity_curve: Matrix
    labels: NDArray[np.int64]
    regions: list[Region]
    fuzzy: FuzzyModel
    history: NDArray[np.void]


@dataclass(frozen=True, eq=False)
class Workspace:
    """The two matrices of a candidate: its dissimilarity space (n, r), then its distances (n, n)."""

    space: Matrix
    distances: Matrix

    @classmethod
    def of_size(cls, n: int, r: int, kind: GraphKind) -> "Workspace":
        """Allocate for n patterns and r prototypes."""
        return cls(np.empty((n, r)), np.empty((n, n) if isinstance(kind, CompleteGraph) else (0, 0)))


Report = Callable[[Generation, Candidate], None]


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator, report: Report) -> Model:
    """Find the best p, then build its model; every random number comes from `rng`.

    Over a graph of neighbours the search looks at a sample of the patterns, with all their pairs.
    """
    with threads(settings.n_threads):
        shown = represent(patterns, settings.measure, settings.prototypes, settings.selection, rng)
        if settings.search is None or shown.measure.n_parameters == 0:
            return _without_search(settings, shown, report)
        kept = sample_for_search(settings.graph, len(patterns))
        kind = settings.graph if kept is None else CompleteGraph()
        n, r = len(patterns) if kept is None else len(kept), len(shown.own)
        with workers(lambda: Workspace.of_size(n, r, kind), settings.n_threads) as pool:
            prepared = shown.prepared if kept is None else shown.of(kept)
            pool.map(lambda _, workspace: check_measure(shown.measure, prepared, workspace.space), [None])
            assess = settings.synthesis.assessor(shown, kind)

            def evaluate(p: Matrix, workspace: Workspace) -> Candidate:
                return assess(p, *embed(prepared, p, kind, workspace))

            steps = []
            for generation, best in _steps(settings, shown.measure.n_parameters, evaluate, pool, rng):
                report(generation, best)
                steps.append((generation, best))
            if not steps:
                raise ValueError(f"the search {settings.search!r} stopped before it proposed a candidate")

            def realise(candidate: Candidate, workspace: Workspace) -> Model:
                space, graph = embed(prepared, candidate.weights, kind, workspace)
                return build_model(settings, shown, candidate, space, graph, _history(steps))

            if kept is None:
                return pool.map(realise, [best])[0]
        return _realise_all(settings, shown, best.weights, lambda candidate: _history(steps))


def sample_for_search(kind: GraphKind, n: int) -> NDArray[np.int64] | None:
    """Return the patterns that a search looks at; None for all of them."""
    return None if isinstance(kind, CompleteGraph) or n <= SEARCHED else np.arange(n)[:: -(-n // SEARCHED)]


def _without_search(settings: Settings, shown: Representation, report: Report) -> Model:
    """Build the model for the weights that were given: all ones by default."""
    count = shown.measure.n_parameters
    p = np.ones(count) if settings.weights is None else checked_weights(settings.weights, count)

    def history(only: Candidate) -> NDArray[np.void]:
        step = Generation(0, p, only.objective, only.objective, 1)
        report(step, only)
        return _history([(step, only)])

    return _realise_all(settings, shown, p, history)


def _realise_all(
    settings: Settings, shown: Representation, p: Matrix, history: Callable[[Candidate], NDArray[np.void]]
) -> Model:
    """Judge p on all patterns and build its model; on a thread of its own, so that Ctrl-C returns at once."""

    def realise(p: Matrix, workspace: Workspace) -> Model:
        check_measure(shown.measure, shown.prepared, workspace.space)
        with threads(settings.n_threads):  # the one task there is may use them all
            space, graph = embed(shown.prepared, p, settings.graph, workspace)
        candidate = settings.synthesis.assessor(shown, settings.graph)(p, space, graph)
        return build_model(settings, shown, candidate, space, graph, history(candidate))

    n, r = len(shown.patterns), len(shown.own)
    with workers(lambda: Workspace.of_size(n, r, settings.graph), 1) as pool:
        return pool.map(realise, [p])[0]


def embed(prepared: Prepared, p: Matrix, kind: GraphKind, workspace: Workspace) -> tuple[DissimilaritySpace, Graph]:
    """Return the dissimilarity space of p, and G(p) over it: distances and spanning tree."""
    space = dissimilarity_space(prepared, p, workspace.space)
    return space, kind.build(space, workspace.distances)


def build_model(
    settings: Settings,
    shown: Representation,
    candidate: Candidate,
    space: DissimilaritySpace,
    graph: Graph,
    history: NDArray[np.void],
) -> Model:
    """Cut the candidate's tree into its clusters and turn each into a fuzzy region."""
    labels = tree_labels(graph.tree, candidate.n_clusters)
    how, gamma = settings.fuzzification, settings.synthesis.gamma
    built = settings.graph.regions(space, graph, labels, how)
    shapes = [replace(shape, centre=shape.centre + space.means) for _, shape in built]
    return Model(
        shown=shown,
        candidate=candidate,
        tree=graph.tree,
        raw_entropy=renyi_entropy(graph.tree.lengths, space.n_dims, gamma),
        neighbour_entropy=settings.graph.neighbour_entropy(graph, space.n_dims, gamma),
        modularity_curve=settings.graph.curve(graph),
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
    assert settings.search is not None
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
