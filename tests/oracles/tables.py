"""Gower's dissimilarity as the definition gives it: loops over records and columns, no encoding."""

N_NEAREST = 8


def component(x, y, kind, column):
    """c(x, y) of one column with its training values; `kind` is a name, or the list of levels."""
    if x is None or y is None:
        return 0.0
    if isinstance(kind, list):
        return abs(kind.index(x) - kind.index(y)) / max(len(kind) - 1, 1)
    if kind == "numeric":
        present = [value for value in column if value is not None]
        span = max(present) - min(present)
        if not span:
            return float((x != present[0]) != (y != present[0]))
        return abs(x - y) / span
    return float(x != y)


def mean_difference(x, y, kinds, training):
    """The mean component over the columns that both records have."""
    both = [name for name in kinds if x[name] is not None and y[name] is not None]
    costs = [component(x[name], y[name], kinds[name], [record[name] for record in training]) for name in both]
    return sum(costs) / len(costs) if costs else float("inf")


def filled(x, kinds, training):
    """The record with every gap filled from the nearest training records that have a value there."""
    found = dict(x)
    for name, kind in kinds.items():
        known = [y for y in training if y[name] is not None]
        donors = sorted(((mean_difference(x, y, kinds, training), y[name]) for y in known), key=lambda pair: pair[0])
        if x[name] is None and donors:
            limit = donors[:N_NEAREST][-1][0] * (1 + 1e-9) if len(donors) >= N_NEAREST else float("inf")
            found[name] = summary([value for distance, value in donors if distance <= limit], kind, training, name)
    return found


def summary(values, kind, training, name):
    """The most frequent category, the first in the alphabet of several; otherwise the lower median."""
    if isinstance(kind, list):
        return sorted(values, key=kind.index)[(len(values) - 1) // 2]
    if kind == "numeric":
        return sorted(values)[(len(values) - 1) // 2]
    order = [False, True] if kind == "boolean" else sorted({record[name] for record in training if record[name]})
    return max(values, key=lambda value: (values.count(value), -order.index(value)))


def dissimilarity(x, y, p, kinds, training):
    """d(x, y; p) = sum_k p_k c_k / u of the filled records."""
    costs = [
        weight * component(x[name], y[name], kind, [record[name] for record in training])
        for weight, (name, kind) in zip(p, kinds.items(), strict=True)
    ]
    return sum(costs) / len(kinds)


def dissimilarities(patterns, prototypes, p, kinds, training):
    patterns, prototypes = ([filled(one, kinds, training) for one in some] for some in (patterns, prototypes))
    return [[dissimilarity(x, y, p, kinds, training) for y in prototypes] for x in patterns]
