"""Rows and few points -> the nearest points of each row, by scanning or by sorting all distances."""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel
from eocc.kernels.distances import squares_by_columns
from eocc.kernels.smallest import insert

LANES = 8  # rows at a time: each step of the sorting serves all of them, in vector registers


@inlined_kernel
def put_in_order(low, high):
    """Put the values of two places in order, in every lane."""
    for lane in range(LANES):
        a, b = low[lane], high[lane]
        low[lane], high[lane] = (a, b) if a < b else (b, a)


@kernel
def nearest_of_few(rows, columns, steps, ranks, skipped, out):
    """Fill out[i] with the squared distances of row i to its nearest points, of these ranks from 0, ascending."""
    # The points are given by their `columns`. Row i skips point skipped[i], unless that is -1. `steps` (c, 2) are the
    # places to put in order, one pair after the other.
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


@kernel
def nearest_by_scan(rows, columns, room, squares, numbers):
    """Insert the k nearest points of each row into squares and numbers (m, k), filled with infinity and -1."""
    # `columns` (d, n) are those of the points, and `room` (n,) is for their squared distances.
    for i in range(rows.shape[0]):
        near, own = squares[i], numbers[i]
        squares_by_columns(rows[i], columns, room)
        for j in range(room.shape[0]):
            if room[j] <= near[near.shape[0] - 1]:
                insert(room[j], j, near, own)
