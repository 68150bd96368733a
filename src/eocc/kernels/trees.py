"""Spanning trees: Prim's, all clusters that cuts leave, their modularity, what they accept, distances to edges.

A node is a cluster of two or more patterns: node e is what edge e (edges heaviest first) joins. A child is a node
number, or -1 - v for the single pattern v.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import kernel, summing_kernel
from eocc.kernels.distances import SPARE_BITS, row_distance, squares_by_columns

# The rounding error of a similarity 1 - w; a mean similarity below it counts as 0.
# departure: no similarity
NO_SIMILARITY = 1e-12


@kernel
def prim_edges(distances):
    """Return the edges (low, high) of the minimum spanning tree of a distance matrix, (n-1, 2), and their lengths."""
    # Edges are ordered by (length, low, high), so the tree is unique. `rest` holds the vertices outside the tree and
    # shrinks by one per step; link[t] is the tree vertex nearest to rest[t], at distance distance[t]. The first two are
    # unsigned, which makes indexing faster. Of two edges to the same outside vertex, the one with the lower tree vertex
    # comes first. departure: spanning tree
    n = distances.shape[0]
    edges, lengths = np.empty((n - 1, 2), np.int64), np.empty(n - 1)
    rest, link, distance = np.empty(n - 1, np.uint32), np.empty(n - 1, np.uint32), np.empty(n - 1)
    for t in range(n - 1):
        rest[t], link[t], distance[t] = t + 1, 0, np.inf
    vertex = 0
    for step in range(n - 1):
        row = distances[vertex]
        shortest, pick = np.inf, 0
        for t in range(n - 1 - step):
            length, nearest = row[rest[t]], distance[t]
            if length <= nearest:
                if length < nearest or vertex < link[t]:
                    distance[t] = nearest = length
                    link[t] = vertex
            if nearest <= shortest:
                if nearest < shortest or precedes(rest[t], link[t], rest[pick], link[pick]):
                    shortest, pick = nearest, t
        vertex = rest[pick]
        edges[step, 0], edges[step, 1] = min(vertex, link[pick]), max(vertex, link[pick])
        lengths[step] = distance[pick]
        last = n - 2 - step
        rest[pick], link[pick], distance[pick] = rest[last], link[last], distance[last]
    return edges, lengths


@kernel
def prim_point_edges(rows, columns, edges, lengths):
    """Fill `edges` and `lengths` with those of the minimum spanning tree of points, of which no matrix is needed."""
    # As above; but `columns` holds the coordinates of the vertices outside, of which rows[1:] are the first, and
    # lengths count without their spare bits. A squared length only excludes vertices beyond their limit: dropping 16
    # bits moves a square by 3e-11 of itself, sums of squares err by 1e-13, and squares below 1e-290 lose digits. Keys
    # are the bits of the lengths, whose order is that of the lengths, because minima of integers vectorise.
    n = rows.shape[0]
    rest, link, squares, limit = np.arange(1, n), np.zeros(n - 1, np.int64), np.empty(n - 1), np.full(n - 1, np.inf)
    key, half, mask = np.full(n - 1, np.iinfo(np.int64).max), 1 << (SPARE_BITS - 1), -(1 << SPARE_BITS)
    vertex = 0
    for step in range(n - 1):
        count = n - 1 - step
        squares_by_columns(rows[vertex], columns, squares[:count])
        for t in range(count):
            if squares[t] <= limit[t]:
                length = row_distance(rows[vertex], rows[rest[t]])
                bits = (np.float64(length).view(np.int64) + half) & mask
                if bits < key[t] or (bits == key[t] and vertex < link[t]):
                    key[t], link[t], limit[t] = bits, vertex, length * length * (1 + 1e-10) + 1e-290
        least, pick = key[0], -1
        for t in range(count):
            least = min(least, key[t])
        for t in range(count):
            if key[t] == least and (pick < 0 or precedes(rest[t], link[t], rest[pick], link[pick])):
                pick = t
        vertex, last = rest[pick], count - 1
        edges[step, 0], edges[step, 1] = min(vertex, link[pick]), max(vertex, link[pick])
        lengths[step] = np.int64(least).view(np.float64)
        rest[pick], link[pick], key[pick], limit[pick] = rest[last], link[last], key[last], limit[last]
        columns[:, pick] = columns[:, last]


@kernel
def precedes(a, b, c, d):
    """Return whether edge {a, b} comes before edge {c, d}, by lower and then by higher endpoint."""
    low, other_low = min(a, b), min(c, d)
    return low < other_low or (low == other_low and max(a, b) < max(c, d))


@kernel
def find_root(parent, vertex):
    """Return the root of `vertex`, with path halving."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


