"""Storage attributes of the measures, until the measures have them themselves. Delete this file then."""

from typing import Any

import numpy as np

from eocc.foundation.array_checks import demand
from eocc.foundation.checks import (
    array_of, hashable, instance, integer, mapping, number, optional, positive, real, text, tuple_of,
)  # fmt: skip
from eocc.measures import MEASURES
from eocc.measures.columns import Table
from eocc.measures.composite import Composite, FittedComposite, Records
from eocc.measures.euclidean import Euclidean, FittedEuclidean
from eocc.measures.fingerprints import FittedTanimoto, Tanimoto
from eocc.measures.graphs import FittedGraphEdit, GraphEdit, Schema
from eocc.measures.labelled_graph import LabelledGraph
from eocc.measures.objects import Objects
from eocc.measures.precomputed import FittedPrecomputed, Precomputed, PrecomputedRows
from eocc.measures.series import DTW, FittedDTW
from eocc.measures.sets import CosineBags, FittedCosineBags, FittedJaccard, Jaccard
from eocc.measures.standardised import Standardised
from eocc.measures.strings import FittedStringEdit, StringEdit
from eocc.measures.tables import FittedColumn, FittedGower, Gower, _Boolean, _Categorical, _Empty, _Numeric, _Ordered
from eocc.measures.unit import StandardUnit, Unit

C: Any = Composite
MEASURE_CLASSES = tuple(MEASURES.values()) + (Composite,)
FITTED: dict[Any, Any] = {
    Composite: FittedComposite, CosineBags: FittedCosineBags, DTW: FittedDTW, Euclidean: FittedEuclidean,
    Gower: FittedGower, GraphEdit: FittedGraphEdit, Jaccard: FittedJaccard, Precomputed: FittedPrecomputed,
    Standardised: FittedEuclidean, StringEdit: FittedStringEdit, Tanimoto: FittedTanimoto,
}  # fmt: skip
CODERS = (_Boolean, _Categorical, _Empty, _Numeric, _Ordered)
EXPONENT = integer(-1100, 1100)
_span = tuple_of(real())


STORED: dict[Any, Any] = {
    Composite: {"measures": mapping(hashable, lambda value: type(value) in MEASURE_CLASSES)},
    CosineBags: {}, DTW: {"band": optional(number(0, 1))}, Euclidean: {}, Standardised: {},
    Gower: {"kinds": optional(mapping(hashable, instance(str, list, tuple)))},
    GraphEdit: {"vertex_kinds": mapping(hashable, text), "edge_kinds": mapping(hashable, text)},
    Jaccard: {}, Precomputed: {}, StringEdit: {}, Tanimoto: {},
    Unit: {"centre": array_of(np.float64, 1), "exponent": EXPONENT},
    FittedComposite: {"measures": mapping(hashable, instance(*FITTED.values()))},
    FittedCosineBags: {},
    FittedDTW: {"unit": instance(Unit), "largest": positive, "band": real(0, 1)},
    StandardUnit: {"centre": array_of(np.float64, 1), "exponent": EXPONENT, "spreads": array_of(np.float64, 1)},
    FittedEuclidean: {"unit": instance(Unit, StandardUnit), "largest": positive},
    FittedGower: {"measure": instance(Gower), "columns": tuple_of(instance(FittedColumn), 1)},
    FittedColumn: {"name": hashable, "contents": instance(frozenset), "coder": instance(*CODERS),
                   "absent": real(0, 1)},
    _Boolean: {}, _Categorical: {"codes": mapping(hashable, integer(0, 2**40))}, _Empty: {},
    _Numeric: {"exponent": EXPONENT, "low": real(), "span": real(0)}, _Ordered: {"levels": tuple_of(hashable, 1)},
    FittedGraphEdit: {"vertex": instance(Schema), "edge": instance(Schema), "directed": optional(instance(bool))},
    Schema: {"numbers": mapping(hashable, lambda pair: _span(pair) and len(pair) == 2 and pair[1] > 0),
             "categories": tuple_of(hashable), "texts": tuple_of(hashable)},
    FittedJaccard: {}, FittedPrecomputed: {"n_columns": integer(1, 2**40), "largest": positive},
    FittedStringEdit: {}, FittedTanimoto: {"n_bits": integer(1, 2**40)},
    Records: {"parts": lambda value: type(value) is dict and len(value) > 0},
    PrecomputedRows: {"block": array_of(np.float64, 2), "columns": array_of(np.int64, 1), "n_read": integer(1, 2**40)},
}  # fmt: skip
PARTS: dict[Any, Any] = {
    Composite: (FittedComposite, Records), CosineBags: (FittedCosineBags,), DTW: (FittedDTW, Unit),
    Euclidean: (FittedEuclidean, Unit), Gower: (FittedGower, FittedColumn, *CODERS),
    GraphEdit: (FittedGraphEdit, Schema), Jaccard: (FittedJaccard,),
    Precomputed: (FittedPrecomputed, PrecomputedRows), Standardised: (FittedEuclidean, StandardUnit),
    StringEdit: (FittedStringEdit,), Tanimoto: (FittedTanimoto,),
}  # fmt: skip


