"""A fitted classifier -> its regions as rules for people to read."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eocc.explain.by_regions import prototypes_of
from eocc.explain.fitted import FittedClassifier, described, prototype_labels, reach_of, training_name
from eocc.foundation.markup import Shown, tag
from eocc.foundation.registry import listed
from eocc.foundation.types import Indices
from eocc.foundation.wording import (
    counted,
    format_data_number,
    format_number,
    format_value,
    glued,
    known_of,
    wrapped,
)
from eocc.measures.cells import Cells

# A rule gives the ranges of this many columns, those with the highest weights.
MOST_COLUMNS = 6
# It names this many categories of a column.
MOST_CATEGORIES = 3


@dataclass(frozen=True)
class FeatureRange:
    """The values of a column in the prototypes of a region, and the weight of the column in the dissimilarity.

    A share `missing` of these has no value.
    """

    feature: str
    weight: float
    minimum: float
    median: float
    maximum: float
    missing: float = 0.0

    def __str__(self) -> str:
        low, middle, high = (format_data_number(value) for value in (self.minimum, self.median, self.maximum))
        values = low if self.minimum == self.maximum else f"{low} to {high}, median {middle}"
        return f"{self.feature}: {values}{gaps_in_words(self.missing)}{weight_in_words(self.weight)}"


@dataclass(frozen=True)
class Rule:
    """A region as a rule: what its rows are like, and which rows are accepted because they are close to it.

    `prototype` is the training row that represents the region, by number and by `prototype_name`; `description`
    describes it. `extents` are the sizes of the region inwards and outwards, `reach` is the number of extents within
    which rows are accepted, `degree` the membership as a formula. `ranges` are those of the columns of numbers with the
    highest weights, `contents` describe such columns that hold categories or dates. With fewer prototypes than training
    rows, `n_prototypes` of the members are prototypes, and ranges are taken from these. For a classifier that decides
    by neighbours, `rejected` is the share of new normal rows above the limit; extents only describe the region.
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
    contents: tuple[str, ...] = ()
    rejected: float | None = None
    n_prototypes: int | None = None

    def __str__(self) -> str:
        values = [*map(str, self.ranges), *self.contents]
        members = counted(self.n_members, "normal row") + self._prototype_in_words(has_values=bool(values))
        lines = wrapped(f"Region {self.region}: {members}.", 0)
        if values:
            lines.append(f"  {self.whose} {'has' if 1 in (self.n_prototypes, self.n_members) else 'have'}")
        decision = f"{self._condition()}. It is normal to the degree {self.degree}."
        return "\n".join([*lines, *(f"    {one}" for one in values), *wrapped(decision, 2)])

    @property
    def whose(self) -> str:
        """The rows that the ranges describe."""
        if self.n_members == 1:
            return "It"
        return "Its rows" if self.n_prototypes is None else f"Its {counted(self.n_prototypes, 'prototype')}"

    @property
    def extent(self) -> str:
        """The extents in words."""
        inner, outer = map(format_number, self.extents)
        return outer if inner == outer else f"{inner} inwards, {outer} outwards"

    def _repr_html_(self) -> str:
        return tag("pre", str(self))

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as dictionaries, lists, strings and numbers, for JSON."""
        return asdict(self)

    def _prototype_in_words(self, has_values: bool) -> str:
        row = f"row {self.prototype_name}"
        row += f" ({glued(self.description)})" if self.description and not has_values else ""
        known = known_of(self.n_members, self.n_prototypes)
        if self.n_prototypes == 0:
            return f"{known}; the prototype nearest to its centre is in another region, {row}"
        return f"{known}; the most typical is {row}" if self.n_members > 1 else f"{known}, {row}"

    def _condition(self) -> str:
        if self.rejected is None:
            limit = f"{'' if self.reach == 1 else f'{self.reach:.4g} times its extent, '}{self.extent}"
            return f"A row is accepted if its distance d from the centre of the region is at most {limit}"
        nearest = "training row" if self.n_prototypes is None else "prototype"
        share = f"{format_number(100 * (1 - self.rejected))}% of new normal rows"
        near = f"A row whose nearest {nearest} is one of these"
        return f"{near} is accepted if its surprise is at most the limit, as for about {share}"


def gaps_in_words(share: float) -> str:
    """Return the share of rows without a value, if there are any."""
    return f", missing in {share:.0%}" if share else ""


def weight_in_words(weight: float) -> str:
    """Return the weight of a column, if it is not the usual one."""
    return "" if weight == 1 else f" (weight {format_number(weight)})"


def rules_of(classifier: FittedClassifier, rejected: float | None = None) -> list[Rule]:
    """Return one rule per region, in their order; docs/guides/explanations.md shows some.

    A classifier that decides by neighbours gives the share of new normal rows that are `rejected`.
    """
    prototypes = prototypes_of(classifier, range(len(classifier.regions_)))
    return Shown(_rule(classifier, number, column, rejected) for number, column in prototypes.items())


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
        **_values(classifier, own), rejected=rejected,
        n_prototypes=None if classifier._is_whole else len(own),
    )  # fmt: skip


def ratio_in_words(inner: float, outer: float) -> str:
    """Return what r is for a region of these extents."""
    if inner == outer:
        return f"r = d / {format_number(outer)}"
    return f"r = d / {format_number(inner)} inwards and d / {format_number(outer)} outwards"


def _values(classifier: FittedClassifier, own: Indices) -> dict[str, Any]:
    """Return the `ranges` and the `contents` of the prototypes `own`, of the columns with the highest weights."""
    measure, weights = classifier.measure_, classifier.weights_
    if measure.cells is None or not len(own):
        return {}
    rows, ranges, contents = classifier.prototypes_[own], [], []
    cells: Cells = measure.cells(rows, rows, classifier._feature_names)
    for k in np.argsort(-weights, kind="stable")[:MOST_COLUMNS].tolist():
        order = np.argsort(cells.columns[k], kind="stable").tolist()  # missing values last
        values = [value for value in (cells.value(j, k) for j in order) if value is not None]
        name, weight, missing = cells.names[k], float(weights[k]), 1 - len(values) / len(order)
        if weight == 0 or not values:
            continue
        if cells.is_code[k] or isinstance(values[0], str):
            words = _shares(values) if cells.is_code[k] else " to ".join(dict.fromkeys([values[0], values[-1]]))
            contents.append(f"{name}: {words}{gaps_in_words(missing)}{weight_in_words(weight)}")
        else:
            ranges.append(FeatureRange(name, weight, values[0], float(np.median(values)), values[-1], missing))
    return {"ranges": tuple(ranges), "contents": tuple(contents)}


def _shares(values: Sequence[Any]) -> str:
    """Return categories with their shares, the most common first."""
    counts = Counter(map(format_value, values))
    return listed([f"{label} {count / len(values):.0%}" for label, count in counts.most_common()], MOST_CATEGORIES)
