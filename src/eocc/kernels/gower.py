"""Encoded records -> their Gower dissimilarities: numbers by absolute difference, codes by 0 or 1; NaN counts 0."""

from eocc.kernels.compile import kernel
from eocc.kernels.distances import mirror


@kernel
def add_differences(value, column, weight, row):
    """Add weight * |value - column_j| to row_j."""
    for j in range(row.shape[0]):
        cost = weight * abs(value - column[j])
        row[j] += cost if cost == cost else 0.0


@kernel
def add_mismatches(code, column, weight, row):
    """Add `weight` to row_j if column_j is another code."""
    for j in range(row.shape[0]):
        other = column[j]
        row[j] += weight if code != other and code == code and other == other else 0.0


@kernel
def fill_row(record, columns, start, is_code, weights, row):
    """Fill row_j with sum_k weights_k c_k / u, c_k the component of the record and columns_k,start+j."""
    # One addition per column, in a fixed order, and one division at the end: a mean of components <= 1 never exceeds 1,
    # and the result depends neither on the batch nor on the order of the pair.
    n_columns = record.shape[0]
    for j in range(row.shape[0]):
        row[j] = 0.0
    for k in range(n_columns):
        if is_code[k]:
            add_mismatches(record[k], columns[k, start:], weights[k], row)
        else:
            add_differences(record[k], columns[k, start:], weights[k], row)
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
