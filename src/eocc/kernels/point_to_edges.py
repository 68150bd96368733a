"""Distances from points to the edges of a tree."""

import numpy as np

from eocc.kernels.compile import kernel


@kernel
def lower_to_edges(points, own, vertices, edges, nearest):
    """Replace nearest[i], the distance of points[i] to the nearest vertex, by that to the nearest edge."""
    # Only if the foot of the perpendicular lies strictly between the ends is the edge nearer than both ends, so other
    # edges are skipped. Edges that end in vertex own[i] are left out; -1 means none.
    for i in range(points.shape[0]):
        point = points[i]
        for e in range(edges.shape[0]):
            low, high = edges[e, 0], edges[e, 1]
            if low == own[i] or high == own[i]:
                continue
            start, end = vertices[low], vertices[high]
            along, square = 0.0, 0.0
            for k in range(point.shape[0]):
                direction = end[k] - start[k]
                along += (point[k] - start[k]) * direction
                square += direction * direction
            if 0.0 < along < square:
                share, height = along / square, 0.0
                for k in range(point.shape[0]):
                    difference = point[k] - start[k] - share * (end[k] - start[k])
                    height += difference * difference
                nearest[i] = min(nearest[i], np.sqrt(height))


@kernel
def lower_to_triangles(distances, own, edges, lengths, nearest):
    """Do the same from the distances of points to vertices alone, (n, vertices)."""
    # An edge of length c and the distances a, b to its ends form a triangle in the plane; the foot of its height is ((a
    # - b)(a + b) / c + c) / 2 from the first end. If c > a + b, the height is 0.
    for i in range(distances.shape[0]):
        for e in range(edges.shape[0]):
            low, high, length = edges[e, 0], edges[e, 1], lengths[e]
            if low == own[i] or high == own[i] or length == 0.0:
                continue
            first, second = distances[i, low], distances[i, high]
            # The quotient first: |a - b| / c <= 1 in a metric, whereas squares of large numbers overflow.
            foot = ((first - second) / length * (first + second) + length) / 2.0
            if 0.0 < foot < length:
                height = np.sqrt(first - foot) * np.sqrt(first + foot) if foot < first else 0.0
                nearest[i] = min(nearest[i], height)
