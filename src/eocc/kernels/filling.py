"""Encoded records with gaps -> the same records, filled from the nearest records that have a value there."""

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.smallest import TIED, insert_value


@helper
def mean_differences(row, donors, is_code, means):
    """Fill means_j with the mean difference of the row and donors_j over the columns that both have, else infinity."""
    for j in range(donors.shape[0]):
        total, count = 0.0, 0
        for k in range(row.shape[0]):
            here, there = row[k], donors[j, k]
            if here == here and there == there:
                difference = abs(here - there)
                total += min(difference, 1.0) if is_code[k] else difference
                count += 1
        means[j] = total / count if count else np.inf


@helper
def nearest_values(column, means, best, values):
    """Collect the values of the nearest records that have one, with those as near as the last; return how many."""
    best[:] = np.inf
    for j in range(column.shape[0]):
        if column[j] == column[j]:
            insert_value(means[j], best)
    limit, count = best[-1] * TIED, 0
    for j in range(column.shape[0]):
        if column[j] == column[j] and means[j] <= limit:
            values[count] = column[j]
            count += 1
    return count


@helper
def most_frequent(values):
    """Return the most frequent of sorted values; the smallest of several."""
    found, longest, run = values[0], 1, 1
    for t in range(1, values.shape[0]):
        run = run + 1 if values[t] == values[t - 1] else 1
        if run > longest:
            found, longest = values[t], run
    return found


@kernel
def fill_gaps(rows, donors, is_code, n_nearest, filled):
    """Fill the NaN of `filled`, a copy of rows (m, u): codes by the most frequent, numbers by the lower median.

    Both are of the `n_nearest` donors (n, u) with a value in that column; what no donor has stays NaN.
    """
    means, values, best = np.empty(donors.shape[0]), np.empty(donors.shape[0]), np.empty(n_nearest)
    for i in range(rows.shape[0]):
        if not np.isnan(rows[i]).any():
            continue
        mean_differences(rows[i], donors, is_code, means)
        for k in range(rows.shape[1]):
            if np.isnan(rows[i, k]):
                count = nearest_values(donors[:, k], means, best, values)
                if count:
                    near = np.sort(values[:count])
                    filled[i, k] = most_frequent(near) if is_code[k] else near[(count - 1) // 2]
