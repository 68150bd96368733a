"""The vertex pairing of the graph edit scheme, found again where it can be looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Matrix
from eocc.kernels.distances import drop_spare_bits
from eocc.measures.graphs import FittedGraphEdit, Schema
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.strings import StringEdit

Attributes = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class VertexPair:
    """Vertex `one` of the first graph stands for vertex `other` of the second, at this cost before weights."""

    one: int
    other: int
    cost: float


def pair_vertices(measure: FittedGraphEdit, first: LabelledGraph, second: LabelledGraph) -> list[VertexPair]:
    """Return the pairs in the order in which `GraphEdit` makes them; `first` must have no more vertices.

    The globally cheapest free pair comes first, ties by difference of degree, then by the vertices' numbers.

    >>> from eocc.measures import GraphEdit
    >>> one, other = LabelledGraph(1, [], {"symbol": ["O"]}), LabelledGraph(2, [], {"symbol": ["C", "O"]})
    >>> pair_vertices(GraphEdit().fit([one, other]), one, other)
    [VertexPair(one=0, other=1, cost=0.0)]
    """
    costs = attribute_costs(measure.vertex, first.vertex_attributes, second.vertex_attributes,
                            first.n_vertices, second.n_vertices)  # fmt: skip
    drop_spare_bits(costs.reshape(-1).view(np.int64))  # as the measure does: costs that differ by rounding are ties
    gaps = np.abs(_degrees(first)[:, None] - _degrees(second))
    ones, others = np.indices(costs.shape)
    order = np.lexsort([others.ravel(), ones.ravel(), gaps.ravel(), costs.ravel()])
    free, other_free = np.ones(first.n_vertices, bool), np.ones(second.n_vertices, bool)
    pairs = []
    for one, other in zip(ones.ravel()[order].tolist(), others.ravel()[order].tolist(), strict=True):
        if free[one] and other_free[other]:
            free[one] = other_free[other] = False
            pairs.append(VertexPair(one, other, float(costs[one, other])))
    return pairs


def attribute_costs(schema: Schema, one: Attributes, other: Attributes, n: int, m: int) -> Matrix:
    """Return the mean dissimilarity over all attributes of n items and m others: (n, m).

    >>> schema = Schema({"x": (0.0, 4.0)}, ("symbol",), ())
    >>> attribute_costs(schema, {"x": [1.0], "symbol": ["C"]}, {"x": [3.0, None], "symbol": ["C", "N"]}, 1, 2)
    array([[0.25, 1.  ]])
    """
    total = np.zeros((n, m))
    for name, (low, range_) in schema.numbers.items():
        total += _number_costs(values_of(one, name, n), values_of(other, name, m), low, 1.0 / range_)
    for name in schema.categories:
        total += _category_costs(values_of(one, name, n), values_of(other, name, m))
    for name in schema.texts:
        total += _text_costs(values_of(one, name, n), values_of(other, name, m))
    count = len(schema.numbers) + len(schema.categories) + len(schema.texts)
    return total * (1.0 / count) if count > 1 else total


def values_of(attributes: Attributes, name: str, count: int) -> list[Any]:
    """Return an attribute's values, None where one is missing, NaN say, or the graph has no such attribute.

    >>> values_of({"x": [1.0, float("nan")]}, "x", 2), values_of({}, "x", 1)
    ([1.0, None], [None])
    """
    return [None if _is_missing(value) else value for value in attributes.get(name, [None] * count)]


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas' NA will not say; of an array there is no telling
        return not isinstance(value, np.ndarray)


def _number_costs(values: list[Any], others: list[Any], low: float, scale: float) -> Matrix:
    one, other = (np.array([np.nan if v is None else v for v in side], np.float64) - low for side in (values, others))
    gaps = np.abs(one[:, None] - other) * scale
    return np.where(np.isnan(gaps), _one_missing(values, others), gaps)


def _category_costs(values: list[Any], others: list[Any]) -> Matrix:
    codes: dict[Any, int] = {}
    one, other = (np.array([codes.setdefault(v, len(codes)) for v in side], np.int64) for side in (values, others))
    return np.asarray(one[:, None] != other, np.float64)


def _text_costs(values: list[Any], others: list[Any]) -> Matrix:
    if not values or not others:
        return np.zeros((len(values), len(others)))
    one, other = (["" if v is None else str(v) for v in side] for side in (values, others))
    distances = StringEdit().fit(other).prepare(one, other).evaluate(np.ones(3))
    missing = np.logical_or.outer([v is None for v in values], [v is None for v in others])
    return np.where(missing, _one_missing(values, others), distances)


def _one_missing(values: list[Any], others: list[Any]) -> Matrix:
    """Return 1 where one of two values is missing, 0 where both are or none is."""
    return np.not_equal.outer([v is None for v in values], [v is None for v in others]).astype(np.float64)


def _degrees(graph: LabelledGraph) -> NDArray[np.int64]:
    return np.bincount(np.asarray(graph.edges, np.int64).ravel(), minlength=graph.n_vertices)
