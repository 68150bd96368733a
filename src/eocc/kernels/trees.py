"""Prim's minimum spanning tree, and an order of its vertices in which every cluster is contiguous.

departure: spanning tree.
"""

import numpy as np

from eocc.kernels.compile import kernel


@kernel
def prim_edges(distances):
    """Return the edges (low, high) of the minimum spanning tree of a distance matrix, (n-1, 2), and their lengths."""
    # Edges are ordered by (length, low, high), so the tree is unique. `rest` holds the vertices outside the tree and
    # shrinks by one per step; link[t] is the tree vertex nearest to rest[t], at distance distance[t]. The first two are
    # unsigned, which makes indexing faster. Of two edges to the same outside vertex, the one with the lower tree vertex
    # comes first.
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


@kernel
def leaf_intervals(edges):
    """Return an order of the vertices in which every cluster of every partition is contiguous; heaviest edges first."""
    # Removing edge e splits order[start[e]:stop[e]] at middle[e]. Clusters are joined as linked lists, lightest edge
    # first; the root of a list is its head.
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
    return order, start, middle, stop
