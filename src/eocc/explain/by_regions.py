"""Why regions accept or reject a row: which is nearest, how far away it is, and which row is typical of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.base.types import Indices, Matrix
from eocc.base.wording import counted, finite, format_number
from eocc.explain.explanation import (
    Explanation,
    TrainingRow,
    described,
    exemplars_of,
    prototype_labels,
    reach_of,
    scored,
    training_row,
)
from eocc.explain.reasons import LEAST_SHOWN, Reason, difference_reasons, least_usual
from eocc.measures.difference import PendingDifference
from eocc.space.dissimilarity_space import distances_to


@dataclass(frozen=True, repr=False)
class RegionExplanation(Explanation):
    """A decision by regions.

    `region` is the nearest one, `distance` the distance from its centre in the `unit` of the classifier, the extents of
    the region or the widths of all regions, and `limit` the largest `how_far_out` that is accepted. `runner_up` is the
    next region with its distance, None if there is only one. `prototype` is the training row nearest to the centre of
    the region; if `keeps_rows` is false, the row is compared with the centre itself.
    """

    region: int
    n_members: int
    distance: float
    unit: str
    limit: float
    runner_up: tuple[int, float] | None
    prototype: TrainingRow
    keeps_rows: bool

    @property
    def certainty(self) -> str:
        """The p-value in words, or without one how far the nearest region is."""
        if self.p_value is not None:
            return super().certainty
        size, times = counted(self.n_members, "row"), format_number(self.how_far_out)
        group = f"the nearest group of normal rows (region {self.region}, {size})"
        if self.is_target:
            place = "at its centre" if self.how_far_out < LEAST_SHOWN else f"at {self.how_far_out:.2f} of the limit"
            return f"inside {group}, {place}"
        if times == "1":
            return f"just outside {group}"
        return f"outside {group}, {times} times as far from its centre as the limit"

    @property
    def decision(self) -> str:
        """The decision in words."""
        what, far = "accepted" if self.is_target else "rejected", format_number(self.how_far_out)
        limit = f"the limit is {format_number(self.limit)}"
        return f"{what}: {far} {self.unit} from the regions ({limit}), nearest to region {self.region}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The centre of the nearest region, or the training row nearest to it."""
        where, row = f"centre of region {self.region}", f"training row {self.prototype.name}"
        return f"{row} at the {where}" if self.keeps_rows else f"{where}, near {row}", self.prototype

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        if not self.exemplars:
            return f"The training row nearest to the centre of region {self.region} is {self.prototype.name}."
        return f"Most similar training rows in region {self.region}:"

    def notes(self) -> list[str]:
        """Return where the row lies relative to the regions."""
        size, far = counted(self.n_members, "training row"), format_number(self.distance)
        found = [f"The nearest region is {self.region}, of {size}; its centre is {far} {self.unit} away."]
        if self.runner_up is not None:
            other, apart = self.runner_up
            found.append(f"The next region is {other}, at {format_number(apart)} {self.unit}.")
        return found


def explain_by_regions(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why an EntropicOneClassClassifier accepts or rejects each pattern; docs/guides/explanations.md."""
    rows = classifier._embed(patterns)
    ratios = classifier.fuzzy_model_.ratios(rows)
    ranked = np.argsort(ratios, axis=1, kind="stable")[:, :2]
    centres = prototypes_of(classifier, np.unique(ranked).tolist())
    return region_explanations(classifier, patterns, rows, (ranked, ratios, centres))


def region_explanations(
    classifier: Any,
    patterns: Any,
    rows: Matrix,
    places: tuple[Indices, Matrix, Any],
    by_column: Sequence[tuple[Reason, ...]] | None = None,
) -> list[Explanation]:
    """Return the explanations of patterns, given their dissimilarities from the prototypes (`rows`).

    `places` are the two nearest regions of each pattern, its distances from all regions, and the column of the
    prototype of each region. Unless reasons `by_column` are given, each pattern is compared with the members of the
    nearest region, and, if its values have no reasons, with the prototype of that region.
    """
    (ranked, distances, centres), keeps_rows = places, classifier._keeps_training_rows
    near: list[tuple[TrainingRow, ...]] = [()] * len(patterns)
    if by_column is None:
        by_column = least_usual(classifier, patterns, classifier.weights_, rows)
        near = exemplars_of(classifier, np.where(prototype_labels(classifier) == ranked[:, :1], rows, np.inf))
    scores, found = scored(classifier, classifier._score_patterns(patterns)), list[Explanation]()
    for i, (said, (region, *others)) in enumerate(zip(scores, ranked.tolist(), strict=True)):
        column = centres[region]
        prototype = training_row(classifier, rows[i], column)
        comparison = PendingDifference(
            classifier.measure_, patterns[i : i + 1], classifier.prototypes_[column : column + 1], classifier.weights_,
            classifier._feature_names, "prototype" if keeps_rows else "centre",
        )  # fmt: skip
        lead, reasons = "", by_column[i] if by_column else ()
        if by_column is None:
            named = prototype.name, described(classifier, classifier.prototypes_, column)
            lead, reasons = difference_reasons(comparison.difference, *named, "typical of the nearest region")
        found.append(RegionExplanation(
            **said, comparison=comparison, exemplars=near[i], reasons=reasons, lead=lead, region=region,
            n_members=classifier.regions_[region].n_members, distance=finite(distances[i, region]),
            unit=classifier._unit, limit=reach_of(classifier.threshold_), prototype=prototype, keeps_rows=keeps_rows,
            runner_up=(others[0], finite(distances[i, others[0]])) if others else None,
        ))  # fmt: skip
    return found


def prototypes_of(classifier: Any, numbers: Sequence[int]) -> dict[int, int]:
    """Return the column of the prototype of each of these regions.

    It is the representative of the region, if that lies at the centre and is a prototype. Otherwise it is the member
    nearest to the centre, or, if no member is a prototype, the nearest of all prototypes.
    """
    known, labels, found = classifier.prototype_indices_, prototype_labels(classifier), {}
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    columns = np.searchsorted(known, representatives).clip(max=len(known) - 1)
    rows = classifier._embed(classifier.prototypes_[columns])
    for i, number in enumerate(numbers):
        centre, column = classifier.fuzzy_model_.centres[[number]], int(columns[i])
        # The row of a medoid, computed again, differs from the centre by rounding only.
        if known[column] != representatives[i] or distances_to(rows[[i]], centre)[0, 0] > 1e-9:
            own = np.flatnonzero(labels == number)
            candidates = own if len(own) else np.arange(len(known))
            gaps = distances_to(classifier._embed(classifier.prototypes_[candidates]), centre)
            column = int(candidates[np.argmin(gaps)])
        found[number] = column
    return found
