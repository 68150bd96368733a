"""Rows -> the nearest of a few fixed points."""

from functools import cache

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel
from eocc.kernels.distances import squares_by_columns

LANES = 8  # rows at a time: each step of the sorting serves all of them, in vector registers


@cache
def sorting_steps(n, ranks):
    """Return the pairs (c, 2) of places to put in order, one after the other, so that the values of `ranks` are known.

    They are those of Batcher's odd-even merge sort of n places that these ranks depend on.
    """
    pairs, run = [], 1
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


@inlined_kernel
def put_in_order(low, high):
    """Put the values of two places in order, in every lane."""
    for lane in range(LANES):
        a, b = low[lane], high[lane]
        low[lane], high[lane] = (a, b) if a < b else (b, a)


@kernel
def nearest_of_few(rows, columns, steps, ranks, skipped, out):
    """Fill out[i] with the squared distances of row i to its nearest points, of these ranks from 0, ascending."""
    # The points are given by their `columns`, and `steps` by sorting_steps. Row i skips point skipped[i], unless -1.
    n = columns.shape[1]
    squares, room = np.empty(n), np.empty((n, LANES))
    for start in range(0, rows.shape[0], LANES):
        some = min(LANES, rows.shape[0] - start)
        for lane in range(some):
            squares_by_columns(rows[start + lane], columns, squares)
            if skipped[start + lane] >= 0:
                squares[skipped[start + lane]] = np.inf
            for j in range(n):
                room[j, lane] = squares[j]
        for c in range(steps.shape[0]):
            put_in_order(room[steps[c, 0]], room[steps[c, 1]])
        for t in range(ranks.shape[0]):
            for lane in range(some):
                out[start + lane, t] = room[ranks[t], lane]
