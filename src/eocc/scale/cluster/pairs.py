"""Blocks of an expensive dissimilarity matrix as tasks; the result is bit-identical to that of one machine."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.measures.base import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Measure, Prepared
from eocc.scale.cluster.client import cancelled_on_error, current, gathered, given, given_tasks, n_slots, reached
from eocc.scale.cluster.pickled import Pickled

# Fewer pairs than this are not worth sending.
WORTH_SENDING = 2**12
# Tasks per slot: more would balance better, but each block prepares its patterns again.
SHARE = 4
# The smallest side of a block: a measure prepares each pattern once per block.
LEAST_SIDE = 16

Block = tuple[slice, slice]


def prepare(measure: FittedMeasure, patterns: Any, prototypes: Any = None) -> Prepared:
    """Return measure.prepare(patterns, prototypes), computed on the cluster in use if pairs are expensive.

    A measure says so by its attribute `is_costly`; one of several parts, such as Composite, asks for each part.
    """
    client = current()
    n_pairs = len(patterns) * len(patterns if prototypes is None else prototypes)
    if client is None or n_pairs < WORTH_SENDING:
        return measure.prepare(patterns, prototypes)
    if hasattr(measure, "prepare_with"):
        prepared: Prepared = measure.prepare_with(prepare, patterns, prototypes)
        return prepared
    if getattr(measure, "is_costly", False) and not measure.knows(patterns, prototypes):  # type: ignore[attr-defined]
        return LinearPrepared(_matrix(client, measure, patterns, prototypes))
    return measure.prepare(patterns, prototypes)


@dataclass(frozen=True)
class _SpreadMeasure:
    """A measure whose training pairs are computed on the cluster."""

    measure: Any

    def fit(self, training: Any) -> FittedMeasure:
        return self.fit_against(training, None)

    def fit_against(self, training: Any, prototypes: Any) -> FittedMeasure:
        fitted: FittedMeasure = self.measure.fit_with(prepare, training, prototypes)
        return fitted


def spread_measure(measure: Measure) -> Measure:
    """Return the measure, or one that is fitted on the cluster in use if its fit compares all pairs."""
    return _SpreadMeasure(measure) if current() is not None and hasattr(measure, "fit_with") else measure


def _matrix(client: Any, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return the components (u, n, r), block by block; without prototypes a block also gives its transpose."""
    n, r = len(patterns), len(patterns if prototypes is None else prototypes)
    with reached(client):
        blocks = _triangle(n, n_slots(client)) if prototypes is None else _strips(n, r, n_slots(client))
        held = [given(client, data) for data in (measure, patterns, prototypes)]
        tasks = given_tasks(client, _block, [(*held, block) for block in blocks])
    matrix: Matrix | None = None
    with cancelled_on_error(client, tasks):
        for (rows, columns), task in zip(blocks, tasks, strict=True):
            ((forth, back),) = gathered(client, [task])
            task.release()
            matrix = np.empty((len(forth), n, r)) if matrix is None else matrix
            matrix[:, rows, columns] = forth
            if back is not None:
                matrix[:, columns, rows] = back
    assert matrix is not None
    return matrix


def _strips(n: int, r: int, slots: int) -> list[Block]:
    """Return blocks of some rows and all columns."""
    return [(rows, slice(0, r)) for rows in _slices(n, max(1, min(SHARE * slots, n // LEAST_SIDE)))]


def _triangle(n: int, slots: int) -> list[Block]:
    """Return blocks that cover all pairs together with their transposes; the cheaper diagonal blocks come last."""
    count = max(1, min(int(np.ceil(np.sqrt(2 * SHARE * slots))), n // LEAST_SIDE))
    sides = _slices(n, count)
    return [(rows, columns) for k, rows in enumerate(sides) for columns in sides[:k]] + [(side, side) for side in sides]


def _slices(n: int, count: int) -> list[slice]:
    bounds = np.linspace(0, n, count + 1).astype(int).tolist()
    return [slice(*ends) for ends in pairwise(bounds)]


def _block(
    pickled_measure: Pickled, pickled_patterns: Pickled, pickled_prototypes: Pickled, block: Block
) -> tuple[Matrix, Matrix | None]:
    """Compute a block on a worker, and without prototypes also its transpose."""
    measure, patterns, prototypes = pickled_measure.open(), pickled_patterns.open(), pickled_prototypes.open()
    rows, columns = block
    if prototypes is not None:
        return _components(measure, patterns[rows], prototypes[columns]), None
    if rows == columns:
        return _components(measure, patterns[rows], None), None
    forth = _components(measure, patterns[rows], patterns[columns])
    return forth, measure.mirrored(forth, patterns[rows], patterns[columns])


def _components(measure: Any, patterns: Any, prototypes: Any) -> Matrix:
    components: Matrix = measure.prepare(patterns, prototypes).components
    return components
