"""Training patterns + settings -> model: represent the patterns, search for the best p, build its model.

EOCC-1 (``EntropySynthesis``) maximises eta * entropy + (1 - eta) * modularity over p, of the partition that Algorithm 1
finds. EOCC-2 (``ValidationSynthesis``) runs Algorithm 2: it also scores the decisions on a validation set, for every
partition. In the order of the paper: `embed` builds the graph of the patterns at one p, the synthesis assesses it; the
search repeats both, and `_model_of` makes the decision regions at the best p.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.progress import ReportProgress, current_watch, stage
from eocc.base.threads import cluster_in_use, one_blas_thread, threads, workers
from eocc.base.types import Indices, Matrix
from eocc.entropic.graph import EuclideanGraph, SpanningTree, Workspace, embed, normalized_entropy, renyi_entropy
from eocc.entropic.partition import ROUNDING, cut, greedy_prune, members_of, modularity_curve, normalized_modularity
from eocc.entropic.regions import FuzzyModel, Performance, Region, build_region, performance_curve
from eocc.entropic.rules import Extent, MembershipFunction, TConorm
from eocc.entropic.search import Generation, Search, generations
from eocc.measures.protocol import FittedMeasure, Measure, Prepared, prepare
from eocc.space.prototypes.selections import Selection
from eocc.space.representation import Representation, check_measure, checked_weights, represent


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


@dataclass(frozen=True)
class Settings:
    """What the user chose. Without a `search`, p = `weights`."""

    measure: Measure
    prototypes: int | float | None
    selection: Selection
    synthesis: Synthesis
    extent: Extent
    membership_function: MembershipFunction
    tconorm: TConorm
    search: Search | None
    weights: ArrayLike | None
    n_threads: int
    verbose: bool


@dataclass(frozen=True, eq=False)
class Evaluator:
    """Evaluates candidates on n patterns, `prepared` against r prototypes."""

    prepared: Prepared
    assess: Assessor
    n: int
    r: int

    def workspace(self) -> Workspace:
        """Allocate the memory for one thread."""
        return np.empty((self.n, self.r)), np.empty((self.n, self.n))

    def __call__(self, p: Matrix, workspace: Workspace, /) -> Candidate:
        """Return p with its partition and its scores."""
        return self.assess(p, embed(self.prepared, p, workspace))


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that a fit finds."""

    representation: Representation
    candidate: Candidate
    tree: SpanningTree
    raw_entropy: float
    modularity_curve: Matrix
    labels: Indices
    regions: list[Region]
    fuzzy: FuzzyModel
    history: NDArray[np.void]


def _report(settings: Settings, number: int, best: Candidate) -> None:
    """Show a generation on a line of its own, if the user wants that."""
    watch, most = current_watch(), getattr(settings.search, "max_generations", None)
    if settings.verbose and watch is not None:
        performance = "" if math.isnan(best.performance) else f", performance {best.performance:.4f}"
        watch.line(
            f"generation {number}{f' of at most {most}' if most else ''}, objective {best.objective:.4f}, entropy "
            f"{best.entropy:.4f}, modularity {best.modularity:.4f}{performance}, {best.n_clusters} regions"
        )


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator) -> Model:
    """Return the model of the best p; every random number comes from `rng`."""
    with threads(settings.n_threads):
        representation = represent(patterns, settings.measure, settings.prototypes, settings.selection, rng)
        return best_model(representation, settings, rng)


def best_model(representation: Representation, settings: Settings, rng: np.random.Generator) -> Model:
    """Return the model of the p that the search finds; without a search, of the given weights, by default all alike.

    The tasks run in worker threads, so that Ctrl-C returns at once.
    """
    measure, steps = representation.measure, list[Generation]()
    with one_blas_thread():
        prepared, assess = representation.prepared, settings.synthesis.assessor(representation)
    evaluator = Evaluator(prepared, assess, len(representation.patterns), len(representation.prototype_indices))
    if settings.search is None or measure.n_parameters == 0:
        p = measure.neutral_weights() if settings.weights is None else checked_weights(settings.weights, measure)
    else:
        steps = _search(settings, settings.search, measure, evaluator, rng)
        p = steps[-1].best.weights

    def build(p: Matrix, workspace: Workspace) -> Model:
        if not steps:
            check_measure(measure, prepared, workspace[0])
        with threads(settings.n_threads):  # this is the only task: it may use all threads
            graph = embed(prepared, p, workspace)
            candidate = assess(p, graph)
        if not steps:
            steps.append(Generation(candidate, candidate.objective))
            _report(settings, 1, candidate)
        return _model_of(representation, settings, candidate, graph, steps)

    with workers(evaluator.workspace, 1) as pool:
        return pool.map(build, [p])[0]


def _search(
    settings: Settings, search: Search, measure: FittedMeasure, evaluator: Evaluator, rng: np.random.Generator
) -> list[Generation]:  # fmt: skip
    """Return every generation of the search."""
    steps, cluster = list[Generation](), cluster_in_use.get()
    most, patience = (getattr(search, name, math.inf) for name in ("max_generations", "patience"))

    def show(advance: ReportProgress) -> None:
        # Most searches end long before their last generation. The time left is that of `patience` more.
        expected = len(steps) + min(most - len(steps), patience)
        advance(len(steps) / expected, 1 / expected)

    with workers(evaluator.workspace, settings.n_threads) as pool:
        pool.map(lambda _, workspace: check_measure(measure, evaluator.prepared, workspace[0]), [None])
        evaluate = (lambda batch: pool.map(evaluator, batch)) if cluster is None else cluster.evaluator(evaluator)
        with stage(f"at most {most} generations" if most < math.inf else "searching", 1.0) as advance:
            show(advance)
            for found in generations(search, lambda batch: evaluate(list(batch)), measure.n_parameters, rng):
                steps.append(found)
                show(advance)
                _report(settings, len(steps), found.best)
    if not steps:
        raise ValueError(f"the search {search!r} stopped before it proposed a candidate")
    return steps


def _model_of(
    representation: Representation, settings: Settings, candidate: Candidate, graph: EuclideanGraph,
    steps: Sequence[Generation],
) -> Model:  # fmt: skip
    """Cut the spanning tree into the candidate's clusters, and turn each cluster into a fuzzy region."""
    labels, space = cut(graph.tree, candidate.n_clusters), graph.space
    regions = [build_region(graph, settings.extent, members) for members in members_of(labels)]
    entropy = renyi_entropy(graph.tree.lengths, space.n_dims, settings.synthesis.gamma)
    return Model(
        representation, candidate, graph.tree, entropy, modularity_curve(graph.distances, graph.tree), labels,
        regions, FuzzyModel.of(graph, regions, settings.membership_function, settings.tconorm), _history(steps),
    )  # fmt: skip


def _history(steps: Sequence[Generation]) -> NDArray[np.void]:
    """Return one record per generation, with the performance where there is a validation set."""
    names = ["best", "mean", "entropy", "modularity", "performance"]
    rows = [(c.objective, mean, c.entropy, c.modularity, c.performance) for c, mean in steps]
    known = names if not math.isnan(rows[-1][-1]) else names[:-1]
    return np.array([row[: len(known)] for row in rows], dtype=[(name, np.float64) for name in known])
