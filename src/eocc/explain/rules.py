"""A fitted classifier -> its decision regions as rules for people to read."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eocc.explain.regions import (
    FittedClassifier,
    Prototype,
    is_whole,
    prototype_labels,
    prototypes_of,
    reach_of,
    row_of,
)
from eocc.foundation.wording import counted, format_data_number, format_number, glued, known_of, wrapped
from eocc.measures.difference import feature_names
from eocc.measures.euclidean import FittedEuclidean
from eocc.regions.memberships import Bell, Gaussian, MembershipFunction, Trapezoidal, Triangular, TwoSided

# A rule names the ranges of so many features, those of the highest weight.
MOST_FEATURES = 6


@dataclass(frozen=True)
class FeatureRange:
    """What a feature is among those of a region's members that are prototypes, and its weight in the dissimilarity.

    >>> print(FeatureRange("width", 0.5, 2.0, 3.25, 4.0))
    width from 2 to 4, median 3.25 (weight 0.5)
    """

    feature: str
    weight: float
    minimum: float
    median: float
    maximum: float

    def __str__(self) -> str:
        if self.minimum == self.maximum:
            return f"{self.feature} {format_data_number(self.minimum)} (weight {format_number(self.weight)})"
        low, middle, high = (format_data_number(value) for value in (self.minimum, self.median, self.maximum))
        return f"{self.feature} from {low} to {high}, median {middle} (weight {format_number(self.weight)})"


@dataclass(frozen=True)
class Rule:
    """A region as a rule: IF a row is close to it THEN it is normal, to a degree.

    `prototype` is the row of the training data that represents the region, `description` that row in a few words,
    `extents` the region's size inwards and outwards, `reach` how many of them a row may lie away, `degree` the
    membership in words, `ranges` those of the columns with the highest weights. With fewer prototypes than training
    rows, `n_prototypes` of the members are prototypes, and ranges are taken from these.

    For a classifier that decides by neighbours, `rejected` is the share of new normal rows above the limit, and extents
    only describe the region.
    """

    region: int
    n_members: int
    prototype: int
    description: str
    extents: tuple[float, float]
    reach: float
    degree: str
    ranges: tuple[FeatureRange, ...] = ()
    rejected: float | None = None
    n_prototypes: int | None = None

    def __str__(self) -> str:
        if self.n_prototypes == 0 and self.rejected is not None:
            return "\n".join(wrapped(self._never(), 0))
        known = f"{counted(self.n_members, 'row')}{self.standing}"
        condition = self._by_regions(known) if self.rejected is None else self._by_neighbours(known, self.rejected)
        lines = wrapped(f"IF {condition},", 0) + wrapped(f"THEN normal to the degree {self.degree}.", 0)
        if self.ranges:
            lines += [
                f"  {self.whose} {'has' if self.n_prototypes == 1 else 'have'}",
                *(f"    {one}" for one in self.ranges),
            ]
        return "\n".join(lines)

    @property
    def whose(self) -> str:
        """Whose ranges these are."""
        return "Its rows" if self.n_prototypes is None else f"Its {counted(self.n_prototypes, 'prototype')}"

    @property
    def standing(self) -> str:
        """Which pattern stands for the region, and how: the end of a sentence on its size."""
        pattern = f"no. {self.prototype}{f': {glued(self.description)}' if self.description else ''}"
        if self.n_prototypes is None:
            return f", prototype {pattern}"
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is in another region, {pattern}"
        return f"{known}{', ' if self.n_prototypes == 1 else '; of these nearest to its centre is '}{pattern}"

    def _never(self) -> str:
        region = f"region {self.region} ({counted(self.n_members, 'row')}{self.standing})"
        return f"No row is assigned to {region}: a row's region is that of its nearest prototype."

    def _by_regions(self, known: str) -> str:
        inner, outer = map(format_number, self.extents)
        extent = f"extent {outer}" if inner == outer else f"extent, {inner} inwards or {outer} outwards"
        within = f"within {'' if self.reach == 1 else f'{self.reach:.4g} times '}its {extent}"
        return f"the dissimilarity profile is close to region {self.region} ({known}), at a distance d {within}"

    def _by_neighbours(self, known: str, rejected: float) -> str:
        called = "training row" if self.n_prototypes is None else "prototype"
        near = f"the nearest {called} is in region {self.region} ({known})"
        share = format_number(100 * (1 - rejected))
        return f"{near}, and the surprise is at most the limit, as for about {share}% of new normal rows"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def rules_by_regions(classifier: FittedClassifier) -> list[Rule]:
    """Return a rule per decision region, in their order; d is the distance in the dissimilarity space.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> print(clf.rules()[0])
    IF the dissimilarity profile is close to region 0 (49 rows, prototype no. 43: sepal length (cm) = 5,
      sepal width (cm) = 3.5, petal length (cm) = 1.6, petal width (cm) = 0.6),
      at a distance d within its extent 0.162,
    THEN normal to the degree exp(-(d / 0.162)^2 / 2).
      Its rows have
        sepal length (cm) from 4.3 to 5.8, median 5 (weight 1)
        sepal width (cm) from 2.9 to 4.4, median 3.4 (weight 1)
        petal length (cm) from 1 to 1.9, median 1.5 (weight 1)
        petal width (cm) from 0.1 to 0.6, median 0.2 (weight 1)
    """
    function = classifier.fuzzy_model_.membership_function
    return _rules(classifier, lambda inner, outer: degree_in_words(function, inner, outer), None)


def rules_by_neighbours(classifier: Any) -> list[Rule]:
    """Return a rule per region of the prototypes; r is how far out a row lies, 1 at the limit.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(SurpriseClassifier().fit(X[y == 0]).rules()[1])
    IF the nearest training row is in region 1 (1 row, prototype no. 41: sepal length (cm) = 4.5,
      sepal width (cm) = 2.3, petal length (cm) = 1.3, petal width (cm) = 0.3), and the surprise is at
      most the limit, as for about 95% of new normal rows,
    THEN normal to the degree exp(-r^2 / 2), where r is 1 at the limit.
      Its rows have
        sepal length (cm) 4.5 (weight 1)
        sepal width (cm) 2.3 (weight 1)
        petal length (cm) 1.3 (weight 1)
        petal width (cm) 0.3 (weight 1)
    """
    degree = degree_at_limit(classifier.fuzzy_model_.membership_function)
    return _rules(classifier, lambda inner, outer: degree, float(classifier.calibration_.rate))


def _rules(classifier: FittedClassifier, degree: Callable[[float, float], str], rejected: float | None) -> list[Rule]:
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)))
    return [_rule(classifier, number, prototype, degree, rejected) for number, prototype in prototypes.items()]


def _rule(
    classifier: FittedClassifier,
    number: int,
    prototype: Prototype,
    degree: Callable[[float, float], str],
    rejected: float | None,
) -> Rule:
    region, model = classifier.regions_[number], classifier.fuzzy_model_
    inner, outer = model.widths[number].tolist()
    extents = (region.extent, region.extent) if inner == outer else (inner, outer)
    own = np.flatnonzero(prototype_labels(classifier) == number)
    return Rule(
        region=number,
        n_members=len(region.members),
        prototype=row_of(classifier, prototype.column),
        description=prototype.description,
        extents=extents,
        reach=reach_of(classifier.threshold_),
        degree=degree(*extents),
        ranges=_ranges(classifier, own),
        rejected=rejected,
        n_prototypes=None if is_whole(classifier) else len(own),
    )


def _ranges(classifier: FittedClassifier, own: Any) -> tuple[FeatureRange, ...]:
    """Return the ranges of the features of the highest weight, ties to the earlier one; none for other patterns."""
    if not (len(own) and isinstance(classifier.measure_, FittedEuclidean)):
        return ()
    rows, weights = classifier.prototypes_[own], classifier.weights_
    called = feature_names(classifier.feature_names, rows.shape[1])
    heaviest = np.argsort(-weights, kind="stable")[:MOST_FEATURES]
    return tuple(
        FeatureRange(
            called[k],
            float(weights[k]),
            float(rows[:, k].min()),
            float(np.median(rows[:, k])),
            float(rows[:, k].max()),
        )
        for k in heaviest
        if weights[k] > 0
    )


@dataclass(frozen=True)
class Scale:
    """What a membership is said to be a function of: a distance with a region's extents, or a ratio as it is."""

    symbol: str
    inner: float = 1.0
    outer: float = 1.0

    def over(self, extent: float) -> str:
        """Return the ratio in words.

        >>> Scale("d", 0.1, 0.2).over(0.2), Scale("r").over(1.0)
        ('(d / 0.2)', 'r')
        """
        return self.symbol if self.symbol == "r" else f"({self.symbol} / {format_number(extent)})"


