"""Points -> a balanced k-d tree; candidates -> the nearest of them.

Points are in single precision, their columns padded with zeros to fill vector registers.
"""

import numpy as np

from eocc.kernels.compile import kernel, summing_kernel
from eocc.kernels.distances import drop_spare_bits, row_distance


@kernel
def widest_column(points):
    """Return the column with the largest range; ties to the first."""
    widest, column = np.float32(-1.0), 0
    low, high = points[0].copy(), points[0].copy()
    for i in range(points.shape[0]):
        for d in range(points.shape[1]):
            value = points[i, d]
            low[d] = value if value < low[d] else low[d]
            high[d] = value if value > high[d] else high[d]
    for d in range(points.shape[1]):
        if high[d] - low[d] > widest:
            widest, column = high[d] - low[d], d
    return column


@kernel
def halve(points, ids, middle):
    """Reorder points so that the first `middle` are the least in the widest column; ties to the earlier point."""
    values = points[:, widest_column(points)].copy()
    pivot = np.partition(values, middle)[middle]
    is_lower = values < pivot
    is_lower[np.flatnonzero(values == pivot)[: middle - is_lower.sum()]] = True
    order = np.concatenate((np.flatnonzero(is_lower), np.flatnonzero(~is_lower)))
    ids[:], points[:] = ids[order], points[order]


@kernel
def sort_by_tree(points, ids, bounds):
    """Reorder points, and `ids` with them, so that leaf l of a balanced k-d tree is points[bounds[l]:bounds[l + 1]]."""
    n_leaves = bounds.shape[0] - 1
    step = n_leaves
    while step > 1:
        for leaf in range(0, n_leaves, step):
            a, b, c = bounds[leaf], bounds[leaf + step // 2], bounds[leaf + step]
            if c - a > 1:
                halve(points[a:c], ids[a:c], b - a)
        step //= 2


@summing_kernel
def leaf_squares(point, columns, size, out):
    """Fill out[j] with the squared distances to the points of a leaf, given column by column."""
    out[:size] = 0.0
    for d in range(point.shape[0]):
        value, column = point[d], columns[d]
        for j in range(size):
            difference = value - column[j]
            out[j] += difference * difference


@kernel
def rank_candidates(rows, start, near, least, scale, indices, distances):
    """Fill the nearest of the candidates `near` of rows start, ..., by exact distance, ties to the lower row."""
    # An exact distance is at least `least`, which ascends: the loop stops when this exceeds the k-th distance found.
    k, n_candidates = distances.shape[1], near.shape[1]
    found = np.empty(n_candidates)
    bits = found.view(np.int64)
    for i in range(near.shape[0]):
        found[:] = np.inf
        for t in range(n_candidates):
            if t >= k and least[i, t] > np.partition(found[:t], k - 1)[k - 1]:
                break
            found[t] = row_distance(rows[start + i], rows[near[i, t]])
        found *= scale
        drop_spare_bits(bits)
        for t in range(k):
            best = t
            for s in range(t + 1, n_candidates):
                if found[s] < found[best] or (found[s] == found[best] and near[i, s] < near[i, best]):
                    best = s
            found[t], found[best] = found[best], found[t]
            near[i, t], near[i, best] = near[i, best], near[i, t]
            indices[i, t], distances[i, t] = near[i, t], found[t]
