"""A fitted classifier -> its regions as rules for people to read."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eocc.explain.data import number_columns
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

# A rule gives the ranges of this many columns, those with the highest weights.
MOST_COLUMNS = 6


@dataclass(frozen=True)
class FeatureRange:
    """The values of a column in the prototypes of a region, and the weight of the column in the dissimilarity.

    >>> print(FeatureRange("width", 0.5, 2.0, 3.25, 4.0))
    width from 2 to 4, median 3.25 (weight 0.5)
    """

    feature: str
    weight: float
    minimum: float
    median: float
    maximum: float

    def __str__(self) -> str:
        low, middle, high = (format_data_number(value) for value in (self.minimum, self.median, self.maximum))
        values = f" {low}" if self.minimum == self.maximum else f" from {low} to {high}, median {middle}"
        return f"{self.feature}{values} (weight {format_number(self.weight)})"


@dataclass(frozen=True)
class Rule:
    """A region as a rule: IF a row is close to it THEN it is normal, to a degree.

    `prototype` is the training row that represents the region, `description` describes it. `extents` are the sizes of
    the region inwards and outwards, `reach` is the number of extents within which rows are accepted, `degree` the
    membership as a formula. `ranges` are those of the columns with the highest weights. With fewer prototypes than
    training rows, `n_prototypes` of the members are prototypes, and ranges are taken from these.

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
        members = f"{counted(self.n_members, 'row')}{self._prototype_in_words()}"
        if self.n_prototypes == 0 and self.rejected is not None:
            never = f"No row is assigned to region {self.region} ({members})"
            return "\n".join(wrapped(f"{never}: a row's region is that of its nearest prototype.", 0))
        condition = self._by_regions(members) if self.rejected is None else self._by_neighbours(members, self.rejected)
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
    def extent(self) -> str:
        """The extents in words."""
        inner, outer = map(format_number, self.extents)
        return outer if inner == outer else f"{inner} inwards, {outer} outwards"

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)

    def _prototype_in_words(self) -> str:
        row = f"no. {self.prototype}{f': {glued(self.description)}' if self.description else ''}"
        if self.n_prototypes is None:
            return f", prototype {row}"
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is in another region, {row}"
        return f"{known}{', ' if self.n_prototypes == 1 else '; the one nearest to its centre is '}{row}"

    def _by_regions(self, members: str) -> str:
        times = "" if self.reach == 1 else f"{self.reach:.4g} times "
        return (
            f"the dissimilarity profile is close to region {self.region} ({members}), at a distance d within "
            f"{times}its extent {self.extent}"
        )

    def _by_neighbours(self, members: str, rejected: float) -> str:
        nearest = "training row" if self.n_prototypes is None else "prototype"
        share = format_number(100 * (1 - rejected))
        return (
            f"the nearest {nearest} is in region {self.region} ({members}), and the surprise is at most the limit, "
            f"as for about {share}% of new normal rows"
        )


def rules_by_regions(classifier: FittedClassifier) -> list[Rule]:
    """Return one rule per region, in their order; d is the distance in the dissimilarity space.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> print(clf.rules()[0])
    IF the dissimilarity profile is close to region 0 (49 rows, prototype no. 43: sepal length (cm) = 5,
      sepal width (cm) = 3.5, petal length (cm) = 1.6, petal width (cm) = 0.6), at a distance d within
      its extent 0.162,
    THEN normal to the degree exp(-r^2 / 2), where r = d / 0.162.
      Its rows have
        sepal length (cm) from 4.3 to 5.8, median 5 (weight 1)
        sepal width (cm) from 2.9 to 4.4, median 3.4 (weight 1)
        petal length (cm) from 1 to 1.9, median 1.5 (weight 1)
        petal width (cm) from 0.1 to 0.6, median 0.2 (weight 1)
    """
    return _rules(classifier, None)


def rules_by_neighbours(classifier: Any) -> list[Rule]:
    """Return one rule per region of the prototypes; r says how far out a row lies.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import SurpriseClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(SurpriseClassifier().fit(X[y == 0]).rules()[1])
    IF the nearest training row is in region 1 (1 row, prototype no. 41: sepal length (cm) = 4.5,
      sepal width (cm) = 2.3, petal length (cm) = 1.3, petal width (cm) = 0.3), and the surprise is at
      most the limit, as for about 95% of new normal rows,
    THEN normal to the degree exp(-r^2 / 2), where r = 1 at the limit.
      Its rows have
        sepal length (cm) 4.5 (weight 1)
        sepal width (cm) 2.3 (weight 1)
        petal length (cm) 1.3 (weight 1)
        petal width (cm) 0.3 (weight 1)
    """
    return _rules(classifier, float(classifier.calibration_.rate))


def _rules(classifier: FittedClassifier, rejected: float | None) -> list[Rule]:
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)))
    return [_rule(classifier, number, prototype, rejected) for number, prototype in prototypes.items()]


def _rule(classifier: FittedClassifier, number: int, prototype: Prototype, rejected: float | None) -> Rule:
    region, model = classifier.regions_[number], classifier.fuzzy_model_
    inner, outer = model.widths[number].tolist()
    extents = (region.extent, region.extent) if inner == outer else (inner, outer)
    own = np.flatnonzero(prototype_labels(classifier) == number)
    ratio = ratio_in_words(*extents) if rejected is None else "r = 1 at the limit"
    return Rule(
        region=number,
        n_members=len(region.members),
        prototype=row_of(classifier, prototype.column),
        description=prototype.description,
        extents=extents,
        reach=reach_of(classifier.threshold_),
        degree=f"{formula_of(model.membership_function)}, where {ratio}",
        ranges=_ranges(classifier, own),
        rejected=rejected,
        n_prototypes=None if is_whole(classifier) else len(own),
    )


def formula_of(membership_function: Any) -> str:
    """Return the membership as a formula of r; a function without a formula is shown as it prints."""
    return str(getattr(membership_function, "formula", f"{membership_function!r} of r"))


def ratio_in_words(inner: float, outer: float) -> str:
    """Return what r is for a region of these extents.

    >>> ratio_in_words(0.1, 0.1), ratio_in_words(0.1, 0.2)
    ('r = d / 0.1', 'r = d / 0.1 inwards and d / 0.2 outwards')
    """
    if inner == outer:
        return f"r = d / {format_number(outer)}"
    return f"r = d / {format_number(inner)} inwards and d / {format_number(outer)} outwards"


def _ranges(classifier: FittedClassifier, own: Any) -> tuple[FeatureRange, ...]:
    """Return the ranges of the columns with the highest weights; () if the data is not a table of numbers."""
    names = number_columns(classifier)
    if not (len(own) and names):
        return ()
    rows, weights = classifier.prototypes_[own], classifier.weights_
    return tuple(
        FeatureRange(names[k], float(weights[k]), *(float(f(rows[:, k])) for f in (np.min, np.median, np.max)))
        for k in np.argsort(-weights, kind="stable")[:MOST_COLUMNS]
        if weights[k] > 0
    )
