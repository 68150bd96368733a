"""Rows and their labels -> normal rows and known outliers, in memory or in passes."""

from typing import Any

import numpy as np

from eocc.classifiers.labels import outlier_rows
from eocc.foundation.types import Indices, Matrix
from eocc.scale.passes import Passes, SomeRows


def split_outliers(data: Any, y: Any) -> tuple[Indices, Any, Any]:
    """Return the indices of normal rows, these rows, and the known outliers (None if there are none)."""
    is_outlier = np.zeros(len(data), bool) if y is None else outlier_rows(y, len(data))
    training, places = np.flatnonzero(~is_outlier), np.flatnonzero(is_outlier)
    return (training, data[training], data[places]) if len(places) else (training, data, None)


def dask_rows(passes: Passes, y: Any) -> tuple[Passes, Matrix | None]:
    """Return passes over the normal rows of a Dask collection, and the known outliers (None if there are none)."""
    if y is None:
        return passes, None
    assert passes.n_rows is not None
    is_outlier = outlier_rows(y, passes.n_rows)
    outliers = None
    if is_outlier.any():
        outliers = SomeRows(passes, is_outlier).fold(lambda part: part.values, lambda *two: np.concatenate(two))
    return SomeRows(passes, ~is_outlier), outliers
