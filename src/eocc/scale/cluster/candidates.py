"""Candidates of a search as tasks."""

import threading
import weakref
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Generic, Protocol, TypeVar

from eocc.foundation.blas import one_blas_thread
from eocc.scale.cluster.client import cancelled_on_error, given, given_tasks, n_slots
from eocc.scale.cluster.pickled import Pickled

Result = TypeVar("Result")
EvaluationResult = TypeVar("EvaluationResult", covariant=True)

# Tasks per slot in every batch: more would balance slow and fast workers better, but each costs milliseconds.
SHARE = 2


class Evaluation(Protocol[EvaluationResult]):
    """A function of a candidate that reuses a workspace."""

    def workspace(self) -> Any:
        """Allocate the workspace."""
        ...

    def __call__(self, candidate: Any, workspace: Any, /) -> EvaluationResult:
        """Return the value of the candidate."""
        ...


class Remote(Generic[Result]):
    """Evaluates candidates on a cluster. Each worker gets the function once, then only candidates."""

    def __init__(self, client: Any, evaluation: Evaluation[Result]) -> None:
        self._client = client
        self._evaluation = given(client, evaluation)

    def map(self, candidates: Sequence[Any]) -> list[Result]:
        """Return the value of every candidate, in order."""
        parts = _even_parts(candidates, SHARE * n_slots(self._client))
        futures = given_tasks(self._client, _evaluated, [(self._evaluation, part) for part in parts])
        with cancelled_on_error(self._client, futures):
            return [result for part in self._client.gather(futures) for result in part]


def _even_parts(things: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Return at most `count` parts, none of them empty, whose sizes differ by at most one.

    >>> _even_parts("candidates", 4), _even_parts("ab", 4)
    (['can', 'di', 'dat', 'es'], ['a', 'b'])
    """
    count = min(count, len(things))
    bounds = [-(-len(things) * part // count) for part in range(count + 1)]
    return [things[start:stop] for start, stop in pairwise(bounds)]


# Workspaces of a worker, by function and thread; they live as long as the function.
_workspaces: "weakref.WeakKeyDictionary[Any, dict[int, Any]]" = weakref.WeakKeyDictionary()


def _evaluated(pickled: Pickled, candidates: Sequence[Any]) -> list[Any]:
    """Evaluate candidates on a worker."""
    evaluation = pickled.open()
    own, me = _workspaces.setdefault(evaluation, {}), threading.get_ident()
    with one_blas_thread():
        if me not in own:
            own[me] = evaluation.workspace()
        return [evaluation(candidate, own[me]) for candidate in candidates]
