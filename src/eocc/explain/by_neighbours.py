"""Why the surprise of a row is low or high."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from eocc.base.types import Matrix
from eocc.base.wording import all_finite, counted, finite, format_number, share
from eocc.entropic.rules import Scores
from eocc.explain.by_views import Seen, seen_by
from eocc.explain.explanation import Explanation, plain_fields, scored
from eocc.explain.facts import given_columns
from eocc.explain.fitted import TrainingRow, described, exemplars_of, training_row
from eocc.explain.reasons import Reason, difference_reasons, least_usual
from eocc.measures.difference import MOST_NAMED, Difference, PendingDifference
from eocc.neighbours.in_rows import Nearest
from eocc.surprise.comparison import Comparison
from eocc.surprise.model import NEIGHBOURS, SurpriseModel
from eocc.surprise.neighbours import Weighting, neighbourhood_sizes


@dataclass(frozen=True)
class Neighbourhood:
    """The nearest training rows of a row under one weighting of the dissimilarity.

    The `sizes[i]` nearest lie within `distances[i]`; in the median over left-out training rows, within `medians[i]`.
    The nearest `n_local` lie `local_ratio` times as far away as they lie from their own nearest. `difference` is from
    the `neighbour`, the nearest of all.
    """

    sizes: tuple[int, ...]
    distances: tuple[float, ...]
    medians: tuple[float, ...]
    n_local: int
    local_ratio: float
    neighbour: TrainingRow
    comparison: PendingDifference = field(compare=False)

    @property
    def difference(self) -> Difference:
        """What makes the row differ from the neighbour."""
        return self.comparison.difference

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return plain_fields(self)


@dataclass(frozen=True)
class OutlierComparison:
    """What the comparison with `n_known` outliers adds to the surprise, and the nearest of them by `index`."""

    amount: float
    n_known: int
    index: int
    dissimilarity: float


@dataclass(frozen=True, repr=False)
class NeighbourExplanation(Explanation):
    """A decision by the surprise among the nearest training rows.

    A row with a `surprise` above `threshold` is rejected. Of `n_left_out` training rows, each left out of its own
    neighbours, (n_left_out + 1) * `p_value` - 1 are at least as surprising; these are all `n_training` rows, or a part
    of them that is evenly spaced in the order of their surprise. `views` are the numbers of the views by name, in
    standard units less their handicaps; the largest is the surprise, if there are no labels. There is one of
    `neighbourhoods` for the given weights and, unless it would be the same, one for the variance-equalised weights.
    `outliers` is None if no outliers are known. `answered` is what answers on similar rows add to the surprise.
    `n_prototypes` is None if every training row is a prototype.
    """

    surprise: float
    threshold: float
    neighbourhoods: tuple[Neighbourhood, ...]
    views: dict[str, float]
    outliers: OutlierComparison | None
    answered: float = 0.0
    n_prototypes: int | None = None

    @property
    def certainty(self) -> str:
        """The p-value in words, and whether an answer or known outliers decide."""
        decide = self.outliers is not None and not self.is_target and 2 * self.outliers.amount > self.surprise
        rarity = super().certainty
        if self.is_target and self.surprise - self.answered > self.threshold:
            return f"{rarity}, because a similar row was answered as normal"
        return f"{rarity}, and similar to known outliers" if decide else rarity

    @property
    def decision(self) -> str:
        """The decision in words."""
        said = "accepted" if self.is_target else "rejected"
        return f"{said}: {format_number(self.how_far_out)} times as far out as the limit"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The nearest training row."""
        return f"nearest {self._row} {self.exemplars[0].name}", self.exemplars[0]

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        return f"Nearest {self._row}{'' if len(self.exemplars) == 1 else 's'}:"

    def notes(self) -> list[str]:
        """Return the distances and the sum, one paragraph each."""
        return [self._distances_in_words(), self._sum_in_words()]

    @property
    def _row(self) -> str:
        return "training row" if self.n_prototypes is None else "prototype"

    def _distances_in_words(self) -> str:
        near = self.neighbourhoods[0]
        distances, medians = (", ".join(map(format_number, values)) for values in (near.distances, near.medians))
        rows, they = f"{', '.join(map(str, near.sizes))} nearest {self._row}s lie", "these lie"
        if len(near.sizes) == 1:
            rows, they = f"nearest {self._row} lies", "it lies"
        profile = f"Its {rows} within {distances}; for a typical training row {they} within {medians}."
        lies, own = ("nearest lies", "its") if near.n_local == 1 else (f"{near.n_local} nearest lie", "their")
        times = f"{format_number(near.local_ratio)} times as far from it as from {own} own nearest"
        return f"{profile} Its {lies} {times}{''.join(map(self._equalised_in_words, self.neighbourhoods[1:]))}."

    def _equalised_in_words(self, near: Neighbourhood) -> str:
        text, found = f"; with variance-equalised weights, {format_number(near.local_ratio)} times", near.difference
        greatest = max(found.contributions, key=lambda one: one.amount, default=None)
        if greatest is None or not greatest.amount > 0:
            return text
        return f"{text}, mostly by {greatest.text} ({share(greatest.amount, found.dissimilarity).strip()})"

    @property
    def loudest(self) -> list[str]:
        """The names of the views, that of the largest number first."""
        return sorted(self.views, key=lambda name: -self.views[name])

    @property
    def decided_by(self) -> str:
        """The name of the view with the largest number."""
        return self.loudest[0]

    def _sum_in_words(self) -> str:
        views = ", ".join(f"{name} {format_number(value)}" for name, value in self.views.items())
        text = f"Surprise {format_number(self.surprise)}, limit {format_number(self.threshold)}. "
        text += f"The largest view counts: {views}." if len(self.views) > 1 else f"Its only view: {views}."
        if self.outliers is not None:
            own = self.surprise - self.outliers.amount - self.answered
            text += f" With labels it counts {format_number(own)}."
            known, amount = counted(self.outliers.n_known, "known outlier"), format_number(self.outliers.amount)
            nearest = f"the nearest at dissimilarity {format_number(self.outliers.dissimilarity)}"
            text += f" The comparison with {known}, {nearest}, adds {amount}."
        return f"{text} Answers on similar rows add {format_number(self.answered)}." if self.answered else text


