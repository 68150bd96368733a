"""A fitted classifier -> its decision regions as rules for people to read."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eocc.explanations.differences.vectors import feature_names
from eocc.explanations.explain import names_of
from eocc.explanations.regions import Prototype, prototypes_of, reach_of
from eocc.explanations.wording import counted, figure, glued, reading, wrapped
from eocc.measures.euclidean import FrozenEuclidean
from eocc.memberships import Bell, Gaussian, MembershipFunction, Trapezoidal, Triangular, TwoSided

# A rule names the ranges of so many features, those of the highest weight.
MOST_FEATURES = 6


@dataclass(frozen=True)
class FeatureRange:
    """What a feature is among a region's members, and its weight in the dissimilarity.

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
            return f"{self.feature} {reading(self.minimum)} (weight {figure(self.weight)})"
        low, middle, high = (reading(value) for value in (self.minimum, self.median, self.maximum))
        return f"{self.feature} from {low} to {high}, median {middle} (weight {figure(self.weight)})"


@dataclass(frozen=True)
class Rule:
    """A decision region: IF a pattern's dissimilarities are close to its representative's THEN it is a target.

    `prototype` is the row of the X of the fit that stands for the region, `description` that pattern in a few words,
    `extents` the region's on the inner and on the outer side, `reach` up to how many of them a pattern is a target (1,
    but for models calibrated to a false alarm rate), `degree` the membership in words. `ranges` are of the features of
    the highest weight, for rows of numbers.
    """

    region: int
    n_members: int
    prototype: int
    description: str
    extents: tuple[float, float]
    reach: float
    degree: str
    ranges: tuple[FeatureRange, ...] = ()

    def __str__(self) -> str:
        inner, outer = map(figure, self.extents)
        extent = f"extent {outer}" if inner == outer else f"extent, {inner} inwards or {outer} outwards"
        described = f": {glued(self.description)}" if self.description else ""
        known = f"{counted(self.n_members, 'pattern')}, prototype no. {self.prototype}{described}"
        condition = f"IF the dissimilarity profile is close to region {self.region} ({known}), at a distance d "
        condition += f"within {'' if self.reach == 1 else f'{self.reach:.4g} times '}its {extent},"
        lines = wrapped(condition, 0) + wrapped(f"THEN target to the degree {self.degree}.", 0)
        if self.ranges:
            lines += ["  Its patterns have", *(f"    {one}" for one in self.ranges)]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)


def rules(classifier: Any) -> list[Rule]:
    """Return a rule per decision region, in their order; d in its text is the distance in the dissimilarity space.

    A pattern within reach of some region is a target; the degree is its membership in the region.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> print(rules(clf)[0])
    IF the dissimilarity profile is close to region 0 (49 patterns, prototype no. 43:
      sepal length (cm) = 5, sepal width (cm) = 3.5, petal length (cm) = 1.6, petal width (cm) = 0.6),
      at a distance d within its extent 0.162,
    THEN target to the degree exp(-(d / 0.162)^2 / 2).
      Its patterns have
        sepal length (cm) from 4.3 to 5.8, median 5 (weight 1)
        sepal width (cm) from 2.9 to 4.4, median 3.4 (weight 1)
        petal length (cm) from 1 to 1.9, median 1.5 (weight 1)
        petal width (cm) from 0.1 to 0.6, median 0.2 (weight 1)
    """
    check_is_fitted(classifier)
    names = names_of(classifier)
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)), names)
    return [_rule(classifier, number, prototype, names) for number, prototype in prototypes.items()]


def _rule(classifier: Any, number: int, prototype: Prototype, names: tuple[str, ...] | None) -> Rule:
    region, model = classifier.regions_[number], classifier.fuzzy_model_
    inner, outer = model.widths[number].tolist()
    extents = (region.extent, region.extent) if inner == outer else (inner, outer)
    return Rule(
        region=number,
        n_members=len(region.members),
        prototype=int(classifier.training_indices_[prototype.index]),
        description=prototype.description,
        extents=extents,
        reach=reach_of(classifier.threshold_),
        degree=degree_in_words(model.membership_function, *extents),
        ranges=_ranges(classifier, region.members, names),
    )


def _ranges(classifier: Any, members: Any, names: tuple[str, ...] | None) -> tuple[FeatureRange, ...]:
    """Return the ranges of the features of the highest weight, ties to the earlier one; none for other patterns."""
    if not isinstance(classifier.measure_, FrozenEuclidean):
        return ()
    rows, weights = classifier.prototypes_[members], classifier.weights_
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


def degree_in_words(function: MembershipFunction, inner: float, outer: float) -> str:
    """Return a membership function in words, for a region of these extents inwards and outwards.

    >>> degree_in_words(Gaussian(), 0.083, 0.083)
    'exp(-(d / 0.083)^2 / 2)'
    >>> degree_in_words(Triangular(), 0.1, 0.1)
    '1 - d / 0.2, 0 from d = 0.2 on'
    """
    kinds = (DEGREES[kind] for kind in type(function).__mro__ if kind in DEGREES)
    return next(kinds, _other_degree)(function, inner, outer)


def _gaussian_degree(function: Any, inner: float, outer: float) -> str:
    return f"exp(-(d / {figure(outer)})^2 / 2)"


def _two_sided_degree(function: Any, inner: float, outer: float) -> str:
    if inner == outer:
        return _gaussian_degree(function, inner, outer)
    return (
        f"exp(-(d / {figure(outer)})^2 / 2) outwards, for patterns less similar to the training patterns than the "
        f"representative is, and exp(-(d / {figure(inner)})^2 / 2) inwards"
    )


def _triangular_degree(function: Triangular, inner: float, outer: float) -> str:
    support = figure(function.support * outer)
    return f"1 - d / {support}, 0 from d = {support} on"


def _trapezoidal_degree(function: Trapezoidal, inner: float, outer: float) -> str:
    core, support = figure(function.core * outer), figure(function.support * outer)
    return f"1 up to d = {core}, then in a straight line down to 0 at d = {support}"


def _bell_degree(function: Bell, inner: float, outer: float) -> str:
    return f"1 / (1 + (d / {figure(outer)})^{figure(2 * function.slope)})"


def _other_degree(function: Any, inner: float, outer: float) -> str:
    return f"that {function!r} gives for d / {figure(outer)}"


# The type of a membership function -> its degree in words; TwoSided derives from Gaussian and is found before it.
DEGREES: dict[type, Callable[[Any, float, float], str]] = {
    Bell: _bell_degree,
    Gaussian: _gaussian_degree,
    Trapezoidal: _trapezoidal_degree,
    Triangular: _triangular_degree,
    TwoSided: _two_sided_degree,
}
