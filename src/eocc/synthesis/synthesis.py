"""p + data -> model: the stages in order, inside a search for the best p.

EOCC-1 (``EntropySynthesis``) maximises eta * entropy + (1 - eta) * modularity over p; EOCC-2
(``ValidationSynthesis``) also the performance on a validation set.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.threads import threads
from eocc.foundation.types import Matrix
from eocc.foundation.workers import workers
from eocc.graph.complete import SpanningTree
from eocc.graph.entropy import renyi_entropy
from eocc.measures.protocol import Measure, Prepared
from eocc.partition.dense import tree_labels
from eocc.regions.fuzzy import Fuzzification, FuzzyModel, Region
from eocc.scale.cluster import Remote, current, prepare, spread_measure, using
from eocc.search.checkpointed import Checkpointed
from eocc.search.identity import identity_of
from eocc.search.protocol import Search
from eocc.search.run import Generation, generations
from eocc.space.dissimilarity_space import DissimilaritySpace, check_measure, dissimilarity_space
from eocc.space.prototypes.protocol import Selection
from eocc.space.representation import Representation, represent
from eocc.synthesis.assessment import Assessor, Candidate, EntropySynthesis, Synthesis, ValidationSynthesis
from eocc.synthesis.graph_kinds import CompleteGraph, Graph, GraphKind, SinglePrecisionGraph

__all__ = [
    "Candidate",
    "EntropySynthesis",
    "Model",
    "Settings",
    "Synthesis",
    "Trial",
    "ValidationSynthesis",
    "Workspace",
    "build_model",
    "checked_weights",
    "embed",
    "sample_for_search",
    "synthesise",
    "synthesise_at",
]


# A search over the graph of neighbours looks at so many patterns, drawn at random, and all their pairs.
SEARCHED = 1000


@dataclass(frozen=True)
class Settings:
    """What the user chose. `search` None takes p = `weights`."""

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


@dataclass(frozen=True, eq=False)
class Model:
    """Everything a fit finds out."""

    representation: Representation
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


@dataclass(frozen=True, eq=False)
class Trial:
    """What all candidates of a search share: n patterns `prepared` against r prototypes, and what judges them."""

    prepared: Prepared
    kind: GraphKind
    assess: Assessor
    n: int
    r: int

    def workspace(self) -> Workspace:
        """Allocate for one thread."""
        return Workspace.of_size(self.n, self.r, self.kind)

    def __call__(self, p: Matrix, workspace: Workspace, /) -> Candidate:
        """Judge p."""
        return self.assess(p, *embed(self.prepared, p, self.kind, workspace))


Report = Callable[[Generation, Candidate], None]
Judge = Callable[[Sequence[Matrix]], list[Candidate]]


def synthesise(patterns: Any, settings: Settings, rng: np.random.Generator, report: Report) -> Model:
    """Find the best p, then build its model; every random number comes from `rng`.

    Over a graph of neighbours the search looks at a sample of the patterns, with all their pairs. After a search on a
    sample or in single precision the best p is judged again, on all patterns in double precision.
    """
    with threads(settings.n_threads):
        measure = spread_measure(settings.measure)
        representation = represent(patterns, measure, settings.prototypes, settings.selection, rng)
        if settings.search is None or representation.measure.n_parameters == 0:
            return synthesise_at(representation, settings, report)
        kept = sample_for_search(settings.graph, len(patterns), rng)
        trial = _trial(settings, representation, kept)
        with workers(trial.workspace, settings.n_threads) as pool:
            pool.map(
                lambda _, workspace: check_measure(representation.measure, trial.prepared, workspace.space), [None]
            )
            judge = _judge(trial, lambda batch: pool.map(trial, batch))
            if isinstance(settings.search, Checkpointed):
                probe = np.random.default_rng(0).random(representation.measure.n_parameters)
                seen = pool.map(lambda p, workspace: _seen(trial, p, workspace), [probe])[0]
                judge = _remembering(judge, settings.search, _identity(settings, seen, rng), rng)
            steps = []
            for generation, best in _steps(settings, representation.measure.n_parameters, judge, rng):
                report(generation, best)
                steps.append((generation, best))
            if not steps:
                raise ValueError(f"the search {settings.search!r} stopped before it proposed a candidate")

            def realise(candidate: Candidate, workspace: Workspace) -> Model:
                space, graph = embed(trial.prepared, candidate.weights, trial.kind, workspace)
                return build_model(settings, representation, candidate, space, graph, _history(steps))

            if trial.kind is settings.graph:
                return pool.map(realise, [best])[0]
        return _realise_all(settings, representation, best.weights, lambda candidate: _history(steps))


def _trial(settings: Settings, representation: Representation, kept: NDArray[np.int64] | None) -> Trial:
    """Return what judges the candidates, on all patterns or on those `kept`."""
    kind = settings.graph if kept is None else CompleteGraph()
    if settings.precision == "single" and isinstance(kind, CompleteGraph):
        kind = SinglePrecisionGraph()
    n, r = len(representation.patterns) if kept is None else len(kept), len(representation.prototype_indices)
    with one_blas_thread():
        if kept is None:
            _share_pairs(representation)
            prepared = representation.prepared
        else:
            prepared = prepare(representation.measure, representation.patterns[kept], representation.prototypes)
        return Trial(prepared, kind, settings.synthesis.assessor(representation, kind), n, r)


def _share_pairs(representation: Representation) -> None:
    """Let the cluster in use prepare all pairs, in the place where `shown` keeps them."""
    if current() is not None:
        prototypes = None if representation.is_whole else representation.prototypes
        vars(representation)["prepared"] = prepare(representation.measure, representation.patterns, prototypes)


def _judge(trial: Trial, here: Judge) -> Judge:
    """Return what judges a batch of candidates: the workers of the cluster in use, or those here."""
    return here if current() is None else Remote(current(), trial).map


def _seen(trial: Trial, p: Matrix, workspace: Workspace) -> list[Any]:
    """Return all that the search can see of the data, at one p."""
    candidate = trial(p, workspace)
    return [len(workspace.space), workspace.space.copy(), _numbers(candidate), trial.assess.rows(p)]


def _identity(settings: Settings, seen: list[Any], rng: np.random.Generator) -> str:
    """Return what tells this search from those of other data, settings or seeds."""
    search = settings.search.search if isinstance(settings.search, Checkpointed) else settings.search
    synthesis = {name: value for name, value in vars(settings.synthesis).items() if name not in ("targets", "others")}
    chosen = [type(settings.synthesis).__name__, synthesis, settings.graph, settings.fuzzification, search]
    return identity_of(*seen, *chosen, rng.bit_generator.state)


def _remembering(judge: Judge, search: Checkpointed, identity: str, rng: np.random.Generator) -> Judge:
    """Return a judge that asks the other only about candidates that the checkpoint does not know, and adds these."""
    log = search.log(identity, rng)
    probes = log.some()
    again = [_numbers(candidate) for candidate in judge([p for p, _ in probes])] if probes else []
    if not all(
        np.array_equal(numbers, found, equal_nan=True) for (_, numbers), found in zip(probes, again, strict=True)
    ):
        raise search.refusal()

    def judged(batch: Sequence[Matrix]) -> list[Candidate]:
        known = [log.numbers_of(p) for p in batch]
        fresh = [p for p, numbers in zip(batch, known, strict=True) if numbers is None]
        found = judge(fresh) if fresh else []
        if fresh:
            log.add(fresh, [_numbers(candidate) for candidate in found])
        rest = iter(found)
        return [next(rest) if numbers is None else Candidate(p, int(numbers[0]), *numbers[1:].tolist())
                for p, numbers in zip(batch, known, strict=True)]  # fmt: skip

    return judged


def _numbers(candidate: Candidate) -> list[float]:
    """Return all that was found out about a candidate."""
    return [float(number) for number in astuple(candidate)[1:]]


def sample_for_search(kind: GraphKind, n: int, rng: np.random.Generator) -> NDArray[np.int64] | None:
    """Return the patterns that a search looks at, drawn at random; None for all of them."""
    if isinstance(kind, CompleteGraph) or n <= SEARCHED:
        return None
    return np.sort(rng.choice(n, SEARCHED, replace=False))


def synthesise_at(representation: Representation, settings: Settings, report: Report) -> Model:
    """Build the model for given weights, all ones by default, without a search."""
    p = checked_weights(settings.weights, representation.measure.n_parameters)

    def history(only: Candidate) -> NDArray[np.void]:
        step = Generation(0, p, only.objective, only.objective, 1)
        report(step, only)
        return _history([(step, only)])

    return _realise_all(settings, representation, p, history)


def _realise_all(
    settings: Settings, representation: Representation, p: Matrix, history: Callable[[Candidate], NDArray[np.void]]
) -> Model:
    """Judge p on all patterns and build its model; on a thread of its own, so that Ctrl-C returns at once."""

    def realise(p: Matrix, workspace: Workspace) -> Model:
        check_measure(representation.measure, representation.prepared, workspace.space)
        with threads(settings.n_threads):  # the one task there is may use them all
            space, graph = embed(representation.prepared, p, settings.graph, workspace)
            with using(here):  # this thread knows of no cluster
                assess = settings.synthesis.assessor(representation, settings.graph)
            candidate = assess(p, space, graph)
            return build_model(settings, representation, candidate, space, graph, history(candidate))

    n, r, here = len(representation.patterns), len(representation.prototype_indices), current()
    with workers(lambda: Workspace.of_size(n, r, settings.graph), 1) as pool:
        _share_pairs(representation)
        return pool.map(realise, [p])[0]


def embed(prepared: Prepared, p: Matrix, kind: GraphKind, workspace: Workspace) -> tuple[DissimilaritySpace, Graph]:
    """Return the dissimilarity space of p, and G(p) over it: distances and spanning tree."""
    space = dissimilarity_space(prepared, p, workspace.space)
    return space, kind.build(space, workspace.distances)


def build_model(
    settings: Settings,
    representation: Representation,
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
        representation=representation,
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
    judge: Judge,
    rng: np.random.Generator,
) -> Iterator[tuple[Generation, Candidate]]:
    """Yield every generation of the search with the best candidate so far, the earlier one on ties."""
    assert settings.search is not None
    known: dict[bytes, Candidate] = {}

    def objectives(batch: Matrix) -> Matrix:
        candidates = judge([p.copy() for p in batch])
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
    """Return p as an array, all ones for None, or say what is wrong with it."""
    if weights is None:
        return np.ones(n_parameters)
    try:
        p = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"weights must be numbers, not {weights!r}") from None
    if p.shape != (n_parameters,):
        raise ValueError(f"weights must be {n_parameters} numbers, one per parameter, not of shape {p.shape}")
    outside = p[~((p >= 0) & (p <= 1))]
    if len(outside):
        raise ValueError(f"weights must lie in [0, 1]; found {outside[0]:g}")
    if n_parameters and not p.any():
        raise ValueError("weights must not all be 0: every pattern would look the same")
    return p
