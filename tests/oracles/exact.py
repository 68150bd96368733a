"""Exact nearest points, one distance at a time."""

import math


def nearest_points(row, points, weights, k):
    """The k nearest points as (distance, number), of equal distances the lower number first; padded with (inf, -1)."""
    found = []
    for number, point in enumerate(points):
        # hypot: neither huge nor tiny differences leave the range of a float.
        gaps = (math.sqrt(p) * (a - b) for p, a, b in zip(weights, row, point, strict=True))
        found.append((math.hypot(*gaps), number))
    return (sorted(found) + [(math.inf, -1)] * k)[:k]


def box_distance(row, lows, highs):
    """The distance to the nearest point of a box."""
    return math.dist(row, [min(max(x, low), high) for x, low, high in zip(row, lows, highs, strict=True)])


def lane_minima(products, lengths, reach, rounding):
    """The least product of each lane, less its rounding error; point s of lane l is column s w + l."""
    w = len(reach)
    return [
        [min(row[lane::w]) - rounding * (length + reach[lane]) ** 2 for lane in range(w)]
        for row, length in zip(products.tolist(), lengths, strict=True)
    ]