class LeafOrder(NamedTuple):
    """All clusters as intervals of one `order` of the patterns: cut e splits order[start[e]:stop[e]] at middle[e]."""

    order: Any
    start: Any
    middle: Any
    stop: Any


@kernel
def leaf_order(edges):
    """Return the order of a tree's vertices in which every cluster of every partition is contiguous."""
    # Edges come heaviest first. Clusters are joined as linked lists, lightest edge first; the root of a list is its
    # head.
    n = edges.shape[0] + 1
    parent, tail, after, size = np.arange(n), np.arange(n), np.full(n, -1), np.ones(n, np.int64)
    start, middle, stop = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    head = 0
    for e in range(n - 2, -1, -1):
        head, other = find_root(parent, edges[e, 0]), find_root(parent, edges[e, 1])
        start[e], middle[e], stop[e] = head, size[head], size[head] + size[other]
        after[tail[head]] = other
        parent[other], tail[head], size[head] = head, tail[other], stop[e]
    order, position = np.empty(n, np.int64), tail
    for t in range(n):
        order[t], position[head] = head, t
        head = after[head]
    for e in range(n - 1):
        start[e] = position[start[e]]
        middle[e] += start[e]
        stop[e] += start[e]
    return LeafOrder(order, start, middle, stop)


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
    # departure: curve of modularity
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


class Nodes(NamedTuple):
    """For every node its medoid, the sum and the maximum of its distances, and its two children."""

    medoid: Any
    total: Any
    largest: Any
    left: Any
    right: Any


class Products(NamedTuple):
    """Two sets of rows, their squared norms, and their scalar products.

    The error of a product is up to `margin` * (sum of both squared norms) / 2.
    """

    rows: Any
    others: Any
    norms: Any
    other_norms: Any
    products: Any
    margin: Any


@summing_kernel
def add_row(row, order, a, b, sums):
    """Add row[order[t]] to sums[t] for t in [a, b); return (their sum, their maximum)."""
    total, largest = 0.0, 0.0
    for t in range(a, b):
        value = row[order[t]]
        sums[t] += value
        total += value
        largest = value if value > largest else largest
    return total, largest


@kernel
def central_member(order, sums, a, b, tolerance):
    """Return the lowest of order[a:b] whose sum is at most the minimum times `tolerance`."""
    least = sums[a]
    for t in range(a + 1, b):
        least = sums[t] if sums[t] < least else least
    best = -1
    for t in range(a, b):
        if sums[t] <= least * tolerance and (best < 0 or order[t] < best):
            best = order[t]
    return best


@kernel
def merge_clusters(distances, cuts, tolerance):
    """Return all nodes of the `cuts`."""
    # Lightest edge first. sums[t] is the sum of distances from pattern order[t] to its cluster, so a merge adds only
    # the distances across: each pair is read once, O(n^2) in all.
    order, start, middle, stop = cuts
    n = order.shape[0]
    medoid, left, right = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    total, largest = np.empty(n - 1), np.empty(n - 1)
    sums, current = np.zeros(n), -1 - order
    for e in range(n - 2, -1, -1):
        a, b, c = start[e], middle[e], stop[e]
        left[e], right[e] = current[a], current[b]
        # Rows of the smaller child, columns of the larger: few long inner loops instead of many short ones.
        (low, high), (first, last) = ((a, b), (b, c)) if b - a <= c - b else ((b, c), (a, b))
        all_pairs, greatest = 0.0, 0.0
        for s in range(low, high):
            across, farthest = add_row(distances[order[s]], order, first, last, sums)
            sums[s] += across
            all_pairs += across
            greatest = max(greatest, farthest)
        for child in (left[e], right[e]):
            if child >= 0:
                all_pairs += total[child]
                greatest = max(greatest, largest[child])
        total[e], largest[e] = all_pairs, greatest
        medoid[e] = central_member(order, sums, a, c, tolerance)
        current[a] = e
    return Nodes(medoid, total, largest, left, right)


