"""Prim's minimum spanning tree of a complete graph."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def prim_edges(distances):
    """Return the n-1 edges (low, high) of the minimum spanning tree of a full distance matrix.

    Edges are ordered by (length, low, high), a total order, so there is one tree only. `rest` holds
    the vertices still outside and shrinks by one a step; `link[t]` is the tree vertex next to rest[t].
    Of two edges to the same outside vertex the one with the lower tree vertex comes first.
    """
    n = distances.shape[0]
    edges = np.empty((max(n - 1, 0), 2), np.int64)
    rest = np.arange(1, n)
    link = np.zeros(max(n - 1, 0), np.int64)
    gap = np.full(max(n - 1, 0), np.inf)
    vertex = 0
    for step in range(n - 1):
        row = distances[vertex]
        shortest, pick = np.inf, 0
        for t in range(n - 1 - step):
            outside = rest[t]
            length = row[outside]
            if length <= gap[t] and (length < gap[t] or vertex < link[t]):
                gap[t] = length
                link[t] = vertex
            if gap[t] < shortest:
                shortest, pick = gap[t], t
            elif gap[t] == shortest:
                low, pick_low = min(outside, link[t]), min(rest[pick], link[pick])
                high, pick_high = max(outside, link[t]), max(rest[pick], link[pick])
                if low < pick_low or (low == pick_low and high < pick_high):
                    pick = t
        vertex = rest[pick]
        edges[step, 0] = min(vertex, link[pick])
        edges[step, 1] = max(vertex, link[pick])
        last = n - 2 - step
        rest[pick], link[pick], gap[pick] = rest[last], link[last], gap[last]
    return edges
