"""Why the surprise of a row is low or high."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.explain.explanation import Explanation, difference_lines, exemplars_in_words
from eocc.explain.regions import FittedClassifier, TrainingPattern, exemplars_among, is_whole, training_pattern
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, finite, format_number, share, wrapped
from eocc.measures.difference import Difference, difference_of
from eocc.regions.fuzzy import BOUNDARY
from eocc.regions.memberships import MembershipFunction
from eocc.regions.scores import Scores
from eocc.surprise.comparison import Comparison, Nearest
from eocc.surprise.model import SurpriseModel
from eocc.surprise.score import Weighting

PROFILE, LOCAL_RATIO = "profile", "local ratio"
DISTANCE_RATIO, DENSITIES, DENSITY = "distance ratio", "densities", "density"
# Below this ratio two decimals would show 0.00.
LEAST_RATIO = 0.005
EQUALISED = "with variance-equalised weights"


class FittedBySurprise(FittedClassifier, Protocol):
    """What these explanations need of a classifier."""

    surprise_model_: SurpriseModel
    calibration_: Calibration | None
    membership_function_: MembershipFunction

    def score_patterns(self, patterns: Any) -> Scores: ...


@dataclass(frozen=True)
class ProfilePoint:
    """The `n_nearest` training rows lie within `distance`; those of left-out training rows, in the median, `usual`."""

    n_nearest: int
    distance: float
    usual: float


@dataclass(frozen=True)
class LocalRatio:
    """The `n_nearest` lie at the mean `distance`, `ratio` times as far as they lie from their own nearest."""

    n_nearest: int
    distance: float
    ratio: float


@dataclass(frozen=True)
class Equalised:
    """The same under variance-equalised weights: the nearest training row there, and the difference from it."""

    profile: tuple[ProfilePoint, ...]
    local: LocalRatio
    neighbour: TrainingPattern
    difference: Difference


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

    `surprise` above `threshold` is rejected. Of `n_left_out` training rows, each left out of its own neighbours,
    (n_left_out + 1) * `p_value` - 1 are as surprising or more. `difference` is from the nearest of the `exemplars`.
    `equalised` is None where all weights are variance-equalised already, `outliers` None where none are known.
    `n_prototypes` is their number where rows are compared with fewer rows than there were in training.
    """

    surprise: float
    threshold: float
    out: float
    p_value: float
    rate: float
    n_left_out: int
    nearest: tuple[TrainingPattern, ...]
    profile: tuple[ProfilePoint, ...]
    local: LocalRatio
    equalised: Equalised | None
    terms: tuple[Term, ...]
    outliers: OutlierComparison | None
    n_prototypes: int | None = None

    @property
    def ratio(self) -> float:
        """How far out the row lies: 1 at the limit."""
        return self.out

    @property
    def decision(self) -> str:
        """The decision in words."""
        return f"{'accepted' if self.is_target else 'rejected'}: {self._place}"

    @property
    def compared_with(self) -> tuple[str, TrainingPattern]:
        """The nearest training row."""
        return f"nearest {self._row}", self.nearest[0]

    @property
    def exemplars(self) -> tuple[TrainingPattern, ...]:
        """The nearest training rows."""
        return self.nearest

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        return f"Nearest {self._row}s:"

    def rarity(self) -> str:
        """Return the p-value in words."""
        n_more = round(self.p_value * (self.n_left_out + 1)) - 1
        rows = counted(self.n_left_out, "training row")
        as_unusual = f"{n_more:,} of {rows} {'is' if n_more == 1 else 'are'}" if n_more else f"none of {rows} is"
        return f"p-value {format_number(self.p_value)}: {as_unusual} as unusual when left out of the training set."

    def notes(self) -> list[str]:
        """Return the p-value, the distances and the sum, one paragraph each."""
        return [self.rarity(), f"{self._profile_in_words()} {self._local_in_words()}", self._sum_in_words()]

    def lines(self) -> list[str]:
        """Return the text line by line."""
        rarity, *rest = self.notes()
        return [
            *wrapped(self.headline, 0),
            *wrapped(rarity, 2),
            *wrapped(f"{self.exemplars_heading} {exemplars_in_words(self.nearest)}.", 2),
            *difference_lines(self.difference, f"training row {self.nearest[0].row}"),
            *(line for note in rest for line in wrapped(note, 2)),
        ]

    @property
    def _row(self) -> str:
        return "training row" if self.n_prototypes is None else "prototype"

    @property
    def _place(self) -> str:
        if self.out < LEAST_RATIO:
            return "far inside the limit"
        within = self.out <= BOUNDARY
        times = f"{self.out:.2f}" if within else format_number(self.out)
        if float(times) == 1:
            return f"just {'inside' if within else 'outside'} the limit"
        return f"at {times} of the limit" if within else f"{times} times as far out as the limit"

    def _profile_in_words(self) -> str:
        counts, distances, usual = (
            ", ".join(texts)
            for texts in zip(
                *((str(one.n_nearest), format_number(one.distance), format_number(one.usual)) for one in self.profile),
                strict=True,
            )
        )
        lies, its = ("lies", "it") if len(self.profile) == 1 else ("lie", "these")
        return (
            f"Its {counts} nearest {self._row}{'s' if lies == 'lie' else ''} {lies} within {distances}; for a typical "
            f"training row {its} lie{'s' if its == 'it' else ''} within {usual}."
        )

    def _local_in_words(self) -> str:
        lone = self.local.n_nearest == 1
        lies = "nearest lies" if lone else f"{self.local.n_nearest} nearest lie"
        own = f"as far from it as from {'its' if lone else 'their'} own nearest"
        return f"Its {lies} {format_number(self.local.ratio)} times {own}{self._equalised_in_words()}."

    def _equalised_in_words(self) -> str:
        other = self.equalised
        if other is None:
            return ""
        text = f"; {EQUALISED}, {format_number(other.local.ratio)} times"
        greatest = max(other.difference.contributions, key=lambda one: one.amount, default=None)
        if greatest is None or not greatest.amount > 0:
            return text
        return f"{text}, mostly by {greatest.text} ({share(greatest.amount, other.difference.dissimilarity).strip()})"

    def _sum_in_words(self) -> str:
        opening = f"Surprise {format_number(self.surprise)}, limit {format_number(self.threshold)}"
        if self.outliers is not None:
            known, amount = counted(self.outliers.n_known, "known outlier"), self.outliers.amount
            return (
                f"{opening}: {format_number(self.surprise - amount)} from the distances to normal rows, "
                f"{format_number(amount)} from the comparison with {known}, the nearest at dissimilarity "
                f"{format_number(self.outliers.dissimilarity)}."
            )
        parts = [
            f"{format_number(one.amount)} from the {'distances' if one.kind == PROFILE else 'ratio'}"
            f"{f' {EQUALISED}' if one.weighting else ''}"
            for one in self.terms
        ]
        return f"{opening}: {', '.join(parts)}."


