"""Training patterns + settings -> model: represent the patterns, search for the best p, build its model.

EOCC-1 maximises eta * entropy + (1 - eta) * modularity over p. EOCC-2 also maximises the performance on a validation
set. In the order of the paper: ``evaluation`` embeds the patterns at one p, ``assessment`` runs Algorithm 1 or 2 and
computes the objective; the search repeats both, and ``model`` builds the decision regions at the best p.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from eocc.foundation.cluster import cluster_in_use, using
from eocc.foundation.progress import stage
from eocc.foundation.threads import threads
from eocc.foundation.types import Matrix
from eocc.foundation.workers import Workers, workers
from eocc.search.run import Generation, generations
from eocc.space.dissimilarity_space import check_measure
from eocc.space.representation import Representation, represent
from eocc.space.weightings import checked_weights
from eocc.synthesis.assessment import Candidate
from eocc.synthesis.evaluation import Evaluator, Workspace, embed, search_sample
from eocc.synthesis.model import Model, build_model
from eocc.synthesis.progress import GenerationReport
from eocc.synthesis.settings import Settings

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
