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


def nearest_mixed(row, points, is_code, weights, k):
    """The same for numbers and codes: the mean of weighted differences, 0 or 1 for codes, 0 for NaN."""
    found = []
    for number, point in enumerate(points):
        total = 0.0
        for a, b, code, p in zip(row, point, is_code, weights, strict=True):
            cost = p * abs(a - b) if not code else p * (a != b)
            total += 0.0 if math.isnan(a) or math.isnan(b) else cost
        found.append((total / len(row), number))
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
