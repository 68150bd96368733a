"""Why the surprise of a row is low or high."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eocc.calibration.conformal import Calibration
from eocc.explain.explanation import Explanation, difference_lines, exemplars_in_words
from eocc.explain.regions import FittedClassifier, TrainingRow, exemplars_among, is_whole, training_row
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, finite, format_number, share, wrapped
from eocc.measures.difference import Difference, difference_of
from eocc.regions.memberships import MembershipFunction
from eocc.regions.scores import BOUNDARY, Scores
from eocc.surprise.comparison import Comparison, Nearest
from eocc.surprise.model import SurpriseModel, against_both

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

    A row with a `surprise` above `threshold` is rejected. Of `n_left_out` training rows, each left out of its own
    neighbours, (n_left_out + 1) * `p_value` - 1 are at least as surprising. There is one of `neighbourhoods` for the
    given weights and, unless it would be the same, one for the variance-equalised weights. `outliers` is None if no
    outliers are known. `n_prototypes` is None if every training row is a prototype.
    """

    surprise: float
    threshold: float
    p_value: float
    rate: float
    n_left_out: int
    neighbourhoods: tuple[Neighbourhood, ...]
    terms: tuple[Term, ...]
    outliers: OutlierComparison | None
    n_prototypes: int | None = None

    @property
    def decision(self) -> str:
        """The decision in words."""
        return f"{'accepted' if self.is_target else 'rejected'}: {self._place}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The nearest training row."""
        return f"nearest {self._row}", self.exemplars[0]

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        return f"Nearest {self._row}{'' if len(self.exemplars) == 1 else 's'}:"

    def rarity(self) -> str:
        """Return the p-value in words."""
        n_more = round(self.p_value * (self.n_left_out + 1)) - 1
        rows = counted(self.n_left_out, "training row")
        unusual = f"{n_more:,} of {rows} {'is' if n_more == 1 else 'are'}" if n_more else f"none of {rows} is"
        return f"p-value {format_number(self.p_value)}: {unusual} as unusual when left out of the training set."

    def notes(self) -> list[str]:
        """Return the p-value, the distances and the sum, one paragraph each."""
        return [self.rarity(), f"{self._profile_in_words()} {self._local_in_words()}", self._sum_in_words()]

    def lines(self) -> list[str]:
        """Return the text line by line."""
        rarity, *rest = self.notes()
        return [
            *wrapped(self.headline, 0),
            *wrapped(rarity, 2),
            *wrapped(f"{self.exemplars_heading} {exemplars_in_words(self.exemplars)}.", 2),
            *difference_lines(self.difference, f"training row {self.exemplars[0].row}"),
            *(line for note in rest for line in wrapped(note, 2)),
        ]

    @property
    def _row(self) -> str:
        return "training row" if self.n_prototypes is None else "prototype"

    @property
    def _place(self) -> str:
        if self.ratio < LEAST_RATIO:
            return "far inside the limit"
        within = self.ratio <= BOUNDARY
        times = f"{self.ratio:.2f}" if within else format_number(self.ratio)
        if float(times) == 1:
            return f"just {'inside' if within else 'outside'} the limit"
        return f"at {times} of the limit" if within else f"{times} times as far out as the limit"

    def _profile_in_words(self) -> str:
        near = self.neighbourhoods[0]
        distances, medians = (", ".join(map(format_number, values)) for values in (near.distances, near.medians))
        if len(near.sizes) == 1:
            return (
                f"Its nearest {self._row} lies within {distances}; for a typical training row it lies within {medians}."
            )
        sizes = ", ".join(map(str, near.sizes))
        return (
            f"Its {sizes} nearest {self._row}s lie within {distances}; for a typical training row these lie within "
            f"{medians}."
        )

    def _local_in_words(self) -> str:
        near = self.neighbourhoods[0]
        lies, own = ("nearest lies", "its") if near.n_local == 1 else (f"{near.n_local} nearest lie", "their")
        times = f"{format_number(near.local_ratio)} times as far from it as from {own} own nearest"
        return f"Its {lies} {times}{''.join(map(self._equalised_in_words, self.neighbourhoods[1:]))}."

    def _equalised_in_words(self, near: Neighbourhood) -> str:
        text = f"; {EQUALISED}, {format_number(near.local_ratio)} times"
        greatest = max(near.difference.contributions, key=lambda one: one.amount, default=None)
        if greatest is None or not greatest.amount > 0:
            return text
        return f"{text}, mostly by {greatest.text} ({share(greatest.amount, near.difference.dissimilarity).strip()})"

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


