"""Dissimilarities in any order -> the smallest of every row."""

from eocc.kernels.compile import inlined_kernel, kernel


@inlined_kernel
def insert_value(value, column, near, indices):
    """Insert a value with its column into the smallest so far, which are sorted by value, then by column."""
    place = near.shape[0]
    while place > 0:
        before, index = near[place - 1], indices[place - 1]
        if value > before or (value == before and column > index):
            break
        place -= 1
        if place + 1 < near.shape[0]:
            near[place + 1], indices[place + 1] = before, index
    if place < near.shape[0]:
        near[place], indices[place] = value, column


@kernel
def insert_smallest(values, rows, columns, near, indices):
    """Insert values[v, t, l] of row rows[t] and column columns[t, l] into the k smallest of the row, near[v, row]."""
    # `near` and `indices` are (v, m, k). A column of -1 stands for no value.
    for v in range(values.shape[0]):
        for t in range(values.shape[1]):
            own, own_indices = near[v, rows[t]], indices[v, rows[t]]
            for lane in range(values.shape[2]):
                if columns[t, lane] >= 0:
                    insert_value(values[v, t, lane], columns[t, lane], own, own_indices)
