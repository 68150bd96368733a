"""Neighbour graphs: pairs, spanning forests, modularity of the cuts."""

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.trees import find_root


@kernel
def neighbour_pairs(indices, distances, low, high, length):
    """Write every pair of neighbours once, as (low, high), in ascending order; return the number of pairs."""
    # A pair comes from the list of its lower vertex, or else of its higher one. Two stable counting sorts, by the
    # higher and then by the lower vertex, order the pairs.
    n, k = indices.shape
    count = 0
    for i in range(n):
        for t in range(k):
            j = indices[i, t]
            if i < j or i not in indices[j]:
                low[count], high[count], length[count] = min(i, j), max(i, j), distances[i, t]
                count += 1
    low, high, length = low[:count], high[:count], length[:count]
    place = np.empty(n + 1, np.int64)
    spare_low, spare_high, spare_length = np.empty_like(low), np.empty_like(high), np.empty_like(length)
    counting_sort(high, low, length, place, spare_high, spare_low, spare_length)
    counting_sort(spare_low, spare_high, spare_length, place, low, high, length)
    return count


@kernel
def counting_sort(keys, others, values, place, sorted_keys, sorted_others, sorted_values):
    """Sort keys below n, with two arrays that belong to them, stably; `place` (n + 1,) is scratch."""
    place[:] = 0
    for e in range(keys.shape[0]):
        place[keys[e] + 1] += 1
    for v in range(place.shape[0] - 1):
        place[v + 1] += place[v]
    for e in range(keys.shape[0]):
        target = place[keys[e]]
        place[keys[e]] += 1
        sorted_keys[target], sorted_others[target], sorted_values[target] = keys[e], others[e], values[e]


@kernel
def kruskal_forest(edges, ascending, parent, chosen):
    """Write the numbers of the edges of the minimum spanning forest, by Kruskal; return how many."""
    # `parent` (n,) starts as 0..n-1; the root of a component is its lowest vertex.
    count = 0
    for t in range(ascending.shape[0]):
        e = ascending[t]
        a, b = find_root(parent, edges[e, 0]), find_root(parent, edges[e, 1])
        if a != b:
            parent[max(a, b)] = min(a, b)
            chosen[count] = e
            count += 1
    return count


@kernel
def join_times(edges, parent, since, size):
    """Build a union-find forest that records when vertices are joined; edges are added from the last to the first."""
    # Vertex v is attached to parent[v] by edge since[v], the smaller component to the larger, so no path exceeds
    # log2 n. Roots have parent[v] = v and since[v] = -1.
    for v in range(parent.shape[0]):
        parent[v], since[v], size[v] = v, -1, 1
    for e in range(edges.shape[0] - 1, -1, -1):
        a, b = edges[e, 0], edges[e, 1]
        while parent[a] != a:
            a = parent[a]
        while parent[b] != b:
            b = parent[b]
        a, b = (a, b) if size[a] >= size[b] else (b, a)
        parent[b], since[b] = a, e
        size[a] += size[b]


@kernel
def meeting_edge(a, b, parent, since):
    """Return the edge that joins a and b: removing edges from the first on, it is the one that separates them."""
    edge = -1
    while a != b:
        # Edges are added from the last to the first, so an earlier attachment has a higher number.
        if since[a] > since[b]:
            edge, a = since[a], parent[a]
        else:
            edge, b = since[b], parent[b]
    return edge


@kernel
def separated_similarity(pairs, distances, parent, since, across, degree):
    """Add 1 - w of every pair to across[e], e the edge that separates it, and to the degrees of both ends."""
    for t in range(pairs.shape[0]):
        a, b = pairs[t, 0], pairs[t, 1]
        similarity = 1.0 - distances[t]
        degree[a] += similarity
        degree[b] += similarity
        across[meeting_edge(a, b, parent, since)] += similarity


@kernel
def sparse_split_curve(across, degree, cuts, least, tolerance, curve, summed):
    """Fill `curve` with Q for k = 1, 2, ... until it falls by a share `tolerance` of its terms; return the k before."""
    # As in `split_curve`, with s(A, B) = across[e].
    order, start, middle, stop = cuts
    n = order.shape[0]
    summed[0] = 0.0
    for t in range(n):
        summed[t + 1] = summed[t] + degree[order[t]]
    total = summed[n] / 2.0  # E
    for k in range(1, n):
        a, b, c = start[k - 1], middle[k - 1], stop[k - 1]
        left = degree_of(degree, order, summed, a, b)
        right = degree_of(degree, order, summed, b, c)
        expected = left * right / (2.0 * total)
        gain = (expected - across[k - 1]) / total
        curve[k] = curve[k - 1] + gain
        if k >= least and gain * total < -tolerance * (expected + across[k - 1]):
            return k
    return n


@kernel
def degree_of(degree, order, summed, a, b):
    """Return the sum of the degrees of order[a:b]; short sums directly, as a difference of long sums loses digits."""
    if b - a > 64:
        return summed[b] - summed[a]
    total = 0.0
    for t in range(a, b):
        total += degree[order[t]]
    return total
