"""Encoded records -> their Gower dissimilarities: numbers by absolute difference, codes by 0 or 1; NaN is missing."""

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.distances import mirror


@kernel
def add_missing(if_missing, weight, row):
    """Add weight * if_missing_j, what a missing value counts against column_j, to row_j."""
    for j in range(row.shape[0]):
        row[j] += weight * if_missing[j]


@kernel
def add_differences(value, column, weight, gap, row):
    """Add weight * |value - column_j| to row_j, or `gap` if column_j is missing."""
    for j in range(row.shape[0]):
        cost = weight * abs(value - column[j])
        row[j] += cost if cost == cost else gap


@kernel
def add_mismatches(code, column, weight, gap, row):
    """Add `weight` to row_j if column_j is another code, `gap` if it is missing."""
    for j in range(row.shape[0]):
        other = column[j]
        cost = 0.0 if code == other else weight
        row[j] += cost if other == other else gap


@kernel
def fill_row(record, if_missing, columns, columns_if_missing, start, is_code, weights, row):
    """Fill row_j with sum_k weights_k c_k / u, c_k the component of the record and columns_k,start+j.

    Where the latter is missing, c_k is if_missing_k; where the record's value is, columns_if_missing_k,start+j.
    """
    # One addition per column, in a fixed order, and one division at the end: a mean of components <= 1 never exceeds 1,
    # and the result depends neither on the batch nor on the order of the pair.
    n_columns = record.shape[0]
    for j in range(row.shape[0]):
        row[j] = 0.0
    for k in range(n_columns):
        value, weight, column = record[k], weights[k], columns[k, start:]
        gap = weight * if_missing[k]
        if np.isnan(value):
            add_missing(columns_if_missing[k, start:], weight, row)
        elif is_code[k]:
            add_mismatches(value, column, weight, gap, row)
        else:
            add_differences(value, column, weight, gap, row)
    for j in range(row.shape[0]):
        row[j] /= n_columns


@kernel
def gower_cross_dissimilarities(left, right, is_code, weights, out):
    """Fill out_ij with the dissimilarity of left_i and right_j.

    Each side has its values, and what they count where the other side is missing: (n, u) on the left, (u, r) on the
    right.
    """
    for i in range(out.shape[0]):
        fill_row(left[0][i], left[1][i], right[0], right[1], 0, is_code, weights, out[i])


@kernel
def gower_pairwise_dissimilarities(left, right, is_code, weights, out):
    """Fill out_ij with the dissimilarity of rows i and j, each pair computed once; `right` is `left` transposed."""
    for i in range(out.shape[0]):
        fill_row(left[0][i], left[1][i], right[0], right[1], i, is_code, weights, out[i, i:])
    mirror(out)
