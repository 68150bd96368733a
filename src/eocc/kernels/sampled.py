"""All clusters of a spanning tree, measured on samples from the bottom up; and which validation patterns they accept.

A node is a cluster of two or more patterns: node e is what edge e (edges heaviest first) joins. A child is a node
number, or -1 - v for the single pattern v. The sample of a cluster is its `most` members of lowest rank in one random
order of all patterns, so a merge changes the sample of a large cluster only rarely.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.distances import row_distance
from eocc.kernels.merges import central_member
from eocc.kernels.nearest import leaf_squares


class SampledNodes(NamedTuple):
    """For every node the medoid of its sample, the sum and the maximum of distances, and its two children.

    The maximum includes pairs that were dropped later. region[e] is the first node with the same sample as e.
    """

    medoid: Any
    total: Any
    largest: Any
    left: Any
    right: Any
    region: Any


class Validation(NamedTuple):
    """The rows of all patterns and their projected `points`; validation patterns `others`, the targets first.

    `columns` are the projected validation patterns, column by column; `error` is that of the projection.
    """

    rows: Any
    points: Any
    others: Any
    columns: Any
    error: Any
    n_targets: Any


@kernel
def sum_distances(rows, scale, start, stop, sums, largest):
    """Fill the sums and the maxima of the distances of rows start..stop to all rows."""
    for i in range(start, stop):
        sums[i] = largest[i] = 0.0
    for j in range(rows.shape[0]):  # outer loop, so that rows start..stop stay in the cache
        for i in range(start, stop):
            distance = row_distance(rows[i], rows[j]) * scale
            sums[i] += distance
            largest[i] = max(largest[i], distance)


@kernel
def kept_of_each(rank, sample, a, n_left, b, n_right, most):
    """Return how many of sample[a:a + n_left] and sample[b:b + n_right], both sorted, are among the `most` lowest."""
    left = right = 0
    while left + right < most and (left < n_left or right < n_right):
        if right == n_right or (left < n_left and rank[sample[a + left]] < rank[sample[b + right]]):
            left += 1
        else:
            right += 1
    return left, right


@kernel
def drop_members(rows, scale, sample, sums, a, kept, size):
    """Subtract the distances to sample[a + kept:a + size] from the sums of those kept; return the loss of all pairs."""
    lost = 0.0
    for u in range(a + kept, a + size):
        lost += sums[u]  # pairs among the dropped are counted twice
        for t in range(a + kept, u):
            lost -= row_distance(rows[sample[u]], rows[sample[t]]) * scale
        for t in range(a, a + kept):
            sums[t] -= row_distance(rows[sample[u]], rows[sample[t]]) * scale
    return lost


@kernel
def add_across(rows, scale, sample, sums, a, n_left, b, n_right):
    """Add the distances squares two samples to the sums of both; return (their sum, their maximum)."""
    total, largest = 0.0, 0.0
    for t in range(a, a + n_left):
        for u in range(b, b + n_right):
            distance = row_distance(rows[sample[t]], rows[sample[u]]) * scale
            sums[t] += distance
            sums[u] += distance
            total += distance
            largest = max(largest, distance)
    return total, largest


@kernel
def interleave(rank, sample, sums, a, n_left, b, n_right, spares):
    """Merge both samples, by rank, and their sums into [a:a + n_left + n_right]."""
    spare, spare_sums = spares
    left = right = 0
    for t in range(n_left + n_right):
        if right == n_right or (left < n_left and rank[sample[a + left]] < rank[sample[b + right]]):
            spare[t], spare_sums[t] = sample[a + left], sums[a + left]
            left += 1
        else:
            spare[t], spare_sums[t] = sample[b + right], sums[b + right]
            right += 1
    for t in range(n_left + n_right):
        sample[a + t], sums[a + t] = spare[t], spare_sums[t]


@kernel
def merge_samples(rows, scale, rank, most, cuts, tolerance, nodes, scratch):
    """Fill all nodes of the `cuts`, exact for clusters of up to `most` members."""
    # `scratch` is (sample (n,), sums (zeros, n), current (n,)); the sample of a cluster starts where its interval does.
    order, start, middle, stop = cuts
    medoid, total, largest, left, right, region = nodes
    sample, sums, current = scratch
    n = order.shape[0]
    spares = np.empty(most, np.int64), np.empty(most)
    for t in range(n):
        sample[t], current[t] = order[t], -1 - order[t]
    for e in range(n - 2, -1, -1):
        a, b, c = start[e], middle[e], stop[e]
        left[e], right[e] = current[a], current[b]
        current[a] = e
        n_left, n_right = min(b - a, most), min(c - b, most)
        kept_left, kept_right = kept_of_each(rank, sample, a, n_left, b, n_right, most)
        pairs, farthest = 0.0, 0.0
        for child in (left[e], right[e]):
            if child >= 0:
                pairs += total[child]
                farthest = max(farthest, largest[child])
        pairs -= drop_members(rows, scale, sample, sums, a, kept_left, n_left)
        pairs -= drop_members(rows, scale, sample, sums, b, kept_right, n_right)
        across, farthest_across = add_across(rows, scale, sample, sums, a, kept_left, b, kept_right)
        interleave(rank, sample, sums, a, kept_left, b, kept_right, spares)
        total[e], largest[e] = pairs + across, max(farthest, farthest_across)
        if kept_left == 0 or kept_right == 0:
            same = left[e] if kept_right == 0 else right[e]
            region[e], medoid[e], total[e] = region[same], medoid[same], total[same]
        else:
            region[e] = e
            medoid[e] = central_member(sample, sums, a, a + kept_left + kept_right, tolerance)


@kernel
def change_regions(vertex, radius, change, validation, squares, regions, accepted):
    """Add `change` to regions[v] for the patterns v within `radius` of a vertex, and update the `accepted` counts."""
    # `squares` (m,) is scratch. `accepted` holds the numbers of targets and outliers in any region.
    rows, points, others, columns, error, n_targets = validation
    m = regions.shape[0]
    leaf_squares(points[vertex], columns, m, squares)
    limit = (radius + error) ** 2
    for v in range(m):
        if squares[v] <= limit:
            if row_distance(rows[vertex], others[v]) <= radius:
                before = regions[v] > 0
                regions[v] += change
                after = regions[v] > 0
                accepted[0 if v < n_targets else 1] += after - before


@kernel
def count_accepted_sparsely(nodes, radius, single_radius, validation, squares, regions, accepted, positives):
    """Fill `positives`, for k = 2, ..., n clusters, with how many targets and outliers are accepted."""
    # Splitting a node replaces its region by those of its children, except a child with the same region. `regions` (m,)
    # and `accepted` (2,) start as zeros.
    medoid, left, right, region = nodes.medoid, nodes.left, nodes.right, nodes.region
    for e in range(medoid.shape[0]):
        stays = False
        for child in (left[e], right[e]):
            stays = stays or (child >= 0 and region[child] == region[e])
        if e > 0 and not stays:
            v = medoid[e]
            change_regions(v, radius[region[e]], -1, validation, squares, regions, accepted)
        for child in (left[e], right[e]):
            if e > 0 and child >= 0 and region[child] == region[e]:
                continue
            v, reach = (medoid[child], radius[region[child]]) if child >= 0 else (-1 - child, single_radius)
            change_regions(v, reach, 1, validation, squares, regions, accepted)
        positives[0, e], positives[1, e] = accepted[0], accepted[1]
