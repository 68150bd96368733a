"""Spanning tree + distances -> the modularity of all its partitions, by splits from the top.

departure: curve of modularity.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import kernel, summing_kernel

# The rounding error of a similarity 1 - w; a mean similarity below it counts as 0.
# departure: no similarity
NO_SIMILARITY = 1e-12


class LeafOrder(NamedTuple):
    """All clusters as intervals of one `order` of the patterns: cut e splits order[start[e]:stop[e]] at middle[e]."""

    order: Any
    start: Any
    middle: Any
    stop: Any


@summing_kernel
def row_sum(matrix, i):
    """Return the sum of row i."""
    total = 0.0
    for j in range(matrix.shape[1]):
        total += matrix[i, j]
    return total


@summing_kernel
def block_sum(matrix, order, a, b, c, d):
    """Return the sum of matrix[i, j], i in order[a:b], j in order[c:d]."""
    total = 0.0
    for s in range(a, b):
        i = order[s]
        for t in range(c, d):
            total += matrix[i, order[t]]
    return total


@kernel
def split_curve(distances, cuts, least, tolerance):
    """Return the last k >= `least` before Q falls by more than `tolerance`, and Q (n,) for k = 1, 2, ... until then."""
    # Splitting a cluster into A and B changes Q by deg_A deg_B / (2 E^2) - s(A, B) / E, with s(A, B) the similarity 1 -
    # w summed over A x B; over all splits each pair is summed once: O(n^2) in all. Q stays 0 if E = 0.
    order, start, middle, stop = cuts
    n = distances.shape[0]
    curve, degree = np.zeros(n), np.zeros(n + 1)  # degree[t]: sum over the first t vertices in leaf order
    for t in range(n):
        degree[t + 1] = degree[t] + ((n - 1) - row_sum(distances, order[t]))
    total = degree[n] / 2.0  # E
    if total <= NO_SIMILARITY * (n * (n - 1) / 2.0):
        return n, curve
    for k in range(1, n):
        a, b, c = start[k - 1], middle[k - 1], stop[k - 1]
        away = block_sum(distances, order, a, b, b, c) if b - a < c - b else block_sum(distances, order, b, c, a, b)
        similarity = (b - a) * (c - b) - away
        expected = (degree[b] - degree[a]) * (degree[c] - degree[b]) / (2.0 * total)
        gain = (expected - similarity) / total
        curve[k] = curve[k - 1] + gain
        if k >= least and gain < -tolerance:
            return k, curve
    return n, curve
