"""A spanning tree -> regions: cut the edges that lower the scatter within regions most."""

import numpy as np

from eocc.ellipsoids.shape import ROUNDING
from eocc.foundation.types import Indices, Matrix
from eocc.kernels.ellipsoids import best_cut, preorder

# A region needs this many different rows on average, or its centre says little.
ROWS_PER_REGION = 4


def scatter_cuts(rows: Matrix, edges: Indices, n_regions: int) -> tuple[Indices, Indices]:
    """Return the region of each row (n,), the largest region first, and the cut edges as pairs of regions (k - 1, 2).

    `edges` (n - 1, 2) are those of a spanning tree of the rows. Each of the cuts, n_regions - 1 at most, is that of the
    edge that lowers the scatter within regions most; there are fewer if no cut lowers it. One pass up the tree gives
    the gains of all edges of a part. Regions of one size are in the order of their first rows.

    >>> rows, edges = np.array([[0.0], [1.0], [5.0], [6.0], [7.0]]), np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    >>> labels, cut = scatter_cuts(rows, edges, 2)
    >>> labels, cut
    (array([1, 1, 0, 0, 0]), array([[0, 1]]))
    """
    n = len(rows)
    order, parents = np.empty(n, np.int64), np.empty(n, np.int64)
    preorder(np.ascontiguousarray(edges, np.int64), order, parents)
    workspace = np.empty_like(rows), np.empty(n, np.int64)
    least = ROUNDING * float(((rows - rows.mean(axis=0)) ** 2).sum())
    parts, cut = [order], [best_cut(rows, order, parents, *workspace)]
    while len(parts) < n_regions:
        i = max(range(len(cut)), key=lambda part: cut[part][0])
        gain, start, size = cut[i]
        if gain <= least:
            break
        below = parts[i][start : start + size]
        parts[i] = np.delete(parts[i], np.s_[start : start + size])
        parts.append(below)
        cut[i] = best_cut(rows, parts[i], parents, *workspace)
        cut.append(best_cut(rows, below, parents, *workspace))
    parts.sort(key=lambda part: (-len(part), int(part.min())))
    labels = np.empty(n, np.int64)
    for region, part in enumerate(parts):
        labels[part] = region
    ends = labels[edges]
    between = np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1)
    return labels, between[np.lexsort(between.T[::-1])]


def count_of_regions(wanted: int, n_distinct: int) -> int:
    """Return the number of regions of so many different rows: those wanted, at most one per four rows."""
    return max(1, min(wanted, n_distinct // ROWS_PER_REGION))
