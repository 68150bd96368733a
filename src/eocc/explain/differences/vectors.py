"""Rows of numbers: what each feature adds to the weighted Euclidean dissimilarity."""

from collections.abc import Sequence

import numpy as np

from eocc.foundation.types import Matrix
from eocc.foundation.wording import format_data_number, named_values
from eocc.measures.difference import Contribution, Difference, Pair, shared_out
from eocc.measures.euclidean import FittedEuclidean


def feature_contributions(measure: FittedEuclidean, pattern: Matrix, prototype: Matrix, weights: Matrix) -> Matrix:
    """Return c_k = d p_k (x_k - y_k)^2 / sum_l p_l (x_l - y_l)^2, which add up to d(x, y; p).

    d is a root of a sum, so a feature has no term of its own in it: its share of the sum is its share of d.

    >>> from eocc.measures import Euclidean
    >>> measure = Euclidean().fit(np.array([[0.0, 0.0], [6.0, 8.0]]))
    >>> feature_contributions(measure, np.array([0.0, 0.0]), np.array([3.0, 4.0]), np.ones(2))
    array([0.18, 0.32])
    """
    rows = measure.unit.measure(np.array([pattern, prototype]))
    squares = weights * (rows[0] - rows[1]) ** 2
    return shared_out(float(np.sqrt(squares.sum()) / measure.largest), squares)


def vector_difference(measure: FittedEuclidean, pair: Pair) -> Difference:
    """Return a contribution per feature, with its value in both rows and its weight."""
    pattern, prototype = pair.pattern[0], pair.prototype[0]
    amounts = feature_contributions(measure, pattern, prototype, pair.weights)
    names = feature_names(pair.names, len(pattern))
    contributions = tuple(
        Contribution(
            float(amount),
            f"{name}: {format_data_number(here)}, {pair.called} {format_data_number(there)}",
            {"feature": name, "value": float(here), "prototype": float(there), "weight": float(weight)},
        )
        for name, here, there, weight, amount in zip(names, pattern, prototype, pair.weights, amounts, strict=True)
    )
    return Difference(pair.dissimilarity, contributions, "by feature")


def vector_description(measure: FittedEuclidean, pattern: Matrix, names: Sequence[str] | None) -> str:
    """Return the values by name.

    >>> from eocc.measures import Euclidean
    >>> rows = np.array([[5.0, 3.25]])
    >>> vector_description(Euclidean().fit(rows), rows, ["length", "width"])
    'length = 5, width = 3.25'
    """
    return named_values(feature_names(names, pattern.shape[1]), pattern[0])


def feature_names(names: Sequence[str] | None, n_features: int) -> list[str]:
    """Return the names, or "feature 0" and so on where there are none.

    >>> feature_names(None, 2)
    ['feature 0', 'feature 1']
    """
    return [f"feature {k}" for k in range(n_features)] if names is None else [str(name) for name in names]
