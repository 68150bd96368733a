"""The surprise and its terms, one row and one neighbour at a time."""

import math
import statistics
from itertools import pairwise


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


def profile_term(row, mean_distance):
    """Mean of log(distance to the k-th nearest + mean_distance), k = 1, 2, 4, 8 up to half of the other rows."""
    ordered, k, logs = sorted(row), 1, []
    while k <= max(1, min(8, (len(row) - 1) // 2)):
        logs.append(math.log(ordered[k - 1] + mean_distance))
        k *= 2
    return sum(logs) / len(logs)


def local_ratio(row, scales, spread=None):
    """The squared ratio of the mean distance, of the `spread` row if given, to the mean local scale of the nearest."""
    k = min(4, max(1, len(row) - 1))
    scale = mean_within(row, sorted(row)[k - 1] * (1 + 1e-9), scales)
    return (sum(sorted(spread or row)[:k]) / k / scale) ** 2


def spread_copies(row, tolerance, growth):
    """The distances, ascending, with c copies up to the nearest other row, the k-th at gap (k / (c + 1))^growth."""
    ordered = sorted(row)
    copies = sum(value <= tolerance for value in row)
    gap = ordered[copies] if copies < len(row) else math.inf
    if growth == math.inf or gap == math.inf:
        return ordered
    return [gap * ((k + 1) / (copies + 1)) ** growth for k in range(copies)] + ordered[copies:]


def growth_of(rows, tolerance):
    """The g of the median distance to the k-th nearest row, which grows as k^g from the first to the last size."""
    size = max(k for k in (1, 2, 4, 8) if k <= max(1, (len(rows) - 1) // 2))
    first, last = (statistics.median(sorted(row)[k - 1] for row in rows) for k in (1, size))
    return math.log(last / first) / math.log(size) if first > tolerance and size > 1 else math.inf


def copy_tolerance(rows, k):
    """1e-9 of the median distance to the k nearest rows that are not at distance 0."""
    known = [value for row in rows for value in smallest(row, 0.0, k) if math.isfinite(value)]
    return 1e-9 * statistics.median(known) if known else 0.0


def left_out(D):
    """The rows of a square matrix, each without its own entry."""
    n = len(D)
    return [[math.inf if i == j and n > 1 else D[i][j] for j in range(n)] for i in range(n)]


def smallest_step(distances):
    """The smallest difference between 0 and the distances that are found at two successive of 20 or fewer ranks."""
    ordered, levels = sorted(distances), [0.0]
    count = min(20, len(ordered) // 8)
    found = [ordered[i * (len(ordered) - 1) // max(1, count - 1)] for i in range(count)]
    levels += [b for a, b in pairwise(found) if b <= a * (1 + 1e-9)]
    steps = [b - a for a, b in pairwise(levels) if b - a > 1e-9 * b]
    return min(steps, default=0.0)


def changes(D, scales, mean_distance, mean_ratio):
    """How much the terms of the median row change if its distances grow by the smallest step."""
    rows = left_out(D)
    k = min(4, max(1, len(D) - 1))
    tolerance = copy_tolerance(rows, k)
    single = [row for row in rows if min(row) > tolerance]
    counted = single if 2 * len(single) > len(rows) else rows
    step = smallest_step([value for row in counted for value in smallest(row, tolerance, k) if math.isfinite(value)])
    sizes = [size for size in (1, 2, 4, 8) if size <= max(1, (len(D) - 1) // 2)]
    growth = growth_of(rows, tolerance)
    spread = [spread_copies(row, tolerance, growth) for row in rows]
    middle = [statistics.median(row[j] for row in spread) for j in range(max(k, sizes[-1]))]
    scale = statistics.median(mean_within(row, sorted(row)[k - 1] * (1 + 1e-9), scales) for row in rows)
    terms = []
    for near in (middle, [value + step for value in middle]):
        profile = sum(math.log(near[size - 1] + mean_distance) for size in sizes) / len(sizes)
        terms.append((profile, (sum(near[:k]) / k / scale) ** 2 / mean_ratio))
    return [after - before for before, after in zip(*terms, strict=True)]


def weighting(D):
    """The local scales, the mean distance and the mean ratio of a square matrix, and the left-out terms."""
    n, rows = len(D), left_out(D)
    k = min(4, max(1, n - 1))
    tolerance = copy_tolerance(rows, k)
    near = [smallest(row, tolerance, k) for row in rows]
    known = [value for row in near for value in row if math.isfinite(value)]
    mean_distance = sum(known) / len(known) if known else 1.0
    own = [sum(value if math.isfinite(value) else mean_distance for value in row) / k for row in near]
    scales = [0.9 * value + 0.1 * sum(own) / n for value in own]
    growth = growth_of(rows, tolerance)
    spread = [spread_copies(row, tolerance, growth) for row in rows]
    ratios = [local_ratio(row, scales, moved) for row, moved in zip(rows, spread, strict=True)]
    mean_ratio = sum(ratios) / n or 1.0
    terms = [(profile_term(row, mean_distance), ratio / mean_ratio) for row, ratio in zip(spread, ratios, strict=True)]
    return scales, mean_distance, mean_ratio, terms


def copy_of(row, tolerance):
    """The nearest training row, if it is within the tolerance, in a list."""
    return [row.index(min(row))] if min(row) <= tolerance else []


def surprise(squares, new):
    """The surprise of new rows, from the square matrix and the rows of dissimilarities under each weighting.

    A new row within the tolerance of a training row under the first weighting is a copy of it: that row is left out.
    """
    n = len(squares[0])
    tolerance = copy_tolerance(left_out(squares[0]), min(4, max(1, n - 1)))
    return surprise_without(squares, new, [copy_of(row, tolerance) if n > 1 else [] for row in new[0]])


def surprise_as_new(squares):
    """The surprise of the training rows, each as a new row of a model without it: its nearest copy is left out too."""
    n, rows = len(squares[0]), left_out(squares[0])
    tolerance = copy_tolerance(rows, min(4, max(1, n - 1)))
    without = [[i, *(copy_of(row, tolerance) if n > 5 else [])] if n > 1 else [] for i, row in enumerate(rows)]
    return surprise_without(squares, squares, without)


def surprise_without(squares, new, without):
    """The surprise of new rows, each compared with all training rows but some."""
    known = [weighting(D) for D in squares]
    columns = [[terms[t] for terms in one[3]] for one in known for t in (0, 1)]
    steps = [change for D, one in zip(squares, known, strict=True) for change in changes(D, *one[:3])]
    units = [(statistics.fmean(c), max(statistics.pstdev(c), step)) for c, step in zip(columns, steps, strict=True)]
    n = len(squares[0])
    tolerances = [copy_tolerance(left_out(D), min(4, max(1, n - 1))) for D in squares]
    growths = [growth_of(left_out(D), tolerance) for D, tolerance in zip(squares, tolerances, strict=True)]
    found = []
    for index in range(len(new[0])):
        terms = []
        for one, rows, tolerance, growth in zip(known, new, tolerances, growths, strict=True):
            scales, mean_distance, mean_ratio, _ = one
            row = [math.inf if j in without[index] else value for j, value in enumerate(rows[index])]
            spread = spread_copies(row, tolerance, growth)
            terms += [profile_term(spread, mean_distance), local_ratio(row, scales, spread) / mean_ratio]
        standard = [(t - c) / (s if s > 1e-9 else 1.0) for t, (c, s) in zip(terms, units, strict=True)]
        of_each = [0.8 * profile + 0.2 * ratio for profile, ratio in zip(standard[::2], standard[1::2], strict=True)]
        found.append(0.8 * max(of_each) + 0.2 * min(of_each))
    return found


def weights_of(X):
    """The weightings of rows of numbers: all ones, and the inverse variances over the largest, if they differ."""
    columns = list(zip(*X, strict=True))
    variances = [0.0 if min(column) == max(column) else statistics.pvariance(column) for column in columns]
    active = [variance for variance in variances if variance > 0]
    ones = [1.0] * len(columns)
    if len(columns) < 2 or not active or min(active) > (1 - 1e-3) * max(active):
        return [ones]
    return [ones, [min(active) / variance if variance > 0 else 0.0 for variance in variances]]


def left_out_weights(X, row):
    """The inverse variances without a row that carries a tenth of one, in the unit of those of all rows; else None."""
    weightings, n = weights_of(X), len(X)
    if len(weightings) == 1 or n < 3:
        return None
    means = [statistics.fmean(column) for column in zip(*X, strict=True)]
    squares = [statistics.pvariance(column) * n for column in zip(*X, strict=True)]
    shares = [
        (x - mean) ** 2 / square if weight > 0 else 0.0
        for x, mean, square, weight in zip(row, means, squares, weightings[1], strict=True)
    ]
    if max(shares) <= 0.1:
        return None
    left = [1 - share * n / (n - 1) for share in shares]
    return [w * (n - 1) / n / part if part > 1e-9 else 0.0 for w, part in zip(weightings[1], left, strict=True)]


def surprise_of_rows(X, new):
    """The surprise of new rows of numbers against training rows X: all distances, sorted.

    A copy of a row that carries more than a tenth of the variance of a column has equalised weights without that row.
    """
    X, new = ([list(map(float, row)) for row in rows] for rows in (X, new))
    squares, others = [], []
    for weights in weights_of(X):
        roots = [math.sqrt(weight) for weight in weights]
        left, right = ([[x * root for x, root in zip(row, roots, strict=True)] for row in rows] for rows in (new, X))
        squares.append([[math.dist(a, b) for b in right] for a in right])
        others.append([[math.dist(a, b) for b in right] for a in left])
    for number, row in enumerate(new):
        if row in X and (weights := left_out_weights(X, row)):
            others[1][number] = [
                math.sqrt(sum(w * (x - y) ** 2 for w, x, y in zip(weights, row, one, strict=True))) for one in X
            ]
    return surprise(squares, others)
