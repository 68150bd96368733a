"""Rows of dissimilarities -> the nearest prototypes of each row."""

from functools import cache
from typing import NamedTuple

import numpy as np

from eocc.base.threads import in_blocks
from eocc.base.types import Flags, Indices, Matrix
from eocc.kernels.smallest import TIED, LocalScales, mean_scales, smallest_entries


class Nearest(NamedTuple):
    """The `distances` (m, k) to the nearest prototypes, ascending; the mean local `scales` (m,) of the nearest few."""

    distances: Matrix
    scales: Matrix


def nearest_in(rows: Matrix, k: int, m: int, scales: LocalScales, is_left_out: Flags, above: float = -1.0) -> Nearest:
    """Return the k nearest prototypes in rows of dissimilarities, farther than `above`; on all threads allowed.

    The scales are the means over the prototypes that are as near as the m-th, without the row itself if it is one.
    """
    found = Nearest(np.empty((len(rows), k)), np.empty(len(rows)))

    def work(some: slice) -> None:
        smallest_entries(rows[some], above, found.distances[some])
        limits = found.distances[some, m - 1] * TIED
        mean_scales(rows[some], limits, scales, m, is_left_out[some], found.scales[some])

    in_blocks(rows, work)
    return found


@cache
def sorting_steps(n: int, ranks: tuple[int, ...]) -> Indices:
    """Return the pairs (c, 2) of places to put in order, one after the other, so that the values of `ranks` are known.

    They are those of Batcher's odd-even merge sort of n places that these ranks depend on.
    """
    pairs, run = list[tuple[int, int]](), 1
    while run < n:
        step = run
        while step >= 1:
            for first in range(step % run, n - step, 2 * step):
                for low in range(first, min(first + step, n - step)):
                    if low // (2 * run) == (low + step) // (2 * run):
                        pairs.append((low, low + step))
            step //= 2
        run *= 2
    needed, kept = set(ranks), []
    for low, high in reversed(pairs):
        if low in needed or high in needed:
            needed |= {low, high}
            kept.append((low, high))
    return np.array(kept[::-1], np.int64).reshape(-1, 2)
