"""Points -> their nearest neighbours: a balanced k-d tree and NN-descent.

Points are in single precision, their columns padded with zeros to copy vector registers. Every kernel that fills lists
fills those of a block of rows and reads only results of earlier calls, so blocks may run on any number of threads.
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
def squared_distance(a, b):
    """Return ||a - b||^2 in single precision."""
    total = np.float32(0.0)
    for d in range(a.shape[0]):
        difference = a[d] - b[d]
        total += difference * difference
    return total


@kernel
def offer(candidate, square, near, squares, is_new):
    """Insert a candidate into a list sorted by squared distance, unless it is in the list or too far."""
    last = near.shape[0] - 1
    if square >= squares[last]:
        return
    for t in range(last + 1):
        if near[t] == candidate:
            return
    t = last
    while t > 0 and squares[t - 1] > square:
        near[t], squares[t], is_new[t] = near[t - 1], squares[t - 1], is_new[t - 1]
        t -= 1
    near[t], squares[t], is_new[t] = candidate, square, 1


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
def compare_in_leaves(points, ids, bounds, first, last, near, squares, is_new):
    """Offer all pairs of points in the same leaf to each other, for leaves first..last."""
    # Points are in the order of the tree; near[ids[i]] is the list of point i.
    largest = 0
    for leaf in range(first, last):
        largest = max(largest, bounds[leaf + 1] - bounds[leaf])
    columns, between = np.empty((points.shape[1], largest), np.float32), np.empty(largest, np.float32)
    for leaf in range(first, last):
        a, size = bounds[leaf], bounds[leaf + 1] - bounds[leaf]
        columns[:, :size] = points[a : a + size].T
        for i in range(size):
            own = ids[a + i]
            leaf_squares(points[a + i], columns, size, between)
            worst = squares[own, -1]
            for j in range(size):
                if between[j] < worst:
                    if j != i:
                        offer(ids[a + j], between[j], near[own], squares[own], is_new[own])
                        worst = squares[own, -1]


@kernel
def gather_reverse_neighbours(near, is_new, known, new, counts):
    """Fill known[i] with the counts[i] neighbours and reverse neighbours of i, and new[i] with whether they are new."""
    # The lowest reverse neighbours are taken, up to the width of `known`.
    n, k = near.shape
    counts[:], known[:, :k], new[:, :k] = k, near, is_new
    for i in range(n):
        for t in range(k):
            j = near[i, t]
            if j >= 0:
                c = counts[j]
                if c < known.shape[1]:
                    known[j, c], new[j, c] = i, is_new[i, t]
                    counts[j] = c + 1


@kernel
def nn_descent_update(points, known, new, counts, first, last, near, squares, is_new):
    """Offer each point first..last the neighbours of its neighbours; return how many entries changed."""
    changed = 0
    for i in range(first, last):
        point, own, own_squares, own_new = points[i], near[i], squares[i], is_new[i]
        own_new[:] = 0
        for s in range(counts[i]):
            via = known[i, s]
            if via < 0:
                continue
            via_is_new = new[i, s]
            for t in range(counts[via]):
                candidate = known[via, t]
                if candidate != i and candidate >= 0:
                    if via_is_new or new[via, t]:
                        square = squared_distance(point, points[candidate])
                        if square < own_squares[-1]:
                            offer(candidate, square, own, own_squares, own_new)
        changed += own_new.sum()
    return changed


@kernel
def rank_candidates(rows, ids, near, squares, scale, error, first, last, indices, distances):
    """Fill, for points first..last, the nearest rows by exact distance among the candidates, ties to the lower row."""
    # Point i is row ids[i]. An exact distance is at least sqrt(square) - error, and squares ascend: the loop stops when
    # this exceeds the k-th distance found.
    k, n_candidates = distances.shape[1], near.shape[1]
    found = np.empty(n_candidates)
    bits = found.view(np.int64)
    for i in range(first, last):
        own = ids[i]
        found[:] = np.inf
        for t in range(n_candidates):
            if t >= k and np.sqrt(squares[i, t]) - error > np.partition(found[:t], k - 1)[k - 1]:
                break
            found[t] = row_distance(rows[own], rows[ids[near[i, t]]])
        found *= scale
        drop_spare_bits(bits)
        for t in range(k):
            best = t
            for s in range(t + 1, n_candidates):
                if found[s] < found[best] or (found[s] == found[best] and ids[near[i, s]] < ids[near[i, best]]):
                    best = s
            found[t], found[best] = found[best], found[t]
            near[i, t], near[i, best] = near[i, best], near[i, t]
            indices[own, t], distances[own, t] = ids[near[i, t]], found[t]