def explain_by_neighbours(classifier: Any, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected; docs/guides/explanations.md shows one."""
    model: SurpriseModel = classifier.surprise_model_
    rows, near = model.compare(patterns)
    view, views = model.surprise.neighbours, all_finite(model.surprise.views(rows, near)).tolist()
    surprises = model.surprises_compared(rows, near)
    answered = np.zeros(len(patterns)) if model.correction is None else model.correction.of(rows.patterns)
    scores = Scores.of_ratios(model.threshold.ratios(surprises), classifier.membership_function_)
    # Infinite where a row is the prototype itself, or a copy of it: such a row is compared with the others.
    distances = [rows.rows(weighting.weights) for weighting in view.weightings]
    by_weighting = map(partial(_neighbourhoods, classifier, patterns), view.weightings, near, distances)
    outliers, largest = _outlier_comparisons(model, rows, near), view.by_weighting(near).argmax(axis=1)
    active, exemplars = sum(one.weights for one in view.weightings), exemplars_of(classifier, distances[0])
    by_column = least_usual(classifier, patterns, np.asarray(active), distances[0])
    numbers = (all_finite(one).tolist() for one in (surprises, answered))
    columns = zip(scored(classifier, scores), *numbers, zip(*by_weighting, strict=True), strict=True)
    found, given = list[Explanation](), list(given_columns(classifier, patterns).values())
    for i, (said, surprise, answer, near_rows) in enumerate(columns):
        explanation = NeighbourExplanation(
            **said, comparison=near_rows[0].comparison, exemplars=exemplars[i], reasons=(), lead="", surprise=surprise,
            threshold=model.threshold.value, neighbourhoods=near_rows,
            views=dict(zip(model.surprise.names, views[i], strict=True)), outliers=outliers[i], answered=answer,
            n_prototypes=None if classifier._is_whole else len(classifier.prototypes_),
        )  # fmt: skip
        by_row = by_column[i] if by_column else None
        look = partial(seen_by, model, rows, i, classifier._feature_names, given, distances[0][i])
        seen = _first_to_speak(explanation, by_row, look)
        seen = seen or (_compared(classifier, near_rows[largest[i]]) if by_row is None else ("", by_row))
        found.append(replace(explanation, lead=seen[0], reasons=seen[1]))
    return found


def _first_to_speak(
    explanation: NeighbourExplanation, by_row: tuple[Reason, ...] | None, seen_by_view: Callable[[str], Seen | None]
) -> Seen | None:
    """Return what the largest view above the limit saw, and then the reasons `by_row`; None if these say it all.

    The neighbours say it by a value that stands out. If none does, the next view may.
    """
    of_views = explanation.views
    # The limit of a model with labels is that of another sum: 2 is about the limit without them.
    limit = explanation.threshold if explanation.outliers is None else 2.0
    loud = [name for name in explanation.loudest if of_views[name] > limit and not explanation.is_target]
    for name in loud:
        if name == NEIGHBOURS and (not by_row or by_row[0].stands_out):
            return None
        seen = seen_by_view(name)
        if seen is not None:
            (lead, first), known = seen, {one.name for one in seen[1]}
            others = tuple(one for one in by_row or () if one.name not in known)
            if first and others:  # the shares fall, and add up to what they do alone
                left = 1 - sum(one.share for one in by_row or () if one.name in known)
                others = tuple(replace(one, share=one.share / max(left, one.share)) for one in others)
                part = min(1.0, first[-1].share / others[0].share)
                first = tuple(replace(one, share=one.share / (1 + part)) for one in first)
                others = tuple(replace(one, share=one.share * part / (1 + part)) for one in others)
            return lead, (*first, *others)[:MOST_NAMED]
    return None


def _compared(classifier: Any, near: Neighbourhood) -> Seen:
    name, (far, usual) = near.neighbour.name, (format_number(one[0]) for one in (near.distances, near.medians))
    text = f"The most similar normal row, {name}, is {far} away; normal rows usually have one within {usual}."
    description = described(classifier, classifier.prototypes_, near.neighbour.column)
    return difference_reasons(near.difference, name, description, otherwise=text)


def _neighbourhoods(
    classifier: Any, patterns: Any, weighting: Weighting, near: Nearest, distances: Matrix
) -> list[Neighbourhood]:
    profiles, squares = weighting.profile_and_ratio(near)
    profiles, ratios, found = all_finite(profiles), np.sqrt(squares).tolist(), []
    measure, weights, names = classifier.measure_, weighting.weights, classifier._feature_names
    sizes = tuple(neighbourhood_sizes(len(weighting.local_scales) - 1).tolist())
    medians = tuple(weighting.median_profile.tolist())
    for i, column in enumerate(distances.argmin(axis=1).tolist()):
        prototype = classifier.prototypes_[column : column + 1]
        neighbour = training_row(classifier, distances[i], column)
        comparison = PendingDifference(measure, patterns[i : i + 1], prototype, weights, names, "neighbour")
        profile = tuple(profiles[i].tolist())
        found.append(Neighbourhood(sizes, profile, medians, weighting.needed[1], ratios[i], neighbour, comparison))
    return found


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, near: list[Nearest]) -> list[OutlierComparison | None]:
    if model.outliers is None or model.likelihood_ratio is None:
        return [None] * len(rows.patterns)
    amounts = model.likelihood_ratio.amounts(model.labelled(rows, near))[:, 1:].sum(axis=1)
    distances = model.outliers.compare_fully(rows.patterns).rows(model.normal.weightings[0])
    return [
        OutlierComparison(finite(amount), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]
