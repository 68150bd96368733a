"""Encoded records -> their Gower dissimilarities, and records whose gaps are filled from the nearest that have a value.

Numbers differ by the absolute difference, codes by 0 or 1; NaN counts 0.
"""

from typing import NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.distances import mirror
from eocc.kernels.smallest import TIED, insert, insert_value, place_of_least

ALL_CODES = np.uint64(2**64 - 1)
# So many tiles are compared in the order of their bounds, all others in theirs.
BEST_FIRST = 4


class MixedTiles(NamedTuple):
    """Tiles (t, u, s) of records near each other, the numbers of the records (t, s), -1 for padding, and their bounds.

    `low` and `high` (u, t) bound the numbers of a tile. `codes` (u, t) has bit c mod 64 for every code c in it.
    """

    tiles: np.ndarray
    numbers: np.ndarray
    low: np.ndarray
    high: np.ndarray
    codes: np.ndarray


@kernel
def fill_row(record, columns, start, is_code, weights, row):
    """Fill row_j with sum_k weights_k c_k / u, c_k the component of the record and columns_k,start+j."""
    # One addition per column, in a fixed order, and one division at the end: a mean of components <= 1 never exceeds 1,
    # and the result depends neither on the batch nor on the order of the pair.
    n_columns = record.shape[0]
    for j in range(row.shape[0]):
        row[j] = 0.0
    for k in range(n_columns):
        value, weight, column = record[k], weights[k], columns[k, start:]
        if is_code[k]:
            for j in range(row.shape[0]):
                row[j] += weight if value != column[j] and value == value and column[j] == column[j] else 0.0
        else:
            for j in range(row.shape[0]):
                cost = weight * abs(value - column[j])
                row[j] += cost if cost == cost else 0.0
    for j in range(row.shape[0]):
        row[j] /= n_columns


@kernel
def gower_cross_dissimilarities(left, right_columns, is_code, weights, out):
    """Fill out_ij with the dissimilarity of left_i and right_j; `right_columns` is right^T."""
    for i in range(left.shape[0]):
        fill_row(left[i], right_columns, 0, is_code, weights, out[i])


@kernel
def gower_pairwise_dissimilarities(rows, columns, is_code, weights, out):
    """Fill out_ij with the dissimilarity of rows_i and rows_j, each pair computed once; `columns` is rows^T."""
    for i in range(rows.shape[0]):
        fill_row(rows[i], columns, i, is_code, weights, out[i, i:])
    mirror(out)


@kernel
def fill_bounds(record, points, is_code, weights, bounds):
    """Fill `bounds` (t,) with the least dissimilarity of the record that a record in each tile can have."""
    # Every step rounds as that of `fill_row`, to a number that is at most as large.
    n_columns = record.shape[0]
    bounds[:] = 0.0
    for k in range(n_columns):
        value, weight = record[k], weights[k]
        if is_code[k]:
            code = np.uint64(1) << np.uint64(np.int64(value) & 63) if value == value else ALL_CODES
            for t in range(bounds.shape[0]):
                bounds[t] += 0.0 if points.codes[k, t] & code else weight
        else:
            for t in range(bounds.shape[0]):
                gap = max(points.low[k, t] - value, value - points.high[k, t])
                bounds[t] += weight * gap if gap > 0 else 0.0
    for t in range(bounds.shape[0]):
        bounds[t] /= n_columns


@kernel
def nearest_in_tiles(records, points, is_code, weights, near, numbers):
    """Fill `near` and `numbers` (m, k) with the nearest points of each record, ascending; ties to the lower number."""
    n_tiles, _, size = points.tiles.shape
    bounds, row, last = np.empty(n_tiles), np.empty(size), near.shape[1] - 1
    for i in range(records.shape[0]):
        fill_bounds(records[i], points, is_code, weights, bounds)
        for step in range(BEST_FIRST + n_tiles):
            t = place_of_least(bounds) if step < BEST_FIRST else step - BEST_FIRST
            if bounds[t] == np.inf or bounds[t] > near[i, last]:
                continue
            bounds[t] = np.inf  # it is compared once
            fill_row(records[i], points.tiles[t], 0, is_code, weights, row)
            for j in range(size):
                if row[j] <= near[i, last]:
                    insert(row[j], points.numbers[t, j], near, numbers, i)


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