def degree_in_words(function: MembershipFunction, inner: float, outer: float) -> str:
    """Return a membership function in words, for a region of these extents inwards and outwards.

    >>> degree_in_words(Gaussian(), 0.083, 0.083)
    'exp(-(d / 0.083)^2 / 2)'
    >>> degree_in_words(Triangular(), 0.1, 0.1)
    '1 - d / 0.2, 0 from d = 0.2 on'
    """
    return _degree(function, Scale("d", inner, outer))


def degree_at_limit(function: MembershipFunction) -> str:
    """Return a membership function in words, for how far out a pattern lies.

    >>> degree_at_limit(Gaussian())
    'exp(-r^2 / 2), where r is 1 at the limit'
    """
    return f"{_degree(function, Scale('r'))}, where r is 1 at the limit"


def _degree(function: MembershipFunction, scale: Scale) -> str:
    kinds = (DEGREES[kind] for kind in type(function).__mro__ if kind in DEGREES)
    return next(kinds, _other_degree)(function, scale)


def _gaussian_degree(function: Any, scale: Scale) -> str:
    return f"exp(-{scale.over(scale.outer)}^2 / 2)"


def _two_sided_degree(function: Any, scale: Scale) -> str:
    if scale.inner == scale.outer:
        return _gaussian_degree(function, scale)
    return (
        f"exp(-{scale.over(scale.outer)}^2 / 2) outwards, for patterns less similar to the training patterns than the "
        f"representative is, and exp(-{scale.over(scale.inner)}^2 / 2) inwards"
    )


def _triangular_degree(function: Triangular, scale: Scale) -> str:
    support = format_number(function.support * scale.outer)
    return f"1 - {scale.symbol} / {support}, 0 from {scale.symbol} = {support} on"


def _trapezoidal_degree(function: Trapezoidal, scale: Scale) -> str:
    core, support = format_number(function.core * scale.outer), format_number(function.support * scale.outer)
    return f"1 up to {scale.symbol} = {core}, then in a straight line down to 0 at {scale.symbol} = {support}"


def _bell_degree(function: Bell, scale: Scale) -> str:
    return f"1 / (1 + {scale.over(scale.outer)}^{format_number(2 * function.slope)})"


def _other_degree(function: Any, scale: Scale) -> str:
    return f"that {function!r} gives for {scale.over(scale.outer).strip('()')}"


# The type of a membership function -> its degree in words; TwoSided derives from Gaussian and is found before it.
DEGREES: dict[type, Callable[[Any, Scale], str]] = {
    Bell: _bell_degree,
    Gaussian: _gaussian_degree,
    Trapezoidal: _trapezoidal_degree,
    Triangular: _triangular_degree,
    TwoSided: _two_sided_degree,
}
