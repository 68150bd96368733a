"""Rows, one part at a time -> a random sample, also stratified."""

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eocc.foundation.registry import choose
from eocc.foundation.types import Indices, Matrix
from eocc.streaming.source import Source

# A column with more values than this identifies rows, not kinds of rows.
MOST_STRATA = 1000
PROPORTIONAL, EQUAL = "proportional", "equal"
# The stratum of all rows of a source without strata.
ALL = ""


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a source: their sorted `indices`, their `values`; `n_rows` and column `names` of the source."""

    indices: Indices
    values: Matrix
    n_rows: int
    names: Sequence[str] | None = None


class Reservoir:
    """Keeps the `size` rows with the smallest random keys: every set of this many rows is equally likely.

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
        """Keep the rows whose keys are among the smallest so far."""
        near = np.flatnonzero(keys < self._bound)
        if len(near):
            self._parts.append((keys[near], indices[near], values[near]))
        if sum(len(part[0]) for part in self._parts) > 2 * self._size:
            self._prune()

    def rows(self) -> tuple[Indices, Matrix]:
        """Return the sorted indices of the rows kept, and their values."""
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
    """Return `size` rows of a source, or all if there are no more; stratified if the source has strata.

    A random key is drawn for each row, in order, so the sample does not depend on the chunks. `which` describes the
    rows in the error for a source without any.

    >>> from eocc.streaming.source import source_of
    >>> rows = np.arange(100.0)[:, None]
    >>> sources = (source_of(rows, chunk_rows=step) for step in (7, 50))
    >>> one, two = (draw_sample(source, 3, "proportional", np.random.default_rng(0)) for source in sources)
    >>> one.indices.tolist() == two.indices.tolist(), one.n_rows
    (True, 100)
    """
    choose("shares", dict.fromkeys((PROPORTIONAL, EQUAL)), shares)
    sizes = _sizes(source, size, shares)
    reservoirs = {stratum: Reservoir(own) for stratum, own in sizes.items()}
    n_rows, names = 0, None
    for part in source.rows():
        keys, indices = rng.random(len(part.values)), part.first + np.arange(len(part.values))
        strata = np.array(part.strata) if part.strata else np.full(len(keys), ALL)
        for stratum in np.unique(strata).tolist():
            if stratum not in reservoirs:
                raise changed(f"it had no row with {stratum!r} at first")
            own = strata == stratum
            reservoirs[stratum].add(keys[own], indices[own], part.values[own])
        n_rows, names = n_rows + len(keys), part.names
    if not n_rows:
        raise ValueError(f"the source holds no rows{which}; at least 1 is required")
    found, values = (np.concatenate(arrays) for arrays in zip(*(r.rows() for r in reservoirs.values()), strict=True))
    order = np.argsort(found)
    return Sample(found[order], values[order], n_rows, names)


def changed(what: str) -> ValueError:
    """Return the error for a source that does not give the same rows again."""
    return ValueError(f"the source changed while it was read: {what}; try again when nothing writes to it")


def _sizes(source: Source, size: int, shares: str) -> dict[str, int]:
    """Return the number of rows to draw from each stratum, from one pass over a source with strata."""
    if not source.has_strata:
        return {ALL: size}
    counts: Counter[str] = Counter()
    for part in source.rows():
        counts.update(part.strata)
        if len(counts) > min(MOST_STRATA, size):
            raise ValueError(
                f"the stratify column holds more than {min(MOST_STRATA, size)} values; "
                "use a column with fewer, or a larger sample"
            )
    return quotas(counts, size, shares)


def quotas(counts: dict[str, int], size: int, shares: str) -> dict[str, int]:
    """Return the sample size of each stratum: at least 1, at most all its rows, `size` in all if there are as many.

    One row at a time is given to the stratum with the largest w / (2 q + 1), where q is the number of rows it has been
    given, and w is its number of rows ("proportional") or 1 ("equal"). This is Sainte-Laguë's rule; ties go to the
    stratum seen first.

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
