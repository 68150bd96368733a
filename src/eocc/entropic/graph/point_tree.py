"""Points -> the minimum spanning tree of their complete Euclidean graph, without a matrix of distances.

Every point keeps a list of its nearest points. The rounds of Borůvka connect components by their shortest edges; a list
that is too short is continued by a search among the other components. Memory is O(n d).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.threads import for_each_block, threads
from eocc.base.types import Flags, Matrix
from eocc.entropic.graph.complete import SpanningTree, measured_tree
from eocc.kernels import point_tree as kernels
from eocc.measures.euclidean import distinct_rows

Positions = NDArray[np.int64]
# The shortest edges of every point: their keys and other ends; and the largest key that each component needs.
NeighbourLists = tuple[Matrix, NDArray[np.int32], Matrix]

LIST_LENGTH = 4  # the fastest of 2, 3, 4, 6 and 8 on 10,000 points of 10 dimensions
LEAF_SIZE = 128  # at most; the fastest of 32, 64 and 128, also on 100,000 points


def point_spanning_tree(points: ArrayLike, n_threads: int = 1) -> SpanningTree:
    """Return the minimum spanning tree of points (n, d) under w_ij = ||x_i - x_j||_2.

    Edges are ordered by (w_ij without its spare bits, i, j), i < j: lengths that differ by rounding only are ties, and
    copies of a point are connected to the first one by edges of length 0. The result does not depend on the number of
    threads. `spanning_tree` and `euclidean_graph` use the same order, but may round w_ij differently.

    >>> tree = point_spanning_tree([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    >>> tree.edges.tolist(), tree.lengths.round(3).tolist()
    ([[1, 2], [0, 2]], [4.243, 1.0])
    """
    rows = _checked_points(points)
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, not {n_threads}")
    _, number = distinct_rows(rows)
    first = np.unique(number, return_index=True)[1]  # of the copies of each row
    copies = np.setdiff1d(np.arange(len(rows)), first)
    with threads(n_threads):
        edges, keys = _joining_edges(_boxes_of(rows, first))
    edges = np.vstack([edges, np.column_stack([first[number[copies]], copies])])
    return measured_tree(rows, 1.0, edges, np.concatenate([keys, np.zeros(len(copies))]))


def _checked_points(points: ArrayLike) -> Matrix:
    rows = np.ascontiguousarray(points, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"points must be a matrix with rows and columns, not of shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("points contain NaN or infinity; drop or impute those patterns first")
    if np.abs(rows).max() > 1e150:
        raise ValueError(f"points reach {np.abs(rows).max():g}, whose square overflows; divide them first")
    return rows


def _boxes_of(rows: Matrix, ids: Positions) -> kernels.Boxes:
    """Return the rows with these ids in the leaves of a balanced k-d tree, with an even number of columns."""
    columns, n = np.vstack([rows[ids].T, np.zeros((rows.shape[1] % 2, len(ids)))]), len(ids)
    n_leaves = 1 << max(0, int(np.ceil(np.log2(n / LEAF_SIZE))))
    starts, order = np.array([0, n]), np.arange(n)
    while len(starts) <= n_leaves:  # halve every part at the middle of its widest column
        middles = (starts[:-1] + starts[1:]) // 2
        for start, middle, stop in zip(starts, middles, starts[1:], strict=False):
            if stop - start > 1:
                part = columns[:, start:stop]
                halved = np.argpartition(part[np.argmax(np.ptp(part, axis=1))], middle - start)
                columns[:, start:stop], order[start:stop] = part[:, halved], order[start:stop][halved]
        starts = np.sort(np.concatenate([starts, middles]))
    points = np.ascontiguousarray(columns.T)
    lows, highs = np.empty((2, 2 * n_leaves, points.shape[1]))
    kernels.bound_nodes(points, starts, lows, highs)
    # Block widths are multiples of 8: two vector registers of doubles.
    blocks = np.full((n_leaves, points.shape[1], -(-int(np.diff(starts).max()) // 8) * 8), np.inf)
    for block, start, stop in zip(blocks, starts, starts[1:], strict=False):
        block[:, : stop - start] = points[start:stop].T
    return kernels.Boxes(rows, points, ids[order], starts, blocks, lows, highs)


def _complete(boxes: kernels.Boxes, lists: NeighbourLists, component: Positions, active: Flags, slot: int) -> None:
    """Complete the lists of the active points, from `slot` on, with points of other components."""
    n_leaves = len(boxes.starts) - 1
    whole = np.full(2 * n_leaves, -1)
    kernels.mark_nodes(component, boxes.starts, whole)

    def work(start: int, stop: int) -> None:
        kernels.search_boxes(start, stop, boxes, active, component, whole, slot, lists)

    # 64 leaves take some tenths of a second for 100,000 points: the delay of Ctrl-C.
    for_each_block(n_leaves, max(1, min(64, n_leaves // 16)), work, "building the spanning tree")


def _joining_edges(boxes: kernels.Boxes) -> tuple[Positions, Matrix]:
    """Return the edges of the spanning tree, unordered, and their keys (Borůvka)."""
    n = len(boxes.ids)
    component, begun, active = np.arange(n), np.zeros(n, np.int64), np.ones(n, np.bool_)
    keys, near, reach = np.full((n, LIST_LENGTH), np.inf), np.full((n, LIST_LENGTH), -1, np.int32), np.full(n, np.inf)
    edges, edge_keys, n_edges = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    best = np.empty(n, np.int64), np.empty(n, np.int64)
    _complete(boxes, (keys, near, reach), component, active, slot=0)
    while n_edges < n - 1:
        known = boxes.ids, component, begun, keys, near
        kernels.best_known(*known, *best)
        n_active, largest = kernels.mark_active(*known, best, active, reach)
        if n_active > 0:
            _complete(boxes, (keys, near, reach), component, active, slot=LIST_LENGTH - 1)
            kernels.best_known(*known, *best)
        best[0][largest] = -1  # the edges of the other components reach it
        n_edges = kernels.join(boxes.ids, component, keys, near, best, n_edges, edges, edge_keys)
    return edges, edge_keys
