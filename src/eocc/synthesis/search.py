"""Settings + evaluator -> the generations of the search for the best p, resumed from a checkpoint if there is one."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from eocc.foundation.cluster import cluster_in_use
from eocc.foundation.types import Matrix
from eocc.foundation.workers import Workers
from eocc.search.checkpointed import Checkpointed
from eocc.search.identity import identity_of
from eocc.search.run import Generation, generations
from eocc.synthesis.assessment import Candidate
from eocc.synthesis.evaluation import Evaluator, Workspace
from eocc.synthesis.settings import Settings

Evaluate = Callable[[Sequence[Matrix]], list[Candidate]]
Step = tuple[Generation, Candidate]


def search_weights(
    settings: Settings, n_parameters: int, evaluator: Evaluator, pool: Workers[Workspace], rng: np.random.Generator
) -> Iterator[Step]:
    """Yield every generation of the search with the best candidate so far; ties go to the earlier candidate."""
    assert settings.search is not None
    evaluate = _evaluate_batches(settings, n_parameters, evaluator, pool, rng)
    known: dict[bytes, Candidate] = {}

    def objectives(batch: Matrix) -> Matrix:
        candidates = evaluate([p.copy() for p in batch])
        known.update({candidate.weights.tobytes(): candidate for candidate in candidates})
        return np.array([candidate.objective for candidate in candidates])

    for generation in generations(settings.search, objectives, n_parameters, rng):
        best = known[generation.best.tobytes()]
        known = {best.weights.tobytes(): best}
        yield generation, best


def _evaluate_batches(
    settings: Settings, n_parameters: int, evaluator: Evaluator, pool: Workers[Workspace], rng: np.random.Generator
) -> Evaluate:
    """Return a function that evaluates batches: on the active cluster or on the pool, with the checkpoint if any."""
    cluster = cluster_in_use()
    evaluate = (lambda batch: pool.map(evaluator, batch)) if cluster is None else cluster.evaluator(evaluator)
    if not isinstance(settings.search, Checkpointed):
        return evaluate
    probe = np.random.default_rng(0).random(n_parameters)
    data = pool.map(lambda p, workspace: _data_seen(evaluator, p, workspace), [probe])[0]
    return _with_checkpoint(evaluate, settings.search, _identity(settings, settings.search, data, rng), rng)


def _data_seen(evaluator: Evaluator, p: Matrix, workspace: Workspace) -> list[Any]:
    """Return everything that the search sees of the data at p."""
    candidate = evaluator(p, workspace)
    return [len(workspace.space), workspace.space.copy(), _scores(candidate), evaluator.assess.rows(p)]


def _identity(settings: Settings, search: Checkpointed, data: list[Any], rng: np.random.Generator) -> str:
    """Return a hash that differs for other data, settings or seeds."""
    synthesis = {name: value for name, value in vars(settings.synthesis).items() if name not in ("targets", "outliers")}
    chosen = [type(settings.synthesis).__name__, synthesis, settings.graph, settings.fuzzification, search.search]
    return identity_of(*data, *chosen, rng.bit_generator.state)


def _with_checkpoint(evaluate: Evaluate, search: Checkpointed, identity: str, rng: np.random.Generator) -> Evaluate:
    """Return a function that evaluates only the candidates that the checkpoint lacks, and adds them to it."""
    log = search.log(identity, rng)
    probes = log.some()
    repeated = evaluate([p for p, _ in probes]) if probes else []
    for (_, scores), candidate in zip(probes, repeated, strict=True):
        if not np.array_equal(scores, _scores(candidate), equal_nan=True):
            raise search.refusal()

    def evaluate_new(batch: Sequence[Matrix]) -> list[Candidate]:
        stored = [log.numbers_of(p) for p in batch]
        new = [p for p, scores in zip(batch, stored, strict=True) if scores is None]
        found = evaluate(new) if new else []
        if new:
            log.add(new, [_scores(candidate) for candidate in found])
        rest = iter(found)
        return [next(rest) if scores is None else Candidate(p, int(scores[0]), *scores[1:].tolist())
                for p, scores in zip(batch, stored, strict=True)]  # fmt: skip

    return evaluate_new


def _scores(candidate: Candidate) -> list[float]:
    """Return all fields of a candidate except its weights."""
    return [float(score) for score in astuple(candidate)[1:]]
