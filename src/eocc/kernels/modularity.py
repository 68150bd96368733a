"""Modularity of every partition a spanning tree can give, by splits from the top."""

import numpy as np
from numba import njit

# Each similarity 1 - w carries a rounding error of this order; a mean similarity below it is none.
NO_SIMILARITY = 1e-12


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def row_sums(matrix):
    """Return the sum of every row."""
    out = np.empty(matrix.shape[0])
    for i in range(matrix.shape[0]):
        total = 0.0
        for j in range(matrix.shape[1]):
            total += matrix[i, j]
        out[i] = total
    return out


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def block_sum(matrix, rows, columns):
    """Return the sum of matrix[rows, columns]."""
    total = 0.0
    for i in rows:
        row = matrix[i]
        for j in columns:
            total += row[j]
    return total


@njit(nogil=True, cache=True)
def split_curve(distances, order, start, middle, stop, slack):
    """Return (Q for k = 1, 2, ..., the number k kept), splitting until Q falls by more than `slack`.

    Splitting a cluster into A and B changes Q by deg_A deg_B / (2 E^2) - s(A, B) / E, with s(A, B) the
    similarity 1 - w summed over A x B; over all splits each pair is summed once: O(n^2) in all.
    The first split is always made. Q stays 0 where there is no similarity at all (E = 0).
    """
    n = distances.shape[0]
    curve = np.zeros(n)
    away = row_sums(distances)
    pairs = n * (n - 1) / 2.0
    total = pairs - away.sum() / 2.0  # E
    if total <= NO_SIMILARITY * pairs:
        return curve, n
    degree = np.zeros(n + 1)  # of the first t vertices in leaf order
    for t in range(n):
        degree[t + 1] = degree[t] + (n - 1) - away[order[t]]
    for k in range(1, n):
        a, b, c = start[k - 1], middle[k - 1], stop[k - 1]
        one, other = order[a:b], order[b:c]
        if b - a > c - b:
            one, other = other, one
        similarity = (b - a) * (c - b) - block_sum(distances, one, other)
        expected = (degree[b] - degree[a]) * (degree[c] - degree[b]) / (2.0 * total)
        gain = (expected - similarity) / total
        curve[k] = curve[k - 1] + gain
        if k > 1 and gain < -slack:
            return curve[: k + 1], k
    return curve, n
