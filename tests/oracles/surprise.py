"""The surprise and its views, one row, one neighbour and one cell at a time."""

import math
import statistics

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

HANDICAPS = {"neighbours": 0.0, "far": 2.5, "covariance": 1.0, "cell": 2.5}


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


def local_ratio(row, scales):
    """The squared ratio of the mean distance to the mean local scale of the nearest."""
    k = min(4, max(1, len(row) - 1))
    scale = mean_within(row, sorted(row)[k - 1] * (1 + 1e-9), scales)
    return (sum(sorted(row)[:k]) / k / scale) ** 2


def copy_tolerance(rows, k):
    """1e-9 of the median distance to the k nearest rows that are not at distance 0."""
    known = [value for row in rows for value in smallest(row, 0.0, k) if math.isfinite(value)]
    return 1e-9 * statistics.median(known) if known else 0.0


def left_out(D):
    """The rows of a square matrix, each without its own entry."""
    n = len(D)
    return [[math.inf if i == j and n > 1 else D[i][j] for j in range(n)] for i in range(n)]


def weighting(D):
    """The local scales, the mean distance and the mean ratio of a square matrix, and the left-out terms."""
    n, rows = len(D), left_out(D)
    k = min(4, max(1, n - 1))
    tolerance = copy_tolerance(rows, k)
    near = [smallest(row, tolerance, k) for row in rows]
    known = [value for row in near for value in row if math.isfinite(value)]
    mean_distance = sum(known) / len(known) if known else 1.0

    def scales(without=None):
        """The local scales; where a training row has more than k others, they do not count the row `without`."""
        found = []
        for row, few in zip(rows, near, strict=True):
            if without is not None and math.isfinite(smallest(row, tolerance, k + 1)[-1]):
                few = smallest([x for j, x in enumerate(row) if j != without], tolerance, k)
            found.append(sum(value if math.isfinite(value) else mean_distance for value in few) / k)
        return found

    ratios = [local_ratio(row, scales(i)) for i, row in enumerate(rows)]
    mean_ratio = sum(ratios) / n or 1.0
    terms = [(profile_term(row, mean_distance), ratio / mean_ratio) for row, ratio in zip(rows, ratios, strict=True)]
    return scales, mean_distance, mean_ratio, terms


def copy_of(row, tolerance):
    """The nearest training row, if it is within the tolerance, in a list."""
    return [row.index(min(row))] if min(row) <= tolerance else []


def larger_first(first, second):
    """0.8 of the larger of two numbers, and 0.2 of the smaller."""
    return 0.8 * max(first, second) + 0.2 * min(first, second)


def standard(column, values):
    """Values less the mean of a column, over its standard deviation."""
    spread = statistics.pstdev(column)
    return [(value - statistics.fmean(column)) / (spread if spread > 1e-9 else 1.0) for value in values]


def copies_of(squares, new):
    """The training rows that new rows are copies of, under the first weighting, each in a list of one or none."""
    n = len(squares[0])
    tolerance = copy_tolerance(left_out(squares[0]), min(4, max(1, n - 1)))
    return [copy_of(row, tolerance) if n > 1 else [] for row in new[0]]


def itself(squares):
    """Each training row, as what is left out of its own neighbours."""
    n = len(squares[0])
    return [[i] if n > 1 else [] for i in range(n)]


def itself_and_twin(squares):
    """Each training row and its nearest copy: to a model without the row, it is a copy too."""
    n, rows = len(squares[0]), left_out(squares[0])
    tolerance = copy_tolerance(rows, min(4, max(1, n - 1)))
    return [[i, *(copy_of(row, tolerance) if n > 5 else [])] if n > 1 else [] for i, row in enumerate(rows)]


def neighbours_view(squares, new, without, reweighted=()):
    """The first view of new rows, from square matrices and rows of dissimilarities under each weighting.

    New row i is compared with all training rows but those in without[i]. The last dissimilarities of some rows are
    `reweighted`: they stay in the local scales of others there.
    """
    known = [weighting(D) for D in squares]
    by_weighting = []
    for number, ((scales, mean_distance, mean_ratio, terms), rows) in enumerate(zip(known, new, strict=True), 1):
        rows = [
            [math.inf if j in left else x for j, x in enumerate(row)] for row, left in zip(rows, without, strict=True)
        ]
        profiles = standard([one for one, _ in terms], [profile_term(row, mean_distance) for row in rows])
        left_out = [None if number == len(new) and i in reweighted else left[0] if left else None
                    for i, left in enumerate(without)]  # fmt: skip
        ratios = [local_ratio(row, scales(one)) / mean_ratio for row, one in zip(rows, left_out, strict=True)]
        ratios = standard([one for _, one in terms], ratios)
        by_weighting.append([0.8 * a + 0.2 * b for a, b in zip(profiles, ratios, strict=True)])
    return [larger_first(a, b) for a, b in zip(by_weighting[0], by_weighting[-1], strict=True)]


