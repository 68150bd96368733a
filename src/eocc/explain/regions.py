"""A pattern's place among the decision regions: which is nearest, how far, and what that distance is made of."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eocc.foundation.types import Indices, Matrix
from eocc.foundation.wording import finite
from eocc.measures.difference import description_of, shared_out
from eocc.measures.protocol import FittedMeasure
from eocc.regions.fuzzy import BOUNDARY, FuzzyModel, Region
from eocc.space.dissimilarity_space import distances_to, offsets_from

N_EXEMPLARS = 3
N_COLUMNS = 3
# A medoid's own row, computed anew, differs from the centre by rounding only: the product that gave the training
# dissimilarities, of order 1, is good to about 1e-10.
SAME_POINT = 1e-9


class FittedClassifier(Protocol):
    """What explanations need of a fitted classifier."""

    measure_: FittedMeasure
    threshold_: float
    prototypes_: Any
    prototype_indices_: Indices
    training_indices_: Indices
    weights_: Matrix

    @property
    def labels_(self) -> Indices: ...

    @property
    def regions_(self) -> list[Region]: ...

    @property
    def fuzzy_model_(self) -> FuzzyModel: ...

    @property
    def feature_names(self) -> tuple[str, ...] | None: ...

    def embed(self, patterns: Any) -> Matrix: ...


@dataclass(frozen=True)
class TrainingPattern:
    """A training pattern that is a prototype: its `row` in the X of the fit, and its `dissimilarity` to the pattern.

    `index` counts along those trained on, as `regions_` does, `column` along `prototypes_`. The three are the same but
    where `fit` held some rows out to validate, or where prototypes are fewer than training patterns.
    """

    row: int
    index: int
    column: int
    dissimilarity: float


def is_whole(classifier: FittedClassifier) -> bool:
    """Return whether every training pattern is a prototype."""
    return len(classifier.prototype_indices_) == len(classifier.training_indices_)


def prototype_labels(classifier: FittedClassifier) -> Indices:
    """Return the region of every prototype.

    >>> from eocc import EntropicOneClassClassifier
    >>> clf = EntropicOneClassClassifier(prototypes=2, random_state=0).fit([[0.0], [1.0], [50.0], [51.0]])
    >>> bool((prototype_labels(clf) == clf.labels_[clf.prototype_indices_]).all())
    True
    """
    return np.asarray(classifier.labels_[classifier.prototype_indices_])


def row_of(classifier: FittedClassifier, column: int) -> int:
    """Return the row that a prototype was in the X of the fit."""
    return int(classifier.training_indices_[classifier.prototype_indices_[column]])


@dataclass(frozen=True)
class Place:
    """Where a pattern lies with regard to one region.

    `distance` is that in the dissimilarity space, `extent` the region's on the `side` ("inner" or "outer") where the
    pattern lies if that matters, `ratio` = distance / extent, `grade` the membership in this region. The `exemplars`
    are the members least dissimilar from the pattern, or, where the nearest training patterns decide, these;
    `description` tells the prototype in a few words.

    Where prototypes are fewer than training patterns, `n_prototypes` of the members are such, and exemplars are taken
    from these; of 0 the `prototype` is one of another region, and the only thing known of this region's patterns.
    """

    region: int
    n_members: int
    extent: float
    side: str | None
    distance: float
    ratio: float
    grade: float
    prototype: TrainingPattern
    exemplars: tuple[TrainingPattern, ...]
    description: str
    n_prototypes: int | None = None


@dataclass(frozen=True)
class ProfileColumn:
    """What one prototype adds to the squared ratio of a place: by the dissimilarities `here` and `there`.

    `here` is the pattern's dissimilarity to it, `there` that of the region's representative.
    """

    row: int
    index: int
    amount: float
    here: float
    there: float


@dataclass(frozen=True)
class Profile:
    """The squared ratio (distance / extent)^2 as a sum over prototypes: the greatest terms, and the `rest`."""

    squared_ratio: float
    columns: tuple[ProfileColumn, ...]
    rest: float
    n_columns: int


@dataclass(frozen=True)
class Prototype:
    """The pattern that stands for a region: its column in the dissimilarity space, and a few words on it.

    It is one of the region's unless that has no prototype.
    """

    column: int
    description: str
    is_member: bool = True


def prototypes_of(classifier: FittedClassifier, numbers: Sequence[int]) -> dict[int, Prototype]:
    """Return the prototype of each of these regions: its representative, if that is at its centre and a prototype.

    Else the region's prototype nearest to the centre; of a region without one, the nearest of all prototypes.

    >>> from sklearn.datasets import load_iris
    >>> from eocc import EntropicOneClassClassifier
    >>> clf = EntropicOneClassClassifier(search=None).fit(load_iris().data[:50])
    >>> prototypes_of(clf, [0])[0].column == clf.regions_[0].representative
    True
    """
    columns = _columns_at_centre(classifier, numbers)
    labels = prototype_labels(classifier)
    return {
        number: Prototype(
            column,
            description_of(classifier.measure_, classifier.prototypes_[column : column + 1], classifier.feature_names),
            bool(labels[column] == number),
        )
        for number, column in zip(numbers, columns, strict=True)
    }


def _columns_at_centre(classifier: FittedClassifier, numbers: Sequence[int]) -> list[int]:
    """Return the column that stands for each of these regions."""
    known, labels = classifier.prototype_indices_, prototype_labels(classifier)
    centres = classifier.fuzzy_model_.centres
    representatives = np.array([classifier.regions_[number].representative for number in numbers])
    columns = np.searchsorted(known, representatives).clip(max=len(known) - 1)
    rows = classifier.embed(classifier.prototypes_[columns])
    everyone: Matrix | None = None
    found = []
    for i, number in enumerate(numbers):
        centre, own = centres[[number]], np.flatnonzero(labels == number)
        if known[columns[i]] == representatives[i] and distances_to(rows[[i]], centre)[0, 0] <= SAME_POINT:
            found.append(int(columns[i]))
        elif len(own):
            near = distances_to(classifier.embed(classifier.prototypes_[own]), centre)
            found.append(int(own[np.argmin(near)]))
        else:
            everyone = classifier.embed(classifier.prototypes_) if everyone is None else everyone
            found.append(int(np.argmin(distances_to(everyone, centre))))
    return found


def place_in(classifier: FittedClassifier, row: Matrix, number: int, prototype: Prototype) -> Place:
    """Return where a row of the dissimilarity space lies with regard to region `number`."""
    model, region = classifier.fuzzy_model_, classifier.regions_[number]
    ratio = float(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        grade = float(np.exp(model.membership_function.log_grade(np.array([[ratio]]))[0, 0]))
    side, extent = _side(model, row, number, region.extent)
    own = np.flatnonzero(prototype_labels(classifier) == number)
    return Place(
        region=number,
        n_members=len(region.members),
        extent=extent,
        side=side,
        distance=finite(distances_to(row[None], model.centres[[number]])[0, 0]),
        ratio=finite(ratio),
        grade=grade,
        prototype=training_pattern(classifier, row, prototype.column),
        exemplars=exemplars_among(classifier, row, own),
        description=prototype.description,
        n_prototypes=None if is_whole(classifier) else len(own),
    )


def exemplars_among(classifier: FittedClassifier, row: Matrix, columns: Indices) -> tuple[TrainingPattern, ...]:
    """Return those of the prototypes least dissimilar from the pattern of this row, ties to the earlier one."""
    nearest = columns[np.argsort(row[columns], kind="stable")[:N_EXEMPLARS]]
    return tuple(training_pattern(classifier, row, int(column)) for column in nearest)


def reach_of(threshold: float) -> float:
    """Return up to which distance / extent a pattern is accepted whose margin (1 - ratio^2) / 2 must reach a threshold.

    >>> reach_of(0.0), round(reach_of(-1.5), 6)
    (1.0, 2.0)
    """
    return 1.0 if threshold == 0 else float(np.sqrt(max(BOUNDARY**2 - 2 * threshold, 0.0)))


def training_pattern(classifier: FittedClassifier, row: Matrix, column: int) -> TrainingPattern:
    """Return the prototype of this column with its dissimilarity to the pattern of this row."""
    index = int(classifier.prototype_indices_[column])
    return TrainingPattern(row_of(classifier, column), index, column, float(row[column]))


def profile_contributions(model: FuzzyModel, row: Matrix, number: int) -> Matrix:
    """Return what each prototype j adds to (distance / extent)^2 of a row v in a region: they add up to it.

    The distance in the dissimilarity space is sqrt(sum_j (v_j - c_j)^2 / r), c the region's centre.

    >>> from eocc.regions.memberships import Gaussian
    >>> from eocc.regions.tconorms import maximum
    >>> model = FuzzyModel(np.array([[0.0, 0.0]]), np.array([[0.5, 0.5]]), Gaussian(), maximum)
    >>> profile_contributions(model, np.array([0.6, 0.8]), 0)
    array([0.72, 1.28])
    """
    ratio = finite(model.ratios(row[None])[0, number])
    with np.errstate(over="ignore"):
        squared = finite(np.float64(ratio) ** 2)
    gaps = np.abs(row - model.centres[number])
    # Scaled by the largest: squares of the tiny gaps between near copies must not vanish, nor of huge ones overflow.
    return shared_out(squared, (gaps / (gaps.max() or 1.0)) ** 2)


def profile_of(classifier: FittedClassifier, row: Matrix, number: int) -> Profile:
    """Return the prototypes that add most to the squared ratio."""
    amounts = profile_contributions(classifier.fuzzy_model_, row, number)
    greatest = np.argsort(-amounts, kind="stable")[:N_COLUMNS]
    centre, indices = classifier.fuzzy_model_.centres[number], classifier.prototype_indices_
    columns = tuple(
        ProfileColumn(row_of(classifier, j), int(indices[j]), float(amounts[j]), float(row[j]), float(centre[j]))
        for j in greatest.tolist()
    )
    rest = float(np.delete(amounts, greatest).sum())
    return Profile(float(amounts.sum()), columns, rest, len(amounts))


def _side(model: FuzzyModel, row: Matrix, number: int, extent: float) -> tuple[str | None, float]:
    """Return the side of the region a row lies on and the extent there; no side where both are alike."""
    inner, outer = model.widths[number].tolist()
    if inner == outer:
        return None, float(extent)
    inside = offsets_from(row[None], model.centres[[number]])[0, 0] < 0
    return ("inner", inner) if inside else ("outer", outer)
