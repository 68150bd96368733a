"""Why the surprise of a row is low or high."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from eocc.explain.explanation import Explanation, plain_fields, rarity_in_words
from eocc.explain.fitted import FittedClassifier, TrainingRow, described, exemplars_among, training_row
from eocc.explain.reasons import Reason, column_reasons, difference_reasons
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, finite, format_number, share
from eocc.measures.difference import Difference, PendingDifference
from eocc.regions.memberships import MembershipFunction
from eocc.regions.scores import BOUNDARY, Scores
from eocc.surprise.comparison import Comparison, Nearest
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Weighting

PROFILE = "profile"
EQUALISED = "with variance-equalised weights"


class FittedBySurprise(FittedClassifier, Protocol):
    """What these explanations need of a classifier."""

    surprise_model_: SurpriseModel
    membership_function_: MembershipFunction


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
class Term:
    """A term that adds `amount` to the surprise; all amounts add up to it.

    `value` is in standard deviations above the average left-out training row. `weighting` is 0 for the given weights, 1
    for the variance-equalised ones, None for a density along the single weight number `weight`.
    """

    kind: str
    weighting: int | None
    weight: int | None
    value: float
    amount: float


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
    of them that is evenly spaced in the order of their surprise. There is one of `neighbourhoods` for the given weights
    and, unless it would be the same, one for the variance-equalised weights. `outliers` is None if no outliers are
    known. `n_prototypes` is None if every training row is a prototype.
    """

    surprise: float
    threshold: float
    p_value: float
    rate: float
    n_left_out: int
    n_training: int
    neighbourhoods: tuple[Neighbourhood, ...]
    terms: tuple[Term, ...]
    outliers: OutlierComparison | None
    n_prototypes: int | None = None

    @property
    def certainty(self) -> str:
        """The p-value in words, and whether known outliers decide."""
        decide = self.outliers is not None and not self.is_target and 2 * self.outliers.amount > self.surprise
        rarity = rarity_in_words(self.p_value, self.n_training, self.n_left_out)
        return f"{rarity}, and similar to known outliers" if decide else rarity

    @property
    def decision(self) -> str:
        """The decision in words."""
        is_inside = self.ratio <= BOUNDARY
        times = f"{self.ratio:.2f}" if is_inside else format_number(self.ratio)
        place = f"at {times} of the limit" if is_inside else f"{times} times as far out as the limit"
        if float(times) == 0:
            place = "far inside the limit"
        elif float(times) == 1:
            place = f"just {'inside' if is_inside else 'outside'} the limit"
        return f"{'accepted' if self.is_target else 'rejected'}: {place}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The nearest training row."""
        return f"nearest {self._row}", self.exemplars[0]

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        return f"Nearest {self._row}{'' if len(self.exemplars) == 1 else 's'}:"

    def _more_facts(self) -> dict[str, Any]:
        return {"p_value": self.p_value}

    def rarity(self) -> str:
        """Return the p-value in words."""
        n_more, rows = round(self.p_value * (self.n_training + 1)) - 1, counted(self.n_training, "training row")
        unusual = f"{n_more:,} of {rows} {'is' if n_more == 1 else 'are'}" if n_more else f"none of {rows} is"
        if self.n_left_out < self.n_training:
            unusual = f"at most about {min(n_more + 1, self.n_training):,} of {rows} are"
        return f"p-value {format_number(self.p_value)}: {unusual} as unusual when left out of the training set."

    def notes(self) -> list[str]:
        """Return the p-value, the distances and the sum, one paragraph each."""
        return [self.rarity(), self._distances_in_words(), self._sum_in_words()]

    @property
    def detail(self) -> str:
        """All of it in words."""
        rarity, *rest = self.notes()
        return self._text([rarity, self._exemplars_in_words()], f"training row {self.exemplars[0].name}", rest)

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
        text = f"; {EQUALISED}, {format_number(near.local_ratio)} times"
        greatest = max(near.difference.contributions, key=lambda one: one.amount, default=None)
        if greatest is None or not greatest.amount > 0:
            return text
        return f"{text}, mostly by {greatest.text} ({share(greatest.amount, near.difference.dissimilarity).strip()})"

    def _sum_in_words(self) -> str:
        opening = f"Surprise {format_number(self.surprise)}, limit {format_number(self.threshold)}"
        parts = {}
        for one in self.terms:
            name = f"the {'distances' if one.kind == PROFILE else 'ratio'}"
            parts[f"{name} {EQUALISED}" if one.weighting else name] = one.amount
        if self.outliers is not None:
            known, amount = counted(self.outliers.n_known, "known outlier"), self.outliers.amount
            nearest = f"the nearest at dissimilarity {format_number(self.outliers.dissimilarity)}"
            parts = {"the distances to normal rows": self.surprise - amount}
            parts[f"the comparison with {known}, {nearest}"] = amount
        return f"{opening}: {', '.join(f'{format_number(amount)} from {name}' for name, amount in parts.items())}."


