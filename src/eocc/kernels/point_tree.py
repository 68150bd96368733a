"""Points -> their minimum spanning tree: a k-d tree, lists of near neighbours, and the rounds of Borůvka.

A point is given by its position in the tree; ids[position] is its row, and breaks ties. The key of an edge is its
length without the spare bits. Edges are ordered by (key, low id, high id), so the tree is unique. Squared distances of
`points`, computed many at a time, only exclude rows that are too far; every key comes from `edge_key`.
"""

from typing import Any, NamedTuple

import numpy as np

from eocc.kernels.compile import inlined_kernel, kernel, summing_kernel
from eocc.kernels.distances import SPARE_BITS, row_distance
from eocc.kernels.trees import find_root, precedes


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


# Inner loops index whole arrays: creating a view such as rows[p] costs an atomic reference count.
# Boxes: node 1 is the root, v has the children 2v and 2v + 1, and node n_leaves + l is leaf l with the positions
# starts[l]..starts[l + 1]. blocks[l] holds their coordinates, one line per coordinate: an even number of lines,
# infinity after the last point. lows and highs are the corners of the bounding boxes.
# Lists: keys[p] are the least keys of p's edges to points of other components, near[p] their other ends, -1 for none.
# Components: component[p] is that of p; whole[v] is that of all points below node v, -1 if there are several.


@kernel
def edge_key(rows, a, b):
    """Return ||rows_a - rows_b|| without the spare bits."""
    bits = np.float64(row_distance(rows[a], rows[b])).view(np.int64)
    return np.int64((bits + (1 << (SPARE_BITS - 1))) & -(1 << SPARE_BITS)).view(np.float64)


@summing_kernel
def count_near(p, points, leaf, blocks, limit, squares):
    """Fill `squares` with the squared distances of points[p] to those of a leaf; return how many are <= `limit`."""
    n_columns, width = blocks.shape[1], blocks.shape[2]
    first, second = points[p, 0], points[p, 1]
    for t in range(width):
        squares[t] = (first - blocks[leaf, 0, t]) ** 2 + (second - blocks[leaf, 1, t]) ** 2
    for k in range(2, n_columns, 2):
        first, second = points[p, k], points[p, k + 1]
        for t in range(width):
            squares[t] += (first - blocks[leaf, k, t]) ** 2 + (second - blocks[leaf, k + 1, t]) ** 2
    hits = 0
    for t in range(width):
        hits += 1 if squares[t] <= limit else 0
    return hits


@summing_kernel
def fill_bounds(node, lows, highs, coordinates, count, bounds):
    """Fill bounds[t] with the squared distance of query t, of `count`, to the box of a node."""
    for t in range(count):
        bounds[t] = 0.0
    for k in range(lows.shape[1]):
        low, high = lows[node, k], highs[node, k]
        for t in range(count):
            below, above = low - coordinates[k, t], coordinates[k, t] - high
            distance = below if below > above else above
            distance = distance if distance > 0.0 else 0.0
            bounds[t] += distance * distance


@summing_kernel
def square_between(low, high, node, lows, highs):
    """Return the squared distance between a box and that of a node."""
    total = 0.0
    for k in range(low.shape[0]):
        distance = max(max(low[k] - highs[node, k], lows[node, k] - high[k]), 0.0)
        total += distance * distance
    return total


class Boxes(NamedTuple):
    """Points in the leaves of a k-d tree, with an even number of columns; `ids` are their `rows`."""

    rows: Any
    points: Any
    ids: Any
    starts: Any
    blocks: Any
    lows: Any
    highs: Any


class Queries(NamedTuple):
    """The points of a leaf that search together, the limits of their squared distances, and room for a search."""

    points: Any
    limits: Any
    bounds: Any
    squares: Any
    coordinates: Any
    low: Any
    high: Any


@inlined_kernel
def square_limit(key):
    """Return an upper limit of the squared distance of the ends of edges with at most this key."""
    # Dropping 16 bits moves a length by 1e-11 of itself and so its square by 3e-11; sums of squares err by 1e-13.
    # Squares below 1e-290 lose digits to underflow.
    return key**2 * (1 + 1e-10) + 1e-290


