"""Regions of one shape: place rows, cut a spanning tree, sum memberships. Every row is computed by itself."""

import numpy as np

from eocc.kernels.compile import kernel

# Rows that are placed together: their coordinates stay in the processor's cache.
ROWS_AT_A_TIME = 8


@kernel
def squared_lengths(rows, origin, out):
    """Write ||rows_i - origin||^2."""
    for i in range(len(rows)):
        total = 0.0
        for j in range(len(origin)):
            gap = rows[i, j] - origin[j]
            total += gap * gap
        out[i] = total


@kernel
def place_rows(rows, origin, axes, scales, lengths, height, out):
    """Write the whitened coordinates of rows (m, d) into out (m, r + 1): (rows - origin) axes scales, and the height.

    The height is the distance from the span of the axes, sqrt(lengths - ||(rows - origin) axes||^2), times `height`.
    """
    m, r = len(rows), len(scales)
    out[:] = 0.0
    for start in range(0, m, ROWS_AT_A_TIME):  # an axis is read once for several rows
        for j in range(len(origin)):
            for i in range(start, min(start + ROWS_AT_A_TIME, m)):
                gap = rows[i, j] - origin[j]
                for k in range(r):
                    out[i, k] += gap * axes[j, k]
    for i in range(m):
        inside = 0.0
        for k in range(r):
            inside += out[i, k] * out[i, k]
            out[i, k] *= scales[k]
        out[i, r] = np.sqrt(max(lengths[i] - inside, 0.0)) * height


@kernel
def log_sum(squares, logs):
    """Return ln sum_k exp(logs_k - squares_k / 2)."""
    largest = -np.inf
    for k in range(len(squares)):
        largest = max(largest, logs[k] - squares[k] / 2)
    if largest == -np.inf:
        return largest
    total = 0.0
    for k in range(len(squares)):
        term = logs[k] - squares[k] / 2 - largest
        if term > -45.0:  # smaller terms do not change a sum of doubles
            total += np.exp(term)
    return largest + np.log(total)


@kernel
def log_memberships(rows, columns, logs, out):
    """Write ln sum_k exp(logs_k - ||rows_i - c_k||^2 / 2), given the coordinates of the centres as columns (q, k)."""
    squares = np.empty(len(logs))
    for i in range(len(rows)):
        squares[:] = 0.0
        for j in range(len(columns)):
            here = rows[i, j]
            for k in range(len(squares)):
                gap = here - columns[j, k]
                squares[k] += gap * gap
        out[i] = log_sum(squares, logs)


@kernel
def left_out_log_memberships(rows, labels, centres, counts, shrinkage, out):
    """Write the log-membership of every member, left out of the centre of its region and of the covariance.

    Without its member x, the centre moves away by f = n_i / (n_i - 1), and the inverse of the covariance changes by
    one product of vectors (Sherman and Morrison).
    """
    n, k = len(rows), len(centres)
    squares, logs, own = np.empty(k), np.empty(k), np.empty(rows.shape[1])
    for i in range(n):
        region, length = labels[i], 0.0
        for j in range(len(own)):
            own[j] = rows[i, j] - centres[region, j]
            length += own[j] * own[j]
        is_alone = counts[region] < 2
        factor = 0.0 if is_alone else counts[region] / (counts[region] - 1.0)
        share = (1.0 - shrinkage) * factor / max(n - k, 1)
        left = 1.0 - min(share * length, 0.99)  # one row has no larger share of the covariance
        for c in range(k):
            square, cross = 0.0, 0.0
            for j in range(len(own)):
                gap = rows[i, j] - centres[c, j]
                square += gap * gap
                cross += gap * own[j]
            weight = counts[c]
            if c == region:
                square, cross, weight = square * factor**2, cross * factor, weight - 1.0
            squares[c] = square + share * cross**2 / left
            logs[c] = np.log(weight / max(n - 1, 1)) if weight > 0 else -np.inf
        out[i] = log_sum(squares, logs)


@kernel
def preorder(edges, order, parents):
    """Write the vertices of a tree in preorder from vertex 0, so that a subtree is a slice, and their parents."""
    n = len(order)
    starts = np.zeros(n + 1, np.int64)
    for e in range(len(edges)):
        starts[edges[e, 0] + 1] += 1
        starts[edges[e, 1] + 1] += 1
    starts = np.cumsum(starts)
    free, neighbours = starts[:-1].copy(), np.empty(2 * len(edges), np.int64)
    for e in range(len(edges)):
        for side in range(2):
            here = edges[e, side]
            neighbours[free[here]] = edges[e, 1 - side]
            free[here] += 1
    stack, height, found = np.empty(n, np.int64), 1, 0
    stack[0], parents[0] = 0, -1
    while height > 0:
        height -= 1
        vertex = stack[height]
        order[found] = vertex
        found += 1
        for place in range(starts[vertex], starts[vertex + 1]):
            other = neighbours[place]
            if other != parents[vertex]:
                parents[other] = vertex
                stack[height] = other
                height += 1


@kernel
def best_cut(rows, part, parents, sums, sizes):
    """Return the gain of the best cut of a part of the tree, the place of its vertex in the part, and its size.

    The part is in preorder. Cutting the edge above a vertex lowers the scatter by |s|^2 m / (a (m - a)), where s is the
    sum of the a rows below, from the mean of all m. Of equal gains, the first counts.
    """
    m, width = len(part), rows.shape[1]
    mean = np.zeros(width)
    for place in range(m):
        for j in range(width):
            mean[j] += rows[part[place], j]
    for j in range(width):
        mean[j] /= m
    for place in range(m):
        vertex = part[place]
        sizes[vertex] = 1
        for j in range(width):
            sums[vertex, j] = rows[vertex, j] - mean[j]
    for place in range(m - 1, 0, -1):
        vertex = part[place]
        above = parents[vertex]
        sizes[above] += sizes[vertex]
        for j in range(width):
            sums[above, j] += sums[vertex, j]
    best, where = 0.0, -1
    for place in range(1, m):
        vertex = part[place]
        square = 0.0
        for j in range(width):
            square += sums[vertex, j] * sums[vertex, j]
        gain = square * m / (sizes[vertex] * (m - sizes[vertex]))
        if gain > best:
            best, where = gain, place
    return best, where, sizes[part[where]] if where >= 0 else 0
