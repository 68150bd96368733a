"""Points -> the minimum spanning tree of their complete Euclidean graph, without a matrix of distances.

Every point keeps a list of its nearest points. The rounds of Borůvka connect components by their shortest edges; a list
that is too short is continued by a search among the other components. Memory is O(n d).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.foundation.threads import for_each_block, threads
from eocc.foundation.types import Flags, Matrix
from eocc.graph.complete import SpanningTree, measured_tree
from eocc.kernels import point_tree as kernels
from eocc.kernels.sparse import bound_nodes, mark_nodes
from eocc.neighbours.nearest import PointTree

Positions = NDArray[np.int64]
# The shortest edges of every point: their keys and other ends; and the largest key that each component needs.
NeighbourLists = tuple[Matrix, NDArray[np.int32], Matrix]

LIST_LENGTH = 4  # the fastest of 2, 3, 4, 6 and 8 on 10,000 points of 10 dimensions
LEAF_SIZE = 128  # at most; the fastest of 32, 64 and 128, also on 100,000 points
BLOCK_LANES = 8  # block widths are multiples of this: two vector registers of doubles
LEAVES_PER_TASK = 64  # some tenths of a second for 100,000 points: the delay of Ctrl-C
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
    with threads(n_threads):
        edges, keys = _distinct_tree(rows[distinct], distinct, scale)
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


def _boxes(rows: Matrix, ids: Positions, scale: float) -> kernels.Boxes:
    """Return distinct points in the leaves of a k-d tree."""
    even = np.hstack([rows, np.zeros((len(rows), rows.shape[1] % 2))])  # kernels take two columns at a time
    tree = PointTree.of(even, LEAF_SIZE)
    n_leaves, n_columns = len(tree.bounds) - 1, even.shape[1]
    lows, highs = np.empty((2, 2 * n_leaves, n_columns))
    bound_nodes(tree.points, tree.bounds, lows, highs)
    blocks = np.full((n_leaves, n_columns, -(-int(np.diff(tree.bounds).max()) // BLOCK_LANES) * BLOCK_LANES), np.inf)
    for block, start, stop in zip(blocks, tree.bounds, tree.bounds[1:], strict=False):
        block[:, : stop - start] = tree.points[start:stop].T
    return kernels.Boxes(tree.points, ids[tree.ids], scale, tree.bounds, blocks, lows, highs)


def _complete(boxes: kernels.Boxes, lists: NeighbourLists, component: Positions, active: Flags, slot: int) -> None:
    """Complete the lists of the active points, from `slot` on, with points of other components."""
    n_leaves = len(boxes.starts) - 1
    whole = np.full(2 * n_leaves, -1)
    mark_nodes(component, boxes.starts, whole)

    def work(start: int, stop: int) -> None:
        kernels.search_boxes(start, stop, boxes, active, component, whole, slot, lists)

    for_each_block(n_leaves, max(1, min(LEAVES_PER_TASK, n_leaves // 16)), work, "building the spanning tree")


def _distinct_tree(rows: Matrix, ids: Positions, scale: float) -> tuple[Positions, Matrix]:
    """Return the edges of the tree of distinct rows, unordered, and their keys (Borůvka, as for neighbour graphs)."""
    boxes, n = _boxes(rows, ids, scale), len(rows)
    listed = np.full((n, LIST_LENGTH), np.inf), np.full((n, LIST_LENGTH), -1, np.int32)
    reach = np.full(n, np.inf)
    edges, keys, n_edges = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    component, begun, active = np.arange(n), np.zeros(n, np.int64), np.ones(n, np.bool_)
    best = np.empty(n, np.int64), np.empty(n, np.int64)
    _complete(boxes, (*listed, reach), component, active, slot=0)
    while n_edges < n - 1:
        known = boxes.ids, component, begun, *listed
        kernels.best_known(*known, *best)
        if kernels.mark_active(*known, best, active, reach) > 0:
            _complete(boxes, (*listed, reach), component, active, slot=LIST_LENGTH - 1)
            kernels.best_found(active, boxes.ids, component, *listed, *best)
        n_edges = kernels.join(boxes.ids, component, *listed, best, n_edges, edges, keys)
    return edges, keys
