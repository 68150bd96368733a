"""Rows -> the nearest of a few fixed points."""

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.distances import squares_by_columns
from eocc.kernels.smallest import insert_value


@kernel
def nearest_of_few(rows, columns, ranks, skipped, out):
    """Fill out[i] with the squared distances of row i to its nearest points, of these ranks from 0, ascending."""
    # The points are given by their `columns`. Row i skips point skipped[i], unless that is -1.
    squares, near = np.empty(columns.shape[1]), np.empty(ranks[-1] + 1)
    for i in range(rows.shape[0]):
        squares_by_columns(rows[i], columns, squares)
        if skipped[i] >= 0:
            squares[skipped[i]] = np.inf
        near[:] = np.inf
        for j in range(squares.shape[0]):
            insert_value(squares[j], near)
        for t in range(ranks.shape[0]):
            out[i, t] = near[ranks[t]]
