"""The classifiers that are compared, one row each."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eocc.classifiers.entropic import EntropicOneClassClassifier
from eocc.classifiers.entropic_settings import PRINTED
from eocc.classifiers.regions import RegionClassifier
from eocc.classifiers.surprise import SurpriseClassifier
from eocc.experiments.protocol import ALL_ROWS, Source, Trial, UciSource
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


def _surprise(seed: int, generations: int, measure: Any) -> SurpriseClassifier:
    return SurpriseClassifier(measure=measure)


def _regions(seed: int, generations: int, measure: str) -> RegionClassifier:
    return RegionClassifier(measure=measure)


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
    System("Surprise", _surprise),
    System("Surprise_10%", _surprise, "honest"),
    System("Regions", _regions),
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
