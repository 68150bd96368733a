"""Points -> tiles of equally many near points, each in a box; rows -> which tiles may hold near points."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eocc.base.types import ROUNDING, Flags, Indices, Matrix
from eocc.kernels.products import LONGEST_ROW, box_bounds


@dataclass(frozen=True, eq=False)
class Tiles:
    """The `order` of the points, in tiles of `size`, and the boxes (d, tiles) from `lows` to `highs` that hold these.

    A tree of cuts leads to the tiles: a row whose column `columns[q]` is above `cuts[q]` goes from node q to node
    children[q, 1], else to children[q, 0]; a node -1 - t is tile t. New points are in the tiles from `first_new` on.
    """

    order: Indices
    lows: Matrix
    highs: Matrix
    columns: Indices
    cuts: Matrix
    children: Indices
    first_new: int

    @classmethod
    def of(
        cls,
        points: Matrix,
        size: int,
        spreads: Callable[[Matrix], Matrix] = lambda some: some.var(0),
        is_new: Flags | None = None,
    ) -> "Tiles":
        """Cut the points in half along the column that spreads most, again and again, into tiles of `size`.

        Those that are `is_new` are in tiles of their own, with a few others.
        """
        n = len(points)
        order = np.arange(n) if is_new is None else np.argsort(is_new, kind="stable")
        first_new = -(-n // size) if is_new is None else int((~is_new).sum()) // size
        nodes: list[tuple[int, float]] = [(0, np.inf)]  # every row goes to the first child
        children: list[list[int]] = [[]]

        def cut(start: int, stop: int) -> int:
            """Order the points of a node, and return its number."""
            n_tiles = -(-(stop - start) // size)
            if n_tiles == 1:
                return -1 - start // size
            some = points[order[start:stop]]
            column, middle = int(spreads(some).argmax()), n_tiles // 2 * size
            values = some[:, column]
            places = np.argpartition(values, middle)
            order[start:stop] = order[start:stop][places]
            number = len(nodes)
            nodes.append((column, float(values[places[middle]])))
            children.append([])
            children[number] = [cut(start, start + middle), cut(start + middle, stop)]
            return number

        middle = min(first_new * size, n)
        parts = [cut(start, stop) for start, stop in ((0, middle), (middle, n)) if start < stop]
        children[0] = [parts[0], parts[-1]]
        sorted_points, starts = points[order], np.arange(0, n, size)
        lows, highs = (np.ascontiguousarray(f.reduceat(sorted_points, starts).T) for f in (np.minimum, np.maximum))
        columns, cuts = np.array(nodes).T
        return cls(order, lows, highs, columns.astype(np.int64), cuts, np.array(children), first_new)

    def sorted(self, rows: Matrix) -> Indices:
        """Return the rows in the order of their tiles."""
        nodes = np.zeros(len(rows), np.int64)
        while (inner := np.flatnonzero(nodes >= 0)).size:
            here = nodes[inner]
            is_above = rows[inner, self.columns[here]] > self.cuts[here]
            nodes[inner] = self.children[here, is_above.astype(np.int64)]
        return np.argsort(-nodes, kind="stable")

    def bound(self, rows: Matrix, lengths: Matrix, step: int) -> tuple[Matrix, Indices]:
        """Return a lower bound (m, tiles) of the squared distance to a tile, and the tiles by it for `step` rows each.

        No point is longer than 1. `lengths` are those of the rows. Against rounding, boxes grow, and bounds are lower.
        """
        bounds = np.empty((len(rows), self.lows.shape[1]))
        box_bounds(rows, 8 * np.finfo(float).eps * (lengths + 1), self.lows, self.highs, bounds)
        bounds *= 1 - ROUNDING
        bounds[~(lengths <= LONGEST_ROW)] = 0.0
        least = np.minimum.reduceat(bounds, np.arange(0, len(rows), step))
        return bounds, np.argsort(least, axis=1, kind="stable")
