"""One cell of a comparison: a system, one row each, on one run of a data set -> its results."""

import hashlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from eocc.base.types import Flags, Indices, Matrix
from eocc.classifiers.entropic import PRINTED, EntropicOneClassClassifier
from eocc.classifiers.regions import RegionClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.experiments.protocol import ALL_ROWS, Labelled, Source, TableSource, Trial, UciSource, as_distances, rng_of
from eocc.measures import MEASURES
from eocc.measures.labelled_graph import LabelledGraph
from eocc.rivals import RIVALS
from eocc.rivals.base import DistanceRival


@dataclass(frozen=True)
class System:
    """A classifier: how to make it from (seed, generations, measure), and which labelled rows it sees.

    `validation` is None, "leaking" or "honest": see `eocc.experiments.protocol`. `is_entropic` systems search for
    weights, validate on labelled rows, and their model is regions; others train on labelled rows. A system that is
    another reading of a printed one names it in `variant_of`: it is shown next to the same printed figures, and not
    ranked. One that is `normalised_by_all` is also run, once, on published sets that are normalised by all their rows.
    `kinds` of data are "rows" and "graphs", which are compared by the measure `graphs_by`.
    """

    name: str
    make: Callable[[int, int, Any], Any]
    validation: str | None = None
    is_entropic: bool = False
    variant_of: str = ""
    normalised_by_all: bool = False
    kinds: tuple[str, ...] = ("rows", "graphs")
    graphs_by: str = "graph-edit"

    @property
    def has_seed(self) -> bool:
        """Whether results depend on a seed."""
        return "random_state" in self.make(0, 1, "euclidean").get_params()

    def fit_on(self, trial: Trial, estimator: Any) -> Any:
        """Fit the estimator to the training targets, and to the labelled rows that it may see."""
        if self.validation is None:
            return estimator.fit(trial.training)
        seen, own = getattr(trial, self.validation), trial.training
        if self.is_entropic:
            return estimator.fit(own, validation=seen)
        both = np.vstack([own, seen.patterns]) if isinstance(own, np.ndarray) else [*own, *seen.patterns]
        return estimator.fit(both, np.append(np.ones(len(own), np.int64), seen.y))


def can_run(system: System, source: Source) -> bool:
    """Return whether the system takes the source's data; sets with their own validation rows need no honest variant."""
    return source.kind in system.kinds and not (source.ships_validation and system.validation == "honest")


def forms_of(system: System, source: Source) -> tuple[str, ...]:
    """Return the normalisations of a source in which the system is run."""
    if not can_run(system, source):
        return ()
    # Not Abalone, which takes too long. departure: normalisation
    is_short = isinstance(source, UciSource) and source.repetitions > 1 and not source.variant_of
    return (*source.normalisations, *([ALL_ROWS] if system.normalised_by_all and is_short else []))


def _ours(name: str, kind: Any, validation: str | None = None) -> System:
    return System(name, lambda seed, generations, measure: kind(measure=measure), validation)


def _entropic(name: str, synthesis: str = "entropy", changes: Any = None, **facts: Any) -> System:
    """Return EOCC-1 or EOCC-2 as printed, with `changes` of its parameters; `generations` may shorten the search."""

    def make(seed: int, generations: int, measure: Any) -> EntropicOneClassClassifier:
        search = replace(PRINTED["search"], max_generations=generations)
        settings = {"measure": measure, "random_state": seed, "search": search, **(changes or {})}
        return EntropicOneClassClassifier.as_printed(synthesis, **settings)

    return System(name, make, is_entropic=True, **facts)


def _rival(name: str, row: str = "", **settings: Any) -> System:
    def make(seed: int, generations: int, measure: Any) -> Any:
        rival = RIVALS[name](**settings)
        wanted: dict[str, Any] = {"random_state": seed} if "random_state" in rival.get_params() else {}
        if measure != "euclidean":
            wanted["metric"] = "precomputed"  # the dissimilarities of the set, computed once
        return rival.set_params(**wanted)

    takes_graphs = issubclass(RIVALS[name], DistanceRival) and not row
    kinds = ("rows", "graphs") if takes_graphs else ("rows",)
    return System(row or name, make, kinds=kinds, variant_of=name if row else "")


_ROWS = (
    _ours("Surprise", SurpriseClassifier),
    _ours("Surprise_10%", SurpriseClassifier, "honest"),
    _ours("Regions", RegionClassifier),
    _entropic("EOCC-1", normalised_by_all=True),
    # The other reading of Algorithm 1. departure: first cut
    _entropic("EOCC-1 (one region allowed)", changes={"first_cut": "if-better"}, variant_of="EOCC-1"),
    _entropic("EOCC-1 (p = 1)", changes={"search": None}, variant_of="EOCC-1"),
    _entropic("EOCC-2", "validation", validation="leaking", normalised_by_all=True),
    _entropic("EOCC-2_10%", "validation", validation="honest"),
    # The other edit scheme. departure: edit scheme
    _entropic("EOCC-1 (TWEC)", variant_of="EOCC-1", kinds=("graphs",), graphs_by="twec"),
    _entropic("EOCC-2 (TWEC)", "validation", variant_of="EOCC-2", validation="leaking", kinds=("graphs",),
              graphs_by="twec"),
    *map(_rival, RIVALS),
    # dd_tools' settings, behind the printed figures; the default is better on most sets.
    _rival("MPM", "MPM as printed", width=1.0, regularisation=1e-6),
)  # fmt: skip
SYSTEMS = {system.name: system for system in _ROWS}


