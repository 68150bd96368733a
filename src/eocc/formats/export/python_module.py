"""A formula -> the text of a Python module that imports nothing but math."""

from pprint import pformat

from eocc.formats.export.formula import Formula

HEAD = '''"""Scores rows: written by eocc, needs nothing but Python.

A row is a mapping from the names in COLUMNS to values, or a sequence of values in that order. Every function returns
None for a row with a missing value: None, NaN or, in a column of categories, text such as "" and "NA".

    score(row)     the logarithm of the membership in the normal class: higher is more normal
    p_value(row)   the share of normal rows that look at least as unusual
    predict(row)   1 if the row is normal, -1 if not
"""

import math

'''
BODY = '''

def features(row):
    """Return the numbers that the columns of a row give; None if a value is missing."""
    values = [row[column["name"]] for column in COLUMNS] if hasattr(row, "keys") else list(row)
    if len(values) != len(COLUMNS):
        raise ValueError(f"a row has {len(COLUMNS)} values, not {len(values)}")
    found = [0.0] * len(ORIGIN)
    for value, column in zip(values, COLUMNS):
        name, kind, places, factor, centre, labels, gaps, reach = column.values()
        if kind == "categories" and isinstance(value, str):
            value = value.strip()
        if value is None or value != value or str(value).lower() in gaps:
            return None
        if kind == "categories":
            if isinstance(value, str) and all(isinstance(label, bool) for label in labels):
                raise ValueError(f"column {name!r} holds truth values: pass True or False, not {value!r}")
            for place, label in zip(places, labels):
                found[place] = factor if value == label else 0.0
        elif kind == "levels":
            if value not in labels:
                raise ValueError(f"column {name!r} holds the unknown level {value!r}")
            found[places[0]] = labels.index(value) / max(len(labels) - 1, 1) * factor
        elif isinstance(value, str):
            raise ValueError(f"column {name!r} holds numbers: pass a number, not {value!r}")
        elif kind == "constant":
            found[places[0]] = factor if abs(value - centre) > reach else 0.0
        else:
            found[places[0]] = min(max(value - centre, -reach), reach) * factor
    return found


def log_sum(place, regions):
    """Return the logarithm of the sum of the weighted grades in regions."""
    terms = []
    for count, centre in zip(regions["counts"], regions["centres"]):
        log_weight = math.log(count / sum(regions["counts"]))
        terms.append(log_weight - sum((a - b) ** 2 for a, b in zip(place, centre)) / 2)
    most = max(terms)
    return most + math.log(sum(math.exp(term - most) for term in terms))


def score(row):
    """Return the logarithm of the membership in the normal class."""
    found = features(row)
    if found is None:
        return None
    gaps = [value - middle for value, middle in zip(found, ORIGIN)]
    inside = [sum(gap * axis[k] for gap, axis in zip(gaps, AXES)) for k in range(len(SCALES))]
    above = max(sum(gap * gap for gap in gaps) - sum(one * one for one in inside), 0.0)
    place = [one * scale for one, scale in zip(inside, SCALES)] + [math.sqrt(above) * HEIGHT]
    result = log_sum(place, REGIONS)
    if OUTLIERS:
        odds = log_sum(place, OUTLIERS) - OUTLIERS["background"]
        result -= max(odds, 0.0) + math.log1p(math.exp(-abs(odds)))
    return min(result, 0.0)


def p_value(row):
    """Return the share of normal rows that look at least as unusual."""
    found = score(row)
    if found is None:
        return None
    return (1 + sum(quantile <= found for quantile in QUANTILES)) / (len(QUANTILES) + 1)


def predict(row):
    """Return 1 if the row is normal, -1 if not."""
    found = score(row)
    return None if found is None else 1 if found >= LIMIT else -1
'''


def python_module(formula: Formula) -> str:
    """Return the text of a module with the functions score, p_value and predict."""
    constants = formula.to_dict().items()
    lines = [
        f"{name.upper()} = {pformat(value, width=110, compact=True, sort_dicts=False)}" for name, value in constants
    ]
    return HEAD + "\n".join(lines) + "\n" + BODY