def check(fitted: Any, patterns: Any) -> bool:  # noqa: C901
    if type(fitted) is FittedEuclidean:
        return array_of(np.float64, 2)(patterns) and 0 < patterns.shape[1] == fitted.n_parameters
    if type(fitted) is FittedTanimoto:
        return array_of(np.bool_, 2)(patterns) and patterns.shape[1] == fitted.n_bits
    if type(fitted) is FittedPrecomputed:
        if type(patterns) is not PrecomputedRows or patterns.block.shape != (len(patterns.columns), fitted.n_columns):
            return False
        columns = patterns.columns
        return bool((patterns.block >= 0).all() and (columns >= 0).all() and (columns < fitted.n_columns).all())
    if type(fitted) is FittedGower:
        return type(patterns) is Table
    if type(fitted) is FittedComposite:
        if type(patterns) is not Records or list(patterns.parts) != list(fitted.measures):
            return False
        for name, part in patterns.parts.items():
            if hasattr(fitted.measures[name], "check_patterns"):
                fitted.measures[name].check_patterns(part)
        return len({len(part) for part in patterns.parts.values()}) == 1
    if type(patterns) is not Objects:
        return False
    if type(fitted) is FittedDTW:
        return all(
            array_of(np.float64, 2)(one) and len(one) and 0 < one.shape[1] == fitted.n_parameters for one in patterns
        )
    if type(fitted) is FittedGraphEdit:
        held = sum(1 + len(graph.edges) + sum(map(len, graph.vertex_attributes.values())) for graph in patterns)
        demand(all(type(graph) is LabelledGraph for graph in patterns), "graphs")
        demand(max((graph.n_vertices for graph in patterns), default=0) <= max(4096, 4 * held), "too many vertices")
        return True
    if type(fitted) is FittedCosineBags:
        return all(type(bag) is dict and all(map(positive, bag.values())) for bag in patterns)
    return all(type(one) in ((frozenset,) if type(fitted) is FittedJaccard else (str, tuple)) for one in patterns)


def check_patterns(self: Any, patterns: Any) -> None:
    demand(check(self, patterns), f"the training rows are not what {type(self).__name__} takes")


def work(self: Any, patterns: Any) -> int:
    if type(self) is FittedComposite:
        return sum(
            getattr(part, "comparison_work", lambda _: 0)(patterns.parts[name]) for name, part in self.measures.items()
        )
    if type(self) is FittedStringEdit:
        first, total = len(patterns[0]), sum(map(len, patterns))
        return max(first, 512) * max(first, total)
    if type(self) is FittedDTW:
        lengths = np.array([len(one) for one in patterns], np.float64)
        band = 2 * self.band * np.maximum(lengths, lengths[0]) + 1 + np.abs(lengths - lengths[0])
        return int((lengths[0] * np.minimum(lengths, band) + lengths).sum()) * self.n_parameters
    if type(self) is FittedGraphEdit:
        n = [graph.n_vertices for graph in patterns]
        words = [sum(len(str(v)) for values in g.vertex_attributes.values() for v in values) for g in patterns]
        edges = [len(graph.edges) for graph in patterns]
        pairs = sum(n[0] * m * min(n[0], m) for m in n)
        return pairs + max(n) ** 2 + edges[0] * sum(edges) + 10 * sum(n) + words[0] * sum(words)
    return 0


def _set(kind: Any, **attributes: Any) -> None:
    for name, value in attributes.items():
        if name not in vars(kind) and not (name in ("check_patterns", "comparison_work") and hasattr(kind, name)):
            setattr(kind, name, value)


for _kind, _stored in STORED.items():
    _set(_kind, stored=_stored)
for _kind, _parts in PARTS.items():
    _set(_kind, stored_classes=_parts, fitted_class=FITTED[_kind])
    _set(FITTED[_kind], check_patterns=check_patterns, comparison_work=work)
