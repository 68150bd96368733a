"""A fitted classifier -> its decision regions as rules for people to read."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eocc.explain.differences.vectors import feature_names
from eocc.explain.explain import names_of
from eocc.explain.regions import Prototype, is_whole, prototype_labels, prototypes_of, reach_of, row_of
from eocc.foundation.wording import counted, format_data_number, format_number, glued, known_of, wrapped
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
    """A decision region: IF a pattern's dissimilarities are close to its representative's THEN it is a target.

    `prototype` is the row of the X of the fit that stands for the region, `description` that pattern in a few words,
    `extents` the region's on the inner and on the outer side, `reach` up to how many of them a pattern is a target (1,
    but for models calibrated to a false alarm rate), `degree` the membership in words. `ranges` are of the features of
    the highest weight, for rows of numbers.

    Where prototypes are fewer than training patterns, `n_prototypes` of the members are such, and the ranges are those
    of these; of 0 there are no ranges, and `prototype` is one of another region, nearest to this one's centre.

    Where neighbourhoods of several sizes decide: IF a pattern's nearest prototype is in the region, and its surprise
    within the border, THEN it is a target. `beyond` is the share of new targets to expect beyond the border, None where
    regions decide; the extents then tell the region's size, and nothing of the decision.
    """

    region: int
    n_members: int
    prototype: int
    description: str
    extents: tuple[float, float]
    reach: float
    degree: str
    ranges: tuple[FeatureRange, ...] = ()
    beyond: float | None = None
    n_prototypes: int | None = None

    def __str__(self) -> str:
        if self.n_prototypes == 0 and self.beyond is not None:
            return "\n".join(wrapped(self._never(), 0))
        known = f"{counted(self.n_members, 'pattern')}{self.standing}"
        condition = self._by_regions(known) if self.beyond is None else self._by_neighbourhoods(known, self.beyond)
        lines = wrapped(f"IF {condition},", 0) + wrapped(f"THEN target to the degree {self.degree}.", 0)
        if self.ranges:
            lines += [
                f"  {self.whose} {'has' if self.n_prototypes == 1 else 'have'}",
                *(f"    {one}" for one in self.ranges),
            ]
        return "\n".join(lines)

    @property
    def whose(self) -> str:
        """Whose ranges these are."""
        return "Its patterns" if self.n_prototypes is None else f"Its {counted(self.n_prototypes, 'prototype')}"

    @property
    def standing(self) -> str:
        """Which pattern stands for the region, and how: the end of a sentence on its size."""
        pattern = f"no. {self.prototype}{f': {glued(self.description)}' if self.description else ''}"
        if self.n_prototypes is None:
            return f", prototype {pattern}"
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is of another region, {pattern}"
        return f"{known}{', ' if self.n_prototypes == 1 else '; of these nearest to its centre is '}{pattern}"

    def _never(self) -> str:
        region = f"region {self.region} ({counted(self.n_members, 'pattern')}{self.standing})"
        return f"No pattern is said to be of {region}: a pattern's region is that of its nearest prototype."

    def _by_regions(self, known: str) -> str:
        inner, outer = map(format_number, self.extents)
        extent = f"extent {outer}" if inner == outer else f"extent, {inner} inwards or {outer} outwards"
        within = f"within {'' if self.reach == 1 else f'{self.reach:.4g} times '}its {extent}"
        return f"the dissimilarity profile is close to region {self.region} ({known}), at a distance d {within}"

    def _by_neighbourhoods(self, known: str, beyond: float) -> str:
        share = format_number(100 * (1 - beyond))
        keep = f"which about {share}% of new targets keep, judging by left-out training patterns"
        called = "training pattern" if self.n_prototypes is None else "prototype"
        near = f"the nearest {called} is one of region {self.region} ({known})"
        return f"{near}, and the surprise stays within the border, {keep}"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def rules(classifier: Any) -> list[Rule]:
    """Return a rule per decision region, in their order.

    With resolution="single" d in its text is the distance in the dissimilarity space. A pattern within reach of some
    region is a target; the degree is its membership in the region. With "multi" r is how far out a pattern lies, 1 at
    the border, and the degree its membership in the target class.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> by_regions = EntropicOneClassClassifier(resolution="single", search=None).fit(X[y == 0])
    >>> print(rules(by_regions)[0])
    IF the dissimilarity profile is close to region 0 (49 patterns, prototype no. 43:
      sepal length (cm) = 5, sepal width (cm) = 3.5, petal length (cm) = 1.6, petal width (cm) = 0.6),
      at a distance d within its extent 0.162,
    THEN target to the degree exp(-(d / 0.162)^2 / 2).
      Its patterns have
        sepal length (cm) from 4.3 to 5.8, median 5 (weight 1)
        sepal width (cm) from 2.9 to 4.4, median 3.4 (weight 1)
        petal length (cm) from 1 to 1.9, median 1.5 (weight 1)
        petal width (cm) from 0.1 to 0.6, median 0.2 (weight 1)
    >>> clf = EntropicOneClassClassifier().fit(X[y == 0])
    >>> print(rules(clf)[1])
    IF the nearest training pattern is one of region 1 (1 pattern, prototype no. 41:
      sepal length (cm) = 4.5, sepal width (cm) = 2.3, petal length (cm) = 1.3, petal width (cm) = 0.3),
      and the surprise stays within the border, which about 95% of new targets keep, judging by left-out
      training patterns,
    THEN target to the degree exp(-r^2 / 2), where r is 1 at the border.
      Its patterns have
        sepal length (cm) 4.5 (weight 1)
        sepal width (cm) 2.3 (weight 1)
        petal length (cm) 1.3 (weight 1)
        petal width (cm) 0.3 (weight 1)
    """
    check_is_fitted(classifier)
    names = names_of(classifier)
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)), names)
    return [_rule(classifier, number, prototype, names) for number, prototype in prototypes.items()]


def _rule(classifier: Any, number: int, prototype: Prototype, names: tuple[str, ...] | None) -> Rule:
    region, model = classifier.regions_[number], classifier.fuzzy_model_
    inner, outer = model.widths[number].tolist()
    extents = (region.extent, region.extent) if inner == outer else (inner, outer)
    by_neighbourhoods = hasattr(classifier, "surprise_model_")
    function, own = model.membership_function, np.flatnonzero(prototype_labels(classifier) == number)
    return Rule(
        region=number,
        n_members=len(region.members),
        prototype=row_of(classifier, prototype.column),
        description=prototype.description,
        extents=extents,
        reach=reach_of(classifier.threshold_),
        degree=border_degree_in_words(function) if by_neighbourhoods else degree_in_words(function, *extents),
        ranges=_ranges(classifier, own, names),
        beyond=float(classifier.calibration_.rate) if by_neighbourhoods else None,
        n_prototypes=None if is_whole(classifier) else len(own),
    )


def _ranges(classifier: Any, own: Any, names: tuple[str, ...] | None) -> tuple[FeatureRange, ...]:
    """Return the ranges of the features of the highest weight, ties to the earlier one; none for other patterns."""
    if not (len(own) and isinstance(classifier.measure_, FittedEuclidean)):
        return ()
    rows, weights = classifier.prototypes_[own], classifier.weights_
    called = feature_names(names, rows.shape[1])
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


def border_degree_in_words(function: MembershipFunction) -> str:
    """Return a membership function in words, for how far out a pattern lies.

    >>> border_degree_in_words(Gaussian())
    'exp(-r^2 / 2), where r is 1 at the border'
    """
    return f"{_degree(function, Scale('r'))}, where r is 1 at the border"


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
