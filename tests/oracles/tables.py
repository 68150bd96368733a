"""Gower's dissimilarity as the definition gives it: loops over records and columns, no encoding."""

from itertools import combinations


def component(x, y, kind, column):
    """c(x, y) of one column with its training values; `kind` is a name, or the list of levels. None is missing."""
    if x is None and y is None:
        return 0.0
    if x is None or y is None:
        return price_of_absence(kind, column)
    if isinstance(kind, list):
        return abs(kind.index(x) - kind.index(y)) / max(len(kind) - 1, 1)
    if kind == "numeric":
        present = [value for value in column if value is not None]
        span = max(present) - min(present)
        if not span:
            return float((x != present[0]) != (y != present[0]))
        return abs(x - y) / span
    return float(x != y)


def price_of_absence(kind, column):
    """The mean component over all pairs of training rows that have a value; 0 if there is no such pair."""
    present = [value for value in column if value is not None]
    costs = [component(x, y, kind, column) for x, y in combinations(present, 2)]
    return sum(costs) / len(costs) if costs else 0.0


def dissimilarity(x, y, p, kinds, training):
    """d(x, y; p) = sum_k p_k c_k / u."""
    costs = [
        weight * component(x[name], y[name], kind, [record[name] for record in training])
        for weight, (name, kind) in zip(p, kinds.items(), strict=True)
    ]
    return sum(costs) / len(kinds)


def dissimilarities(patterns, prototypes, p, kinds, training):
    return [[dissimilarity(x, y, p, kinds, training) for y in prototypes] for x in patterns]
