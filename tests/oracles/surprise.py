"""Surprise and its terms, one pattern and one neighbour at a time."""

import math
import statistics


def smallest(row, least, k):
    found = sorted(value for value in row if value > least and math.isfinite(value))[:k]
    return found + [math.inf] * (k - len(found))


def mean_within(row, bound, values):
    kept = [value for entry, value in zip(row, values, strict=True) if entry <= bound]
    return sum(kept) / len(kept)


def nearest(left, right, k, m, values):
    """Of each row, the k smallest distances and the mean of `values` of the m nearest, with ties."""
    found = []
    for one in left:
        row = [math.dist(one, other) for other in right]
        near = smallest(row, -1.0, k)
        found.append((near, mean_within(row, near[m - 1] * (1 + 1e-9), values)))
    return found


def ladder(row, typical):
    """Mean of log(r_k + typical), k = 1, 2, 4, 8 up to half of the others."""
    ordered, k, logs = sorted(row), 1, []
    while k <= max(1, min(8, (len(row) - 1) // 2)):
        logs.append(math.log(ordered[k - 1] + typical))
        k *= 2
    return sum(logs) / len(logs)


def local_ratio(row, extents):
    k = min(4, max(1, len(row) - 1))
    near = sorted(row)[:k]
    return (sum(near) / k / mean_within(row, near[-1] * (1 + 1e-9), extents)) ** 2


def view(D):
    """The extents, the typical extent and the unit of the local ratio of a square matrix, and the left-out terms."""
    n = len(D)
    largest = max(max(row) for row in D)
    rows = [[math.inf if i == j and n > 1 else D[i][j] for j in range(n)] for i in range(n)]
    k = min(4, max(1, n - 1))
    near = [smallest(row, 1e-9 * largest, k) for row in rows]
    known = [value for row in near for value in row if math.isfinite(value)]
    typical = sum(known) / len(known) if known else 1.0
    own = [sum(value if math.isfinite(value) else typical for value in row) / k for row in near]
    extents = [0.9 * value + 0.1 * sum(own) / n for value in own]
    ratios = [local_ratio(row, extents) for row in rows]
    unit = sum(ratios) / n or 1.0
    terms = [(ladder(row, typical), ratio / unit) for row, ratio in zip(rows, ratios, strict=True)]
    return extents, typical, unit, terms


def surprise(views, new):
    """Of new patterns, from square matrices of the training patterns and rows of the new ones, a pair a view."""
    known = [view(D) for D in views]
    columns = [[terms[t] for terms in one[3]] for one in known for t in (0, 1)]
    units = [(statistics.fmean(column), statistics.pstdev(column)) for column in columns]
    found = []
    for index in range(len(new[0])):
        terms = []
        for (extents, typical, unit, _), rows in zip(known, new, strict=True):
            terms += [ladder(rows[index], typical), local_ratio(rows[index], extents) / unit]
        measured = [(t - c) / (s if s > 1e-9 else 1.0) for t, (c, s) in zip(terms, units, strict=True)]
        found.append((0.8 * sum(measured[::2]) + 0.2 * sum(measured[1::2])) / len(views))
    return found
