"""The smallest entries of every row of a matrix, and what belongs to them."""

import numpy as np

from eocc.kernels.compile import kernel, minimising_kernel

GROUPS = 8  # of columns: two vectors of doubles


@minimising_kernel
def largest_of_minima(row, least, lowest):
    """Return what at least 8 entries above `least` do not exceed: the largest of the minima of 8 groups of columns.

    Columns 0, 8, 16, ... are a group, and so on; those beyond the last multiple of 8 are left out. `lowest` (8,) is to
    work in. Infinity where a group has no such entry.
    """
    for g in range(GROUPS):
        lowest[g] = np.inf
    for start in range(0, row.shape[0] - GROUPS + 1, GROUPS):
        part = row[start : start + GROUPS]
        for g in range(GROUPS):
            value = part[g] if part[g] > least else np.inf
            lowest[g] = value if value < lowest[g] else lowest[g]
    bound = lowest[0]
    for g in range(1, GROUPS):
        bound = lowest[g] if lowest[g] > bound else bound
    return bound


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries of each row, in order.

    Only finite entries above `least` count; where there are fewer than k, infinity fills up. The few up to a bound
    that k entries keep are sifted out and sorted, all without a branch, which a processor could not foresee.
    """
    k = values.shape[1]
    lowest, few = np.empty(GROUPS), np.empty(rows.shape[1] + 1)
    for i in range(rows.shape[0]):
        row, near = rows[i], values[i]
        bound = largest_of_minima(row, least, lowest) if k <= GROUPS else np.inf
        count = 0
        for j in range(row.shape[0]):
            few[count] = row[j]
            count += (row[j] > least) & (row[j] <= bound)
        for t in range(k):
            near[t] = np.inf
        for j in range(count):
            value = few[j]
            for t in range(k):
                value, near[t] = max(value, near[t]), min(value, near[t])


@kernel
def mean_within(rows, bounds, values, means):
    """Fill `means` (m,) with the mean of values[j] over the entries rows[i, j] <= bounds[i]: at least one is."""
    for i in range(rows.shape[0]):
        row, bound = rows[i], bounds[i]
        total, count = 0.0, 0
        for j in range(row.shape[0]):
            if row[j] <= bound:
                total += values[j]
                count += 1
        means[i] = total / count
