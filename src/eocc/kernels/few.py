"""Rows -> the nearest of a few fixed points."""

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.distances import squares_by_columns


@kernel
def nearest_of_few(rows, columns, ranks, skipped, out):
    """Fill out[i] with the squared distances of row i to its nearest points, of these ranks from 0, ascending."""
    # The points are given by their `columns`. Row i skips point skipped[i], if that is not -1.
    squares, near = np.empty(columns.shape[1]), np.empty(ranks[-1] + 1)
    last = near.shape[0] - 1
    for i in range(rows.shape[0]):
        squares_by_columns(rows[i], columns, squares)
        if skipped[i] >= 0:
            squares[skipped[i]] = np.inf
        near[:] = np.inf
        for j in range(squares.shape[0]):
            value = squares[j]
            if value < near[last]:
                place = last
                while place > 0 and near[place - 1] > value:
                    near[place] = near[place - 1]
                    place -= 1
                near[place] = value
        for t in range(ranks.shape[0]):
            out[i, t] = near[ranks[t]]
