"""Points -> the minimum spanning tree of their complete Euclidean graph, without a matrix of distances.

Every point keeps a list of its nearest points. The rounds of Borůvka connect components by their shortest edges; a list
that is too short is continued by a search among the other components. Memory is O(n d).
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.base.threads import for_each_block, threads
from eocc.base.types import Flags, Matrix
from eocc.entropic.graph.complete import SpanningTree, measured_tree
from eocc.kernels import point_tree as kernels
from eocc.kernels.nearest import sort_by_tree

Positions = NDArray[np.int64]
# The shortest edges of every point: their keys and other ends; and the largest key that each component needs.
NeighbourLists = tuple[Matrix, NDArray[np.int32], Matrix]

LIST_LENGTH = 4  # the fastest of 2, 3, 4, 6 and 8 on 10,000 points of 10 dimensions
LEAF_SIZE = 128  # at most; the fastest of 32, 64 and 128, also on 100,000 points
LARGEST_POINT = 1e150  # the sum of squares of larger coordinates may overflow


def point_spanning_tree(points: ArrayLike, scale: float = 1.0, n_threads: int = 1) -> SpanningTree:
    """Return the minimum spanning tree of points (n, d) under w_ij = ||x_i - x_j||_2 * scale.

    Edges are ordered by (w_ij without its spare bits, i, j), i < j: lengths that differ by rounding only are ties, and
    copies of a point are connected to the first one by edges of length 0. The result does not depend on the number of
    threads. `spanning_tree` and `euclidean_graph` use the same order, but may round w_ij differently.

    >>> tree = point_spanning_tree([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]], scale=2.0)
    >>> tree.edges.tolist(), tree.lengths.round(3).tolist()
    ([[1, 2], [0, 2]], [8.485, 2.0])
    """
    rows = _checked_points(points)
    if not 0 < scale < np.inf:
        raise ValueError(f"scale must be positive and finite, not {scale}; use 1 for plain distances")
    if n_threads < 1:
        raise ValueError(f"n_threads must be at least 1, not {n_threads}")
    first = _first_copies(rows)
    distinct, copies = np.flatnonzero(first == np.arange(len(rows))), np.flatnonzero(first != np.arange(len(rows)))
    even = np.hstack([rows[distinct], np.zeros((len(distinct), rows.shape[1] % 2))])
    with threads(n_threads):
        edges, keys = joining_edges(boxes_of(rows, scale, even, distinct), np.arange(len(rows)), LIST_LENGTH)
    edges = np.vstack([edges, np.column_stack([first[copies], copies])])
    keys = np.concatenate([keys, np.zeros(len(copies))])
    return measured_tree(rows, scale, edges, keys)


def _checked_points(points: ArrayLike) -> Matrix:
    rows = np.ascontiguousarray(points, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"points must be a matrix with rows and columns, not of shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("points contain NaN or infinity; drop or impute those patterns first")
    if np.abs(rows).max() > LARGEST_POINT:
        raise ValueError(f"points reach {np.abs(rows).max():g}, whose square overflows; divide them first")
    return rows


def _first_copies(rows: Matrix) -> Positions:
    """Return, for every row, the index of the first row equal to it."""
    as_bytes = (rows + 0.0).view(f"V{rows.itemsize * rows.shape[1]}").ravel()  # -0 becomes 0
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    return np.asarray(first[group])


def boxes_of(rows: NDArray[Any], scale: float, points: Matrix, ids: Positions, error: float = 0.0) -> kernels.Boxes:
    """Return points in the leaves of a k-d tree, an even number of columns; point i stands for the row ids[i]."""
    points, (n, n_columns) = points.copy(), points.shape
    n_leaves = 1 << max(0, int(np.ceil(np.log2(n / LEAF_SIZE))))
    starts, order = np.array([0, n]), np.arange(n, dtype=np.int32)
    while len(starts) <= n_leaves:
        starts = np.sort(np.concatenate([starts, (starts[:-1] + starts[1:]) // 2]))
    sort_by_tree(points, order, starts)
    lows, highs = np.empty((2, 2 * n_leaves, n_columns))
    kernels.bound_nodes(points, starts, lows, highs)
    # Block widths are multiples of 8: two vector registers of doubles.
    blocks = np.full((n_leaves, n_columns, -(-int(np.diff(starts).max()) // 8) * 8), np.inf)
    for block, start, stop in zip(blocks, starts, starts[1:], strict=False):
        block[:, : stop - start] = points[start:stop].T
    return kernels.Boxes(rows, scale, points, ids[order], error, starts, blocks, lows, highs)


def _complete(boxes: kernels.Boxes, lists: NeighbourLists, component: Positions, active: Flags, slot: int) -> None:
    """Complete the lists of the active points, from `slot` on, with points of other components."""
    n_leaves = len(boxes.starts) - 1
    whole = np.full(2 * n_leaves, -1)
    kernels.mark_nodes(component, boxes.starts, whole)

    def work(start: int, stop: int) -> None:
        kernels.search_boxes(start, stop, boxes, active, component, whole, slot, lists)

    # 64 leaves take some tenths of a second for 100,000 points: the delay of Ctrl-C.
    for_each_block(n_leaves, max(1, min(64, n_leaves // 16)), work, "building the spanning tree")


def joining_edges(boxes: kernels.Boxes, label: Positions, list_length: int = 1) -> tuple[Positions, Matrix]:
    """Return the shortest edges that join components into a tree, unordered, and their keys (Borůvka).

    `label` is the component of each row. If every row is its own, lists of the `list_length` nearest save searches.
    """
    n = len(boxes.ids)
    _, first, number = np.unique(label[boxes.ids], return_index=True, return_inverse=True)
    component, begun, active = first[number], np.zeros(n, np.int64), np.ones(n, np.bool_)
    keys, near, reach = np.full((n, list_length), np.inf), np.full((n, list_length), -1, np.int32), np.full(n, np.inf)
    edges, edge_keys, n_edges = np.empty((len(first) - 1, 2), np.int64), np.empty(len(first) - 1), 0
    best = np.empty(n, np.int64), np.empty(n, np.int64)
    if list_length > 1:
        _complete(boxes, (keys, near, reach), component, active, slot=0)
    else:
        keys[:] = -1.0  # below all others: nothing is known of any point
    while n_edges < len(edges):
        known = boxes.ids, component, begun, keys, near
        kernels.best_known(*known, *best)
        if kernels.mark_active(*known, best, active, reach) > 0:
            _complete(boxes, (keys, near, reach), component, active, slot=list_length - 1)
            kernels.best_found(active, boxes.ids, component, keys, near, *best)
        n_edges = kernels.join(boxes.ids, component, keys, near, best, n_edges, edges, edge_keys)
    return edges, edge_keys