@dataclass(frozen=True)
class Cell:
    """What to run. Equal cells give equal results, except for times. `code` is the fingerprint of what it runs."""

    source: Source = field(repr=False)
    normalisation: str
    system: str
    run: int
    seed: int
    generations: int
    code: str = ""

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of the cell on disk."""
        # On a fixed split, a system without a seed gives the same results in every run.
        run = self.run if self.source.n_folds > 1 or SYSTEMS[self.system].has_seed else 0
        what = (self.source.identity, self.normalisation, self.system, run, self.seed, self.generations)
        return (*what, self.code)


@dataclass(frozen=True)
class Figures:
    """The results of a cell: NaN and a `reason` if it failed.

    `regions` and `generations` of the search are those of EOCC-1 and EOCC-2.
    """

    auc: float = np.nan
    accuracy: float = np.nan
    precision: float = np.nan
    recall: float = np.nan
    f_measure: float = np.nan
    regions: float = np.nan
    generations: float = np.nan
    fit_seconds: float = np.nan
    score_seconds: float = np.nan
    reason: str = ""


class Outcome(NamedTuple):
    """A fitted system and its scores of the test rows, with the seconds of processor time that both took."""

    trial: Trial
    estimator: Any
    scores: Matrix
    accepted: Flags
    fit_seconds: float
    score_seconds: float


def run_cell(cell: Cell) -> Figures:
    """Fit and test. If the system raises an error, its first line is the reason."""
    system = SYSTEMS[cell.system]
    try:
        trial, estimator, scores, accepted, *seconds = outcome_of(cell)
        rows = trial.honest_test if system.validation == "honest" else np.arange(len(trial.test.y))
        searched = (len(estimator.regions_), len(estimator.history_)) if system.is_entropic else (np.nan, np.nan)
        measured = measured_quality(trial.test.y[rows], scores[rows], accepted[rows])
        figures: list[Any] = [*measured, *map(float, searched), *seconds]
        return Figures(*figures)
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return Figures(reason=f"{type(error).__name__}: {first}")


def outcome_of(cell: Cell) -> Outcome:
    """Fit the system to the trial of the cell, and score the test rows."""
    system = SYSTEMS[cell.system]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings would break the progress bar
        trial = cell.source.trial(cell.normalisation, cell.seed, cell.run)
        seed = int(rng_of(cell.seed, "system", cell.run).integers(2**31))
        estimator = system.make(seed, cell.generations, trial.measure(system.graphs_by))
        test = trial.test.patterns
        if getattr(estimator, "metric", None) == "precomputed":
            training, test = as_distances(cell.source)
            trial = replace(trial, training=training)
        started = time.process_time()
        system.fit_on(trial, estimator)
        fitted = time.process_time()
        # decision_function subtracts the offset, which may round small scores away.
        scores = estimator.score_samples(test)
        scored = time.process_time()
        accepted = estimator.decision_function(test) >= 0
        return Outcome(trial, estimator, scores, accepted, fitted - started, scored - fitted)


def measured_quality(y: Indices, scores: Matrix, accepted: Flags) -> tuple[float, ...]:
    """Return AUC of the scores; accuracy, precision, recall and F of the decisions."""
    if len(np.unique(y)) < 2:
        raise ValueError(f"the test set holds {'targets' if y[0] == 1 else 'outliers'} only; a run needs both kinds")
    decisions = precision_recall_fscore_support(y == 1, accepted, average="binary", zero_division=0.0)[:3]
    return tuple(map(float, (roc_auc_score(y == 1, scores), (accepted == (y == 1)).mean(), *decisions)))


@cache
def fingerprint(system: str, kind: str) -> str:
    """Return 12 hexadecimal digits for what a system computes on small made-up data of a kind, "rows" or "graphs".

    Results on disk are valid as long as it is the same. It does not change if code is moved, renamed or made faster. A
    change that shows on none of the made-up data goes unnoticed: delete the results of the systems it concerns.
    """
    digest = hashlib.sha256()
    for source in (_GraphSource("graphs"),) if kind == "graphs" else _tables():
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


def _tables() -> tuple[TableSource, TableSource]:
    """Return two clusters with copies, integers and two values, outliers near and far; and more columns than rows."""
    rng = np.random.default_rng(0)
    targets = rng.normal(size=(60, 4)) + 6 * (np.arange(60)[:, None] % 3 == 0)
    others = rng.normal(size=(25, 4)) * 2 + 3
    for rows in (targets, others):
        rows[:, 1], rows[:, 2] = rows[:, 1].round(), rows[:, 2] > 0
    targets[50:55] = targets[:5]
    wide = np.random.default_rng(1).normal(size=(32, 40))
    return _table("rows", targets, others), _table("wide rows", wide[:20], wide[20:] + 0.5)


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
