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
ResultOfTrial = TypeVar("ResultOfTrial", covariant=True)

# Tasks to a slot in every batch: more would let fast workers help slow ones, and cost milliseconds each.
SHARE = 2


class Trial(Protocol[ResultOfTrial]):
    """What judges a candidate, given room to work in."""

    def workspace(self) -> Any:
        """Allocate the room."""
        ...

    def __call__(self, candidate: Any, workspace: Any, /) -> ResultOfTrial:
        """Judge."""
        ...


class Remote(Generic[Result]):
    """Workers of a cluster that judge candidates: every one gets the trial once, then only candidates."""

    def __init__(self, client: Any, trial: Trial[Result]) -> None:
        self._client = client
        self._trial = given(client, trial)

    def map(self, candidates: Sequence[Any]) -> list[Result]:
        """Return what the trial makes of every candidate, in their order."""
        parts = _even_parts(candidates, SHARE * n_slots(self._client))
        futures = given_tasks(self._client, _judged, [(self._trial, part) for part in parts])
        with cancelled_on_error(self._client, futures):
            return [result for part in self._client.gather(futures) for result in part]


def _even_parts(things: Sequence[Any], count: int) -> list[Sequence[Any]]:
    """Return at most `count` parts, none empty, whose sizes differ by one at most.

    >>> _even_parts("candidates", 4), _even_parts("ab", 4)
    (['can', 'di', 'dat', 'es'], ['a', 'b'])
    """
    count = min(count, len(things))
    bounds = [-(-len(things) * part // count) for part in range(count + 1)]
    return [things[start:stop] for start, stop in pairwise(bounds)]


# A worker's room to work in, by trial and thread; it goes when the trial does.
_rooms: "weakref.WeakKeyDictionary[Any, dict[int, Any]]" = weakref.WeakKeyDictionary()


def _judged(sealed_trial: Pickled, candidates: Sequence[Any]) -> list[Any]:
    """Judge candidates, on a worker."""
    trial = sealed_trial.open()
    rooms, me = _rooms.setdefault(trial, {}), threading.get_ident()
    with one_blas_thread():
        if me not in rooms:
            rooms[me] = trial.workspace()
        return [trial(candidate, rooms[me]) for candidate in candidates]
