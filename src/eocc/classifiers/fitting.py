"""The classifier's arguments and the user's data -> what a fit works with."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.classifiers.labels import Parts, as_pair, check_lengths, parts_by_kind, parts_of, parts_with, signs
from eocc.classifiers.plan import MODES, Plan, PlanWarning, Request, bytes_of, decide, name_of_graph
from eocc.foundation.arguments import check_number
from eocc.foundation.registry import choose
from eocc.measures.resolve import resolve_measure
from eocc.regions.extents import resolve_extent
from eocc.regions.fuzzy import Fuzzification
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.performance import resolve_performance
from eocc.regions.representatives import resolve_representative
from eocc.regions.tconorms import resolve_tconorm
from eocc.search.genetic import GeneticSearch
from eocc.search.protocol import Search
from eocc.search.run import resolve_search
from eocc.space.prototypes.select import count_of, resolve_selection
from eocc.synthesis.graph_kinds import resolve_graph
from eocc.synthesis.synthesis import EntropySynthesis, Settings, Synthesis, ValidationSynthesis

MULTI, SINGLE = "multi", "single"
RESOLUTIONS = {MULTI: MULTI, SINGLE: SINGLE}
PRECISIONS = {"double": "double", "single": "single"}
# Patterns whose sizes tell the mean one, evenly spaced.
SIZED = 100


@dataclass(frozen=True, eq=False)
class Task:
    """The rows of the data to train on, the synthesis with all it needs, and the patterns known beside them, if any."""

    training: NDArray[np.int64]
    synthesis: Synthesis
    beside: Parts | None = None
    n_others: int = 0  # patterns that those that train are compared with

    @property
    def n_more(self) -> int:
        """The targets known beside those that train."""
        return 0 if self.beside is None else len(self.beside.targets)


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
    choose("plan", MODES, classifier.plan)
    if classifier.max_memory is not None:
        bytes_of(classifier.max_memory)


def task_of(classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator) -> Task:
    """Return what to train on, and how."""
    check_arguments(classifier)
    tasks = {"entropy": _entropy_task, "validation": _validation_task}
    return choose("synthesis", tasks, classifier.synthesis)(classifier, data, y, validation, rng)


def _entropy_task(
    classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
) -> Task:
    if validation is not None:
        raise ValueError("validation is for synthesis='validation'; synthesis='entropy' would ignore it")
    return Task(np.arange(len(data)), EntropySynthesis(classifier.eta, classifier.gamma))


def _validation_task(
    classifier: Any, data: Any, y: Any, validation: tuple[Any, Any] | None, rng: np.random.Generator
) -> Task:
    signed = np.ones(len(data), np.int64) if y is None else signs(y)
    check_lengths("X", data, "y", signed)
    if validation is not None:
        X_val, y_val = as_pair(validation)
        parts = parts_with(signed, classifier._read(X_val, reset=False), signs(y_val, "y_val"))
    elif classifier.resolution == MULTI:
        parts = parts_by_kind(data, signed)
    else:
        parts = parts_of(data, signed, classifier.validation_fraction, rng)
    n_others = len(parts.targets) + len(parts.others)
    if classifier.resolution == MULTI:
        return Task(parts.training, EntropySynthesis(classifier.eta, classifier.gamma), parts, len(parts.others))
    synthesis = ValidationSynthesis(
        classifier.eta, classifier.beta, classifier.gamma, resolve_performance(classifier.performance),
        fuzzification_of(classifier), parts.targets, parts.others,
    )  # fmt: skip
    return Task(parts.training, synthesis, n_others=n_others)


def plan_within_memory(classifier: Any, patterns: Any, task: Task) -> Plan:
    """Return what the fit to these patterns takes, within the user's budget; or refuse it."""
    request = Request(
        n=len(patterns),
        n_features=size_of(patterns),
        measure=classifier.measure,
        prototypes=classifier.prototypes,
        graph=classifier.graph,
        resolution=classifier.resolution,
        search=search_of(classifier),
        n_jobs=classifier.n_jobs,
        false_alarm_rate=classifier.false_alarm_rate,
        n_others=task.n_others,
        selection=classifier.selection,
        n_more=task.n_more,
        precision=classifier.precision,
        performance=classifier.performance,
        fuzzification=fuzzification_of(classifier),
    )
    return decide(request, classifier.max_memory, classifier.plan)


def check_memory(classifier: Any, n: int, n_columns: int) -> None:
    """Refuse a fit to n patterns, before they are there, that would be refused for lack of memory."""
    if classifier.synthesis != "entropy":
        return  # how many of them train is known once they are read
    rows = np.broadcast_to(0.0, (n, n_columns))  # of that shape, in no memory
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PlanWarning)  # the fit will tell what it takes
        plan_within_memory(classifier, rows, task_of(classifier, rows, None, None, np.random.default_rng(0)))


def size_of(patterns: Any) -> int:
    """Return the size of a pattern: the numbers of a row, the columns of a table, else of some of them the mean.

    >>> size_of(np.zeros((5, 3))), size_of(["oak", "larch"])
    (3, 4)
    """
    for known in (patterns, getattr(patterns, "block", None)):
        if isinstance(known, np.ndarray):
            return int(known.shape[1])
    if hasattr(patterns, "parts"):
        return sum(map(size_of, patterns.parts.values()))
    if hasattr(patterns, "columns"):
        return len(patterns.columns)
    some = [patterns[i] for i in range(0, len(patterns), -(-len(patterns) // SIZED))]
    return max(1, round(sum(map(_size, some)) / len(some)))


def _size(pattern: Any) -> int:
    if isinstance(pattern, np.ndarray):
        return int(pattern.size)
    return int(getattr(pattern, "n_vertices", 0)) or (len(pattern) if hasattr(pattern, "__len__") else 1)


def settings_of(classifier: Any, synthesis: Synthesis, plan: Plan) -> Settings:
    """Return what the user chose, each name as the object it stands for; and where that did not fit, what does."""
    wanted, asked = classifier.prototypes, classifier.graph
    is_taken = not isinstance(asked, str) and name_of_graph(asked) == plan.graph
    return Settings(
        measure=resolve_measure(classifier.measure),
        prototypes=wanted if count_of(wanted, plan.n) == plan.prototypes else plan.prototypes,
        selection=resolve_selection(classifier.selection),
        graph=resolve_graph(asked if is_taken else plan.graph),
        precision=choose("precision", PRECISIONS, classifier.precision),
        synthesis=synthesis,
        fuzzification=fuzzification_of(classifier),
        search=search_of(classifier),
        weights=classifier.weights,
        n_threads=plan.n_jobs,
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
    """Return the search; "auto" is the paper's genetic one, and none where neighbourhoods decide."""
    if isinstance(classifier.search, str) and classifier.search == "auto":
        return GeneticSearch() if classifier.resolution == SINGLE and classifier.weights is None else None
    return None if classifier.search is None else resolve_search(classifier.search)
