"""The parameters of EntropicOneClassClassifier: what the paper prints, and each name as the object it names."""

from typing import Any

from eocc.base.arguments import n_threads
from eocc.base.registry import resolve_function
from eocc.classifiers.labels import ValidationSplit
from eocc.entropic import EXTENTS, PERFORMANCES, TCONORMS
from eocc.entropic.regions import Fuzzification
from eocc.entropic.rules import resolve_membership_function
from eocc.entropic.search import GeneticSearch, resolve_search
from eocc.entropic.synthesis import EntropySynthesis, Settings, Synthesis, ValidationSynthesis
from eocc.space.prototypes.selections import resolve_selection

# What differs from the defaults in the settings that the paper prints, and the reading of what it leaves open
# (docs/research/departures.md).
PRINTED: dict[str, Any] = {
    "search": GeneticSearch(
        population_size=30, max_generations=100, patience=10, mutation_rate=0.3, first_population="random"
    ),
}


def settings_of(classifier: Any, split: ValidationSplit) -> Settings:
    """Return the settings of a fit."""
    fuzzification = Fuzzification(
        resolve_function("extent", EXTENTS, classifier.extent),
        resolve_membership_function(classifier.membership_function),
        resolve_function("tconorm", TCONORMS, classifier.tconorm),
    )
    shared = {"eta": classifier.eta, "gamma": classifier.gamma, "objective": classifier.objective}
    synthesis: Synthesis = EntropySynthesis(**shared, first_cut=classifier.first_cut)
    if classifier.synthesis == "validation":
        synthesis = ValidationSynthesis(
            **shared,
            beta=classifier.beta,
            performance=PERFORMANCES[classifier.performance],
            extent=fuzzification.extent,
            targets=split.targets,
            outliers=split.outliers,
        )
    is_searched = classifier.weights is None and classifier.search is not None
    return Settings(
        measure=classifier.resolved_measure_,
        prototypes=classifier.prototypes,
        selection=resolve_selection(classifier.selection),
        synthesis=synthesis,
        fuzzification=fuzzification,
        search=resolve_search(classifier.search) if is_searched else None,
        weights=classifier.weights,
        n_threads=n_threads(classifier.n_jobs),
        verbose=bool(classifier.verbose),
    )
