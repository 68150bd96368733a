"""The tree of merges that a spanning tree, read lightest edge first, describes."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def find_root(parent, vertex):
    """Return the root of `vertex`, halving the path on the way."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@njit(nogil=True, cache=True)
def leaf_intervals(edges):
    """Return (order, start, middle, stop) for edges given heaviest first.

    `order` lists the vertices so that every cluster of every partition is contiguous. Removing edge e
    splits order[start[e]:stop[e]] at middle[e]. Clusters are joined as linked lists, lightest edge first.
    """
    n = edges.shape[0] + 1
    parent, after = np.arange(n), np.full(n, -1)
    head, tail, size = np.arange(n), np.arange(n), np.ones(n, np.int64)
    first, left, both = np.empty(n - 1, np.int64), np.empty(n - 1, np.int64), np.empty(n - 1, np.int64)
    for e in range(n - 2, -1, -1):
        a, b = find_root(parent, edges[e, 0]), find_root(parent, edges[e, 1])
        first[e], left[e], both[e] = head[a], size[a], size[a] + size[b]
        after[tail[a]] = head[b]
        root, child = (a, b) if size[a] >= size[b] else (b, a)
        parent[child] = root
        head[root], tail[root], size[root] = head[a], tail[b], both[e]
    order, position = np.empty(n, np.int64), np.empty(n, np.int64)
    vertex = head[find_root(parent, 0)]
    for t in range(n):
        order[t], position[vertex] = vertex, t
        vertex = after[vertex]
    start = position[first]
    return order, start, start + left, start + both


@njit(nogil=True, cache=True)
def cut_labels(edges, n_clusters):
    """Return cluster labels after removing the n_clusters - 1 heaviest edges (edges heaviest first).

    Clusters are numbered by their lowest vertex.
    """
    n = edges.shape[0] + 1
    parent = np.arange(n)
    for e in range(n_clusters - 1, n - 1):
        parent[find_root(parent, edges[e, 0])] = find_root(parent, edges[e, 1])
    number, labels = np.full(n, -1), np.empty(n, np.int64)
    found = 0
    for v in range(n):
        root = find_root(parent, v)
        if number[root] < 0:
            number[root] = found
            found += 1
        labels[v] = number[root]
    return labels