def explain_by_neighbours(classifier: FittedBySurprise, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = SurpriseClassifier().fit(X[y == 0])
    >>> print(clf.explain(X.iloc[[75]])[0])  # doctest: +ELLIPSIS
    Rejected: 5... times as far out as the limit. Membership ...
      p-value 0.0196: none of 50 training rows is as unusual when left out of the training set.
      Nearest training rows: 18, 44, 20 (dissimilarity 1.3, 1.31, 1.32).
      Dissimilarity 1.3 from training row 18, by feature:
        0.95   73%  petal length (cm): 4.4, neighbour 1.7
        0.16   12%  petal width (cm): 1.4, neighbour 0.3
        0.11    8%  sepal length (cm): 6.6, neighbour 5.7
        0.08    6%  sepal width (cm): 3, neighbour 3.8
      Its 1, 2, 4, 8 nearest training rows lie within 1.3, 1.31, 1.33, 1.38; for a typical training row
        these lie within ...
      Surprise ..., limit ...: ... from the distances, ...
    """
    model, calibration = classifier.surprise_model_, classifier.calibration_
    assert calibration is not None
    rows = Comparison(classifier.measure_, patterns, classifier.prototypes_)
    near = [weighting.nearest(rows) for weighting in model.surprise.weightings]
    surprises, amounts, values = _terms(model, rows, near)
    ratios = model.threshold.ratios(surprises)
    scores = Scores.of_ratios(ratios, classifier.membership_function_)
    memberships, p_values = np.exp(scores.log_memberships), calibration.p_values(scores.margins)
    # Infinite where a row is the prototype itself, or a copy of it: such a row is compared with the others.
    distances = [rows.map_rows(weighting.weights, np.array) for weighting in model.surprise.weightings]
    outliers, kinds, n_prototypes = _outlier_comparisons(model, rows, amounts), _kinds(model), len(rows.prototypes)
    found: list[Explanation] = []
    for i in range(len(patterns)):
        neighbourhoods = _neighbourhoods(classifier, patterns, near, distances, i)
        terms = zip(kinds, values[i], amounts[i], strict=True)
        found.append(
            NeighbourExplanation(
                is_target=bool(scores.margins[i] >= classifier.threshold_),
                membership=float(memberships[i]),
                ratio=finite(ratios[i]),
                difference=neighbourhoods[0].difference,
                exemplars=exemplars_among(classifier, distances[0][i], np.flatnonzero(np.isfinite(distances[0][i]))),
                surprise=finite(surprises[i]),
                threshold=model.threshold.value,
                p_value=float(p_values[i]),
                rate=calibration.rate,
                n_left_out=len(calibration.margins),
                neighbourhoods=neighbourhoods,
                terms=tuple(Term(*kind, finite(value), finite(amount)) for kind, value, amount in terms),
                outliers=outliers[i],
                n_prototypes=None if is_whole(classifier) else n_prototypes,
            )
        )
    return found


def _terms(model: SurpriseModel, rows: Comparison, near: list[Nearest]) -> tuple[Matrix, Matrix, Matrix]:
    """Return the surprise of every row, the amount of each term, and the values of the terms."""
    pairs = zip(model.surprise.weightings, near, strict=True)
    terms = model.surprise.standardisation.apply(np.hstack([weighting.terms(found) for weighting, found in pairs]))
    if model.likelihood_ratio is None:
        return model.surprise.of_terms(terms), terms * model.surprise.shares, terms
    columns = model.labelled_columns(terms, rows)
    values = np.hstack([terms, columns[:, terms.shape[1] :]])
    return model.likelihood_ratio.of_columns(columns), columns * model.likelihood_ratio.coefficients, values


def _neighbourhoods(
    classifier: FittedBySurprise, patterns: Any, near: list[Nearest], distances: list[Matrix], i: int
) -> tuple[Neighbourhood, ...]:
    """Return the nearest training rows of pattern i under each weighting."""
    pattern, measure, found = patterns[i : i + 1], classifier.measure_, []
    weightings = classifier.surprise_model_.surprise.weightings
    for weighting, all_near, rows in zip(weightings, near, distances, strict=True):
        one = Nearest(all_near.distances[i : i + 1], all_near.scales[i : i + 1])
        column = int(rows[i].argmin())
        prototype = classifier.prototypes_[column : column + 1]
        found.append(
            Neighbourhood(
                sizes=tuple(weighting.sizes.tolist()),
                distances=tuple(map(finite, weighting.profile(one)[0])),
                medians=tuple(weighting.median_profile.tolist()),
                n_local=weighting.n_local,
                local_ratio=float(np.sqrt(weighting.local_ratio(one)[0])),
                neighbour=training_row(classifier, rows[i], column),
                difference=difference_of(
                    measure, pattern, prototype, weighting.weights, classifier.feature_names, "neighbour"
                ),
            )
        )
    return tuple(found)


def _outlier_comparisons(model: SurpriseModel, rows: Comparison, amounts: Matrix) -> list[OutlierComparison | None]:
    if model.outliers is None:
        return [None] * len(amounts)
    weights, n_terms = model.surprise.weightings[0].weights, 2 * len(model.surprise.weightings)
    distances = against_both(rows, model.outliers).to_outliers.map_rows(weights, np.array)
    return [
        OutlierComparison(finite(amount[n_terms:].sum()), len(row), int(row.argmin()), finite(row.min()))
        for amount, row in zip(amounts, distances, strict=True)
    ]


def _kinds(model: SurpriseModel) -> list[tuple[str, int | None, int | None]]:
    """Return kind, weighting and weight of every term, in the order of the columns."""
    kinds: list[tuple[str, int | None, int | None]] = []
    kinds += [(kind, v, None) for v in range(len(model.surprise.weightings)) for kind in (PROFILE, LOCAL_RATIO)]
    if model.likelihood_ratio is None:
        return kinds
    weights = model.likelihood_ratio.densities.weights.tolist()
    kinds += [(DISTANCE_RATIO, v, None) for v in range(len(model.surprise.weightings))]
    return kinds + ([(DENSITIES, None, None)] if weights else []) + [(DENSITY, None, k) for k in weights]
