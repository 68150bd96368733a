"""The best candidate -> the model: clusters, decision regions, and the history of the search."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eocc.foundation.types import Indices, Matrix
from eocc.graph.complete import SpanningTree
from eocc.graph.entropy import renyi_entropy
from eocc.partition.dense import tree_labels
from eocc.regions.fuzzy import FuzzyModel, Region
from eocc.search.run import Generation
from eocc.space.dissimilarity_space import DissimilaritySpace
from eocc.space.representation import Representation
from eocc.synthesis.assessment import Candidate
from eocc.synthesis.graph_kinds import Graph
from eocc.synthesis.settings import Settings


@dataclass(frozen=True, eq=False)
class Model:
    """Everything that a fit finds."""

    representation: Representation
    candidate: Candidate
    tree: SpanningTree
    raw_entropy: float
    neighbour_entropy: float | None
    modularity_curve: Matrix
    labels: Indices
    regions: list[Region]
    fuzzy: FuzzyModel
    history: NDArray[np.void]


def build_model(
    settings: Settings, representation: Representation, candidate: Candidate, space: DissimilaritySpace, graph: Graph,
    steps: Sequence[tuple[Generation, Candidate]],
) -> Model:  # fmt: skip
    """Cut the spanning tree into the candidate's clusters, and turn each cluster into a fuzzy region."""
    labels = tree_labels(graph.tree, candidate.n_clusters)
    how, gamma = settings.fuzzification, settings.synthesis.gamma
    built = settings.graph.regions(space, graph, labels, how)
    shapes = [replace(shape, centre=shape.centre + space.means) for _, shape in built]
    entropy = renyi_entropy(graph.tree.lengths, space.n_dims, gamma)
    neighbour_entropy = settings.graph.neighbour_entropy(graph, space.n_dims, gamma)
    fuzzy = FuzzyModel.of_shapes(shapes, how.membership_function, how.tconorm)
    return Model(
        representation, candidate, graph.tree, entropy, neighbour_entropy, settings.graph.curve(graph), labels,
        [region for region, _ in built], fuzzy, _history(steps),
    )  # fmt: skip


def _history(steps: Sequence[tuple[Generation, Candidate]]) -> NDArray[np.void]:
    """Return one record per generation, with the performance where there is a validation set."""
    names = ["best", "mean", "entropy", "modularity", "performance"]
    rows = [(c.objective, g.mean_value, c.entropy, c.modularity, c.performance) for g, c in steps]
    known = names if not math.isnan(rows[-1][-1]) else names[:-1]
    return np.array([row[: len(known)] for row in rows], dtype=[(name, np.float64) for name in known])
