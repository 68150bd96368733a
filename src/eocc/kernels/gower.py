"""Encoded records -> their Gower dissimilarities: numbers by absolute difference, codes by 0 or 1; NaN counts 0."""

from typing import NamedTuple

import numpy as np

from eocc.kernels.compile import helper, kernel
from eocc.kernels.distances import mirror
from eocc.kernels.smallest import insert

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


@helper
def place_of_least(values):
    """Return the place of the least value, the first of equal ones."""
    # Not argmin: a kernel that uses it imports scipy.linalg when it is loaded, 0.2 s.
    least = 0
    for k in range(1, values.shape[0]):
        if values[k] < values[least]:
            least = k
    return least


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
                    insert(row[j], points.numbers[t, j], near[i], numbers[i])