def far_view(training, new):
    """The view of the training rows and of new rows, from their distances to the landmarks under each weighting.

    The distance of a training row to itself, or to its copy, is infinite.
    """
    n_landmarks = len(training[0][0])
    sizes = [k for k in (2, 4, 8) if k <= (n_landmarks - 1) // 2] or [1]
    both = []
    for kinds in zip(training, new, strict=True):
        near = [[[sorted(row)[k - 1] for k in sizes] for row in rows] for rows in kinds]
        logs = [[[math.log(max(one, 1e-300)) for one in row] for row in rows] for rows in near]
        least = math.log(1e-9) + statistics.median(one for row in logs[0] for one in row)
        logs = [[[max(one, least) for one in row] for row in rows] for rows in logs]
        columns = [[row[t] for row in logs[0]] for t in range(len(sizes))]
        both.append([
            [max(standard(column, [one])[0] for column, one in zip(columns, row, strict=True)) for row in rows]
            for rows in logs
        ])  # fmt: skip
    return tuple(
        [larger_first(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(both[0], both[-1], strict=True)
    )


def log_mahalanobis(rows, new):
    """The log of the squared distance from the mean of rows by their covariance, shrunk as Ledoit and Wolf do."""
    rows, new = np.asarray(rows), np.asarray(new)
    share = max(ledoit_wolf_shrinkage(rows), 1e-9)
    apart = rows - rows.mean(axis=0)
    covariance = apart.T @ apart / len(rows)
    covariance = (1 - share) * covariance + share * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    away = new - rows.mean(axis=0)
    return np.log(np.maximum((away * np.linalg.solve(covariance, away.T).T).sum(axis=1), 1e-9)).tolist()


def covariance_view(rows, new, folds):
    """The view of training rows, each by those of the other folds, and of new rows, by all; equalised columns."""
    rows, folds = np.asarray(rows, float), np.asarray(folds)
    training = np.empty(len(rows))
    for fold in set(folds.tolist()):
        training[folds == fold] = log_mahalanobis(rows[folds != fold], rows[folds == fold])
    return training.tolist(), log_mahalanobis(rows, new)


def beyond(amount):
    return min(max(amount, 0.0), 3.0)


def minus_log_p(n_as_strange, n):
    """-log of the share of n training cells that are at least as strange: the cell itself, and the others that are."""
    return -math.log(min(1.0, (1 + n_as_strange) / max(n, 1)))


def strangeness_of_number(column):
    """How strange a number is among the numbers of a column; `own` is its place there, None if it is new."""
    middle, size = statistics.median(column), max(map(abs, column)) or 1.0
    above = [x - middle for x in column if x - middle > 1e-9 * size]
    below = [middle - x for x in column if middle - x >= 1e-9 * size]
    units = [statistics.median(side) if side else size for side in (above, below)]

    def distance(x):
        return (x - middle) / units[0] if x >= middle else (middle - x) / units[1]

    distances = [distance(x) for x in column]

    def strangeness(value, own):
        others, far = without(distances, own), distance(value)
        n_as_far = sum(one >= far for one in others)
        found = minus_log_p(n_as_far, len(column))
        if others and not n_as_far:
            largest = max(*others, 1e-9 * size / max(units))
            found += beyond(math.log(max(far, largest) / largest))
        return found

    return strangeness


def strangeness_of_code(column):
    """How strange a category is: the number of training cells that have it; a training cell does not count itself."""
    counts = [column.count(x) - 1 for x in column]

    def strangeness(value, own):
        others, count = without(counts, own), column.count(value) - (own is not None)
        found = minus_log_p(sum(one <= count for one in others), len(column))
        return found + beyond(math.log((1 + min(others, default=0)) / (1 + count)))

    return strangeness


def strangeness_of_count(counts, here, own):
    """How strange a number of gaps is among those of the training rows."""
    others = without(counts, own)
    return minus_log_p(sum(one >= here for one in others), len(counts)) + beyond(here - max(others, default=here))


def strangeness_of_gap(column, own):
    """How strange a gap is in a column; a gap is None."""
    others = [x is None for x in without(column, own)]
    found = minus_log_p(sum(others), len(column))
    return found if any(others) else found + beyond(math.log(1 + len(others)))


def without(values, own):
    return values if own is None else values[:own] + values[own + 1 :]


def cells_of(table, is_code):
    """A function that returns the strangeness of each cell of a row, and of its number of gaps."""
    columns = [[row[k] for row in table] for k in range(len(is_code))]
    present = [[x for x in column if x is not None] for column in columns]
    kinds = [strangeness_of_code if code else strangeness_of_number for code in is_code]
    known = [kind(column) if column else lambda value, own: 0.0 for kind, column in zip(kinds, present, strict=True)]
    counts = [row.count(None) for row in table]

    def cells(row, own=None):
        found = []
        for value, column, strangeness in zip(row, columns, known, strict=True):
            if value is None:
                found.append(strangeness_of_gap(column, own))
            else:
                found.append(strangeness(value, None if own is None else sum(x is not None for x in column[:own])))
        return [*found, strangeness_of_count(counts, row.count(None), own)]

    return cells


def cell_view(table, is_code, new):
    """The view of the training rows, each left out, and of new rows."""
    cells = cells_of(table, is_code)
    return [max(0.0, *cells(row, i)) for i, row in enumerate(table)], [max(0.0, *cells(row)) for row in new]


def units_of(training):
    """The median and the unit of a view of the training rows."""
    least, low, middle, high, most = np.quantile(training, [0.05, 0.25, 0.5, 0.75, 0.95]).tolist()
    unit = max((high - low) / 1.349, 0.25 * (most - least) / 3.290)
    return middle, unit if unit > 1e-9 else 1.0


def combined(views):
    """The views of new rows by name, in standard units less their handicaps: from (training, new) of each."""
    found = {}
    for name, (training, new) in views.items():
        middle, unit = units_of(training)
        found[name] = [(value - middle) / unit - HANDICAPS[name] for value in new]
    return found


def surprises(views):
    """The largest view of each new row."""
    return [max(row) for row in zip(*combined(views).values(), strict=True)]


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


def distances(left, right, weights):
    roots = [math.sqrt(weight) for weight in weights]
    left, right = ([[x * root for x, root in zip(row, roots, strict=True)] for row in rows] for rows in (left, right))
    return [[math.dist(a, b) for b in right] for a in left]


def own_distances(X, row):
    """The distances of a copy of a training row under equalised weights without that row; None if these are shared."""
    weights = left_out_weights(X, row) if row in X else None
    if weights is None:
        return None
    return [math.sqrt(sum(w * (x - y) ** 2 for w, x, y in zip(weights, row, one, strict=True))) for one in X]


def to_landmarks(X, distances, landmarks):
    """The distances to the landmarks under each weighting, infinite where a training row of X is one."""
    found = [[[row[place] for place in landmarks] for row in rows] for rows in distances]
    for rows in found if X else ():
        for own, row in zip(X, rows, strict=True):
            row[:] = [math.inf if own == X[place] else far for place, far in zip(landmarks, row, strict=True)]
    return found


def views_of_rows(X, new, landmarks, folds):
    """All views of training rows X, left out, and of new rows of numbers: name -> (training, new).

    A copy of a row that carries more than a tenth of the variance of a column has equalised weights without that row.
    A copy of a training row has the helpers' numbers of that row.
    """
    X, new = ([list(map(float, row)) for row in rows] for rows in (X, new))
    weightings = weights_of(X)
    squares, others = ([distances(rows, X, weights) for weights in weightings] for rows in (X, new))
    views = {"neighbours": []}
    for rows, raw, without in ((X, squares, itself(squares)), (new, others, copies_of(squares, others))):
        own = {i: far for i, row in enumerate(rows) if (far := own_distances(X, row)) is not None}
        rows = [*raw[:-1], [own.get(i, far) for i, far in enumerate(raw[-1])]]
        views["neighbours"].append(neighbours_view(squares, rows, without, own))
    if len(landmarks) > 2:
        views["far"] = far_view(to_landmarks(X, squares, landmarks), to_landmarks(None, others, landmarks))
    active = [k for k, weight in enumerate(weightings[-1]) if weight > 0]
    if max(folds) > 0 and any(row[k] != X[0][k] for row in X for k in active):
        largest = max(map(max, squares[-1]))
        columns = [
            [[row[k] * math.sqrt(weightings[-1][k]) / largest for k in active] for row in rows] for rows in (X, new)
        ]
        views["covariance"] = covariance_view(*columns, folds)
    views["cell"] = cell_view(X, [False] * len(X[0]), new)
    for row, copy in enumerate(copies_of(squares, others)):
        for name in views.keys() - {"neighbours"}:
            if copy:
                views[name][1][row] = views[name][0][copy[0]]
    return views


def surprise_of_rows(X, new, landmarks, folds):
    """The surprise of new rows of numbers against training rows X."""
    return surprises(views_of_rows(X, new, landmarks, folds))
