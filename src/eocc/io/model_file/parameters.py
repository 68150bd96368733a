"""The constructor's arguments, each with what a model file may hold for it."""

from typing import Any

import numpy as np

from eocc.classifiers.fitting import PRECISIONS, RESOLUTIONS
from eocc.classifiers.plan import AUTO, MODES, bytes_of
from eocc.foundation.checks import Check, instance, number, optional
from eocc.io.model_file.catalogue import MEASURE_CLASSES, NotSaved
from eocc.measures import MEASURES
from eocc.regions.extents import EXTENTS, MaxExtent, MeanExtent, QuantileExtent
from eocc.regions.memberships import MEMBERSHIP_FUNCTIONS, Bell, Gaussian, Trapezoidal, Triangular, TwoSided
from eocc.regions.performance import COUNT_PERFORMANCES
from eocc.regions.representatives import REPRESENTATIVES, Centroid, Medoid
from eocc.regions.tconorms import TCONORMS
from eocc.search import SEARCHES
from eocc.search.cma_es import CMAESSearch
from eocc.search.differential_evolution import DifferentialEvolutionSearch
from eocc.search.genetic import GeneticSearch
from eocc.search.random import RandomSearch
from eocc.space.prototypes import SELECTIONS
from eocc.space.prototypes.density_spread import DensitySpread
from eocc.space.prototypes.farthest_first import FarthestFirst
from eocc.space.prototypes.k_medoids import KMedoids
from eocc.space.prototypes.random import RandomSelection
from eocc.synthesis.graph_kinds import GRAPHS, CompleteGraph, NeighbourGraph

MOST_JOBS = 1024
LONGEST_NAME = 200


def one_of(names: Any, *classes: type) -> Check:
    """Accept these names, and objects of exactly these classes.

    >>> one_of({"max": 1})("max"), one_of({"max": 1}, int)(3), one_of({"max": 1})("min")
    (True, True, False)
    """
    return lambda value: (type(value) is str and value in names) or type(value) in classes


def one_function_of(functions: dict[str, Any]) -> Check:
    """Accept the names of these functions, and the functions themselves."""
    return lambda value: one_of(functions)(value) or any(value is function for function in functions.values())


def inside_unit(value: Any) -> bool:
    """Accept numbers in (0, 1)."""
    return number(0, 1)(value) and 0 < value < 1


def _performance(value: Any) -> bool:
    is_name = type(value) is str and 0 < len(value) <= LONGEST_NAME and value.isprintable()
    return is_name or one_function_of(COUNT_PERFORMANCES)(value)


def _extent(value: Any) -> bool:
    return one_of(EXTENTS, MaxExtent, MeanExtent, QuantileExtent)(value) or one_function_of(EXTENTS)(value)


def _weights(value: Any) -> bool:
    if type(value) is np.ndarray:
        return value.ndim == 1 and value.dtype.kind in "biuf"
    return type(value) in (list, tuple) and all(map(number(), value))


def _seed(value: Any) -> bool:
    if type(value) is np.ndarray:
        return value.ndim == 1 and value.dtype.kind in "iu" and bool((value >= 0).all())
    whole = value if type(value) in (list, tuple) else [value]
    return all(type(part) is int and part >= 0 for part in whole)


def _prototypes(value: Any) -> bool:
    return (type(value) is int and value > 0) or (type(value) is float and 0 < value <= 1)


def _memory(value: Any) -> bool:
    if type(value) is int:
        return value > 0
    if type(value) is not str or len(value) > LONGEST_NAME:
        return False
    try:
        return bytes_of(value) > 0
    except ValueError:
        return False


def _jobs(value: Any) -> bool:
    return type(value) is int and 0 < abs(value) <= MOST_JOBS


PARAMETERS: dict[str, Check] = {
    "measure": one_of(MEASURES, *MEASURE_CLASSES),
    "synthesis": one_of(("entropy", "validation")),
    "resolution": one_of(RESOLUTIONS),
    "prototypes": optional(_prototypes),
    "selection": one_of(SELECTIONS, DensitySpread, FarthestFirst, KMedoids, RandomSelection),
    "graph": one_of((*GRAPHS, AUTO), CompleteGraph, NeighbourGraph),
    "max_memory": optional(_memory),
    "plan": one_of(MODES),
    "eta": number(0, 1),
    "beta": number(0, 1),
    "gamma": inside_unit,
    "performance": _performance,
    "validation_fraction": inside_unit,
    "extent": _extent,
    "representative": one_of(REPRESENTATIVES, Centroid, Medoid),
    "membership_function": one_of(MEMBERSHIP_FUNCTIONS, Bell, Gaussian, Trapezoidal, Triangular, TwoSided),
    "tconorm": one_function_of(TCONORMS),
    "search": optional(
        one_of((*SEARCHES, "auto"), CMAESSearch, DifferentialEvolutionSearch, GeneticSearch, RandomSearch)
    ),
    "precision": one_of(PRECISIONS),
    "weights": optional(_weights),
    "false_alarm_rate": optional(inside_unit),
    "n_jobs": optional(_jobs),
    "random_state": optional(_seed),
    "verbose": instance(bool),
}
# A loaded model needs these itself: nothing can stand in their place.
NEEDED = ("measure", "resolution", "false_alarm_rate", "n_jobs", "verbose")


def is_accepted(name: str, value: Any) -> bool:
    """Say whether a file may hold the value for the parameter, or a note in its place.

    >>> is_accepted("eta", 0.5), is_accepted("eta", "half"), is_accepted("search", NotSaved("search", "Mine"))
    (True, False, True)
    """
    if type(value) is NotSaved:
        return name not in NEEDED and value.parameter == name and len(value.kind) <= LONGEST_NAME
    return name in PARAMETERS and PARAMETERS[name](value)
