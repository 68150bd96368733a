"""The first training pattern is scored when a model is saved and again when it is loaded, where that is cheap.

A small file can hold two patterns whose comparison takes minutes: so the work is reckoned first, from the patterns'
sizes alone, and a model whose trial would take more than `MOST_WORK` is neither tried when saved nor when loaded.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eocc.io.model_file.catalogue import FROZEN_CLASSES
from eocc.io.model_file.checks import demand
from eocc.kernels.edit_lanes import LONGEST
from eocc.measures.composite import FittedComposite
from eocc.measures.graphs import FittedGraphEdit, Schema
from eocc.measures.series import FittedDTW
from eocc.measures.strings import FittedStringEdit
from eocc.regions.fuzzy import FuzzyModel

# Cells of the tables in which pairs are aligned: about a second's work.
MOST_WORK = 2**28
# Prototypes at a time: some measures lay all of them out at the length of the longest.
BLOCK = 4096
# Arrays with an entry for each vertex, beside those of its attributes.
VERTEX_ARRAYS = 8
# Scores are the same bit for bit on one machine; another may round the functions of its own library differently.
SAME_SCORE = 1e-6


def trial_score(fitted: Any, prototypes: Any, weights: NDArray[np.float64], fuzzy: FuzzyModel) -> float | None:
    """Return the score of the first training pattern, None where finding it would take too long."""
    if work(fitted, prototypes) > MOST_WORK:
        return None
    step = BLOCK if _is_known(fitted) else len(prototypes)
    with np.errstate(all="ignore"):
        blocks = [
            np.asarray(fitted.prepare(prototypes[[0]], prototypes[start : start + step]).evaluate(weights))
            for start in range(0, len(prototypes), step)
        ]
        row = np.concatenate(blocks, axis=1)
        demand(row.shape == (1, len(prototypes)), f"the measure gave an array of shape {row.shape}")
        demand(np.isfinite(row).all(), "the measure gave NaN or infinity")
        return float(fuzzy.log_membership(row)[0])


def check_trial(score: float | None, known: Any) -> None:
    """Demand that the first training pattern scores as it did when the model was saved.

    What the other checks have missed shows here and not in somebody's night run, and so does a measure passed again
    that is not the one of the fit.

    >>> check_trial(-0.5, -0.5), check_trial(None, None)
    (None, None)
    """
    demand(type(known) is float or known is None, "first_score must be a number or null")
    demand(
        (score is None) == (known is None), "first_score must be null where patterns are too large to try, only there"
    )
    if score is not None:
        demand(
            math.isclose(score, known, rel_tol=SAME_SCORE, abs_tol=SAME_SCORE),
            f"the first training pattern scores {score:.6g} and not {known:.6g} as it did",
        )


def work(fitted: Any, prototypes: Any) -> int:
    """Return about how many cells it takes to compare the first pattern with all; 0 where that is as long as the file.

    >>> work(FittedStringEdit(), ["oak", "maple"])
    1024
    """
    if type(fitted) is FittedComposite:
        return sum(work(part, prototypes.parts[name]) for name, part in fitted.measures.items())
    reckon = _WORK.get(type(fitted))
    return 0 if reckon is None else int(reckon(fitted, prototypes))


def _is_known(fitted: Any) -> bool:
    if type(fitted) is FittedComposite:
        return all(map(_is_known, fitted.measures.values()))
    return type(fitted) in FROZEN_CLASSES


def _string_work(fitted: FittedStringEdit, patterns: Any) -> int:
    # Also the square of the first: each of its symbols has a row of marks as long as itself.
    first, total = len(patterns[0]), sum(map(len, patterns))
    return max(first, LONGEST) * max(first, total)


def _series_work(fitted: FittedDTW, patterns: Any) -> int:
    lengths = np.array([len(one) for one in patterns], np.float64)
    band = 2 * fitted.band * np.maximum(lengths, lengths[0]) + 1 + np.abs(lengths - lengths[0])
    return int((lengths[0] * np.minimum(lengths, band) + lengths).sum()) * fitted.n_parameters


def _graph_work(fitted: FittedGraphEdit, patterns: Any) -> int:
    vertices: list[int] = [graph.n_vertices for graph in patterns]
    edges = [len(graph.edges) for graph in patterns]
    texts = [_text_length(fitted, graph) for graph in patterns]
    # Where all vertices are alike, each pair that is chosen has all the others searched again.
    pairs = sum(vertices[0] * n * min(vertices[0], n) for n in vertices)
    n_columns = VERTEX_ARRAYS + sum(map(_n_attributes, (fitted.vertex, fitted.edge)))
    columns = n_columns * (sum(vertices) + sum(edges))
    return pairs + max(vertices) ** 2 + edges[0] * sum(edges) + columns + texts[0] * sum(texts)


def _n_attributes(schema: Schema) -> int:
    return len(schema.numbers) + len(schema.categories) + len(schema.texts)


def _text_length(fitted: FittedGraphEdit, graph: Any) -> int:
    sides = ((fitted.vertex, graph.vertex_attributes), (fitted.edge, graph.edge_attributes))
    values = (value for schema, given in sides for name in schema.texts for value in given.get(name, ()))
    return sum(len(value) if isinstance(value, str) else 1 for value in values)


_WORK: dict[type, Callable[[Any, Any], int]] = {
    FittedDTW: _series_work,
    FittedGraphEdit: _graph_work,
    FittedStringEdit: _string_work,
}
