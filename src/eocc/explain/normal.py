"""A fitted RegionClassifier, which keeps no rows of a table -> rows that show what is normal in each of its columns."""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from eocc.base.types import Matrix
from eocc.ellipsoids.features import CATEGORIES, CONSTANT, LEVELS
from eocc.explain.rules import EVERY, WHOLE_DAY, centre_features, columns_of_model, ends_of
from eocc.tables.table import TIME, Table

# There are 400 of these rows, at equal parts of what is normal.
SHARES = (np.arange(400) + 0.5) / 400


def normal_rows(classifier: Any) -> Any:
    """Return rows whose columns, each by itself, are what the model knows of its training rows.

    Numbers have the quantiles of the regions, as many of each as its weight says, and categories their shares. Values
    of one row do not belong together. Columns that the model does not compare have the values of its prototypes.
    """
    model, prototypes, ends = classifier.ellipsoids_, classifier.prototypes_, ends_of(classifier)
    weights, known = np.exp(model.regions.log_weights), {one.name: one for one in columns_of_model(classifier)}
    spread, centres, deviations = scipy.special.ndtri(SHARES), centre_features(classifier), model.deviations

    def made(name: str, given: Matrix) -> Matrix:
        if name not in known:
            return np.resize(given, len(SHARES))
        column, place = known[name], known[name].places[0]
        if column.kind == CATEGORIES:  # codes of the labels in their shares
            sums = np.cumsum(np.maximum(column.shares(weights @ centres), 0.0))
            return np.searchsorted(sums / sums[-1], SHARES).astype(np.float64)
        if column.kind == CONSTANT:
            return np.full(len(SHARES), column.centre)
        # All regions, with quantiles of each, cut at equal parts of their weights.
        features = (centres[:, place, None] + spread * deviations[:, place, None]).ravel()
        order = np.argsort(features, kind="stable")
        sums = np.cumsum(np.repeat(weights, len(SHARES))[order])
        found = features[order[np.searchsorted(sums / sums[-1], SHARES)]]
        if column.kind == LEVELS:
            last = len(column.labels) - 1
            return np.asarray(np.rint(np.clip(found / column.factor, 0, 1) * last))
        values = np.clip(column.value(found), *(WHOLE_DAY if column.moment == TIME else ends.get(name, EVERY)))
        is_whole = isinstance(prototypes, Table) and (given == np.rint(given))[~np.isnan(given)].all()
        return np.asarray(np.rint(values) if is_whole else values)

    if not isinstance(prototypes, Table):
        names = classifier.measure_.weight_names(classifier._feature_names)
        return np.column_stack([made(name, prototypes[:, k]) for k, name in enumerate(names)])
    found = []
    for one in prototypes.columns:
        has_labels = one.labels is not None and str(one.name) in known
        labels = known[str(one.name)].labels if has_labels else one.labels
        found.append(replace(one, values=made(str(one.name), one.values), labels=labels))
    return Table(tuple(found))