def explain_by_neighbours(classifier: FittedBySurprise, patterns: Any) -> list[NeighbourExplanation]:
    """Return why each pattern was accepted or rejected.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SurpriseClassifier().fit(X[y == 0])
    >>> print(clf.explain(X.iloc[[75]])[0])  # doctest: +ELLIPSIS
    Rejected: 5... times as far out as the limit. Membership ...
      p-value 0.0196: none of 50 training rows is as unusual when left out of the training set.
      Nearest training rows: training rows 18, 44, 20 (dissimilarity 1.3, 1.31, 1.32).
      Dissimilarity 1.3 from training row 18, by feature:
        0.95   73%  petal length (cm): 4.4, neighbour 1.7
        0.16   12%  petal width (cm): 1.4, neighbour 0.3
        0.11    8%  sepal length (cm): 6.6, neighbour 5.7
        0.08    6%  sepal width (cm): 3, neighbour 3.8
      Its 1, 2, 4, 8 nearest training rows lie within 1.3, 1.31, 1.33, 1.38; for a typical training row
        these lie within ...
      Surprise ..., limit ...: ... from the distances, ...
    """
    model = classifier.surprise_model_
    rows = Comparison(classifier.measure_, patterns, classifier.prototypes_)
    near = [weighting.nearest(rows) for weighting in model.surprise.weightings]
    values = model.surprise.standardisation.apply(
        np.hstack([one.terms(found) for one, found in zip(model.surprise.weightings, near, strict=True)])
    )
    surprises, amounts, values = _amounts(model, rows, values)
    return _explanations(classifier, rows, near, values, amounts, surprises)


def _amounts(model: SurpriseModel, rows: Comparison, terms: Matrix) -> tuple[Matrix, Matrix, Matrix]:
    """Return the surprise of every row, the amount of each term, and the values of the terms."""
    if model.likelihood_ratio is None:
        return model.surprise.of_terms(terms), terms * model.surprise.shares, terms
    columns = model.labelled_columns(terms, rows)
    values = np.hstack([terms, columns[:, terms.shape[1] :]])
    return model.likelihood_ratio.of_columns(columns), columns * model.likelihood_ratio.coefficients, values


