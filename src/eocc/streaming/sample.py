"""Rows, a part at a time -> a sample of them, all equally likely or by strata."""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eocc.foundation.registry import choose
from eocc.foundation.types import Indices, Matrix
from eocc.streaming.source import Source

# A column with more values than this tells rows apart, not kinds of rows.
MOST_STRATA = 1000
PROPORTIONAL, EQUAL = "proportional", "equal"
# The only stratum where there are none.
EVERYBODY = ""
SHARES = {PROPORTIONAL: PROPORTIONAL, EQUAL: EQUAL}


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows `indices` of a source, rising, and their `values`; the source has `n_rows`, `names` its columns if any."""

    indices: Indices
    values: Matrix
    n_rows: int
    names: Sequence[str] | None = None


class Reservoir:
    """The `size` rows of least random key among those seen: every set of so many rows is equally likely.

    >>> kept = Reservoir(2)
    >>> kept.add(np.array([0.5, 0.1, 0.9]), np.array([0, 1, 2]), np.array([[10.0], [11.0], [12.0]]))
    >>> kept.add(np.array([0.2]), np.array([3]), np.array([[13.0]]))
    >>> kept.rows()
    (array([1, 3]), array([[11.],
           [13.]]))
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._bound = np.inf
        self._parts: list[tuple[Matrix, Indices, Matrix]] = []

    def add(self, keys: Matrix, indices: Indices, values: Matrix) -> None:
        """Keep those rows that are among the least so far."""
        near = np.flatnonzero(keys < self._bound)
        if len(near):
            self._parts.append((keys[near], indices[near], values[near]))
        if sum(len(part[0]) for part in self._parts) > 2 * self._size:
            self._prune()

    def rows(self) -> tuple[Indices, Matrix]:
        """Return which rows were kept, rising, and their values."""
        self._prune()
        _, indices, values = self._parts[0]
        order = np.argsort(indices)
        return indices[order], values[order]

    def _prune(self) -> None:
        keys, indices, values = (np.concatenate(arrays) for arrays in zip(*self._parts, strict=True))
        least = np.lexsort((indices, keys))[: self._size]
        self._parts = [(keys[least], indices[least], values[least])]
        if len(least) == self._size:
            self._bound = float(keys[least[-1]])


def draw_sample(source: Source, size: int, shares: str, rng: np.random.Generator, which: str = "") -> Sample:
    """Return `size` rows of a source, or all if there are no more; by strata where the source tells them.

    `which` rows these are, in words, is for the error where there are none.

    A random key is drawn for each row, in their order: the chunks that rows come in do not matter.

    >>> from eocc.streaming.source import source_of
    >>> rows = np.arange(100.0)[:, None]
    >>> sources = (source_of(rows, chunk_rows=step) for step in (7, 50))
    >>> one, two = (draw_sample(source, 3, "proportional", np.random.default_rng(0)) for source in sources)
    >>> one.indices.tolist() == two.indices.tolist(), one.n_rows
    (True, 100)
    """
    choose("shares", SHARES, shares)
    sizes = _sizes(source, size, shares)
    reservoirs = {stratum: Reservoir(own) for stratum, own in sizes.items()}
    n_rows, names = 0, None
    for part in source.rows():
        keys, indices = rng.random(len(part.values)), part.first + np.arange(len(part.values))
        strata = np.array(part.strata) if part.strata else np.full(len(keys), EVERYBODY)
        for stratum in np.unique(strata).tolist():
            if stratum not in reservoirs:
                raise changed(f"there was no row of {stratum!r} at first")
            own = strata == stratum
            reservoirs[stratum].add(keys[own], indices[own], part.values[own])
        n_rows, names = n_rows + len(keys), part.names
    if not n_rows:
        raise ValueError(f"the source holds no rows{which}; at least 1 is required")
    found, values = (np.concatenate(arrays) for arrays in zip(*(r.rows() for r in reservoirs.values()), strict=True))
    order = np.argsort(found)
    return Sample(found[order], values[order], n_rows, names)


def changed(what: str) -> ValueError:
    """Return the error about a source that does not give the same rows again."""
    return ValueError(f"the source changed while it was read: {what}; read it when nobody writes to it")


def _sizes(source: Source, size: int, shares: str) -> dict[str, int]:
    """Return how many rows are wanted of each stratum: a pass over the source, where it has strata."""
    if not source.has_strata:
        return {EVERYBODY: size}
    counts: Counter[str] = Counter()
    for part in source.rows():
        counts.update(part.strata)
        if len(counts) > min(MOST_STRATA, size):
            raise ValueError(
                f"the column of the strata holds more than {min(MOST_STRATA, size)} values; "
                "stratify by one with fewer, or draw a larger sample"
            )
    return quotas(counts, size, shares)


def quotas(counts: dict[str, int], size: int, shares: str) -> dict[str, int]:
    """Return how many rows of each stratum make a sample: at least 1, at most all, together `size` or all there are.

    One row at a time goes to the stratum where w / (2 q + 1) is largest, q the rows it has and w = its rows with
    "proportional" shares, 1 with "equal" ones (Sainte-Laguë's rule; ties to the stratum seen first).

    >>> quotas({"day": 90, "night": 10}, 10, "proportional"), quotas({"day": 90, "night": 3}, 10, "equal")
    ({'day': 9, 'night': 1}, {'day': 7, 'night': 3})
    """
    given = dict.fromkeys(counts, 1)
    weights = {name: count if shares == PROPORTIONAL else 1 for name, count in counts.items()}
    waiting = [(-weights[name] / 3, place, name) for place, name in enumerate(counts) if counts[name] > 1]
    heapq.heapify(waiting)
    for _ in range(size - len(counts)):
        if not waiting:
            break
        _, place, name = heapq.heappop(waiting)
        given[name] += 1
        if given[name] < counts[name]:
            heapq.heappush(waiting, (-weights[name] / (2 * given[name] + 1), place, name))
    return given
