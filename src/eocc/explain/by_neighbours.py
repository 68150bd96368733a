"""Why the surprise of a row is low or high."""

from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np

from eocc.explain.explanation import Explanation, plain_fields, rarity_in_words
from eocc.explain.fitted import FittedClassifier, TrainingRow, described, exemplars_of, training_row
from eocc.explain.reasons import Reason, difference_reasons
from eocc.explain.records import least_usual
from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import all_finite, counted, finite, format_number, share
from eocc.measures.difference import Difference, PendingDifference
from eocc.regions.memberships import MembershipFunction
from eocc.regions.scores import BOUNDARY, Scores
from eocc.surprise.comparison import Comparison
from eocc.surprise.gaussians import columns_of
from eocc.surprise.model import SurpriseModel
from eocc.surprise.nearest import Nearest
from eocc.surprise.score import Weighting

PROFILE, ANSWERS = "profile", "answers"
NAMES = {PROFILE: "the distances", ANSWERS: "answers on similar rows"}
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

    The `value` of a term of the surprise is in standard deviations above the average left-out training row; that of
    others, which come from labels, is the amount. `weighting` is 0 for the given weights, 1 for the variance-equalised
    ones. A "column" is that of the single weight number `weight`. "answers" is what `teach` adds near answered rows.
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
        """The p-value in words, and whether an answer or known outliers decide."""
        answered = sum(one.amount for one in self.terms if one.kind == ANSWERS)
        decide = self.outliers is not None and not self.is_target and 2 * self.outliers.amount > self.surprise
        rarity = rarity_in_words(self.p_value, self.n_training, self.n_left_out)
        if self.is_target and self.surprise - answered > self.threshold:
            return f"{rarity}, because a similar row was answered as normal"
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
        """Return the distances and the sum, one paragraph each."""
        return [self._distances_in_words(), self._sum_in_words()]

    @property
    def detail(self) -> str:
        """All of it in words."""
        before = [self.rarity(), self._exemplars_in_words()]
        return self._text(before, f"training row {self.exemplars[0].name}", self.notes())

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
            name = NAMES.get(one.kind, "the ratio")
            parts[f"{name} {EQUALISED}" if one.weighting else name] = one.amount
        if self.outliers is not None:
            known, amount = counted(self.outliers.n_known, "known outlier"), self.outliers.amount
            nearest = f"the nearest at dissimilarity {format_number(self.outliers.dissimilarity)}"
            answers = {NAMES[ANSWERS]: parts[NAMES[ANSWERS]]} if NAMES[ANSWERS] in parts else {}
            parts = {"the distances to normal rows": self.surprise - amount - sum(answers.values())}
            parts |= {f"the comparison with {known}, {nearest}": amount, **answers}
        return f"{opening}: {', '.join(f'{format_number(amount)} from {name}' for name, amount in parts.items())}."


