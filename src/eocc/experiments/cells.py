"""One cell of a comparison: a system on one run of a data set -> its results."""

import time
import warnings
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from eocc.experiments.protocol import Source, Trial, as_distances, rng_of
from eocc.experiments.systems import SYSTEMS, System
from eocc.foundation.types import Flags, Indices, Matrix


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
    """A fitted system and its scores of the test rows, with the seconds that both took."""

    trial: Trial
    estimator: Any
    scores: Matrix
    accepted: Flags
    fit_seconds: float
    score_seconds: float


def run_cell(cell: Cell) -> Figures:
    """Fit and test. If the system raises an error, its first line is the reason."""
    try:
        return _figures(outcome_of(cell), SYSTEMS[cell.system])
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
        started = time.perf_counter()
        system.fit_on(trial, estimator)
        fitted = time.perf_counter()
        scores = estimator.score_samples(
            test
        )  # decision_function subtracts the offset, which may round small ones away
        scored = time.perf_counter()
        accepted = estimator.decision_function(test) >= 0
        return Outcome(trial, estimator, scores, accepted, fitted - started, scored - fitted)


def _figures(outcome: Outcome, system: System) -> Figures:
    trial, estimator = outcome.trial, outcome.estimator
    rows = trial.honest_test if system.validation == "honest" else np.arange(len(trial.test.y))
    measured: dict[str, Any] = measured_quality(trial.test.y[rows], outcome.scores[rows], outcome.accepted[rows])
    if system.is_entropic:
        measured |= {"regions": float(len(estimator.regions_)), "generations": float(len(estimator.history_))}
    return Figures(**measured, fit_seconds=outcome.fit_seconds, score_seconds=outcome.score_seconds)


def measured_quality(y: Indices, scores: Matrix, accepted: Flags) -> dict[str, float]:
    """Return AUC of the scores; accuracy, precision, recall and F of the decisions."""
    if len(np.unique(y)) < 2:
        raise ValueError(f"the test set holds {'targets' if y[0] == 1 else 'outliers'} only; a run needs both kinds")
    decisions = precision_recall_fscore_support(y == 1, accepted, average="binary", zero_division=0.0)[:3]
    values = (roc_auc_score(y == 1, scores), (accepted == (y == 1)).mean(), *decisions)
    return dict(zip(("auc", "accuracy", "precision", "recall", "f_measure"), map(float, values), strict=True))
