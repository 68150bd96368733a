"""Fitted prototypes -> their spanning tree, clusters and regions, for classifiers that decide without them."""

from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from eocc.base.arguments import n_threads
from eocc.base.threads import threads
from eocc.classifiers.labels import ValidationSplit
from eocc.space.representation import Representation

if TYPE_CHECKING:
    from eocc.entropic.synthesis import Model

# The complete graph of this many prototypes takes some seconds.
MOST_PROTOTYPES = 5000


def structure_of(classifier: Any) -> "Model":
    """Return the paper's stages on the prototypes of a fitted classifier at its weights, with the paper's defaults.

    The time grows with the cube of the number of prototypes, so more than MOST_PROTOTYPES are refused.
    """
    from eocc.classifiers.entropic import EntropicOneClassClassifier
    from eocc.classifiers.entropic_settings import settings_of
    from eocc.entropic.synthesis import best_model

    prototypes = classifier.prototypes_
    if len(prototypes) > MOST_PROTOTYPES:
        remedy = f"fit with prototypes={MOST_PROTOTYPES} or fewer"
        raise ValueError(f"regions of {len(prototypes)} rows would take very long; {remedy}")
    every, function = np.arange(len(prototypes)), classifier.membership_function_
    representation = Representation(classifier.measure_, prototypes, prototypes, every, is_whole=True)
    paper = EntropicOneClassClassifier(weights=classifier.weights_, membership_function=function)
    paper.resolved_measure_ = classifier.resolved_measure_
    settings = settings_of(paper, ValidationSplit(every, None, None))
    return best_model(representation, settings, np.random.default_rng(0))


def _of_structure(path: str, meaning: str) -> Any:
    """Return a property that is computed with the structure of the prototypes when it is first asked for."""
    return property(lambda classifier: attrgetter(path)(classifier._structure_), doc=meaning)


class LazyStructure:
    """Regions of the prototypes that are computed when first asked for. They do not affect decisions."""

    n_jobs: int | None

    @property
    def _has_regions(self) -> bool:
        return "_structure_" in vars(self)

    @cached_property
    def _structure_(self) -> "Model":
        with threads(n_threads(self.n_jobs)):
            return structure_of(self)

    regions_ = _of_structure("regions", "The clusters of the prototypes as regions.")
    labels_ = _of_structure("labels", "The region of each prototype.")
    fuzzy_model_ = _of_structure("fuzzy", "The regions' centres and widths.")
    spanning_tree_ = _of_structure("tree", "The minimum spanning tree of the prototypes.")
    modularity_curve_ = _of_structure("modularity_curve", "The modularity of the partitions into 1, 2, ... clusters.")
    modularity_ = _of_structure("candidate.modularity", "The normalised modularity of the regions.")
    entropy_ = _of_structure("candidate.entropy", "The normalised entropy of the prototypes.")
    raw_entropy_ = _of_structure("raw_entropy", "The Rényi entropy of the prototypes.")