@kernel
def accept(point, radius, pairs, accepted):
    """Fill accepted[v] with ||rows[point] - others[v]|| <= radius."""
    # If the error of a product leaves the answer open, the distance is computed from differences.
    rows, others, norms, other_norms, products, margin = pairs
    for v in range(others.shape[0]):
        size = norms[point] + other_norms[v]
        excess = size - 2.0 * products[point, v] - radius * radius
        accepted[v] = 1 if excess <= 0.0 else 0
        if abs(excess) <= margin * size:
            accepted[v] = 1 if row_distance(rows[point], others[v]) <= radius else 0


@kernel
def count_accepted(nodes, radius, single_radius, pairs, n_targets):
    """Return, for k = 2, ..., n clusters, how many targets (others[:n_targets]) and outliers are accepted."""
    # Splitting a node replaces its region by those of its children; regions[v] counts the current regions that accept
    # pattern v.
    medoid, left, right = nodes.medoid, nodes.left, nodes.right
    n_nodes, m = medoid.shape[0], pairs.others.shape[0]
    accepted, regions, child_accepts = np.empty((n_nodes, m), np.uint8), np.zeros(m, np.int64), np.empty(m, np.uint8)
    true_positives, false_positives = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    for e in range(n_nodes):
        if e > 0:
            regions -= accepted[e]
        for child in (left[e], right[e]):
            own = accepted[child] if child >= 0 else child_accepts
            point, reach = (medoid[child], radius[child]) if child >= 0 else (-1 - child, single_radius)
            accept(point, reach, pairs, own)
            regions += own
        true_positives[e], false_positives[e] = (regions[:n_targets] > 0).sum(), (regions[n_targets:] > 0).sum()
    return true_positives, false_positives


@kernel
def lower_to_edges(points, own, vertices, edges, nearest):
    """Replace nearest[i], the distance of points[i] to the nearest vertex, by that to the nearest edge."""
    # Only if the foot of the perpendicular lies strictly between the ends is the edge nearer than both ends, so other
    # edges are skipped. Edges that end in vertex own[i] are left out; -1 means none.
    for i in range(points.shape[0]):
        point = points[i]
        for e in range(edges.shape[0]):
            low, high = edges[e, 0], edges[e, 1]
            if low == own[i] or high == own[i]:
                continue
            start, end = vertices[low], vertices[high]
            along, square = 0.0, 0.0
            for k in range(point.shape[0]):
                direction = end[k] - start[k]
                along += (point[k] - start[k]) * direction
                square += direction * direction
            if 0.0 < along < square:
                share, height = along / square, 0.0
                for k in range(point.shape[0]):
                    difference = point[k] - start[k] - share * (end[k] - start[k])
                    height += difference * difference
                nearest[i] = min(nearest[i], np.sqrt(height))


@kernel
def lower_to_triangles(distances, own, edges, lengths, nearest):
    """Do the same from the distances of points to vertices alone, (n, vertices)."""
    # An edge of length c and the distances a, b to its ends form a triangle in the plane; the foot of its height is ((a
    # - b)(a + b) / c + c) / 2 from the first end. If c > a + b, the height is 0.
    for i in range(distances.shape[0]):
        for e in range(edges.shape[0]):
            low, high, length = edges[e, 0], edges[e, 1], lengths[e]
            if low == own[i] or high == own[i] or length == 0.0:
                continue
            first, second = distances[i, low], distances[i, high]
            # The quotient first: |a - b| / c <= 1 in a metric, whereas squares of large numbers overflow.
            foot = ((first - second) / length * (first + second) + length) / 2.0
            if 0.0 < foot < length:
                height = np.sqrt(first - foot) * np.sqrt(first + foot) if foot < first else 0.0
                nearest[i] = min(nearest[i], height)
