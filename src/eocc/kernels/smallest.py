"""The smallest entries of every row of a matrix, and what belongs to them."""

import numpy as np

from eocc.kernels.compile import kernel


@kernel
def smallest_entries(rows, least, values):
    """Fill `values` (m, k) with the k smallest entries of each row, in order.

    Only finite entries above `least` count; where there are fewer than k, infinity fills up.
    """
    k = values.shape[1]
    for i in range(rows.shape[0]):
        row, near = rows[i], values[i]
        for t in range(k):
            near[t] = np.inf
        farthest = np.inf
        for j in range(row.shape[0]):
            value = row[j]
            if value < farthest:
                if value > least:
                    t = k - 1
                    while t > 0 and near[t - 1] > value:
                        near[t] = near[t - 1]
                        t -= 1
                    near[t] = value
                    farthest = near[k - 1]


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
