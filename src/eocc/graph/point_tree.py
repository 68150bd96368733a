"""Points -> the minimum spanning tree of their complete Euclidean graph, without a matrix of distances.

Every point keeps a list of its nearest points. The rounds of Borůvka connect components by their shortest edges; a list
that is too short is continued by a search among the other components. Memory is O(n d).
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eocc.foundation.blas import one_blas_thread
from eocc.foundation.threads import for_each_block, threads
from eocc.foundation.types import Flags, Matrix
from eocc.graph.complete import SpanningTree
from eocc.kernels import point_tree as kernels
from eocc.kernels.distances import edge_lengths
from eocc.kernels.sparse import mark_nodes

Positions = NDArray[np.int64]

LIST_LENGTH = 4  # the fastest of 2, 3, 4, 6 and 8 on 10,000 points of 10 dimensions
LEAF_SIZE = 128  # at most; the fastest of 32, 64 and 128, also on 100,000 points
LANES = 8  # block widths are multiples of this: two vector registers of doubles
LEAVES_PER_TASK = 64  # some tenths of a second for 100,000 points: the delay of Ctrl-C
SAMPLED_LEAVES = 4
# Nanoseconds to compare with a point in a leaf, and by a scalar product: a constant, and a term per dimension. In 10
# dimensions boxes are always faster; in 256, if a point looks into less than two fifths of the leaves.
LOOKING = (1.0, 0.16)
PRODUCT = (3.3, 0.055)
ROWS_PER_TASK, TILE = 128, 512  # half a MiB of products stays in the second-level cache
LARGEST = 1e150  # the sum of squares of larger coordinates may overflow


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
    with threads(n_threads), one_blas_thread():
        edges, keys = _distinct_tree(rows[distinct], distinct, scale)
    edges = np.vstack([edges, np.column_stack([first[copies], copies])])
    keys = np.concatenate([keys, np.zeros(len(copies))])
    order = np.lexsort((edges[:, 1], edges[:, 0], -keys))
    lengths = np.empty(len(edges))
    edge_lengths(rows, edges[order], scale, lengths)
    # The lengths of tied edges may differ by rounding; make them descend.
    return SpanningTree(edges[order], np.minimum.accumulate(lengths))


def _checked_points(points: ArrayLike) -> Matrix:
    rows = np.ascontiguousarray(points, dtype=np.float64)
    if rows.ndim != 2 or rows.size == 0:
        raise ValueError(f"points must be a matrix with rows and columns, not of shape {rows.shape}")
    if not np.isfinite(rows).all():
        raise ValueError("points contain NaN or infinity; drop or impute those patterns first")
    if np.abs(rows).max() > LARGEST:
        raise ValueError(f"points reach {np.abs(rows).max():g}, whose square overflows; divide them first")
    return rows


def _first_copies(rows: Matrix) -> Positions:
    """Return, for every row, the index of the first row equal to it."""
    as_bytes = (rows + 0.0).view(f"V{rows.itemsize * rows.shape[1]}").ravel()  # -0 becomes 0
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    return np.asarray(first[group])


@dataclass(frozen=True, eq=False)
class _Points:
    """Distinct points in the order of the leaves, with an even number of columns; `ids` are their row numbers."""

    rows: Matrix
    ids: Positions
    scale: float


@dataclass(frozen=True, eq=False)
class _Lists:
    """The shortest edges of every point: `keys` and other ends `near`; `reach` is the largest key a component needs."""

    keys: Matrix
    near: NDArray[np.int32]
    reach: Matrix

    @classmethod
    def empty(cls, n: int) -> "_Lists":
        keys = np.full((n, LIST_LENGTH), np.inf)
        return cls(keys, np.full(keys.shape, -1, np.int32), np.full(n, np.inf))


class _Search(Protocol):
    def complete(self, lists: _Lists, component: Positions, active: Flags, slot: int) -> None:
        """Complete the lists of the active points, from `slot` on, with points of other components."""
        ...


@dataclass(frozen=True, eq=False)
class _BoxSearch:
    """Search through a k-d tree; the kernel module describes the arrays."""

    points: _Points
    starts: Positions
    blocks: Matrix
    lows: Matrix
    highs: Matrix

    @classmethod
    def build(cls, rows: Matrix, ids: Positions, scale: float) -> "_BoxSearch":
        n_leaves = 1 << max(0, int(np.ceil(np.log2(len(rows) / LEAF_SIZE))))
        starts = np.arange(n_leaves + 1) * len(rows) // n_leaves
        rows = np.hstack([rows, np.zeros((len(rows), rows.shape[1] % 2))])  # kernels take two columns at a time
        order, lows, highs = np.arange(len(rows)), *np.zeros((2, 2 * n_leaves, rows.shape[1]))
        kernels.split_points(np.ascontiguousarray(rows.T), starts, order, lows, highs)
        width = -(-int(np.diff(starts).max()) // LANES) * LANES
        blocks, rows = np.full((n_leaves, rows.shape[1], width), np.inf), rows[order]
        kernels.fill_blocks(rows, starts, blocks)
        return cls(_Points(rows, ids[order], scale), starts, blocks, lows, highs)

    @property
    def n_leaves(self) -> int:
        return len(self.starts) - 1

    def look(
        self, lists: _Lists, component: Positions, whole: Positions, active: Flags, slot: int, leaves: range
    ) -> int:
        """Search for the active points of some leaves; return how many times a point looked at a leaf."""
        return int(
            kernels.search_boxes(
                leaves.start, leaves.stop, active, self.starts, self.blocks, self.lows, self.highs, self.points.rows,
                self.points.ids, self.points.scale, component, whole, slot, lists.keys, lists.near, lists.reach,
            )
        )  # fmt: skip

    def complete(self, lists: _Lists, component: Positions, active: Flags, slot: int) -> None:
        whole = np.full(2 * self.n_leaves, -1)
        mark_nodes(component, self.starts, whole)

        def work(start: int, stop: int) -> None:
            self.look(lists, component, whole, active, slot, range(start, stop))

        for_each_block(self.n_leaves, max(1, min(LEAVES_PER_TASK, self.n_leaves // 16)), work)

    def sample(self, lists: _Lists) -> tuple[Flags, float]:
        """Complete the lists of a few leaves; return which points remain, and the share of leaves a point looked at."""
        n, looks = len(self.points.rows), 0
        component, whole, left = np.arange(n), np.full(2 * self.n_leaves, -1), np.ones(n, np.bool_)
        for leaf in np.unique(np.linspace(0, self.n_leaves - 1, SAMPLED_LEAVES).astype(int)).tolist():
            looks += self.look(lists, component, whole, left, 0, range(leaf, leaf + 1))
            left[self.starts[leaf] : self.starts[leaf + 1]] = False
        return left, looks / (n - int(left.sum())) / self.n_leaves


@dataclass(frozen=True, eq=False)
class _ProductSearch:
    """Search through the scalar products of all pairs, tile by tile: faster if boxes exclude few points."""

    points: _Points
    centred: Matrix
    norms: Matrix

    @classmethod
    def build(cls, points: _Points) -> "_ProductSearch":
        centred = points.rows - points.rows.mean(axis=0)  # keeps distances, and makes products and their errors smaller
        return cls(points, centred, np.einsum("ij,ij->i", centred, centred))

    @property
    def margin(self) -> float:
        """The relative error of |x|^2 + |y|^2 - 2xy: at most d + 2 roundings, doubled."""
        return float((self.centred.shape[1] + 8) * 4 * np.finfo(float).eps)

    def complete(self, lists: _Lists, component: Positions, active: Flags, slot: int) -> None:
        searching, points = np.flatnonzero(active), self.points

        def work(start: int, stop: int) -> None:
            queries = searching[start:stop]
            left, room = self.centred[queries], np.empty((len(queries), TILE))
            for first in range(0, len(points.rows), TILE):
                right = self.centred[first : first + TILE]
                products = np.dot(left, right.T, out=room) if len(right) == TILE else np.dot(left, right.T)
                kernels.search_products(
                    queries, first, products, self.norms, self.margin, points.rows, points.ids, points.scale, component,
                    slot, lists.keys, lists.near, lists.reach,
                )  # fmt: skip

        for_each_block(len(searching), ROWS_PER_TASK, work)


def _distinct_tree(rows: Matrix, ids: Positions, scale: float) -> tuple[Positions, Matrix]:
    """Return the edges of the tree of distinct rows, unordered, and their keys."""
    search: _Search
    search = boxes = _BoxSearch.build(rows, ids, scale)
    lists = _Lists.empty(len(rows))
    left, share = boxes.sample(lists)
    if share * _cost(LOOKING, rows.shape[1]) > _cost(PRODUCT, rows.shape[1]):
        search = _ProductSearch.build(boxes.points)
    points = boxes.points
    del boxes  # free its memory
    search.complete(lists, np.arange(len(rows)), left, slot=0)
    return _joined(points, lists, search)


def _cost(nanoseconds: tuple[float, float], n_dims: int) -> float:
    return nanoseconds[0] + nanoseconds[1] * n_dims


def _joined(points: _Points, lists: _Lists, search: _Search) -> tuple[Positions, Matrix]:
    """Return the edges and keys of Borůvka's rounds: every component except the largest adds its shortest edge."""
    n = len(points.rows)
    edges, keys, n_edges = np.empty((n - 1, 2), np.int64), np.empty(n - 1), 0
    component, begun, active = np.arange(n), np.zeros(n, np.int64), np.empty(n, np.bool_)
    best, place = np.empty(n, np.int64), np.empty(n, np.int64)
    while n_edges < n - 1:
        kernels.best_known(points.ids, component, begun, lists.keys, lists.near, best, place)
        known = points.ids, component, begun, lists.keys, lists.near, best, place
        if kernels.mark_active(*known, active, lists.reach) > 0:
            search.complete(lists, component, active, slot=LIST_LENGTH - 1)
            kernels.best_found(active, points.ids, component, lists.keys, lists.near, best, place)
        n_edges = kernels.join(points.ids, component, lists.keys, lists.near, best, place, n_edges, edges, keys)
    return edges, keys
