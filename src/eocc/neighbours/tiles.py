"""Points -> tiles of equally many near points, each in a box; rows -> which tiles may hold near points."""

from dataclasses import dataclass

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.kernels.products import LONGEST_ROW, box_bounds

# A bound is lowered by this factor, and a box grows by so much of the lengths, against rounding.
SAFE, SLACK = 1 - 1e-9, 1e-15


@dataclass(frozen=True, eq=False)
class Tiles:
    """The `order` of the points, in tiles of `size`, and the boxes (d, tiles) from `lows` to `highs` that hold these.

    A tree of cuts leads to the tiles: a row whose column `columns[q]` is above `cuts[q]` goes from node q to node
    children[q, 1], else to children[q, 0]; a node -1 - t is tile t.
    """

    order: Indices
    lows: Matrix
    highs: Matrix
    columns: Indices
    cuts: Matrix
    children: Indices

    @classmethod
    def of(cls, points: Matrix, size: int) -> "Tiles":
        """Cut the points in half along the column of the largest variance, again and again, into tiles of `size`."""
        order = np.arange(len(points))
        nodes: list[tuple[int, float]] = []
        children: list[list[int]] = []

        def cut(start: int, stop: int) -> int:
            """Order the points of a node, and return its number."""
            n_tiles = -(-(stop - start) // size)
            if n_tiles == 1:
                return -1 - start // size
            some = points[order[start:stop]]
            column, middle = int(some.var(axis=0).argmax()), n_tiles // 2 * size
            values = some[:, column]
            places = np.argpartition(values, middle)
            order[start:stop] = order[start:stop][places]
            number = len(nodes)
            nodes.append((column, float(values[places[middle]])))
            children.append([])
            children[number] = [cut(start, start + middle), cut(start + middle, stop)]
            return number

        cut(0, len(points))
        sorted_points, starts = points[order], np.arange(0, len(points), size)
        lows, highs = (np.ascontiguousarray(f.reduceat(sorted_points, starts).T) for f in (np.minimum, np.maximum))
        columns, cuts = (np.array(part) for part in zip(*nodes, strict=True))
        return cls(order, lows, highs, columns, cuts, np.array(children))

    def sorted(self, rows: Matrix) -> Indices:
        """Return the rows in the order of their tiles."""
        nodes = np.zeros(len(rows), np.int64)
        while (inner := np.flatnonzero(nodes >= 0)).size:
            here = nodes[inner]
            is_above = rows[inner, self.columns[here]] > self.cuts[here]
            nodes[inner] = self.children[here, is_above.astype(np.int64)]
        return np.argsort(-nodes, kind="stable")

    def bound(self, rows: Matrix, lengths: Matrix, step: int, bounds: Matrix, turns: Indices) -> None:
        """Fill a lower bound (m, tiles) of the squared distance to a tile, and the tiles by it for `step` rows each.

        No point is longer than 1. `lengths` are those of the rows.
        """
        box_bounds(rows, SLACK * (lengths + 1), self.lows, self.highs, bounds)
        bounds *= SAFE
        bounds[~(lengths <= LONGEST_ROW)] = 0.0
        starts = np.arange(0, len(rows), step)
        turns[:] = np.argsort(np.minimum.reduceat(bounds, starts), axis=1, kind="stable")
