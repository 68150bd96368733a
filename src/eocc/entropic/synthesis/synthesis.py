"""Training patterns + settings -> model: represent the patterns, search for the best p, build its model.

EOCC-1 maximises eta * entropy + (1 - eta) * modularity over p. EOCC-2 also maximises the performance on a validation
set. In the order of the paper: `embed` builds the graph of the patterns at one p, ``assessment`` runs Algorithm 1 or 2
and computes the objective; the search repeats both, and `build_model` makes the decision regions at the best p.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.blas import one_blas_thread
from eocc.base.progress import shown, stage
from eocc.base.threads import Workers, cluster_in_use, threads, using, workers
from eocc.base.types import Indices, Matrix
from eocc.entropic.graph.complete import SpanningTree
from eocc.entropic.graph.entropy import renyi_entropy
from eocc.entropic.partition.cuts import full_curve, tree_labels
from eocc.entropic.regions.fuzzy import Fuzzification, FuzzyModel, Region
from eocc.entropic.search.base import Generation, Search, generations
from eocc.entropic.synthesis.assessment import (
    Assessor,
    Candidate,
    CompleteGraph,
    Graph,
    GraphKind,
    SinglePrecisionGraph,
    Synthesis,
)
from eocc.measures.protocol import Measure, Prepared, prepare
from eocc.space.dissimilarity_space import DissimilaritySpace, check_measure, dissimilarity_space
from eocc.space.prototypes.selections import Selection
from eocc.space.representation import Representation, represent
from eocc.space.weightings import checked_weights


@dataclass(frozen=True)
class Settings:
    """What the user chose. Without a `search`, p = `weights`."""

    measure: Measure
    prototypes: int | float | None
    selection: Selection
    graph: GraphKind
    precision: str
    synthesis: Synthesis
    fuzzification: Fuzzification
    search: Search | None
    weights: ArrayLike | None
    n_threads: int


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


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that a fit finds."""

    representation: Representation
    candidate: Candidate
    tree: SpanningTree
    raw_entropy: float
    neighbour_entropy: float | None
    modularity_curve: Matrix
    labels: Indices
    regions: list[Region]
    fuzzy: FuzzyModel
    history: NDArray[np.void]


def build_model(
    settings: Settings, representation: Representation, candidate: Candidate, space: DissimilaritySpace, graph: Graph,
    steps: Sequence[tuple[Generation, Candidate]],
) -> Model:  # fmt: skip
    """Cut the spanning tree into the candidate's clusters, and turn each cluster into a fuzzy region."""
    labels = tree_labels(graph.tree, candidate.n_clusters)
    how, gamma = settings.fuzzification, settings.synthesis.gamma
    built = settings.graph.regions(space, graph, labels, how)
    shapes = [replace(shape, centre=shape.centre + space.means) for _, shape in built]
    entropy = renyi_entropy(graph.tree.lengths, space.n_dims, gamma)
    neighbour_entropy = settings.graph.neighbour_entropy(graph, space.n_dims, gamma)
    fuzzy = FuzzyModel.of_shapes(shapes, how.membership_function, how.tconorm)
    return Model(
        representation, candidate, graph.tree, entropy, neighbour_entropy, full_curve(graph), labels,
        [region for region, _ in built], fuzzy, _history(steps),
    )  # fmt: skip


def _history(steps: Sequence[tuple[Generation, Candidate]]) -> NDArray[np.void]:
    """Return one record per generation, with the performance where there is a validation set."""
    names = ["best", "mean", "entropy", "modularity", "performance"]
    rows = [(c.objective, g.mean_value, c.entropy, c.modularity, c.performance) for g, c in steps]
    known = names if not math.isnan(rows[-1][-1]) else names[:-1]
    return np.array([row[: len(known)] for row in rows], dtype=[(name, np.float64) for name in known])


GenerationReport = Callable[[Generation, Candidate], None]


@contextmanager
def reporting(verbose: bool, max_generations: int | None) -> Iterator[GenerationReport]:
    """Yield a function to call after every generation; it writes to standard error if `verbose`."""
    if not verbose:
        yield lambda generation, best: None
        return
    most = "" if max_generations is None else f" of at most {max_generations}"
    with shown() as watch:
        yield lambda generation, best: watch.line(f"generation {generation.number + 1}{most}, {describe_scores(best)}")


