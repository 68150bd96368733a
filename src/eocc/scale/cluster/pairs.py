"""Blocks of an expensive dissimilarity matrix as tasks; the result is bit-identical to that of one machine."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from eocc.foundation.types import Matrix
from eocc.measures.composite import FittedComposite, PreparedComposite
from eocc.measures.fixed import FixedPrepared
from eocc.measures.function import FittedFunction, FunctionMeasure
from eocc.measures.graphs import FittedGraphEdit
from eocc.measures.linear import LinearPrepared
from eocc.measures.protocol import FittedMeasure, Measure, Prepared
from eocc.measures.strings import FittedStringEdit
from eocc.scale.cluster.client import cancelled_on_error, current, given, given_tasks, n_slots
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

    These are pairs of graphs, of strings and of functions of two objects, also as parts of records.

    >>> from eocc.measures import StringEdit
    >>> prepare(StringEdit().fit(["oak"]), ["oak", "oaks"], ["oak"]).evaluate(np.ones(3))
    array([[0.  ],
           [0.25]])
    """
    client = current()
    n_pairs = len(patterns) * len(patterns if prototypes is None else prototypes)
    if client is None or n_pairs < WORTH_SENDING:
        return measure.prepare(patterns, prototypes)
    if isinstance(measure, FittedComposite):
        parts = [
            prepare(part, patterns.parts[name], None if prototypes is None else prototypes.parts[name])
            for name, part in measure.measures.items()
        ]
        return PreparedComposite(parts, [part.n_parameters for part in measure.measures.values()])
    if isinstance(measure, FittedFunction) and not measure.knows(patterns, prototypes):
        plain = FittedFunction(measure.function, measure.largest, [])  # without its table, which need not travel
        return FixedPrepared(_matrix(client, plain, patterns, prototypes)[0])
    if isinstance(measure, FittedGraphEdit):
        return LinearPrepared(_matrix(client, measure, patterns, prototypes))
    if isinstance(measure, FittedStringEdit):  # not symmetric: insertions one way are deletions the other
        return LinearPrepared(_matrix(client, measure, patterns, patterns if prototypes is None else prototypes))
    return measure.prepare(patterns, prototypes)


@dataclass(frozen=True)
class _SpreadFunction:
    """A function of two objects as a measure whose training pairs are computed on the cluster."""

    measure: FunctionMeasure

    def fit(self, training: Sequence[Any]) -> FittedFunction:
        return self._fitted(training, None)

    def fit_against(self, training: Sequence[Any], prototypes: Sequence[Any]) -> FittedFunction:
        return self._fitted(training, prototypes)

    def _fitted(self, training: Sequence[Any], prototypes: Sequence[Any] | None) -> FittedFunction:
        self.measure._check_symmetry(training)
        pairs = prepare(FittedFunction(self.measure.function, 1.0, []), training, prototypes)
        return FittedFunction.of_table(self.measure.function, training, prototypes, pairs.evaluate(np.empty(0)))


def spread_measure(measure: Measure) -> Measure:
    """Return the measure, or one that is fitted on the cluster in use if its fit compares all pairs."""
    is_costly = current() is not None and isinstance(measure, FunctionMeasure)
    return _SpreadFunction(measure) if is_costly and isinstance(measure, FunctionMeasure) else measure


def _matrix(client: Any, measure: FittedMeasure, patterns: Any, prototypes: Any) -> Matrix:
    """Return the components (u, n, r), block by block; without prototypes a block also gives its transpose."""
    n, r = len(patterns), len(patterns if prototypes is None else prototypes)
    blocks = _triangle(n, n_slots(client)) if prototypes is None else _strips(n, r, n_slots(client))
    held = [given(client, data) for data in (measure, patterns, prototypes)]
    tasks = given_tasks(client, _block, [(*held, block) for block in blocks])
    matrix: Matrix | None = None
    with cancelled_on_error(client, tasks):
        for (rows, columns), task in zip(blocks, tasks, strict=True):
            forth, back = task.result()
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
    back = np.ascontiguousarray(forth.transpose(0, 2, 1))
    if isinstance(measure, FittedGraphEdit):
        _redo_equal_sizes(measure, patterns[columns], patterns[rows], back)
    return forth, back


def _components(measure: Any, patterns: Any, prototypes: Any) -> Matrix:
    prepared = measure.prepare(patterns, prototypes)
    found: Matrix = prepared.dissimilarities[None] if isinstance(prepared, FixedPrepared) else prepared.components
    return found


def _redo_equal_sizes(measure: FittedGraphEdit, graphs: Any, others: Any, components: Matrix) -> None:
    """Compute pairs of graphs of equal size again: they depend on the order, as no graph is the smaller one."""
    sizes, other_sizes = (np.array([graph.n_vertices for graph in group]) for group in (graphs, others))
    for size in np.intersect1d(sizes, other_sizes):
        here, there = np.flatnonzero(sizes == size), np.flatnonzero(other_sizes == size)
        components[:, here[:, None], there] = measure.prepare(graphs[here], others[there]).components
