"""The score of a row as plain numbers: what SQL, Python and JSON write down. In Python, a module of its own."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pprint import pformat
from typing import Any

import numpy as np

from eocc.base.types import Matrix
from eocc.base.wording import counted, to_json
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, DATE, FARTHEST, DataColumn, data_columns, has_columns
from eocc.ellipsoids.model import Ellipsoids
from eocc.entropic.rules import BOUNDARY
from eocc.measures.unit import CONSTANT_SHARE as SAME
from eocc.tables.table import BOOLEAN, MISSING, TEXT

# Databases limit the columns of a table and the depth of an expression.
MOST_FEATURES = 500


@dataclass(frozen=True, eq=False)
class Formula:
    """How a row is scored.

    The features f of a row follow from its `columns`. Its place is w = (f - origin) axes, and its height above them is
    sqrt(||f - origin||^2 - ||y||^2) * height, where y = w / scales. Its score is ln sum_i exp(log_weights_i -
    ||(w, h) - centres_i||^2 / 2), less ln(1 + the same of the `outliers` / exp(background)). A row is accepted if the
    score is at least `limit`. Its p-value is (1 + the number of `quantiles` up to the score) / (1 + their number).
    """

    columns: tuple[DataColumn, ...]
    origin: Matrix
    axes: Matrix
    scales: Matrix
    height: float
    regions: Ellipsoids
    outliers: Ellipsoids | None
    background: float
    limit: float
    quantiles: Matrix

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return [column.name for column in self.columns]

    @property
    def kinds_of_regions(self) -> list[Ellipsoids]:
        """The regions of normal rows and, if there are any, those of known outliers."""
        return [self.regions] if self.outliers is None else [self.regions, self.outliers]

    def reach(self, column: DataColumn) -> float:
        """Return up to what distance from its centre a number counts; a constant column: up to what it is the same."""
        if column.kind == CONSTANT:
            return float(np.ldexp(SAME, np.frexp(abs(column.centre))[1]))
        return FARTHEST / column.factor

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers."""
        columns = [
            {"name": one.name, "kind": one.kind, "features": one.places.tolist(), "factor": one.factor,
             "centre": one.centre, "labels": [to_json(label) for label in one.labels], "gaps": words_for_gaps(one),
             "reach": self.reach(one)}
            for one in self.columns
        ]  # fmt: skip
        return {
            "columns": columns, "origin": self.origin.tolist(), "axes": self.axes.tolist(),
            "scales": self.scales.tolist(), "height": self.height, "regions": _regions(self.regions),
            "outliers": self.outliers and {**_regions(self.outliers), "background": self.background},
            "limit": self.limit, "quantiles": self.quantiles.tolist(),
        }  # fmt: skip


def words_for_gaps(column: DataColumn) -> list[str]:
    """Return the texts, in lower case and without blanks around them, that are missing values in a column."""
    return sorted(MISSING) if column.has_words_for_gaps else []


def _regions(regions: Ellipsoids) -> dict[str, Any]:
    return {"centres": regions.centres.tolist(), "counts": regions.counts.tolist()}


def formula_of(classifier: Any, columns: Sequence[str] | None = None) -> Formula:
    """Return the formula of a fitted RegionClassifier; `columns` rename its columns."""
    if not hasattr(classifier, "ellipsoids_"):
        kind = type(classifier).__name__
        raise ValueError(f"{kind} cannot be exported; fit a RegionClassifier, in the command line --method regions")
    if classifier.baseline_ is not None:
        raise ValueError("a model with baseline_by cannot be exported; fit it without, or score with eocc")
    if not has_columns(classifier.measure_):
        what = classifier.resolved_measure_.called
        raise ValueError(f"only models of numbers and of tables can be exported, not those of {what}")
    found = _columns(classifier, columns)
    model, calibration = classifier.ellipsoids_, classifier.calibration_
    placement, known = model.placement, model.outliers
    return Formula(
        columns=tuple(found), origin=placement.origin, axes=placement.axes, scales=placement.scales,
        height=float(placement.height), regions=model.regions, outliers=known,
        background=0.0 if known is None else float(known.background), limit=float(classifier.offset_),
        quantiles=calibration.margins - BOUNDARY**2 / 2,
    )  # fmt: skip


def _columns(classifier: Any, names: Sequence[str] | None) -> list[DataColumn]:
    found = data_columns(classifier.measure_, classifier.weights_, classifier._feature_names)
    n_features = len(classifier.ellipsoids_.placement.origin)
    if n_features > MOST_FEATURES:
        widest = max(found, key=lambda one: len(one.places))
        named = f"leave out columns, for example {widest.name!r} ({counted(len(widest.places), 'feature')})"
        raise ValueError(f"a model of {n_features} features is too wide to export; at most {MOST_FEATURES}: {named}")
    for column in found:
        if column.kind == DATE:
            raise ValueError(f"column {column.name!r} holds dates, which cannot be exported; pass them as numbers")
        if not 1e-150 < column.factor < 1e150:  # the squares of others would overflow, or those of their inverse
            raise ValueError(f"the numbers of column {column.name!r} are too large or small to export; rescale them")
    read = () if classifier.reading_ is None else classifier.reading_.columns
    words = {str(one.name) for one in read if one.kind in (TEXT, BOOLEAN) and not one.keeps_words}
    found = [replace(one, has_words_for_gaps=one.kind == CATEGORIES and one.name in words) for one in found]
    if names is None:
        return found
    if len(names) != len(found) or len(set(names)) != len(found) or not all(isinstance(one, str) for one in names):
        raise ValueError(f"columns must be {len(found)} different names, not {list(names)!r}")
    return [replace(column, name=name) for column, name in zip(found, names, strict=True)]


def python_module(formula: Formula) -> str:
    """Return the text of a module with the functions score, p_value and predict."""
    values = {name: pformat(one, width=110, compact=True, sort_dicts=False) for name, one in formula.to_dict().items()}
    return HEAD + "\n".join(f"{name.upper()} = {value}" for name, value in values.items()) + "\n" + BODY


# The parts of the module before and after the constants.
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
