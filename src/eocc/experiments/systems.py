"""The classifiers that are compared. One row each."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.experiments.protocol import Trial
from eocc.experiments.sources import Source
from eocc.rivals import RIVALS
from eocc.rivals.base import DistanceRival
from eocc.search.genetic import GeneticSearch

ENTROPIC, CLASSICAL, TODAY = "entropic", "classical", "in use today"
IN_USE_TODAY = ("One-class SVM", "Isolation forest", "LOF", "Robust covariance", "KNN (PyOD)", "ECOD (PyOD)")


@dataclass(frozen=True)
class System:
    """A classifier: how it is made from (seed, generations, measure), and what it validates on, if it does.

    One that `searches` takes longer the more generations it may.
    """

    name: str
    group: str
    make: Callable[[int, int, str], Any]
    validation: str | None = None
    takes_any_measure: bool = True
    searches: bool = False

    def fit_on(self, trial: Trial, estimator: Any) -> Any:
        """Fit the estimator to the trial's training targets, with the validation set it may see."""
        if self.validation is None:
            return estimator.fit(trial.training)
        seen = getattr(trial, self.validation)
        return estimator.fit(trial.training, validation=(seen.patterns, seen.y))


def can_run(system: System, source: Source) -> bool:
    """Say whether the system takes the source's patterns, and differs there from one that runs anyway."""
    if source.measure != "euclidean" and not system.takes_any_measure:
        return False
    return not (source.ships_validation and system.validation == "honest")


def _entropic(synthesis: str) -> Callable[[int, int, str], Any]:
    def make(seed: int, generations: int, measure: str) -> EntropicOneClassClassifier:
        return EntropicOneClassClassifier(measure=measure, synthesis=synthesis, random_state=seed)

    return make


def _as_published(synthesis: str) -> Callable[[int, int, str], Any]:
    def make(seed: int, generations: int, measure: str) -> EntropicOneClassClassifier:
        search = GeneticSearch(max_generations=generations)
        return EntropicOneClassClassifier(
            measure=measure, synthesis=synthesis, resolution="single", search=search, random_state=seed
        )

    return make


def _rival(name: str) -> Callable[[int, int, str], Any]:
    def make(seed: int, generations: int, measure: str) -> Any:
        rival = RIVALS[name]()
        known = rival.get_params()
        wanted: dict[str, Any] = {"random_state": seed} if "random_state" in known else {}
        if measure != "euclidean":
            wanted["metric"] = "precomputed"  # the set's dissimilarities, computed once for all
        return rival.set_params(**wanted)

    return make


def _rows() -> list[System]:
    entropic = [
        System("EOCC", ENTROPIC, _entropic("entropy")),
        System("EOCC_10%", ENTROPIC, _entropic("validation"), "honest"),
        System("EOCC-1", ENTROPIC, _as_published("entropy"), searches=True),
        System("EOCC-2", ENTROPIC, _as_published("validation"), "leaking", searches=True),
        System("EOCC-2_10%", ENTROPIC, _as_published("validation"), "honest", searches=True),
    ]
    rivals = [
        System(
            name,
            TODAY if name in IN_USE_TODAY else CLASSICAL,
            _rival(name),
            takes_any_measure=issubclass(RIVALS[name], DistanceRival),
        )
        for name in RIVALS
    ]
    return entropic + rivals


SYSTEMS = {system.name: system for system in _rows()}
