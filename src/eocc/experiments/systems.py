"""The classifiers that are compared, one row each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.regions import RegionClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.experiments.protocol import Source, Trial
from eocc.rivals import RIVALS
from eocc.rivals.base import DistanceRival
from eocc.search.genetic import GeneticSearch


@dataclass(frozen=True)
class System:
    """A classifier: how to make it from (seed, generations, measure), and which labelled rows it sees.

    `validation` is None, "leaking" or "honest": see `eocc.experiments.protocol`. `is_entropic` systems search for
    weights, validate on labelled rows, and their model is regions; others train on labelled rows. `printed_as` is the
    rival whose settings behind the printed figures it has; such a system is shown, but not ranked.
    """

    name: str
    make: Callable[[int, int, str], Any]
    validation: str | None = None
    is_entropic: bool = False
    takes_any_measure: bool = True
    printed_as: str = ""

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
    if source.measure != "euclidean" and (system.printed_as or not system.takes_any_measure):
        return False
    return not (source.ships_validation and system.validation == "honest")


def _surprise(seed: int, generations: int, measure: str) -> SurpriseClassifier:
    return SurpriseClassifier(measure=measure)


def _regions(seed: int, generations: int, measure: str) -> RegionClassifier:
    return RegionClassifier(measure=measure)


def _entropic(name: str, synthesis: str, validation: str | None = None, first_population: str = "random") -> System:
    def make(seed: int, generations: int, measure: str) -> EntropicOneClassClassifier:
        search = GeneticSearch(max_generations=generations, first_population=first_population)
        return EntropicOneClassClassifier(
            measure=measure,
            synthesis=synthesis,
            precision="single",  # nearly always the same search as in double precision, in less time
            search=search,
            random_state=seed,
        )

    return System(name, make, validation, is_entropic=True)


def _rival(name: str, row: str = "", **settings: Any) -> System:
    def make(seed: int, generations: int, measure: str) -> Any:
        rival = RIVALS[name](**settings)
        wanted: dict[str, Any] = {"random_state": seed} if "random_state" in rival.get_params() else {}
        if measure != "euclidean":
            wanted["metric"] = "precomputed"  # the dissimilarities of the set, computed once
        return rival.set_params(**wanted)

    takes_any_measure = issubclass(RIVALS[name], DistanceRival)
    return System(row or name, make, takes_any_measure=takes_any_measure, printed_as=name if row else "")


_ROWS = (
    System("Surprise", _surprise),
    System("Surprise_10%", _surprise, "honest"),
    System("Regions", _regions),
    _entropic("EOCC-1", "entropy"),
    _entropic("EOCC-2", "validation", "leaking"),
    _entropic("EOCC-2_10%", "validation", "honest"),
    # The default of the estimator: one individual of all ones in the first population.
    _entropic("EOCC-1 from ones", "entropy", first_population="ones"),
    _entropic("EOCC-2 from ones", "validation", "leaking", first_population="ones"),
    *map(_rival, RIVALS),
    # dd_tools' settings, behind the printed figures; the default is better on most sets.
    _rival("MPM", "MPM as printed", width=1.0, regularisation=1e-6),
)
SYSTEMS = {system.name: system for system in _ROWS}
