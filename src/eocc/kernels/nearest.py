"""Points -> their nearest neighbours: a balanced k-d tree and NN-descent.

Points are in single precision, their columns padded with zeros to copy vector registers. Every kernel that fills lists
fills those of a block of rows and reads only results of earlier calls, so blocks may run on any number of threads.
"""

import numpy as np

from eocc.kernels.compile import kernel, summing_kernel
from eocc.kernels.distances import drop_spare_bits, row_distance


@kernel
def leaf_bounds(n, n_leaves, bounds):
    """Fill `bounds` (n_leaves + 1,) with where the leaves of a balanced tree begin; n_leaves is a power of two."""
    bounds[0], bounds[n_leaves] = 0, n
    step = n_leaves
    while step > 1:
        half = step // 2
        for leaf in range(0, n_leaves, step):
            bounds[leaf + half] = (bounds[leaf] + bounds[leaf + step]) // 2
        step = half


@kernel
def selected(keys, rank):
    """Return the entry of `keys` of that rank, 0 for the least (quickselect); `keys` are reordered."""
    low, high = 0, keys.shape[0] - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return keys[rank]


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
def halve(points, ids, middle, spare_points, spare_ids, keys):
    """Reorder points so that the first `middle` are the least in the widest column; ties to the earlier point."""
    n, column = points.shape[0], widest_column(points)
    for i in range(n):
        keys[i] = points[i, column]
    pivot = selected(keys[:n], middle)
    left_over = middle  # how many points equal to the pivot go to the lower side
    for i in range(n):
        left_over -= 1 if points[i, column] < pivot else 0
    left, right = 0, middle
    for i in range(n):
        value = points[i, column]
        lower = value < pivot
        if value == pivot and left_over > 0:
            left_over -= 1
            lower = True
        target = left if lower else right
        left, right = (left + 1, right) if lower else (left, right + 1)
        spare_ids[target] = ids[i]
        for d in range(points.shape[1]):
            spare_points[target, d] = points[i, d]
    for i in range(n):
        ids[i] = spare_ids[i]
        for d in range(points.shape[1]):
            points[i, d] = spare_points[i, d]


@kernel
def sort_by_tree(points, ids, bounds, spare_points, spare_ids, keys):
    """Reorder points, and `ids` with them, so that leaf l of a balanced k-d tree is points[bounds[l]:bounds[l + 1]]."""
    n_leaves = bounds.shape[0] - 1
    step = n_leaves
    while step > 1:
        for leaf in range(0, n_leaves, step):
            a, b, c = bounds[leaf], bounds[leaf + step // 2], bounds[leaf + step]
            if c - a > 1:
                halve(points[a:c], ids[a:c], b - a, spare_points, spare_ids, keys)
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
    for j in range(size):
        out[j] = np.float32(0.0)
    for d in range(point.shape[0]):
        value, column = point[d], columns[d]
        for j in range(size):
            difference = value - column[j]
            out[j] += difference * difference


@kernel
def compare_in_leaves(points, ids, bounds, first, last, near, squares, is_new):
    """Offer all pairs of points in the same leaf to each other, for leaves first..last.

    Points are in the order of the tree; near[ids[i]] is the list of point i.
    """
    largest = 0
    for leaf in range(first, last):
        largest = max(largest, bounds[leaf + 1] - bounds[leaf])
    columns, between = np.empty((points.shape[1], largest), np.float32), np.empty(largest, np.float32)
    for leaf in range(first, last):
        a, size = bounds[leaf], bounds[leaf + 1] - bounds[leaf]
        for j in range(size):
            for d in range(points.shape[1]):
                columns[d, j] = points[a + j, d]
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
    """Fill known[i] with the counts[i] neighbours and reverse neighbours of i, and new[i] with whether they are new.

    The lowest reverse neighbours are taken, up to the width of `known`.
    """
    n, k = near.shape
    for i in range(n):
        counts[i] = k
        for t in range(k):
            known[i, t], new[i, t] = near[i, t], is_new[i, t]
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
        for t in range(own.shape[0]):
            own_new[t] = 0
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
        for t in range(own.shape[0]):
            changed += own_new[t]
    return changed


@kernel
def rank_candidates(rows, ids, near, squares, scale, error, first, last, indices, distances):
    """Fill, for points first..last, the nearest rows by exact distance among the candidates, ties to the lower row.

    Point i is row ids[i]. An exact distance is at least sqrt(square) - error, and squares ascend: the loop stops when
    this exceeds the k-th distance found.
    """
    k, n_candidates = distances.shape[1], near.shape[1]
    found, copy = np.empty(n_candidates), np.empty(n_candidates)
    bits = found.view(np.int64)
    for i in range(first, last):
        own = ids[i]
        for t in range(n_candidates):
            found[t] = copy[t] = np.inf
        for t in range(n_candidates):
            if t >= k and np.sqrt(squares[i, t]) - error > kth_least(found, t, k, copy):
                break
            found[t] = row_distance(rows[own], rows[ids[near[i, t]]])
        for t in range(n_candidates):
            found[t] *= scale
        drop_spare_bits(bits)
        for t in range(k):
            best = t
            for s in range(t + 1, n_candidates):
                if found[s] < found[best] or (found[s] == found[best] and ids[near[i, s]] < ids[near[i, best]]):
                    best = s
            found[t], found[best] = found[best], found[t]
            near[i, t], near[i, best] = near[i, best], near[i, t]
            indices[own, t], distances[own, t] = ids[near[i, t]], found[t]


@kernel
def kth_least(numbers, size, k, scratch):
    """Return the k-th least of numbers[:size]."""
    for t in range(size):
        scratch[t] = numbers[t]
    return selected(scratch[:size], k - 1)
