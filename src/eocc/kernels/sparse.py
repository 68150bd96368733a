"""Neighbour graphs: pairs, spanning forests, shortest links between components, modularity of the cuts."""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import kernel
from eocc.kernels.dendrogram import find_root
from eocc.kernels.distances import drop_spare_bits, row_distance
from eocc.kernels.nearest import squared_distance
from eocc.kernels.spanning_tree import precedes


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
def bound_nodes(points, bounds, low, high):
    """Fill the bounding boxes of all nodes of a balanced tree: node 1 is the root, v has the children 2v and 2v + 1."""
    n_leaves = bounds.shape[0] - 1
    for leaf in range(n_leaves):
        node = n_leaves + leaf
        low[node], high[node] = np.inf, -np.inf
        for i in range(bounds[leaf], bounds[leaf + 1]):
            for d in range(points.shape[1]):
                low[node, d] = min(low[node, d], points[i, d])
                high[node, d] = max(high[node, d], points[i, d])
    for node in range(n_leaves - 1, 0, -1):
        for d in range(points.shape[1]):
            low[node, d] = min(low[2 * node, d], low[2 * node + 1, d])
            high[node, d] = max(high[2 * node, d], high[2 * node + 1, d])


@kernel
def mark_nodes(component, bounds, marks):
    """Fill marks[node] with the component of all points below the node, or -1 if they belong to several."""
    n_leaves = bounds.shape[0] - 1
    for leaf in range(n_leaves):
        mark = component[bounds[leaf]]
        for i in range(bounds[leaf], bounds[leaf + 1]):
            mark = mark if component[i] == mark else -1
        marks[n_leaves + leaf] = mark
    for node in range(n_leaves - 1, 0, -1):
        marks[node] = marks[2 * node] if marks[2 * node] == marks[2 * node + 1] else -1


class LinkSearch(NamedTuple):
    """Rows, a k-d tree over their projections, the bounding boxes of its nodes, and the error of the projection."""

    rows: Any
    points: Any
    ids: Any
    bounds: Any
    low: Any
    high: Any
    scale: Any
    error: Any


@kernel
def box_square(point, low, high):
    """Return the squared distance of a point to a box."""
    total = np.float32(0.0)
    for d in range(point.shape[0]):
        outside = max(low[d] - point[d], point[d] - high[d], np.float32(0.0))
        total += outside * outside
    return total


@kernel
def nearest_outside(i, search, component, marks, link, length, scratch):
    """Replace (length, link) of point i's component by the shortest edge from i to another component, if shorter."""
    # A subtree is skipped if all of it belongs to the same component, or if its box is too far: an exact distance is at
    # least the distance of the points minus `error`. `scratch` is (stack, rounded, bits): a stack of nodes, one number,
    # and the bits of that number.
    stack, rounded, bits = scratch
    rows, points, ids, bounds, low, high, scale, error = search
    n_leaves, own, point = bounds.shape[0] - 1, component[i], points[i]
    stack[0], size = 1, 1
    while size > 0:
        size -= 1
        node = stack[size]
        # Lengths keep 36 bits, so a tied length may exceed the best one by a share of 1e-11.
        reach = (length[0] / scale * (1.0 + 1e-10) + error) ** 2
        if marks[node] == own or box_square(point, low[node], high[node]) > reach:
            continue
        if node < n_leaves:
            left, right = 2 * node, 2 * node + 1
            is_left_nearer = box_square(point, low[left], high[left]) <= box_square(point, low[right], high[right])
            stack[size], stack[size + 1] = (right, left) if is_left_nearer else (left, right)
            size += 2
            continue
        for j in range(bounds[node - n_leaves], bounds[node - n_leaves + 1]):
            if component[j] != own and squared_distance(point, points[j]) <= reach:
                rounded[0] = row_distance(rows[ids[i]], rows[ids[j]]) * scale
                drop_spare_bits(bits)
                a, b = min(ids[i], ids[j]), max(ids[i], ids[j])
                is_tied = rounded[0] == length[0]
                if rounded[0] < length[0] or (is_tied and precedes(a, b, link[0], link[1])):
                    length[0], link[0], link[1] = rounded[0], a, b
                    reach = (length[0] / scale * (1.0 + 1e-10) + error) ** 2


@kernel
def shortest_links(search, parts, largest, first, last, links, lengths):
    """Fill, for components first..last except the `largest`, the first edge to another one by (length, low, high)."""
    # `parts` is (component, marks, members, starts): component c has the points members[starts[c]:starts[c + 1]]. A
    # copy of the point before it, with a higher row, is skipped: it cannot have a shorter edge.
    component, marks, members, starts = parts
    rows, points, ids = search.rows, search.points, search.ids
    rounded = np.empty(1)
    scratch = (np.empty(128, np.int64), rounded, rounded.view(np.int64))
    for c in range(first, last):
        lengths[c], links[c, 0], links[c, 1] = np.inf, -1, -1
        for t in range(starts[c], starts[c + 1] if c != largest else starts[c]):
            i = members[t]
            if t > starts[c] and squared_distance(points[i], points[members[t - 1]]) == 0.0:
                own, before = ids[i], ids[members[t - 1]]
                if before < own and row_distance(rows[own], rows[before]) == 0.0:
                    continue
            nearest_outside(i, search, component, marks, links[c], lengths[c : c + 1], scratch)


@kernel
def number_components(parent, component, number):
    """Fill component[v] with the number of v's component, numbered by lowest vertices; return how many there are."""
    count = 0
    for v in range(parent.shape[0]):
        root = find_root(parent, v)
        if root == v:
            number[v] = count
            count += 1
        component[v] = number[root]
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