@inlined_kernel
def comes_before(key, number, other_key, other, ids):
    """Return whether (key, number) comes before (other_key, ids[other]); other = -1 means none and comes last."""
    return key < other_key or (key == other_key and (other < 0 or number < ids[other]))


@kernel
def offer(p, other, boxes, slot, keys, near):
    """Insert the edge {p, other} into the list of p, if it belongs there; return the new limit of squared distances."""
    ids, last = boxes.ids, keys.shape[1] - 1
    key, place = edge_key(boxes.rows, ids[p], ids[other]), last + 1
    # For the edges of one point, the order by endpoints is that of the other ends.
    while place > slot and comes_before(key, ids[other], keys[p, place - 1], near[p, place - 1], ids):
        place -= 1
    for t in range(last, place, -1):
        keys[p, t], near[p, t] = keys[p, t - 1], near[p, t - 1]
    if place <= last:
        keys[p, place], near[p, place] = key, other
    return square_limit(keys[p, last])


@kernel
def search_leaf(leaf, count, queried, boxes, component, whole, slot, lists):
    """Offer the points of a leaf to the queries, except those too far or of the same component."""
    # Return the largest remaining limit.
    queries, limits, bounds, squares = queried.points, queried.limits, queried.bounds, queried.squares
    starts, blocks, points = boxes.starts, boxes.blocks, boxes.points
    keys, near, _ = lists
    farthest = 0.0
    for s in range(count):
        p, limit = queries[s], limits[s]
        if bounds[s] <= limit and component[p] != whole:
            if count_near(p, points, leaf, blocks, limit, squares) > 0:
                for t in range(starts[leaf + 1] - starts[leaf]):
                    other = starts[leaf] + t
                    if squares[t] <= limit and component[other] != component[p]:
                        limit = offer(p, other, boxes, slot, keys, near)
                limits[s] = limit
        farthest = limit if limit > farthest else farthest
    return farthest


@kernel
def gather(first, last, active, boxes, component, lists, queried):
    """List the queries among the positions first..last, their coordinates, and the box around them."""
    # Return how many there are, and their common component, or -1 if there are several.
    points, (keys, _, reach) = boxes.points, lists
    queries, limits, coordinates = queried.points, queried.limits, queried.coordinates
    low, high = queried.low, queried.high
    count, common, final = 0, -1, keys.shape[1] - 1
    for k in range(points.shape[1]):
        low[k], high[k] = np.inf, -np.inf
    for p in range(first, last):
        if active[p]:
            keys[p, final] = min(keys[p, final], reach[component[p]])
            queries[count], limits[count] = p, square_limit(keys[p, final])
            for k in range(points.shape[1]):
                coordinates[k, count] = points[p, k]
                low[k], high[k] = min(low[k], points[p, k]), max(high[k], points[p, k])
            common = component[p] if count == 0 or component[p] == common else -1
            count += 1
    return count, common


@kernel
def search_boxes(start, stop, boxes, active, component, whole, slot, lists):
    """Complete, from `slot` on, the lists of the active points in leaves start..stop."""
    # The queries of a leaf are answered together: their own leaf first, then the others, nearer boxes first. No list
    # needs a key above reach[c], the key of a known edge that leaves component c. Threads update `reach` in any order:
    # it is never below the least edge of a component, so the result does not depend on it.
    starts, lows, highs, (keys, _, reach) = boxes.starts, boxes.lows, boxes.highs, lists
    n_leaves, n_columns, width = starts.shape[0] - 1, boxes.points.shape[1], boxes.blocks.shape[2]
    queries, bounds, low, high = np.empty(width, np.int64), np.empty(width), np.empty(n_columns), np.empty(n_columns)
    coordinates = np.empty((n_columns, width))
    queried = Queries(queries, np.empty(width), bounds, np.empty(width), coordinates, low, high)
    stack, box_squares = np.empty(64, np.int64), np.empty(64)
    for leaf in range(start, stop):
        first, last = starts[leaf], starts[leaf + 1]
        count, common = gather(first, last, active, boxes, component, lists, queried)
        here = n_leaves + leaf if count > 0 else 0
        stack[0], box_squares[0], top, farthest = here, 0.0, 1, np.inf
        while here > 0:
            while top > 0:
                top -= 1
                node = stack[top]
                if box_squares[top] > farthest or (common >= 0 and whole[node] == common):
                    continue
                if node >= n_leaves:
                    fill_bounds(node, lows, highs, coordinates, count, bounds)
                    leaf_node = node - n_leaves
                    farthest = search_leaf(leaf_node, count, queried, boxes, component, whole[node], slot, lists)
                    continue
                nearer, other = 2 * node, 2 * node + 1
                square = square_between(low, high, nearer, lows, highs)
                other_square = square_between(low, high, other, lows, highs)
                if other_square < square:
                    nearer, other, square, other_square = other, nearer, other_square, square
                stack[top], box_squares[top] = other, other_square
                stack[top + 1], box_squares[top + 1] = nearer, square
                top += 2
            if here > 1:
                stack[0], box_squares[0], top = here ^ 1, square_between(low, high, here ^ 1, lows, highs), 1
            here //= 2
        for t in range(count):
            reach[component[queries[t]]] = min(reach[component[queries[t]]], keys[queries[t], slot])


