"""The same rows as sources of several kinds."""

import numpy as np
import pyarrow
import pyarrow.parquet

from eocc import EntropicOneClassClassifier, SurpriseClassifier
from eocc.streaming import fit_stream

ROWS = np.random.default_rng(7).normal(size=(900, 3)) + np.repeat([[0.0], [6.0], [0.0]], 300, axis=0)


class Twice:
    """Chunks that can be read again; each reading may give others."""

    def __init__(self, *readings):
        self.readings, self.count = readings, 0

    def __iter__(self):
        self.count += 1
        return iter(self.readings[min(self.count, len(self.readings)) - 1])


def chunked(rows, step):
    return [rows[start : start + step] for start in range(0, len(rows), step)]


def classifier(**settings):
    return SurpriseClassifier(**{"prototypes": 20, **settings})


def entropic(**settings):
    return EntropicOneClassClassifier(**{"prototypes": 20, "search": None, "random_state": 3, **settings})


def fitted(make, source, sample, *, settings=None, **options):
    """Fit a classifier of either class to about `sample` rows of a source."""
    if make is classifier:
        return fit_stream(make(prototypes=sample, **(settings or {})), source, **options)
    return fit_stream(make(**(settings or {})), source, sample=sample, **options)


def write_parquet(path, rows, **more):
    columns = {f"x{k}": column for k, column in enumerate(rows.T)}
    pyarrow.parquet.write_table(pyarrow.table({**columns, **more}), path)


def write_csv(path, rows):
    np.savetxt(path, rows, delimiter=",", header="x0,x1,x2", comments="", fmt="%.17g")
