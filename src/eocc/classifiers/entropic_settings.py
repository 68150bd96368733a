"""The parameters of EntropicOneClassClassifier: what the paper prints, and each name as the object that it names."""

from typing import Any

from eocc.classifiers.labels import ValidationSplit
from eocc.foundation.arguments import n_threads
from eocc.regions.extents import resolve_extent
from eocc.regions.fuzzy import Fuzzification
from eocc.regions.memberships import resolve_membership_function
from eocc.regions.performance import resolve_performance
from eocc.regions.representatives import resolve_representative
from eocc.regions.tconorms import resolve_tconorm
from eocc.search.genetic import GeneticSearch
from eocc.search.run import resolve_search
from eocc.space.prototypes.select import resolve_selection
from eocc.synthesis.assessment import EntropySynthesis, Synthesis, ValidationSynthesis
from eocc.synthesis.graph_kinds import graph_for
from eocc.synthesis.settings import Settings

# The settings that the paper prints, and the reading of what it leaves open (docs/research/departures.md).
PRINTED: dict[str, Any] = {
    "prototypes": None,
    "graph": "complete",
    "first_cut": "always",
    "objective": "normalised",
    "eta": 0.5,
    "beta": 0.5,
    "gamma": 0.02,
    "performance": "accuracy",
    "extent": "mean",
    "representative": "medoid",
    "membership_function": "gaussian",
    "tconorm": "max",
    "search": GeneticSearch(
        population_size=30, max_generations=100, patience=10, mutation_rate=0.3, first_population="random"
    ),
    "precision": "double",
    "weights": None,
    "false_alarm_rate": None,
}


def settings_of(classifier: Any, n: int, split: ValidationSplit) -> Settings:
    """Return the settings of a fit to n patterns."""
    fuzzification = Fuzzification(
        resolve_extent(classifier.extent), resolve_representative(classifier.representative),
        resolve_membership_function(classifier.membership_function), resolve_tconorm(classifier.tconorm),
    )  # fmt: skip
    shared = {"eta": classifier.eta, "gamma": classifier.gamma, "objective": classifier.objective}
    synthesis: Synthesis = EntropySynthesis(**shared, first_cut=classifier.first_cut)
    if classifier.synthesis == "validation":
        synthesis = ValidationSynthesis(
            **shared,
            beta=classifier.beta,
            performance=resolve_performance(classifier.performance),
            fuzzification=fuzzification,
            targets=split.targets,
            outliers=split.outliers,
        )
    is_searched = classifier.weights is None and classifier.search is not None
    return Settings(
        measure=classifier.resolved_measure_,
        prototypes=classifier.prototypes,
        selection=resolve_selection(classifier.selection),
        graph=graph_for(classifier.graph, n),
        precision=classifier.precision,
        synthesis=synthesis,
        fuzzification=fuzzification,
        search=resolve_search(classifier.search) if is_searched else None,
        weights=classifier.weights,
        n_threads=n_threads(classifier.n_jobs),
    )