def _explanations(
    classifier: FittedBySurprise,
    rows: Comparison,
    near: list[Nearest],
    values: Matrix,
    amounts: Matrix,
    surprises: Matrix,
) -> list[NeighbourExplanation]:
    model, calibration, patterns = classifier.surprise_model_, classifier.calibration_, rows.patterns
    assert calibration is not None
    ratios = model.threshold.ratios(surprises)
    scores = Scores.of_ratios(ratios, classifier.membership_function_)
    memberships, p_values = np.exp(scores.log_memberships), calibration.p_values(scores.margins)
    weightings, kinds = model.surprise.weightings, _kinds(model)
    distances = classifier.embed(patterns)
    outliers = _outlier_comparisons(model, rows, amounts)
    found = []
    for i in range(len(patterns)):
        neighbours = exemplars_among(classifier, distances[i], np.arange(distances.shape[1]))
        terms = zip(kinds, values[i], amounts[i], strict=True)
        found.append(
            NeighbourExplanation(
                is_target=bool(scores.margins[i] >= classifier.threshold_),
                membership=float(memberships[i]),
                difference=_difference(classifier, patterns, i, neighbours[0].column, classifier.weights_),
                surprise=finite(surprises[i]),
                threshold=model.threshold.value,
                out=finite(ratios[i]),
                p_value=float(p_values[i]),
                rate=calibration.rate,
                n_left_out=len(calibration.margins),
                nearest=neighbours,
                profile=_profile(weightings[0], near[0], i),
                local=_local(weightings[0], near[0], i),
                equalised=_equalised(classifier, patterns, near, i),
                terms=tuple(Term(*kind, finite(value), finite(amount)) for kind, value, amount in terms),
                outliers=outliers[i],
                n_prototypes=None if is_whole(classifier) else distances.shape[1],
            )
        )
    return found


def _profile(weighting: Weighting, near: Nearest, i: int) -> tuple[ProfilePoint, ...]:
    points = zip(weighting.sizes, weighting.profile(near)[i], weighting.median_profile, strict=True)
    return tuple(ProfilePoint(int(size), finite(distance), float(usual)) for size, distance, usual in points)


def _local(weighting: Weighting, near: Nearest, i: int) -> LocalRatio:
    one = Nearest(near.distances[i : i + 1], near.scales[i : i + 1])
    few = one.distances[0, : weighting.n_local]
    return LocalRatio(len(few), finite(few.mean()), float(np.sqrt(weighting.local_ratio(one)[0])))


def _equalised(classifier: FittedBySurprise, patterns: Any, near: list[Nearest], i: int) -> Equalised | None:
    weightings = classifier.surprise_model_.surprise.weightings
    if len(weightings) == 1:
        return None
    weighting = weightings[1]
    row = classifier.measure_.prepare(patterns[i : i + 1], classifier.prototypes_).evaluate(weighting.weights)[0]
    column = int(row.argmin())
    return Equalised(
        _profile(weighting, near[1], i),
        _local(weighting, near[1], i),
        training_pattern(classifier, row, column),
        _difference(classifier, patterns, i, column, weighting.weights),
    )


def _difference(classifier: FittedBySurprise, patterns: Any, i: int, column: int, weights: Matrix) -> Difference:
    pattern, prototype = patterns[i : i + 1], classifier.prototypes_[column : column + 1]
    return difference_of(classifier.measure_, pattern, prototype, weights, classifier.feature_names, "neighbour")


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, amounts: Matrix) -> list[OutlierComparison | None]:
    if model.outliers is None:
        return [None] * len(amounts)
    weights, n_terms = model.surprise.weightings[0].weights, 2 * len(model.surprise.weightings)
    distances = model.compared_with_outliers(rows).map_rows(weights, np.array)
    return [
        OutlierComparison(finite(amount[n_terms:].sum()), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]


def _kinds(model: SurpriseModel) -> list[tuple[str, int | None, int | None]]:
    """Return kind, weighting and weight of every term, in the order of the columns."""
    numbers = range(len(model.surprise.weightings))
    kinds: list[tuple[str, int | None, int | None]] = [
        (kind, v, None) for v in numbers for kind in (PROFILE, LOCAL_RATIO)
    ]
    if model.likelihood_ratio is None:
        return kinds
    weights = model.likelihood_ratio.densities.weights.tolist()
    kinds += [(DISTANCE_RATIO, v, None) for v in numbers]
    return kinds + ([(DENSITIES, None, None)] if weights else []) + [(DENSITY, None, k) for k in weights]