def explain_by_neighbours(classifier: FittedBySurprise, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected; docs/explanations.md shows one."""
    model, calibration = classifier.surprise_model_, classifier.calibration_
    assert calibration is not None
    rows, near = model.compare(patterns)
    surprises, amounts, values = _terms(model, rows, near)
    ratios = model.threshold.ratios(surprises)
    scores = Scores.of_ratios(ratios, classifier.membership_function_)
    memberships, p_values = np.exp(scores.log_memberships), calibration.p_values(scores.margins)
    # Infinite where a row is the prototype itself, or a copy of it: such a row is compared with the others.
    distances = [rows.rows(weighting.weights) for weighting in model.surprise.weightings]
    by_weighting = map(partial(_neighbourhoods, classifier, patterns), model.surprise.weightings, near, distances)
    kinds, outliers, found = _kinds(model), _outlier_comparisons(model, rows, amounts), []
    active = np.asarray(sum(weighting.weights for weighting in model.surprise.weightings))
    by_column = column_reasons(classifier.measure_, patterns, classifier.prototypes_, active, classifier.feature_names)
    for i, neighbourhoods in enumerate(zip(*by_weighting, strict=True)):
        row = distances[0][i]
        lead, reasons = ("", by_column[i]) if by_column else _compared(classifier, neighbourhoods, amounts[i])
        explanation: Explanation = NeighbourExplanation(
            is_target=bool(scores.margins[i] >= classifier.threshold_), membership=float(memberships[i]),
            ratio=finite(ratios[i]), comparison=neighbourhoods[0].comparison,
            exemplars=exemplars_among(classifier, row, np.flatnonzero(np.isfinite(row))),
            reasons=reasons, lead=lead, surprise=finite(surprises[i]), threshold=model.threshold.value,
            p_value=float(p_values[i]), rate=calibration.rate, n_left_out=len(calibration.margins),
            n_training=classifier.n_training,
            neighbourhoods=neighbourhoods, outliers=outliers[i],
            terms=tuple(map(Term, *zip(*kinds, strict=True), map(finite, values[i]), map(finite, amounts[i]))),
            n_prototypes=None if classifier.is_whole else len(row),
        )  # fmt: skip
        found.append(explanation)
    return found


def _compared(
    classifier: FittedBySurprise, neighbourhoods: tuple[Neighbourhood, ...], amounts: Matrix
) -> tuple[str, tuple[Reason, ...]]:
    """Return the reasons, and words that introduce them: by the neighbour under the weighting that surprises most."""
    by_weighting = amounts[: 2 * len(neighbourhoods)].reshape(-1, 2).sum(axis=1)
    near = neighbourhoods[int(by_weighting.argmax())]
    name = near.neighbour.name
    if not near.difference.contributions:
        far, usual = (format_number(distances[0]) for distances in (near.distances, near.medians))
        return f"The most similar normal row, {name}, is {far} away; normal rows usually have one within {usual}.", ()
    description = described(classifier, classifier.prototypes_, near.neighbour.column)
    return difference_reasons(near.difference, name, description)


def _terms(model: SurpriseModel, rows: Comparison, near: list[Nearest]) -> tuple[Matrix, Matrix, Matrix]:
    """Return the surprise of every row, the amount of each term, and the values of the terms."""
    terms = model.surprise.terms(near)
    if model.likelihood_ratio is None:
        return model.surprise.of_terms(terms), terms * model.surprise.shares(terms), terms
    columns = model.labelled_columns(terms, rows, near)
    values = np.hstack([terms, columns[:, terms.shape[1] :]])
    return model.likelihood_ratio.of_columns(columns), columns * model.likelihood_ratio.coefficients, values


def _neighbourhoods(
    classifier: FittedBySurprise, patterns: Any, weighting: Weighting, near: Nearest, distances: Matrix
) -> list[Neighbourhood]:
    profiles, ratios, found = weighting.profile(near), np.sqrt(weighting.local_ratio(near)), []
    measure, weights, names = classifier.measure_, weighting.weights, classifier.feature_names
    sizes, medians = tuple(weighting.sizes.tolist()), tuple(weighting.median_profile.tolist())
    for i, column in enumerate(distances.argmin(axis=1).tolist()):
        prototype = classifier.prototypes_[column : column + 1]
        neighbour = training_row(classifier, distances[i], column)
        comparison = PendingDifference(measure, patterns[i : i + 1], prototype, weights, names, "neighbour")
        profile, ratio = tuple(map(finite, profiles[i])), float(ratios[i])
        found.append(Neighbourhood(sizes, profile, medians, weighting.n_local, ratio, neighbour, comparison))
    return found


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, amounts: Matrix) -> list[OutlierComparison | None]:
    if model.outliers is None:
        return [None] * len(amounts)
    weights, n_terms = model.surprise.weightings[0].weights, 2 * len(model.surprise.weightings)
    distances = model.outliers.compare_fully(rows.patterns).rows(weights)
    return [
        OutlierComparison(finite(amount[n_terms:].sum()), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]


def _kinds(model: SurpriseModel) -> list[tuple[str, int | None, int | None]]:
    """Return kind, weighting and weight of every term, in the order of the columns."""
    numbers = range(len(model.surprise.weightings))
    kinds: list[tuple[str, int | None, int | None]] = []
    kinds += [(kind, v, None) for v in numbers for kind in (PROFILE, "local ratio")]
    if model.likelihood_ratio is None:
        return kinds
    weights = model.likelihood_ratio.densities.weights.tolist()
    kinds += [("distance ratio", v, None) for v in numbers]
    return kinds + ([("densities", None, None)] if weights else []) + [("density", None, k) for k in weights]
