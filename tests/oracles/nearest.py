"""The nearest prototypes by definition: all dissimilarities, sorted."""

import numpy as np


def smallest(rows, k):
    """The k smallest entries of each row and their columns; ties to the lower column."""
    found = [sorted((value, column) for column, value in enumerate(row))[:k] for row in rows.tolist()]
    return np.array([[value for value, _ in row] for row in found]), np.array([[j for _, j in row] for row in found])


def nearest(fitted, patterns, prototypes, weightings, k):
    """For each weighting, the distances to the k nearest prototypes and their indices."""
    prepared = fitted.prepare(patterns, prototypes)
    return [smallest(prepared.evaluate(p), k) for p in weightings]
