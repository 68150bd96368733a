"""Gower's dissimilarity as the definition gives it: loops over records and columns, no encoding."""


def component(x, y, kind, column):
    """c(x, y) of one column with its training values; `kind` is a name, or the list of levels. None is missing."""
    if x is None or y is None:
        return mean_difference(x if y is None else y, kind, column)
    if isinstance(kind, list):
        return abs(kind.index(x) - kind.index(y)) / max(len(kind) - 1, 1)
    if kind == "numeric":
        present = [value for value in column if value is not None]
        span = max(present) - min(present)
        if not span:
            return float((x != present[0]) != (y != present[0]))
        return abs(x - y) / span
    return float(x != y)


def mean_difference(x, kind, column):
    """The mean component of x and the training values; if x is missing too, of two training values."""
    present = [value for value in column if value is not None]
    costs = [component(one, other, kind, column) for one in (present if x is None else [x]) for other in present]
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
