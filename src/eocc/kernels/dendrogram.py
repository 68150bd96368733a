"""Spanning tree -> an order of the vertices in which every cluster is contiguous."""

from eocc.kernels.compile import kernel


@kernel
def find_root(parent, vertex):
    """Return the root of `vertex`, with path halving."""
    while parent[vertex] != vertex:
        parent[vertex] = parent[parent[vertex]]
        vertex = parent[vertex]
    return vertex


@kernel
def leaf_intervals(edges, order, start, middle, stop, parent, tail, after):
    """Order the vertices so that every cluster of every partition is contiguous; edges are heaviest first."""
    # Removing edge e splits order[start[e]:stop[e]] at middle[e]. Clusters are joined as linked lists, lightest edge
    # first; the root of a list is its head. `parent`, `tail`, `after` (n,) are scratch.
    n = order.shape[0]
    size = order  # until the order is written
    for v in range(n):
        parent[v], tail[v], after[v], size[v] = v, v, -1, 1
    head = 0
    for e in range(n - 2, -1, -1):
        head, other = find_root(parent, edges[e, 0]), find_root(parent, edges[e, 1])
        start[e], middle[e], stop[e] = head, size[head], size[head] + size[other]
        after[tail[head]] = other
        parent[other], tail[head], size[head] = head, tail[other], stop[e]
    position = tail
    for t in range(n):
        order[t], position[head] = head, t
        head = after[head]
    for e in range(n - 1):
        start[e] = position[start[e]]
        middle[e] += start[e]
        stop[e] += start[e]
