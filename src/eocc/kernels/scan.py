"""Rows and few points -> the nearest points of each row, through all squared distances."""

from eocc.kernels.combination import insert
from eocc.kernels.compile import kernel
from eocc.kernels.distances import squares_by_columns


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
