"""The largest dissimilarity between training patterns and prototypes, by which unbounded measures are divided."""

from typing import Any

import numpy as np

from eocc.measures.protocol import FittedMeasure

# A block holds about this many dissimilarities, 16 MiB.
BLOCK_SIZE = 2**21


def largest_against(measure: FittedMeasure, training: Any, prototypes: Any) -> float:
    """Return the largest d(x, r; 1) of a training pattern x and a prototype r, one block of patterns at a time.

    >>> from eocc.measures.euclidean import FittedEuclidean
    >>> from eocc.measures.unit import Unit
    >>> rows = np.array([[0.0], [3.0], [4.0]])
    >>> largest_against(FittedEuclidean(Unit(np.zeros(1), 0), 1.0), rows, rows[[1]])
    3.0
    """
    step, p = max(1, BLOCK_SIZE // len(prototypes)), np.ones(measure.n_parameters)
    blocks = (training[start : start + step] for start in range(0, len(training), step))
    return max(float(np.max(measure.prepare(block, prototypes).evaluate(p))) for block in blocks)
