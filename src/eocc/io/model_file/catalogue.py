"""The classes and functions that a model file may name, each with what its fields may hold.

What reaches a kernel is checked here or in ``checks.py``: kernels do not check their indices.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from eocc.foundation.checks import (
    Check,
    array_of,
    hashable,
    instance,
    integer,
    mapping,
    number,
    optional,
    positive,
    real,
    setting,
    text,
    tuple_of,
)
from eocc.measures import MEASURES
from eocc.measures.composite import Composite, FittedComposite, Records
from eocc.measures.euclidean import Euclidean, FittedEuclidean
from eocc.measures.fingerprints import FittedTanimoto, Tanimoto
from eocc.measures.graphs import FittedGraphEdit, GraphEdit, Schema
from eocc.measures.precomputed import FittedPrecomputed, Precomputed, PrecomputedRows
from eocc.measures.series import DTW, FittedDTW
from eocc.measures.sets import CosineBags, FittedCosineBags, FittedJaccard, Jaccard
from eocc.measures.standardised import Standardised
from eocc.measures.strings import FittedStringEdit, StringEdit
from eocc.measures.tables import FittedColumn, FittedGower, Gower, _Boolean, _Categorical, _Empty, _Numeric, _Ordered
from eocc.measures.unit import StandardUnit, Unit
from eocc.regions.extents import MaxExtent, MeanExtent, QuantileExtent, std_extent
from eocc.regions.memberships import Bell, Gaussian, Trapezoidal, Triangular, TwoSided
from eocc.regions.performance import COUNT_PERFORMANCES
from eocc.regions.representatives import Centroid, Medoid
from eocc.regions.tconorms import TCONORMS
from eocc.search.cma_es import CMAESSearch
from eocc.search.differential_evolution import DifferentialEvolutionSearch
from eocc.search.genetic import GeneticSearch
from eocc.search.random import RandomSearch
from eocc.space.prototypes.density_spread import DensitySpread
from eocc.space.prototypes.farthest_first import FarthestFirst
from eocc.space.prototypes.k_medoids import KMedoids
from eocc.space.prototypes.random import RandomSelection
from eocc.synthesis.graph_kinds import CompleteGraph, NeighbourGraph

MEASURE_CLASSES = (
    Composite, CosineBags, DTW, Euclidean, Gower, GraphEdit, Jaccard, Precomputed, Standardised, StringEdit,
    Tanimoto,
)  # fmt: skip
FROZEN_CLASSES = (
    FittedComposite, FittedCosineBags, FittedDTW, FittedEuclidean, FittedGower, FittedGraphEdit, FittedJaccard,
    FittedPrecomputed, FittedStringEdit, FittedTanimoto,
)  # fmt: skip
CODERS = (_Boolean, _Categorical, _Empty, _Numeric, _Ordered)
# Doubles reach from 2**-1074 to 2**1024.
EXPONENTS = 1100


@dataclass(frozen=True)
class NotSaved:
    """Stands for a constructor's argument that a model file cannot hold: an object or a function of the user's own.

    The model scores as before. To fit it again, set the parameter first; until then `fit` fails and shows this.

    >>> NotSaved("search", "OneBatch")
    <search was of type OneBatch, which a model file cannot hold: set_params(search=...) before fit>
    """

    parameter: str
    kind: str

    def __repr__(self) -> str:
        return (
            f"<{self.parameter} was of type {self.kind}, which a model file cannot hold: "
            f"set_params({self.parameter}=...) before fit>"
        )


@dataclass(frozen=True)
class Entry:
    """A class, and the fields that are written, with what each may hold."""

    make: Callable[..., Any]
    fields: dict[str, Check]


_span = tuple_of(real())
_settings: dict[type, dict[str, Check]] = {
    cls: {field.name: setting for field in fields(cls)}
    for cls in (CMAESSearch, DifferentialEvolutionSearch, GeneticSearch, RandomSearch)
}
_fields: dict[type, dict[str, Check]] = {
    **_settings,
    NotSaved: {"parameter": text, "kind": text},
    CompleteGraph: {},
    NeighbourGraph: {"k": integer(1, 2**20), "seed": integer(0, 2**62)},
    DensitySpread: {},
    FarthestFirst: {},
    KMedoids: {},
    RandomSelection: {},
    Composite: {"measures": mapping(hashable, lambda value: type(value) in MEASURE_CLASSES or value in (*MEASURES,))},
    CosineBags: {},
    DTW: {"band": optional(number(0, 1))},
    Euclidean: {},
    Standardised: {},
    Gower: {"kinds": optional(mapping(hashable, instance(str, list, tuple)))},
    GraphEdit: {"vertex_kinds": mapping(hashable, text), "edge_kinds": mapping(hashable, text)},
    Jaccard: {},
    Precomputed: {},
    StringEdit: {},
    Tanimoto: {},
    Unit: {"centre": array_of(np.float64, 1), "exponent": integer(-EXPONENTS, EXPONENTS)},
    FittedComposite: {"measures": mapping(hashable, instance(*FROZEN_CLASSES))},
    FittedCosineBags: {},
    FittedDTW: {"unit": instance(Unit), "largest": positive, "band": real(0, 1)},
    StandardUnit: {
        "centre": array_of(np.float64, 1),
        "exponent": integer(-EXPONENTS, EXPONENTS),
        "spreads": array_of(np.float64, 1),
    },
    FittedEuclidean: {"unit": instance(Unit, StandardUnit), "largest": positive},
    FittedGower: {"measure": instance(Gower), "columns": tuple_of(instance(FittedColumn), 1)},
    FittedColumn: {"name": hashable, "contents": instance(frozenset), "coder": instance(*CODERS),
                   "absent": real(0, 1)},
    _Boolean: {},
    _Categorical: {"codes": mapping(hashable, integer(0, 2**40))},
    _Empty: {},
    _Numeric: {"exponent": integer(-EXPONENTS, EXPONENTS), "low": real(), "span": real(0)},
    _Ordered: {"levels": tuple_of(hashable, 1)},
    FittedGraphEdit: {"vertex": instance(Schema), "edge": instance(Schema), "directed": optional(instance(bool))},
    Schema: {
        "numbers": mapping(hashable, lambda pair: _span(pair) and len(pair) == 2 and pair[1] > 0),
        "categories": tuple_of(hashable),
        "texts": tuple_of(hashable),
    },
    FittedJaccard: {},
    FittedPrecomputed: {"n_columns": integer(1, 2**40), "largest": positive},
    FittedStringEdit: {},
    FittedTanimoto: {"n_bits": integer(1, 2**40)},
    Records: {"parts": lambda value: type(value) is dict and len(value) > 0},
    PrecomputedRows: {"block": array_of(np.float64, 2), "columns": array_of(np.int64, 1), "n_read": integer(1, 2**40)},
    Bell: {"slope": number(0)},
    Gaussian: {},
    Trapezoidal: {"core": number(0), "support": number(0)},
    Triangular: {"support": number(0)},
    TwoSided: {},
    MaxExtent: {},
    MeanExtent: {},
    QuantileExtent: {"q": number(0, 1)},
    Centroid: {},
    Medoid: {},
}  # fmt: skip

CLASSES: dict[str, Entry] = {cls.__name__.lstrip("_"): Entry(cls, checks) for cls, checks in _fields.items()}
NAMES: dict[type, str] = {cls: cls.__name__.lstrip("_") for cls in _fields}
_functions: tuple[Any, ...] = (*TCONORMS.values(), *COUNT_PERFORMANCES.values(), std_extent)
FUNCTIONS: dict[str, Callable[..., Any]] = {function.__name__: function for function in _functions}