def explain_by_neighbours(classifier: FittedBySurprise, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected; docs/guides/explanations.md shows one."""
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
    kinds, outliers, found = list(zip(*_kinds(model), strict=True)), _outlier_comparisons(model, rows, amounts), []
    active, exemplars = sum(one.weights for one in model.surprise.weightings), exemplars_of(classifier, distances[0])
    by_column = least_usual(classifier, patterns, np.asarray(active), distances[0])
    facts = (scores.margins >= classifier.threshold_, memberships, *map(all_finite, (ratios, surprises)), p_values)
    terms = map(all_finite, (values, amounts))
    columns = zip(*(one.tolist() for one in (*facts, *terms)), zip(*by_weighting, strict=True), strict=True)
    for i, (is_target, membership, ratio, surprise, p_value, own_values, own_amounts, near_rows) in enumerate(columns):
        lead, reasons = ("", by_column[i]) if by_column else _compared(classifier, near_rows, amounts[i])
        explanation: Explanation = NeighbourExplanation(
            is_target=is_target, membership=membership, ratio=ratio, comparison=near_rows[0].comparison,
            exemplars=exemplars[i], reasons=reasons, lead=lead, surprise=surprise, threshold=model.threshold.value,
            p_value=p_value, rate=calibration.rate, n_left_out=len(calibration.margins),
            n_training=classifier.n_training, neighbourhoods=near_rows, outliers=outliers[i],
            terms=tuple(map(Term, *kinds, own_values, own_amounts)),
            n_prototypes=None if classifier.is_whole else len(classifier.prototypes_),
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
    values = terms = model.surprise.terms(near)
    amounts = terms * model.surprise.shares(terms)
    if (ratio := model.likelihood_ratio) is not None:
        labelled = model.labelled(rows, near)
        evidence = _by_weight(model, ratio.amounts(labelled)[:, 1:])
        amounts = np.hstack([amounts * (ratio.coefficients[0] / ratio.standardisation.scale[0]), evidence])
        values = np.hstack([terms, evidence])
    if model.correction is not None:
        corrections = model.correction.of(rows.patterns)[:, None]
        amounts, values = np.hstack([amounts, corrections]), np.hstack([values, corrections])
    return model.surprises_compared(rows, near), amounts, values


def _by_weight(model: SurpriseModel, evidence: Matrix) -> Matrix:
    """Return the amounts of the evidence with those of all single columns of a weight added up."""
    weights, n_main = _single_weights(model), len(model.surprise.weightings) + 3
    if not len(weights):
        return evidence
    single = evidence[:, n_main:].reshape(len(evidence), 2, -1).sum(axis=1)
    sums = [single[:, weights == k].sum(axis=1) for k in np.unique(weights)]
    return np.column_stack([evidence[:, :n_main], *sums])


def _single_weights(model: SurpriseModel) -> Indices:
    """Return the weight of each column of numbers that labels count by itself."""
    if model.likelihood_ratio is None or model.likelihood_ratio.gaussians is None:
        return np.empty(0, np.int64)
    return columns_of(model.normal.measure, model.normal.prototypes[[0]], model.normal.active)[1]


def _neighbourhoods(
    classifier: FittedBySurprise, patterns: Any, weighting: Weighting, near: Nearest, distances: Matrix
) -> list[Neighbourhood]:
    profiles, ratios, found = all_finite(weighting.profile(near)), np.sqrt(weighting.local_ratio(near)).tolist(), []
    measure, weights, names = classifier.measure_, weighting.weights, classifier.feature_names
    sizes, medians = tuple(weighting.sizes.tolist()), tuple(weighting.median_profile.tolist())
    for i, column in enumerate(distances.argmin(axis=1).tolist()):
        prototype = classifier.prototypes_[column : column + 1]
        neighbour = training_row(classifier, distances[i], column)
        comparison = PendingDifference(measure, patterns[i : i + 1], prototype, weights, names, "neighbour")
        profile = tuple(profiles[i].tolist())
        found.append(Neighbourhood(sizes, profile, medians, weighting.n_local, ratios[i], neighbour, comparison))
    return found


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, amounts: Matrix) -> list[OutlierComparison | None]:
    if model.outliers is None:
        return [None] * len(amounts)
    weights, n_terms = model.surprise.weightings[0].weights, 2 * len(model.surprise.weightings)
    distances = model.outliers.compare_fully(rows.patterns).rows(weights)
    stop = amounts.shape[1] - (model.correction is not None)
    return [
        OutlierComparison(finite(amount[n_terms:stop].sum()), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]


def _kinds(model: SurpriseModel) -> list[tuple[str, int | None, int | None]]:
    """Return kind, weighting and weight of every term, in the order of the columns."""
    numbers = range(len(model.surprise.weightings))
    kinds: list[tuple[str, int | None, int | None]] = []
    kinds += [(kind, v, None) for v in numbers for kind in (PROFILE, "local ratio")]
    if model.likelihood_ratio is not None:
        kinds += [("distance ratio", v, None) for v in numbers]
        if weights := np.unique(_single_weights(model)).tolist():
            kinds += [(kind, None, None) for kind in ("column ratio", "direction", "covariance")]
            kinds += [("column", None, k) for k in weights]
    return kinds if model.correction is None else [*kinds, (ANSWERS, None, None)]
