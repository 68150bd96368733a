"""The spanning tree of points by its definition: all distances, rounded, and Kruskal."""

import math

from oracles.core import heaviest_first, kruskal, rounded


def point_spanning_tree(points):
    """Edges (i, j) and lengths, heaviest first; the lengths of tied edges never rise."""

    def length(a, b):
        return math.sqrt(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))

    rows = points.tolist()
    edges = heaviest_first(kruskal(rounded([[length(a, b) for b in rows] for a in rows]).tolist()))
    lengths = [length(rows[i], rows[j]) for _, i, j in edges]
    return [[i, j] for _, i, j in edges], [min(lengths[: t + 1]) for t in range(len(lengths))]
