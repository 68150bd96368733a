"""Rivals as their definitions give them: loops over points, edges and subsets."""

import math


def distance_to_segment(point, start, end):
    """||x - p|| to the nearest point p of the segment: its ends, or the foot of the perpendicular between them."""
    direction = [b - a for a, b in zip(start, end, strict=True)]
    square = math.fsum(c * c for c in direction)
    along = math.fsum((x - a) * c for x, a, c in zip(point, start, direction, strict=True))
    share = min(max(along / square, 0.0), 1.0) if square > 0 else 0.0
    return math.dist(point, [a + share * c for a, c in zip(start, direction, strict=True)])


def distance_to_tree(point, vertices, edges, own=-1):
    """The least distance to any vertex or edge; those of vertex `own` left out."""
    ends = [math.dist(point, vertex) for index, vertex in enumerate(vertices) if index != own]
    sides = [distance_to_segment(point, vertices[i], vertices[j]) for i, j in edges if own not in (i, j)]
    return min(ends + sides)


def height_over_edge(a, b, c):
    """The least distance from the apex to the base c of a triangle in the plane, by Heron's area where it closes."""
    if c == 0 or a * a >= b * b + c * c or b * b >= a * a + c * c:
        return min(a, b)
    half = (a + b + c) / 2
    return 2 / c * math.sqrt(max(0.0, half * (half - a) * (half - b) * (half - c)))


def length_to_nearest(point, targets, k, gamma, own=-1):
    """The sum of distance^gamma to the k nearest targets; target `own` left out."""
    distances = sorted(math.dist(point, target) for index, target in enumerate(targets) if index != own)
    return math.fsum(distance**gamma for distance in distances[:k])