def describe_scores(best: Candidate) -> str:
    """Return the scores of the best candidate as text."""
    performance = "" if math.isnan(best.performance) else f", performance {best.performance:.4f}"
    return (
        f"objective {best.objective:.4f}, entropy {best.entropy:.4f}, modularity {best.modularity:.4f}"
        f"{performance}, {best.n_clusters} regions"
    )


Step = tuple[Generation, Candidate]


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator, report: GenerationReport) -> Model:
    """Return the model of the best p; every random number comes from `rng`.

    With a neighbour graph, the search runs on a sample of the patterns, with all their pairs. After a search on a
    sample or in single precision, the best p is assessed again on all patterns in double precision.
    """
    with threads(settings.n_threads):
        representation = represent(patterns, settings.measure, settings.prototypes, settings.selection, rng)
        if settings.search is None or representation.measure.n_parameters == 0:
            return synthesise_at(representation, settings, report)
        sample = search_sample(settings.graph, len(patterns), rng)
        evaluator = Evaluator.of(settings, representation, sample)
        with workers(evaluator.workspace, settings.n_threads) as pool:
            fitted, steps = representation.measure, list[Step]()
            pool.map(lambda _, workspace: check_measure(fitted, evaluator.prepared, workspace.space), [None])
            most = getattr(settings.search, "max_generations", None)
            with stage(f"at most {most} generations" if most else "searching", most or math.inf) as advance:
                for generation, best in _search(settings, fitted.n_parameters, evaluator, pool, rng):
                    advance(len(steps) + 1)
                    report(generation, best)
                    steps.append((generation, best))
            if not steps:
                raise ValueError(f"the search {settings.search!r} stopped before it proposed a candidate")

            def build(candidate: Candidate, workspace: Workspace) -> Model:
                space, graph = embed(evaluator.prepared, candidate.weights, evaluator.kind, workspace)
                return build_model(settings, representation, candidate, space, graph, steps)

            if evaluator.kind is settings.graph:
                return pool.map(build, [best])[0]
        return _assess_and_build(settings, representation, best.weights, lambda candidate: steps)


def _search(
    settings: Settings, n_parameters: int, evaluator: Evaluator, pool: Workers[Workspace], rng: np.random.Generator
) -> Iterator[Step]:
    """Yield every generation of the search with the best candidate so far; ties go to the earlier candidate."""
    assert settings.search is not None
    cluster, known = cluster_in_use(), dict[bytes, Candidate]()
    evaluate = (lambda batch: pool.map(evaluator, batch)) if cluster is None else cluster.evaluator(evaluator)

    def objectives(batch: Matrix) -> Matrix:
        candidates = evaluate([p.copy() for p in batch])
        known.update({candidate.weights.tobytes(): candidate for candidate in candidates})
        return np.array([candidate.objective for candidate in candidates])

    for generation in generations(settings.search, objectives, n_parameters, rng):
        best = known[generation.best.tobytes()]
        known = {best.weights.tobytes(): best}
        yield generation, best


def synthesise_at(representation: Representation, settings: Settings, report: GenerationReport) -> Model:
    """Return the model of the given weights, by default those that count all alike, without a search."""
    p = checked_weights(settings.weights, representation.measure)

    def only_step(candidate: Candidate) -> list[Step]:
        step = Generation(0, p, candidate.objective, candidate.objective, 1)
        report(step, candidate)
        return [(step, candidate)]

    return _assess_and_build(settings, representation, p, only_step)


def _assess_and_build(
    settings: Settings, representation: Representation, p: Matrix, steps: Callable[[Candidate], list[Step]]
) -> Model:
    """Assess p on all patterns and build its model, in a worker thread so that Ctrl-C returns at once."""
    n, r, cluster = len(representation.patterns), len(representation.prototype_indices), cluster_in_use()
    if cluster is not None:  # a context variable, which the thread does not inherit
        representation.prepared  # noqa: B018

    def build(p: Matrix, workspace: Workspace) -> Model:
        check_measure(representation.measure, representation.prepared, workspace.space)
        with threads(settings.n_threads):  # this is the only task: it may use all threads
            space, graph = embed(representation.prepared, p, settings.graph, workspace)
            with using(cluster):
                assess = settings.synthesis.assessor(representation, settings.graph)
            candidate = assess(p, space, graph)
            return build_model(settings, representation, candidate, space, graph, steps(candidate))

    with workers(lambda: Workspace.of_size(n, r, settings.graph), 1) as pool:
        return pool.map(build, [p])[0]
