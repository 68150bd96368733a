"""Fitted prototypes -> their spanning tree, clusters and regions, for classifiers that decide without them."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.graph.complete import SpanningTree
from eocc.regions.extents import resolve_extent
from eocc.regions.fuzzy import Fuzzification, FuzzyModel, Region
from eocc.regions.memberships import MembershipFunction
from eocc.regions.representatives import resolve_representative
from eocc.regions.tconorms import resolve_tconorm
from eocc.space.prototypes.select import resolve_selection
from eocc.space.representation import Representation
from eocc.synthesis.assessment import EntropySynthesis
from eocc.synthesis.graph_kinds import graph_for
from eocc.synthesis.settings import Settings
from eocc.synthesis.synthesis import synthesise_at


@dataclass(frozen=True, eq=False)
class Structure:
    """The paper's stages on the prototypes at fixed weights, with its defaults.

    `labels`, the edges of `tree` and the members of `regions` count along the training rows; a row that is no prototype
    has the label -1.
    """

    tree: SpanningTree
    labels: Indices
    regions: list[Region]
    fuzzy: FuzzyModel
    modularity_curve: Matrix
    entropy: float
    raw_entropy: float
    modularity: float

    @classmethod
    def of_prototypes(cls, classifier: Any, membership_function: MembershipFunction) -> "Structure":
        """Build the structure of a fitted classifier's prototypes."""
        prototypes, places = classifier.prototypes_, classifier.prototype_indices_
        everyone = np.arange(len(prototypes))
        representation = Representation(classifier.measure_, prototypes, prototypes, everyone, is_whole=True)
        fuzzification = Fuzzification(
            resolve_extent("mean"), resolve_representative("medoid"), membership_function, resolve_tconorm("max")
        )
        settings = Settings(
            measure=classifier.resolved_measure_,
            prototypes=None,
            selection=resolve_selection("random"),
            graph=graph_for("auto", len(prototypes)),
            precision="double",
            synthesis=EntropySynthesis(eta=0.5, gamma=0.02),
            fuzzification=fuzzification,
            search=None,
            weights=classifier.weights_,
            n_threads=1,
        )
        model = synthesise_at(representation, settings, lambda generation, best: None)
        labels = np.full(len(classifier.training_indices_), -1)
        labels[places] = model.labels
        regions = [
            replace(one, members=places[one.members], representative=int(places[one.representative]))
            for one in model.regions
        ]
        found, tree = model.candidate, replace(model.tree, edges=places[model.tree.edges])
        return cls(
            tree, labels, regions, model.fuzzy, model.modularity_curve, found.entropy, model.raw_entropy,
            found.modularity,
        )  # fmt: skip
