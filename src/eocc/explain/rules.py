"""A fitted classifier -> its regions as rules for people to read."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eocc.explain.by_regions import prototypes_of
from eocc.explain.fitted import FittedClassifier, described, number_columns, prototype_labels, reach_of, training_name
from eocc.foundation.types import Indices
from eocc.foundation.wording import counted, format_data_number, format_number, glued, known_of, wrapped

# A rule gives the ranges of this many columns, those with the highest weights.
MOST_COLUMNS = 6


@dataclass(frozen=True)
class FeatureRange:
    """The values of a column in the prototypes of a region, and the weight of the column in the dissimilarity."""

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

    `prototype` is the training row that represents the region, by number and by `prototype_name`; `description`
    describes it. `extents` are the sizes of the region inwards and outwards, `reach` is the number of extents within
    which rows are accepted, `degree` the membership as a formula. `ranges` are those of the columns with the highest
    weights. With fewer prototypes than training rows, `n_prototypes` of the members are prototypes, and ranges are
    taken from these. For a classifier that decides by neighbours, `rejected` is the share of new normal rows above the
    limit; extents only describe the region.
    """

    region: int
    n_members: int
    prototype: int
    prototype_name: str
    description: str
    extents: tuple[float, float]
    reach: float
    degree: str
    ranges: tuple[FeatureRange, ...] = ()
    rejected: float | None = None
    n_prototypes: int | None = None

    def __str__(self) -> str:
        members = f"{counted(self.n_members, 'row')}{self._prototype_in_words()}"
        lines = wrapped(f"IF {self._condition(members)},", 0) + wrapped(f"THEN normal to the degree {self.degree}.", 0)
        if self.ranges:
            lines.append(f"  {self.whose} {'has' if self.n_prototypes == 1 else 'have'}")
        return "\n".join([*lines, *(f"    {one}" for one in self.ranges)])

    @property
    def whose(self) -> str:
        """The rows that the ranges describe."""
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
        row = f"no. {self.prototype_name}{f': {glued(self.description)}' if self.description else ''}"
        if self.n_prototypes is None:
            return f", prototype {row}"
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is in another region, {row}"
        return f"{known}{', ' if self.n_prototypes == 1 else '; the one nearest to its centre is '}{row}"

    def _condition(self, members: str) -> str:
        if self.rejected is None:
            extent = f"{'' if self.reach == 1 else f'{self.reach:.4g} times '}its extent {self.extent}"
            region = f"the dissimilarity profile is close to region {self.region} ({members})"
            return f"{region}, at a distance d within {extent}"
        nearest = "training row" if self.n_prototypes is None else "prototype"
        share = f"{format_number(100 * (1 - self.rejected))}% of new normal rows"
        region = f"the nearest {nearest} is in region {self.region} ({members})"
        return f"{region}, and the surprise is at most the limit, as for about {share}"


def rules_of(classifier: FittedClassifier, rejected: float | None = None) -> list[Rule]:
    """Return one rule per region, in their order; docs/explanations.md shows some.

    A classifier that decides by neighbours gives the share of new normal rows that are `rejected`.
    """
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)))
    return [_rule(classifier, number, column, rejected) for number, column in prototypes.items()]


def _rule(classifier: FittedClassifier, number: int, column: int, rejected: float | None) -> Rule:
    region, function = classifier.regions_[number], classifier.fuzzy_model_.membership_function
    index = int(classifier.prototype_indices_[column])
    inner, outer = classifier.fuzzy_model_.widths[number].tolist()
    extents = (region.extent, region.extent) if inner == outer else (inner, outer)
    own = np.flatnonzero(prototype_labels(classifier) == number)
    ratio = ratio_in_words(*extents) if rejected is None else "r = 1 at the limit"
    return Rule(
        region=number, n_members=len(region.members),
        prototype=int(classifier.training_indices_[index]), prototype_name=training_name(classifier, index),
        description=described(classifier, classifier.prototypes_, column),
        extents=extents, reach=reach_of(classifier.threshold_),
        degree=f"{getattr(function, 'formula', f'{function!r} of r')}, where {ratio}",
        ranges=_ranges(classifier, own), rejected=rejected,
        n_prototypes=None if classifier.is_whole else len(own),
    )  # fmt: skip


def ratio_in_words(inner: float, outer: float) -> str:
    """Return what r is for a region of these extents."""
    if inner == outer:
        return f"r = d / {format_number(outer)}"
    return f"r = d / {format_number(inner)} inwards and d / {format_number(outer)} outwards"


def _ranges(classifier: FittedClassifier, own: Indices) -> tuple[FeatureRange, ...]:
    names = number_columns(classifier)
    if not (len(own) and names):
        return ()
    rows, weights = classifier.prototypes_[own], classifier.weights_
    return tuple(
        FeatureRange(names[k], float(weights[k]), *(float(f(rows[:, k])) for f in (np.min, np.median, np.max)))
        for k in np.argsort(-weights, kind="stable")[:MOST_COLUMNS]
        if weights[k] > 0
    )
