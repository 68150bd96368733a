"""Spanning tree -> all its clusters, from the bottom up; and which patterns they accept, from the top down.

A node is a cluster of two or more patterns: node e is what edge e (edges heaviest first) joins. A child is a node
number, or -1 - v for the single pattern v. `cuts` are an `eocc.kernels.modularity.LeafOrder`:
the splits of a spanning tree from the top.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import kernel, summing_kernel
from eocc.kernels.distances import row_distance


class Nodes(NamedTuple):
    """For every node its medoid, the sum and the maximum of its distances, and its two children."""

    medoid: Any
    total: Any
    largest: Any
    left: Any
    right: Any


class Products(NamedTuple):
    """Two sets of rows, their squared norms, and their scalar products in single precision.

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
