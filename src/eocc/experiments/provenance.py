"""What a system computes on small made-up data, as a fingerprint. Results on disk are valid as long as it is the same.

A fingerprint does not change if code is moved, renamed or made faster, so finished results survive such changes. A
change that shows on none of the made-up data goes unnoticed: delete the results of the systems it concerns.
"""

import hashlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from eocc.base.types import Matrix
from eocc.experiments.cells import SYSTEMS, Cell, can_run, outcome_of
from eocc.experiments.protocol import Labelled, Source, TableSource, Trial
from eocc.measures import MEASURES
from eocc.measures.labelled_graph import LabelledGraph


@cache
def fingerprint(system: str, kind: str) -> str:
    """Return 12 hexadecimal digits for what a system computes on data of a kind, "rows" or "graphs"."""
    digest = hashlib.sha256()
    for source in (_GraphSource("graphs"),) if kind == "graphs" else (_rows(), _wide_rows()):
        for form in source.normalisations if can_run(SYSTEMS[system], source) else ():
            outcome = outcome_of(Cell(source, form, system, 1, 0, generations=2))
            digest.update(_rounded(outcome.scores).tobytes() + outcome.accepted.tobytes())
            digest.update(_rounded(np.concatenate([outcome.trial.honest_test, outcome.trial.test.y])).tobytes())
    return digest.hexdigest()[:12]


def _rounded(scores: Matrix) -> Matrix:
    """Return the numbers with a few digits; 0 is not negative."""
    # Six digits: fewer than processors agree on.
    return np.array([float(f"{score:.5e}") for score in np.asarray(scores, float)]) + 0.0


def _table(name: str, targets: Matrix, others: Matrix) -> TableSource:
    rows = tuple(map(tuple, np.vstack([targets, others]).tolist()))
    return TableSource(name, rows=rows, is_target=(True,) * len(targets) + (False,) * len(others))


def _rows() -> TableSource:
    """Return two clusters with copies, a column of integers and one of two values, and outliers near and far."""
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(60, 4)) + 6 * (np.arange(60)[:, None] % 3 == 0)
    others = rng.normal(size=(25, 4)) * 2 + 3
    for rows in (targets, others):
        rows[:, 1], rows[:, 2] = rows[:, 1].round(), rows[:, 2] > 0
    targets[50:55] = targets[:5]
    return _table("rows", targets, others)


def _wide_rows() -> TableSource:
    """Return more columns than rows."""
    rng = np.random.default_rng(1)
    return _table("wide rows", rng.normal(size=(20, 40)), rng.normal(size=(12, 40)) + 0.5)


@dataclass(frozen=True)
class _GraphSource(Source):
    """Rings and paths with labelled vertices and edges."""

    n_folds = 1
    normalisations = ("graphs",)
    kind = "graphs"
    ships_validation = True

    def trial(self, normalisation: str, seed: int, run: int) -> Trial:
        """Return rings as targets; paths are the outliers."""
        rng = np.random.default_rng(2)
        training, *tests = ([_graph(rng, is_ring) for is_ring in kinds]
                            for kinds in ([1] * 15, [1] * 5 + [0] * 5, [1] * 8 + [0] * 8))  # fmt: skip
        validation, test = (Labelled(graphs, np.repeat([1, -1], len(graphs) // 2)) for graphs in tests)
        return Trial(training, test, validation, validation, np.arange(16), lambda name: MEASURES[name]())


def _graph(rng: np.random.Generator, is_ring: int) -> LabelledGraph:
    n = int(rng.integers(3, 9))
    edges = [[k, (k + 1) % n] for k in range(n if is_ring else n - 1)]
    vertices = {"x": rng.random(n).tolist(), "kind": rng.choice(list("abc"), n).tolist()}
    return LabelledGraph(n, edges, vertices, {"w": rng.random(len(edges)).tolist()})
