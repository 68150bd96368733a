"""One cell of a comparison: a system on one run of a data set -> its results."""

import time
import warnings
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_fscore_support, roc_auc_score

from eocc.experiments.protocol import Source, as_distances, rng_of
from eocc.experiments.provenance import code_digest
from eocc.experiments.systems import SYSTEMS, System
from eocc.foundation.types import Flags, Indices, Matrix


@dataclass(frozen=True)
class Cell:
    """What to run. Equal cells give equal results, except for times."""

    source: Source = field(repr=False)
    normalisation: str
    system: str
    run: int
    seed: int
    generations: int

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of the cell on disk: what to run, and a digest of the code that runs."""
        what = (self.source.identity, self.normalisation, self.system, self.run, self.seed, self.generations)
        return (*what, _code_of(self.system, self.source.measure))


@cache
def _code_of(system: str, measure: str) -> str:
    return code_digest(SYSTEMS[system].make(0, 1, measure), measure)


@dataclass(frozen=True)
class Figures:
    """The results of a cell: NaN and a `reason` if it failed.

    `generations` of the search, and `ends_at_ones`, 1 if it ended at p = 1 and otherwise 0, are those of EOCC-1 and
    EOCC-2.
    """

    auc: float = np.nan
    accuracy: float = np.nan
    precision: float = np.nan
    recall: float = np.nan
    f_measure: float = np.nan
    regions: float = np.nan
    generations: float = np.nan
    ends_at_ones: float = np.nan
    fit_seconds: float = np.nan
    score_seconds: float = np.nan
    reason: str = ""


def run_cell(cell: Cell) -> Figures:
    """Fit and test. If the system raises an error, its first line is the reason."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings would break the progress bar
            return _figures(cell, SYSTEMS[cell.system])
    except Exception as error:
        first = (str(error).splitlines() or [""])[0]
        return Figures(reason=f"{type(error).__name__}: {first}")


def _figures(cell: Cell, system: System) -> Figures:
    trial = cell.source.trial(cell.normalisation, cell.seed, cell.run)
    seed = int(rng_of(cell.seed, "system", cell.run).integers(2**31))
    estimator = system.make(seed, cell.generations, cell.source.measure)
    test = trial.test.patterns
    if getattr(estimator, "metric", None) == "precomputed":
        training, test = as_distances(cell.source)
        trial = replace(trial, training=training)
    started = time.perf_counter()
    system.fit_on(trial, estimator)
    fitted = time.perf_counter()
    scores = estimator.score_samples(test)  # decision_function subtracts the offset, which may round small ones away
    scored = time.perf_counter()
    rows = trial.honest_test if system.validation == "honest" else np.arange(len(trial.test.y))
    accepted = estimator.decision_function(test) >= 0
    measured: dict[str, Any] = measures_of(trial.test.y[rows], scores[rows], accepted[rows])
    if system.is_entropic:
        measured |= {"regions": float(len(estimator.regions_)), "generations": float(len(estimator.history_)),
                     "ends_at_ones": float((estimator.weights_ == 1).all())}  # fmt: skip
    return Figures(**measured, fit_seconds=fitted - started, score_seconds=scored - fitted)


def measures_of(y: Indices, scores: Matrix, accepted: Flags) -> dict[str, float]:
    """Return AUC of the scores; accuracy, precision, recall and F of the decisions."""
    if len(np.unique(y)) < 2:
        raise ValueError(f"the test set holds {'targets' if y[0] == 1 else 'outliers'} only; a run needs both kinds")
    decisions = precision_recall_fscore_support(y == 1, accepted, average="binary", zero_division=0.0)[:3]
    values = (roc_auc_score(y == 1, scores), (accepted == (y == 1)).mean(), *decisions)
    return dict(zip(("auc", "accuracy", "precision", "recall", "f_measure"), map(float, values), strict=True))
