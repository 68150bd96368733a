"""Why regions accept or reject a row."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from eocc.explain.explanation import Explanation, difference_lines, exemplars_in_words
from eocc.explain.regions import (
    FittedClassifier,
    Place,
    Profile,
    Prototype,
    TrainingRow,
    exemplars_among,
    place_in,
    profile_of,
    prototype_labels,
    prototypes_of,
    reach_of,
)
from eocc.foundation.types import Matrix
from eocc.foundation.wording import counted, format_number, glued, known_of, share, wrapped
from eocc.measures.difference import difference_of
from eocc.regions.scores import BOUNDARY

# The text calls a row closer than this, in extents, "at its centre": two decimals would show 0.00.
AT_CENTRE = 0.005


@dataclass(frozen=True, repr=False)
class RegionExplanation(Explanation):
    """A decision by regions.

    `nearest` is the region of highest membership, `runner_up` the next one, None if there is only one region. A row is
    accepted within `reach` extents of a region: 1, unless the model is calibrated. The decision is made by the distance
    in the dissimilarity space, which `profile` splits into terms; `difference` is from the prototype of the nearest
    region, `exemplars` are its members most like the row, and `ratio` is the distance to it in extents.
    """

    reach: float
    nearest: Place
    runner_up: Place | None
    profile: Profile

    @property
    def decision(self) -> str:
        """The decision in words."""
        region, where = self.nearest.region, ratio_in_words(self.nearest)
        limit = "" if self.reach == 1 else f" (the limit is {self.reach:.4g})"
        if self.is_target and self.nearest.ratio <= BOUNDARY:
            return f"accepted: inside region {region}, {where}{limit}"
        decision = "accepted" if self.is_target else "rejected"
        return f"{decision}: the nearest region is {region}, {where}{limit}"

    @property
    def compared_with(self) -> tuple[str, TrainingRow]:
        """The prototype of the nearest region."""
        place = "nearest to the centre of" if self.nearest.n_prototypes == 0 else "of"
        return f"prototype {place} region {self.nearest.region}", self.nearest.prototype

    @property
    def exemplars_heading(self) -> str:
        """The heading of the exemplars."""
        if self.nearest.n_prototypes == 0:
            return f"Region {self.nearest.region} has no prototype, so no row of it can be shown."
        rows = "training rows" if self.nearest.n_prototypes is None else "prototypes"
        return f"Most similar {rows} in region {self.nearest.region}:"

    def notes(self) -> list[str]:
        """Return the next region, and what the distance is made of."""
        found = []
        if self.runner_up is not None:
            found.append(f"The next region is {self.runner_up.region}, {ratio_in_words(self.runner_up)}.")
        return [*found, self._profile_in_words()]

    def lines(self) -> list[str]:
        """Return the text line by line."""
        near, other = self.nearest, self.runner_up
        lines = [*wrapped(self.headline, 0), *wrapped(f"Region {near.region}: {place_in_words(near)}.", 2)]
        if self.exemplars:
            lines += wrapped(f"{self.exemplars_heading} {exemplars_in_words(self.exemplars)}.", 2)
        if other is not None:
            lines += wrapped(f"Next is region {other.region}, {ratio_in_words(other)}: {place_in_words(other)}.", 2)
        lines += difference_lines(self.difference, f"training row {near.prototype.row}, the prototype")
        return [*lines, *wrapped(self._profile_in_words(), 2)]

    def _profile_in_words(self) -> str:
        compared = counted(self.profile.n_columns, "training row" if self.nearest.n_prototypes is None else "prototype")
        opening = f"The decision compares the dissimilarities to all {compared} with those of the region"
        if self.nearest.ratio < AT_CENTRE:
            return f"{opening}: they are the same."
        shares = ", ".join(
            f"{one.row} ({share(one.amount, self.profile.squared_ratio).strip()}: {format_number(one.here)} against "
            f"{format_number(one.there)})"
            for one in self.profile.columns
        )
        rows = "row" if len(self.profile.columns) == 1 else "rows"
        return f"{opening}; training {rows} {glued(shares)} contribute most to the squared distance."


def explain_by_regions(classifier: FittedClassifier, patterns: Any) -> list[Explanation]:
    """Return why each pattern was accepted or rejected.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = EntropicOneClassClassifier(search=None).fit(X[y == 0])
    >>> print(clf.explain(X.iloc[[75]])[0])
    Rejected: the nearest region is 0, at 7.59 times its extent. Membership 3.19e-13.
      Region 0: 49 training rows, extent 0.162; prototype is training row 43 (sepal length (cm) = 5,
        sepal width (cm) = 3.5, petal length (cm) = 1.6, petal width (cm) = 0.6).
      Most similar training rows in region 0: 18, 44, 20 (dissimilarity 1.3, 1.31, 1.32).
      Next is region 1, at 21.6 times its extent: 1 training row, extent 0.0455; prototype is training
        row 41 (sepal length (cm) = 4.5, sepal width (cm) = 2.3, petal length (cm) = 1.3,
        petal width (cm) = 0.3).
      Dissimilarity 1.38 from training row 43, the prototype, by feature:
        0.96   69%  petal length (cm): 4.4, prototype 1.6
        0.31   23%  sepal length (cm): 6.6, prototype 5
        0.08    6%  petal width (cm): 1.4, prototype 0.6
        0.03    2%  sepal width (cm): 3, prototype 3.5
      The decision compares the dissimilarities to all 50 training rows with those of the region;
        training rows 43 (3%: 1.38 against 0), 22 (3%: 1.72 against 0.342), 40 (2%: 1.52 against 0.175)
        contribute most to the squared distance.
    """
    rows = classifier.embed(patterns)
    # The nearest region and the next.
    ranked = np.argsort(classifier.fuzzy_model_.ratios(rows), axis=1, kind="stable")[:, :2]
    prototypes = prototypes_of(classifier, np.unique(ranked).tolist())
    return [
        _explanation(classifier, patterns[i : i + 1], rows[i], {n: prototypes[n] for n in ranked[i].tolist()})
        for i in range(len(rows))
    ]


def _explanation(
    classifier: FittedClassifier, pattern: Any, row: Matrix, prototypes: Mapping[int, Prototype]
) -> RegionExplanation:
    """Explain one pattern; `prototypes` are those of the nearest region and the next, in this order."""
    model, rows, threshold = classifier.fuzzy_model_, row[None], classifier.threshold_
    nearest, *next_one = (place_in(classifier, row, number, prototype) for number, prototype in prototypes.items())
    prototype = classifier.prototypes_[nearest.prototype.column : nearest.prototype.column + 1]
    return RegionExplanation(
        is_target=bool(model.decision(rows)[0] - threshold >= 0),
        membership=float(np.exp(model.log_membership(rows)[0])),
        ratio=nearest.ratio,
        difference=difference_of(
            classifier.measure_, pattern, prototype, classifier.weights_, classifier.feature_names
        ),
        exemplars=exemplars_among(classifier, row, np.flatnonzero(prototype_labels(classifier) == nearest.region)),
        reach=reach_of(threshold),
        nearest=nearest,
        runner_up=next_one[0] if next_one else None,
        profile=profile_of(classifier, row, nearest.region),
    )


def ratio_in_words(place: Place) -> str:
    """Return how far a row lies from a region, in its extents."""
    extent = "its extent" if place.side is None else f"its extent on the {place.side} side"
    if place.ratio < AT_CENTRE:
        return "at its centre"
    if place.ratio <= BOUNDARY:
        return f"at {place.ratio:.2f} of {extent}"
    times = format_number(place.ratio)
    return f"at {times} times {extent}" if times != "1" else f"just outside {extent}"


def place_in_words(place: Place) -> str:
    """Return the size of a region and its prototype."""
    size = counted(place.n_members, "training row") + known_of(place.n_members, place.n_prototypes)
    description = f" ({glued(place.description)})" if place.description else ""
    row = f"training row {place.prototype.row}{description}"
    if place.n_prototypes == 0:
        named = f"the prototype nearest to its centre is in another region, {row}"
    else:
        several = place.n_prototypes is not None and place.n_prototypes > 1
        named = f"{'the one nearest to its centre' if several else 'prototype'} is {row}"
    return f"{size}, extent {format_number(place.extent)}; {named}"
