"""Rows of dissimilarities -> their smallest entries, and means over these."""

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel, minimising_kernel
from eocc.kernels.distances import squares_by_columns

GROUPS = 8  # two vector registers of doubles
# Dissimilarities within this factor are equal up to rounding.
TIED = 1 + 1e-9
# The same for squares of dissimilarities.
SQUARES_TIED = 1 + 4e-9


@minimising_kernel
def bound_of_eight(row):
    """Return an upper bound of the 8 smallest entries: the largest of the minima of 8 groups of columns."""
    # Columns 0, 8, 16, ... form a group, and so on; those beyond the last multiple of 8 are ignored. With fewer than 8
    # columns the bound is infinity. The minima are separate variables, so that they stay in registers.
    a = b = c = d = e = f = g = h = np.inf
    for start in range(0, row.shape[0] - GROUPS + 1, GROUPS):
        part = row[start : start + GROUPS]
        a = part[0] if part[0] < a else a
        b = part[1] if part[1] < b else b
        c = part[2] if part[2] < c else c
        d = part[3] if part[3] < d else d
        e = part[4] if part[4] < e else e
        f = part[5] if part[5] < f else f
        g = part[6] if part[6] < g else g
        h = part[7] if part[7] < h else h
    return max(max(max(a, b), max(c, d)), max(max(e, f), max(g, h)))


@inlined_kernel
def sort_first(few, near):
    """Fill `near` with the smallest of a few numbers, ascending; infinity if there are fewer."""
    for t in range(near.shape[0]):
        near[t] = np.inf
    for j in range(few.shape[0]):
        value = few[j]
        for t in range(near.shape[0]):
            value, near[t] = max(value, near[t]), min(value, near[t])


@inlined_kernel
def sift_above(row, least, kept):
    """Write the entries of `row` above `least` to `kept`, in their order; return their number."""
    # The loop has no branch, which would be unpredictable, so `kept` needs one extra element.
    count = 0
    for j in range(row.shape[0]):
        kept[count] = row[j]
        count += row[j] > least
    return count


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries of each row, in order."""
    # Only entries above `least` count; infinity is used if there are fewer than k. The entries up to an upper bound of
    # the k-th are collected and sorted.
    k = values.shape[1]
    above, few = np.empty(rows.shape[1] + 1), np.empty(rows.shape[1] + 1)
    for i in range(rows.shape[0]):
        row = rows[i]
        if least >= 0:
            row = above[: sift_above(row, least, above)]
        bound = bound_of_eight(row) if k <= GROUPS else np.inf
        count = 0
        for j in range(row.shape[0]):
            few[count] = row[j]
            count += row[j] <= bound
        sort_first(few[:count], values[i])


@kernel
def mean_within(rows, bounds, values, means):
    """Fill `means` (m,) with the mean of values[j] over the entries rows[i, j] <= bounds[i], at least one."""
    for i in range(rows.shape[0]):
        row, bound = rows[i], bounds[i]
        total, count = 0.0, 0
        for j in range(row.shape[0]):
            if row[j] <= bound:
                total += values[j]
                count += 1
        means[i] = total / count


@kernel
def nearest_by_columns(left, right_columns, own, scale, m, values, near, means):
    """Fill `near` (n, k <= 8) with the k smallest ||left_i - right_j|| * scale, in order; right_columns is right^T."""
    # Column own[i] is left out, unless it is -1. `means` (n,) are the means of values[j] over the m nearest, including
    # ties with the last. Squares select the few candidates; only these need roots.
    r = right_columns.shape[1]
    squares, few, found = np.empty(r), np.empty(r), np.empty(r + 1, np.int64)
    for i in range(left.shape[0]):
        squares_by_columns(left[i], right_columns, squares)
        if own[i] >= 0:
            squares[own[i]] = np.inf
        bound = bound_of_eight(squares) * SQUARES_TIED
        count = 0
        for j in range(r):
            found[count] = j
            count += squares[j] <= bound
        for t in range(count):
            few[t] = squares[found[t]]
        for t in range(count):  # a separate loop, which is vectorised
            few[t] = np.sqrt(few[t]) * scale
        sort_first(few[:count], near[i])
        limit, total, n_within = near[i, m - 1] * TIED, 0.0, 0
        for t in range(count):
            is_within = few[t] <= limit
            total += values[found[t]] if is_within else 0.0
            n_within += is_within
        means[i] = total / n_within
