"""Dynamic time warping as its definition gives it: the whole matrix, every cell asked whether it is inside the band."""

import math
from itertools import combinations


def admitted(i, j, n, m, band):
    """Whether cell (i, j) of an n x m matrix is within the band around the first and the last cell's diagonals."""
    width = max(n, m) if band is None else round(band * max(n, m))
    first, last = 0, n - m  # i - j on the two diagonals
    return min(first, last) - width <= i - j <= max(first, last) + width


def path_cost(x, y, p, band):
    """The least sum over a path of sum_k p_k (x_ik - y_jk)^2."""
    n, m = len(x), len(y)
    cost = {(-1, -1): 0.0}
    for i in range(n):
        for j in range(m):
            if admitted(i, j, n, m, band):
                local = math.fsum(w * (a - b) ** 2 for w, a, b in zip(p, x[i], y[j], strict=True))
                before = [(i - 1, j - 1), (i - 1, j), (i, j - 1)]
                cost[i, j] = local + min(cost.get(cell, math.inf) for cell in before)
    return cost[n - 1, m - 1]


def distance(x, y, p, band):
    return math.sqrt(path_cost(x.tolist(), y.tolist(), p, band))


def largest_distance(series, band):
    """delta: the largest distance at p = 1, or 1 if there is none."""
    ones = [1.0] * series[0].shape[1]
    largest = max((distance(x, y, ones, band) for x, y in combinations(series, 2)), default=0.0)
    return largest if largest > 0 else 1.0


def dissimilarities(patterns, prototypes, p, band, delta):
    """d(x, y; p) = distance / delta."""
    return [[distance(x, y, p, band) / delta for y in prototypes] for x in patterns]


def envelope_cost(x, y, p, band):
    """A lower bound of path_cost: what each step of y costs at least, whatever steps of x it meets."""
    n, m, total = len(x), len(y), 0.0
    for j in range(m):
        met = [i for i in range(n) if admitted(i, j, n, m, band)]
        if m > 1 and j in (0, m - 1):
            met = [0] if j == 0 else [n - 1]
        for k, weight in enumerate(p):
            low, high = min(x[i][k] for i in met), max(x[i][k] for i in met)
            total += weight * max(y[j][k] - high, low - y[j][k], 0.0) ** 2
    return total