@kernel
def best_known(ids, component, begun, keys, near, best, best_near):
    """Fill best[c] and best_near[c] with the point and list entry of the first known edge that leaves c, or -1."""
    # begun[p] is the first entry of the list of p whose other end may lie outside: components only grow.
    n, length = keys.shape
    best[:] = -1
    for p in range(n):
        while begun[p] < length and near[p, begun[p]] >= 0 and component[near[p, begun[p]]] == component[p]:
            begun[p] += 1
        c, t = component[p], begun[p]
        if t == length or near[p, t] < 0:
            continue
        rival, s = best[c], best_near[c]
        is_first = rival < 0 or keys[p, t] < keys[rival, s]
        if rival >= 0 and keys[p, t] == keys[rival, s]:
            is_first = precedes(ids[p], ids[near[p, t]], ids[rival], ids[near[rival, s]])
        if is_first:
            best[c], best_near[c] = p, t


@kernel
def mark_active(ids, component, begun, keys, near, known, active, reach):
    """Mark the points whose list ends before the best known edge of their component; return how many."""
    # Also return the largest component, which need not search, because the edges of the others reach it. Edges that are
    # not in a list come after its last one or, if that is -1, have a larger key. `reach` is set to the keys of the best
    # known edges, and the last list entry of the searching points is emptied for the result.
    best, best_near = known
    n, last = component.shape[0], keys.shape[1] - 1
    count, largest = np.zeros(n, np.int64), 0
    for p in range(n):
        count[component[p]] += 1
        largest = component[p] if count[component[p]] > count[largest] else largest
        reach[p] = keys[best[p], best_near[p]] if best[p] >= 0 else np.inf
    n_active = 0
    for p in range(n):
        active[p] = False
        c, other = component[p], near[p, last]
        if c == largest or begun[p] < last or (begun[p] == last and other >= 0):
            continue
        active[p] = keys[p, last] < reach[c]
        if keys[p, last] == reach[c] and other >= 0 and best[c] >= 0:
            rival = near[best[c], best_near[c]]
            active[p] = precedes(ids[p], ids[other], ids[best[c]], ids[rival])
        if active[p]:
            begun[p], keys[p, last], near[p, last] = last, np.inf, -1
            n_active += 1
    return n_active, largest


@kernel
def join(ids, component, keys, near, known, n_edges, edges, edge_keys):
    """Append the best edge of every component, once, and merge the components; return the number of edges so far."""
    best, best_near = known
    n = component.shape[0]
    parent = component.copy()
    for c in range(n):
        p = best[c]
        if p >= 0:
            other = near[p, best_near[c]]
            a, b = find_root(parent, p), find_root(parent, other)
            if a != b:
                parent[max(a, b)] = min(a, b)
                edges[n_edges, 0], edges[n_edges, 1] = min(ids[p], ids[other]), max(ids[p], ids[other])
                edge_keys[n_edges] = keys[p, best_near[c]]
                n_edges += 1
    for p in range(n):
        component[p] = find_root(parent, p)
    return n_edges
