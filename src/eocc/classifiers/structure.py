"""Fitted prototypes -> their spanning tree, clusters and regions, for classifiers that decide without them."""

from typing import Any

import numpy as np

from eocc.regions.extents import resolve_extent
from eocc.regions.fuzzy import Fuzzification
from eocc.regions.representatives import resolve_representative
from eocc.regions.tconorms import resolve_tconorm
from eocc.space.prototypes.select import resolve_selection
from eocc.space.representation import Representation
from eocc.synthesis.assessment import EntropySynthesis
from eocc.synthesis.graph_kinds import CompleteGraph
from eocc.synthesis.model import Model
from eocc.synthesis.settings import Settings
from eocc.synthesis.synthesis import synthesise_at

# The complete graph of this many prototypes takes some seconds.
MOST_PROTOTYPES = 5000


def structure_of(classifier: Any) -> Model:
    """Return the paper's stages on the prototypes of a fitted classifier at its weights, with the paper's defaults.

    The time grows with the cube of the number of prototypes, so more than MOST_PROTOTYPES are refused.
    """
    prototypes = classifier.prototypes_
    if len(prototypes) > MOST_PROTOTYPES:
        raise ValueError(
            f"regions of {len(prototypes)} rows would take very long; fit with prototypes={MOST_PROTOTYPES} or fewer"
        )
    representation = Representation(
        classifier.measure_, prototypes, prototypes, np.arange(len(prototypes)), is_whole=True
    )
    settings = Settings(
        measure=classifier.resolved_measure_,
        prototypes=None,
        selection=resolve_selection("random"),
        graph=CompleteGraph(),
        precision="double",
        synthesis=EntropySynthesis(eta=0.5, gamma=0.02),
        fuzzification=Fuzzification(
            resolve_extent("mean"), resolve_representative("medoid"), classifier.membership_function_,
            resolve_tconorm("max"),
        ),
        search=None,
        weights=classifier.weights_,
        n_threads=1,
    )  # fmt: skip
    return synthesise_at(representation, settings, lambda generation, best: None)
