"""The classifier's arguments and the user's data -> what a fit works with."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.arguments import check_number, n_threads
from eocc.entropic_graph import resolve_graph
from eocc.extents import resolve_extent
from eocc.labels import Parts, as_pair, check_lengths, parts_by_kind, parts_of, parts_with, signs
from eocc.measures import resolve_measure
from eocc.memberships import resolve_membership_function
from eocc.performance import resolve_performance
from eocc.prototypes import resolve_selection
from eocc.regions import Fuzzification
from eocc.registry import choose
from eocc.representatives import resolve_representative
from eocc.search import GeneticSearch, Search, resolve_search
from eocc.synthesis import EntropySynthesis, Settings, Synthesis, ValidationSynthesis
from eocc.tconorms import resolve_tconorm

MULTI, SINGLE = "multi", "single"
RESOLUTIONS = {MULTI: MULTI, SINGLE: SINGLE}


@dataclass(frozen=True, eq=False)
class Plan:
    """The rows of the data to train on, the synthesis with all it needs, and the patterns known beside them, if any."""

    training: NDArray[np.int64]
    synthesis: Synthesis
    beside: Parts | None = None


def check_arguments(classifier: Any) -> None:
    """Raise a ValueError for a number out of range or an unknown name."""
    for name in ("eta", "beta"):
        check_number(name, getattr(classifier, name), "in [0, 1]", lambda value: 0 <= value <= 1)
    for name in ("gamma", "validation_fraction"):
        check_number(name, getattr(classifier, name), "in (0, 1)", lambda value: 0 < value < 1)
    if classifier.false_alarm_rate is not None:
        wanted = "in (0, 1), or None"
        check_number("false_alarm_rate", classifier.false_alarm_rate, wanted, lambda value: 0 < value < 1)
    choose("resolution", RESOLUTIONS, classifier.resolution)


def plan_of(classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator) -> Plan:
    """Return what to train on, and how."""
    check_arguments(classifier)
    plans = {"entropy": _plan_entropy, "validation": _plan_validation}
    return choose("synthesis", plans, classifier.synthesis)(classifier, data, y, validation, rng)


def _plan_entropy(
    classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
) -> Plan:
    if validation is not None:
        raise ValueError("validation is for synthesis='validation'; synthesis='entropy' would ignore it")
    return Plan(np.arange(len(data)), EntropySynthesis(classifier.eta, classifier.gamma))


def _plan_validation(
    classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
) -> Plan:
    signed = np.ones(len(data), np.int64) if y is None else signs(y)
    check_lengths("X", data, "y", signed)
    if validation is not None:
        X_val, y_val = as_pair(validation)
        parts = parts_with(signed, classifier._read(X_val, reset=False), signs(y_val, "y_val"))
    elif classifier.resolution == MULTI:
        parts = parts_by_kind(data, signed)
    else:
        parts = parts_of(data, signed, classifier.validation_fraction, rng)
    if classifier.resolution == MULTI:
        return Plan(parts.training, EntropySynthesis(classifier.eta, classifier.gamma), parts)
    synthesis = ValidationSynthesis(
        classifier.eta, classifier.beta, classifier.gamma, resolve_performance(classifier.performance),
        fuzzification_of(classifier), parts.targets, parts.others,
    )  # fmt: skip
    return Plan(parts.training, synthesis)


def settings_of(classifier: Any, synthesis: Synthesis) -> Settings:
    """Return what the user chose, each name as the object it stands for."""
    return Settings(
        measure=resolve_measure(classifier.measure),
        prototypes=classifier.prototypes,
        selection=resolve_selection(classifier.selection),
        graph=resolve_graph(classifier.graph),
        synthesis=synthesis,
        fuzzification=fuzzification_of(classifier),
        search=search_of(classifier),
        weights=classifier.weights,
        n_threads=n_threads(classifier.n_jobs),
    )


def fuzzification_of(classifier: Any) -> Fuzzification:
    """Return how clusters become regions."""
    return Fuzzification(
        extent=resolve_extent(classifier.extent),
        representative=resolve_representative(classifier.representative),
        membership_function=resolve_membership_function(classifier.membership_function),
        tconorm=resolve_tconorm(classifier.tconorm),
    )


def search_of(classifier: Any) -> Search | None:
    """Return the search; "auto" is the paper's genetic one, and none where all resolutions are looked at."""
    if isinstance(classifier.search, str) and classifier.search == "auto":
        return GeneticSearch() if classifier.resolution == SINGLE and classifier.weights is None else None
    return None if classifier.search is None else resolve_search(classifier.search)
